#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and a chart of what compare.py, operations.py and programs.py have written.

    report.py RESULTS.jsonl [--write ROOT]

Without --write the tables go to stdout. With it they become docs/speed.md and docs/speed.svg, and
the part of README.md between the two comments that name this script.
"""
import argparse
import json
import re
import statistics
import sys

sys.dont_write_bytecode = True

from rounds import is_void, ratio  # noqa: E402

BEGIN, END = "<!-- written by bench/report.py -->", "<!-- as far as here -->"
NETS = {"W1": "MLP 784-512-512-10", "W500": "MLP 784-500-10", "tiny": "MLP 2-16-16-1",
        "cnn": "network of `cnn_mnist`"}
OPTIMIZERS = {"adam": "Adam", "adamw": "AdamW"}
FAMILIES = ("PyTorch", "JAX")


class Row:
    """One row: tern's time, and how many times longer each other one takes."""

    def __init__(self, result):
        tern, again, *others = result["peers"]
        self.kind, self.threads = result["kind"], result["threads"]
        self.net, self.batch = result["task"], result.get("batch")
        self.name = self.title(result)
        self.seconds = statistics.median(tern["step_seconds"])
        self.mib = {"tern": tern["mib"]}
        _, low, high = ratio(tern["step_seconds"], again["step_seconds"])
        self.spread, self.void = (low, high), is_void(low, high)
        peak = statistics.median(reading["peak_gflops"] for reading in result["pace"])
        work = result["flops"] / self.seconds
        self.share = 100 * work / (peak * 1e9 * self.threads) if peak and work else None
        self.ratios = {}
        for peer in others:
            self.ratios[column(peer)] = ratio(tern["step_seconds"], peer["step_seconds"])
            self.mib[column(peer)] = peer["mib"]

    @staticmethod
    def title(result):
        if result["kind"] == "operation":
            return f"`{result['task']}`"
        return (f"{NETS[result['task']]}, {OPTIMIZERS[result['optimizer']]}, "
                f"batch {result['batch']}")

    def best(self):
        return min(middle for middle, _, _ in self.ratios.values())

    def best_of(self, family):
        found = [middle for name, (middle, _, _) in self.ratios.items() if name.startswith(family)]
        return min(found) if found else None


def column(peer):
    """As "PyTorch 2.15.0, compile"."""
    version = re.match(r"(?:PyTorch|JAX) [0-9.]+", peer["versions"])[0]
    return f"{version}, {peer['variant']}"


def time_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            break
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else (
        f"{seconds * factor:.0f} {unit}")


def ratio_text(value, intervals):
    middle, low, high = value
    text = f"**{middle:.2f}**" if middle < 1 else f"{middle:.2f}"
    return f"{text} ({low:.2f} to {high:.2f})" if intervals else text


def table(rows, intervals):
    names = list(dict.fromkeys(name for row in rows for name in row.ratios))
    lines = ["| " + " | ".join(["", "threads", "tern", "% of peak", *names, "tern again"]) + " |"]
    lines += ["|" + "---|" * (len(names) + 5)]
    for row in rows:
        share = f"{row.share:.0f}" if row.share else ""
        ratios = [ratio_text(row.ratios[name], intervals) if name in row.ratios else ""
                  for name in names]
        low, high = row.spread
        again = f"{low:.2f} to {high:.2f}" + " (void)" * row.void
        lines.append("| " + " | ".join([row.name, str(row.threads), time_text(row.seconds), share,
                                        *ratios, again]) + " |")
    return "\n".join(lines)


def program_table(results):
    names = ("", "threads", "seconds", "of tern's", "first step after", "core seconds", "MiB",
             "accuracy")
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for result in results:
        tern = result["programs"]["tern"]["seconds"]
        for name, own in result["programs"].items():
            times = own["seconds"] / tern
            text = f"**{times:.2f}**" if times < 1 else f"{times:.2f}"
            lines.append(f"| {name} | {result['threads']} | {own['seconds']:.2f} | {text} | "
                         f"{own['first_step_seconds']:.2f} s | {own['core_seconds']:.2f} | "
                         f"{own['mib']:.0f} | {own['accuracy']:.4f} |")
    return "\n".join(lines)


