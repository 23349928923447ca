#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what the examples print, for the gallery, or compares it with what was recorded.

    record.py BUILD [NAME...]            writes docs/site/output/NAME.txt
    record.py --check BUILD NAME         ends with 1 where it prints something else

The words are compared and the numbers, but for one part in 100, or in 20 where they have a
fraction: instruction sets round otherwise. Times and speeds are not compared, nor which kinds are
mixed up most, nor why there is no GPU.
"""
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import gallery  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
WAITS = re.compile(r"  waits \d+ %")  # where data is slow on this machine
TIMES = re.compile(r"[\d.e+-]+(?= *(?:ms|us|s|seconds|samples/s|GFLOP/s|MiB|times|of the sum)\b)"
                   r"|(?<=seconds=)[\d.]+|(?<=samples_per_second=)[\d.]+"
                   r"|(?<=CUDA: ).*|(?<=there is no GPU: ).*")
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def run(build, example):
    program = Path(build).resolve() / "examples" / example.command[0]
    hidden = {"CUDA_VISIBLE_DEVICES": "", "TERN_CUDA_PLUGIN": ""}
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "examples").symlink_to(ROOT / "examples")
        ended = subprocess.run([program, *example.command[1:]], cwd=work, text=True,
                               env={**os.environ, **hidden, **example.environment},
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if ended.returncode:
        sys.exit(f"{program} ends with {ended.returncode}:\n{ended.stdout}")
    return re.sub(r"^.*\r", "", ended.stdout, flags=re.M)


def parts_of(line):
    """Words and numbers, in turns; times left out."""
    return [part for part in NUMBER.split(" ".join(TIMES.sub("#", WAITS.sub("", line)).split()))]


def same_number(one, other):
    share = 0.05 if "." in one else 0.01
    return math.isclose(float(one), float(other), rel_tol=share, abs_tol=1e-4)


def same_line(one, other):
    left, right = parts_of(one), parts_of(other)
    return one.startswith("most confused:") or len(left) == len(right) and all(
        same_number(a, b) if at % 2 else a == b for at, (a, b) in enumerate(zip(left, right)))


def differences(recorded, printed):
    recorded, printed = recorded.splitlines(), printed.splitlines()
    if len(recorded) != len(printed):
        yield f"{len(recorded)} lines were recorded, it prints {len(printed)}"
    for one, other in zip(recorded, printed):
        if not same_line(one, other):
            yield f"recorded: {one}\nprinted:  {other}"


def check(build, name):
    example = gallery.EXAMPLES[name]
    if gallery.DATA in example.command and not Path(gallery.DATA).exists():
        print("skipped: Fashion-MNIST is not here")
        return 77
    found = list(differences(gallery.output_of(ROOT, name), run(build, example)))
    print("\n".join(found))
    return 1 if found else 0


def main(words):
    if words[0] == "--check":
        return check(words[1], words[2])
    for name in words[1:] or gallery.EXAMPLES:
        path = ROOT / f"docs/site/output/{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(run(words[0], gallery.EXAMPLES[name]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
