#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table and a chart of training steps of MLPs by width and depth.

    curve.py RESULTS.jsonl [--write ROOT]

RESULTS has what compare.py --shapes wrote. Without --write the table goes to stdout; with it it
becomes docs/speed-of-sizes.md, and the chart docs/speed-of-sizes.svg.
"""
import argparse
import json
import statistics
import sys

sys.dont_write_bytecode = True

from report import wrap  # noqa: E402
from rounds import is_void, ratio  # noqa: E402

FAMILIES = ("PyTorch", "JAX")
THREADS = (1, 2)
LEFT, BAR, SCALE, MOST = 150, 9, 80, 4  # pixels; the ratio at the right end
STYLE = """<style>
text { font: 11px sans-serif; fill: #24292f } .PyTorch { fill: #d9662b } .JAX { fill: #3b78b8 }
.own { fill: #2da44e } .tern { stroke: #24292f; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) { text { fill: #d0d7de } .tern { stroke: #d0d7de } }
</style>"""
LEGEND = (("PyTorch", "best PyTorch"), ("JAX", "best JAX"),
          ("own", "tern with one thread, over two"))


def time_text(seconds):
    factor, unit = (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else (
        f"{seconds * factor:.0f} {unit}")


class Row:
    def __init__(self, result):
        self.width, self.layers = (int(number) for number in result["task"].split("x"))
        self.threads, self.batch = result["threads"], result["batch"]
        tern, again, *others = result["peers"]
        self.seconds = statistics.median(tern["step_seconds"])
        _, low, high = ratio(tern["step_seconds"], again["step_seconds"])
        self.again, self.void = f"{low:.2f} to {high:.2f}", is_void(low, high)
        self.ratios = {}
        for peer in others:
            name = f"{peer['versions'].split(',')[0]}, {peer['variant']}"
            self.ratios[name] = ratio(tern["step_seconds"], peer["step_seconds"])[0]

    def best_of(self, family):
        found = [value for name, value in self.ratios.items() if name.startswith(family)]
        return min(found) if found else None


def gain(rows, row):
    """How many times longer tern takes with one thread."""
    one = [other for other in rows if other.threads == 1 and
           (other.width, other.layers) == (row.width, row.layers)]
    return one[0].seconds / row.seconds if one else None


def number(value):
    return "" if value is None else f"**{value:.2f}**" if value < 0.995 else f"{value:.2f}"


def table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row.ratios))
    heads = ["width", "layers", "threads", "tern", "two threads' gain", *names, "tern again"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        own = number(gain(rows, row)) if row.threads > 1 else ""
        cells = [row.width, row.layers, row.threads, time_text(row.seconds), own,
                 *(number(row.ratios.get(name)) for name in names),
                 row.again + " (void)" * row.void]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def bar(kind, value, x, y):
    """One that does not fit ends in a gap."""
    cut = value > MOST
    length = min(value, MOST) * SCALE
    parts = [f'<rect class="{kind}" x="{x}" y="{y}" height="{BAR}" width="{length:.1f}"/>']
    if cut:
        parts.append(f'<path d="M{x + length - 12:.1f} {y + BAR} l4 -{BAR}" stroke="white" '
                     'stroke-width="3"/>')
    parts.append(f'<text x="{x + length + 4:.1f}" y="{y + BAR}">{value:.2f}</text>')
    return "".join(parts)


def chart(rows):
    """For each size bars of the others' times over tern's: left one thread, right two."""
    sizes = list(dict.fromkeys((row.width, row.layers) for row in rows))
    column, step = SCALE * MOST + 60, (BAR + 1) * len(LEGEND) + 8
    height = 48 + step * len(sizes)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + column * len(THREADS)}"',
             f'height="{height}" role="img" aria-label="Time of a training step by width and '
             'depth, beside tern">', STYLE]
    for i, (kind, words) in enumerate(LEGEND):
        parts.append(f'<rect class="{kind}" x="{LEFT + 130 * i}" y="6" width="10" height="10"/>'
                     f'<text x="{LEFT + 130 * i + 15}" y="15">{words}</text>')
    for i, threads in enumerate(THREADS):
        x = LEFT + column * i
        parts.append(f'<text x="{x}" y="34">{threads} thread{"s" * (threads > 1)}: times '
                     f"tern's time (dashed: 1)</text>")
        parts.append(f'<line class="tern" x1="{x + SCALE}" x2="{x + SCALE}" y1="38" '
                     f'y2="{height - 6}"/>')
    for place, (width, layers) in enumerate(sizes):
        y = 42 + step * place
        parts.append(f'<text x="0" y="{y + BAR + 6}">{layers} layers of {width}</text>')
        for row in rows:
            if (row.width, row.layers) != (width, layers) or row.threads not in THREADS:
                continue
            x = LEFT + column * THREADS.index(row.threads)
            values = [row.best_of(family) for family in FAMILIES]
            values.append(gain(rows, row) if row.threads > 1 else None)
            parts += [bar(kind, value, x, y + i * (BAR + 1))
                      for i, ((kind, _), value) in enumerate(zip(LEGEND, values))
                      if value is not None]
    return "\n".join([*parts, "</svg>"]) + "\n"


def behind(rows):
    """What is lost, in words: to the others, and by the second thread."""
    def title(row):
        return f"{row.layers} of {row.width}, {row.threads} thread{'s' * (row.threads > 1)}"

    lost = [(min(row.ratios.values()), title(row)) for row in rows if row.ratios]
    lost = sorted(pair for pair in lost if pair[0] < 0.995)
    slower = [(gain(rows, row) or 1, title(row)) for row in rows if row.threads > 1]
    slower = sorted(pair for pair in slower if pair[0] < 0.995)

    def listed(pairs):
        return "; ".join(f"{name} ({value:.2f})" for value, name in pairs) or "none"

    return (f"Behind the best of the others: {listed(lost)}. Slower with two threads than with "
            f"one: {listed(slower)}.")


def page(machine, results, rows):
    versions = sorted({peer["versions"].split(",")[0] for result in results
                       for peer in result["peers"]})
    kernels = results[0]["peers"][0]["what"].split(", ")[1]
    return "\n\n".join([
        "# Speed by size", wrap(
            f"A training step (forward, backward, Adam, float32, batch {rows[0].batch}) of MLPs "
            f"whose layers all have one width, measured on {machine['processor']} ({kernels}), "
            f"{machine['date']}, by `bench/compare.py --shapes`: {'; '.join(versions)}. The "
            "figures are how many times longer others take; below 1, in bold, the other one is "
            "faster. \"two threads' gain\" is tern's time with one thread over its time with two. "
            "An empty place: that one was left out (JAX compiles each layer by itself)."),
        "![Training steps by width and depth](speed-of-sizes.svg)", table(rows),
        wrap(behind(rows))]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--write", help="the root of the tree whose documents are written")
    args = parser.parse_args()
    with open(args.results, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    machine = next(line for line in lines if line["kind"] == "machine")
    results = [line for line in lines if line["kind"] == "shape"]
    rows = sorted(map(Row, results), key=lambda row: (row.width, row.layers, row.threads))
    text = page(machine, results, rows)
    if not args.write:
        print(text, end="")
        return
    for name, content in (("md", text), ("svg", chart(rows))):
        with open(f"{args.write}/docs/speed-of-sizes.{name}", "w", encoding="utf-8") as file:
            file.write(content)


main()