def behind(rows):
    """What is lost, in words."""
    sure = [row for row in rows if not row.void]
    lost = sorted((row.best(), row) for row in sure if row.best() < 1) if sure else []
    words = (f"{len(sure) - len(lost)} of {len(sure)} rows are ahead of the best of the others or "
             "level with it")
    if len(rows) > len(sure):
        words += f", {len(rows) - len(sure)} more are void"
    if not lost:
        return words + "."
    names = ", ".join(f"{row.name} ({row.threads}: {value:.2f})" for value, row in lost)
    return f"{words}. Behind, with the threads and the ratio: {names}."


# ---- the chart ----------------------------------------------------------------------------------

BAR, LEFT, WIDTH, MOST = 9, 340, 400, 5  # pixels, and the ratio at the right end
STYLE = """<style>
text { font: 11px sans-serif; fill: #24292f } .PyTorch { fill: #d9662b } .JAX { fill: #3b78b8 }
.tern { stroke: #24292f; stroke-dasharray: 3 3 } .cut { stroke: #fff; stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) { text { fill: #d0d7de } .tern { stroke: #d0d7de }
.cut { stroke: #0d1117 } }
</style>"""


def bar(family, value, y, scale):
    """One bar with its number; two strokes where it is cut."""
    right = LEFT + min(value, MOST) * scale
    text = (f'<rect class="{family}" x="{LEFT}" y="{y}" height="{BAR}" '
            f'width="{right - LEFT:.1f}"/><text x="{right + 4:.1f}" y="{y + BAR}">'
            f"{value:.2f}</text>")
    for at in (right - 14, right - 9) if value > MOST else ():
        text += f'<path class="cut" d="M{at:.1f} {y + BAR} l4 -{BAR}"/>'
    return text


def chart(rows):
    """Bars of how many times longer the best PyTorch and the best JAX take; the line is tern."""
    step = (BAR + 1) * len(FAMILIES) + 8
    height = 44 + step * len(rows)
    scale = WIDTH / MOST
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}"',
             f'height="{height}" role="img" aria-label="Time of a training step, beside tern">',
             STYLE]
    for i, family in enumerate(FAMILIES):
        parts.append(f'<rect class="{family}" x="{LEFT + 90 * i}" y="8" width="10" height="10"/>'
                     f'<text x="{LEFT + 90 * i + 15}" y="17">{family}</text>')
    parts.append(f'<text x="{LEFT + 190}" y="17">times tern\'s time of a step (dashed: 1; '
                 f"cut at {MOST})</text>")
    for number, row in enumerate(rows):
        top = 32 + step * number
        words = row.name.replace("`", "")
        parts.append(f'<text x="0" y="{top + BAR + 6}">{words}, {row.threads} '
                     f'thread{"s" * (row.threads > 1)}</text>')
        for i, family in enumerate(FAMILIES):
            value = row.best_of(family)
            if value is None:
                continue
            parts.append(bar(family, value, top + i * (BAR + 1), scale))
    parts.append(f'<line class="tern" x1="{LEFT + scale}" x2="{LEFT + scale}" y1="26" '
                 f'y2="{height - 6}"/></svg>')
    return "\n".join(parts) + "\n"


# ---- pages --------------------------------------------------------------------------------------


def wrap(text, width=128):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > width:
            lines.append(line)
            line = ""
        line += " " * bool(line) + word
    return "\n".join([*lines, line])


def heading(machines, results):
    versions = sorted({peer["versions"].split(",")[0] for result in results
                       for peer in result["peers"]})
    dates = sorted({machine["date"] for machine in machines})
    kernels = results[0]["peers"][0]["what"].split(", ")[1]
    return wrap(f"Measured on {machines[0]['processor']} ({kernels}), up to "
                f"{max(result['threads'] for result in results)} cores, "
                f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, by `scripts/bench.sh`: "
                f"{'; '.join(versions)}.")


def chosen(steps):
    """Of each network the row with the most threads, then the largest batch, that is not void."""
    of_net = {}
    for row in steps:
        if not row.void:
            of_net.setdefault(row.net, []).append(row)
    return [max(rows, key=lambda row: (row.threads, row.batch)) for rows in of_net.values()]


def program_words(results):
    """The whole program with the most threads, in one sentence."""
    most = max(results, key=lambda result: result["threads"])
    tern, *others = most["programs"].items()
    name, best = min(others, key=lambda item: item[1]["seconds"])
    return (f"From the start of the process to a trained and tested MLP, with {most['threads']} "
            f"threads: {tern[1]['seconds']:.1f} s and {tern[1]['mib']:.0f} MiB; {name}: "
            f"{best['seconds']:.1f} s and {best['mib']:.0f} MiB.")


def summary(heads, steps, operations, programs):
    parts = [heads, "Time of the others over tern's for the same training step (forward, "
             "backward, optimizer, float32): below 1, in bold, tern is slower. \"% of peak\" is of "
             "the processor's multiply-adds; \"tern again\" is the same program a second time, "
             "which shows the noise.",
             table(chosen(steps), False)]
    words = f"All {len(steps)} rows of steps are in [docs/speed.md](docs/speed.md): {behind(steps)}"
    if programs:
        parts += [program_words(programs)]
    if operations:
        words += (f" The same page has {len(operations)} rows of single operations and layers: "
                  + count_words(operations))
    parts += [words, "![Training steps](docs/speed.svg)"]
    return "\n\n".join(wrap(part) if part[0] not in "|!" else part for part in parts)


def count_words(rows):
    return behind(rows).split(". Behind")[0].rstrip(".") + "."


def page(heads, steps, operations, programs):
    parts = ["# Speed", heads, wrap(
        "The figures are the others' times over tern's, with 95 % intervals: below 1, in bold, "
        "tern is slower. \"tern again\" is the same program a second time, which shows the "
        "noise; a row where its interval is wider than 6 %, or lies more than 3 % off 1, is void. "
        "`bench/compare.py --help` says how it is measured, `bench/NOTES.md` what was tried. "
        "MLPs of many widths and depths: [speed by size](speed-of-sizes.md).")]
    if steps:
        parts += ["## Training steps", table(steps, True), wrap(behind(steps))]
    if programs:
        parts += ["## Whole programs", program_table(programs)]
    if operations:
        parts += ["## Operations and layers", wrap(
            "Sizes of the operands stand behind the name; \"grad:\" is forward and backward. A "
            "layer's numbers stand behind its name: in, out, kernel, stride, padding and groups of "
            "a convolution; kernel, stride and padding of pooling."), table(operations, True),
            wrap(behind(operations))]
    return "\n\n".join(parts) + "\n"


def write(root, text, short, steps):
    with open(f"{root}/docs/speed.md", "w", encoding="utf-8") as file:
        file.write(text)
    with open(f"{root}/docs/speed.svg", "w", encoding="utf-8") as file:
        file.write(chart([row for row in steps if not row.void]))
    with open(f"{root}/README.md", encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    after = rest.partition(END)[2]
    if not after:
        raise SystemExit("README.md has no place for the table")
    with open(f"{root}/README.md", "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{short}\n\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--write", help="the root of the tree whose documents are written")
    args = parser.parse_args()
    with open(args.results, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    by_kind = {kind: [line for line in lines if line["kind"] == kind]
               for kind in ("machine", "step", "operation", "program")}
    by_kind["step"].sort(key=lambda line: (list(NETS).index(line["task"]), line["batch"],
                                           line["threads"]))
    timed = by_kind["step"] + by_kind["operation"]
    heads = heading(by_kind["machine"], timed) if timed else ""
    steps, operations = ([Row(line) for line in by_kind[kind]] for kind in ("step", "operation"))
    text = page(heads, steps, operations, by_kind["program"])
    if args.write:
        write(args.write, text, summary(heads, steps, operations, by_kind["program"]), steps)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
