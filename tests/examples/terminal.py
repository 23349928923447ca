#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py PROGRAM: what mlp_mnist shows on a terminal of 50 columns, with and without colours,
and what Ctrl-C does to it."""
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import on_terminal  # noqa: E402

COLUMNS = 50
failed = 0


def check(holds, what, seen):
    global failed
    if not holds:
        failed = 1
        print(f"FAILED: {what}; it shows {seen!r}", file=sys.stderr)


def write_images(folder, name, count):
    """Images that are bright above or below, with labels 9 and 1."""
    bright, dark = b"~" * 392, b" " * 392
    with open(f"{folder}/{name}-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28))
        f.write(b"".join((dark + bright, bright + dark)[i % 2] for i in range(count)))
    with open(f"{folder}/{name}-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">4BI", 0, 0, 8, 1, count))
        f.write(bytes((1, 9)[i % 2] for i in range(count)))


def run(arguments, interrupt=False, **environment):
    """What the program's stderr shows on a terminal, its stdout, and its exit status. With
    `interrupt`, it gets SIGINT when it has drawn the line of some epochs."""
    kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    interrupted = []

    def send_signal(program, seen):
        if interrupt and not interrupted and seen.count(b"test accuracy") > 2:
            program.send_signal(signal.SIGINT)
            interrupted.append(True)
    seen, told, status = on_terminal.run(arguments, COLUMNS, ["stderr"], send_signal,
                                         stdout=subprocess.PIPE,
                                         env={**kept, "TERM": "xterm", **environment})
    return seen, told.decode(), status


def lines_drawn(seen):
    plain = re.sub(r"\033\[[0-9;]*m", "", seen)
    return [line for line in re.split(r"[\r\n]+", plain) if line.startswith("epoch ")]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, "train", 650)
        write_images(folder, "t10k", 100)
        usual = [program, "--data", folder, "--device", "cpu", "--hidden", "64", "--epochs"]
        seen, _, status = run(usual + ["3"])
        drawn = lines_drawn(seen)
        check(status == 0, "it trains on a terminal", seen)
        check(len(drawn) > 3, "an epoch is drawn while it runs", drawn)
        check(all(len(line) < COLUMNS for line in drawn), "a line wraps", drawn)
        check(any("%" in line and "loss" in line for line in drawn), "loss and share", drawn)
        check(sum("test accuracy 1.0000" in line for line in drawn) >= 1, "the end", drawn)
        check("\033[" in seen, "colours where the terminal has them", seen)
        check("\033[" not in run(usual + ["1"], NO_COLOR="1")[0], "NO_COLOR=1 has none", seen)
        check("\033[" not in run(usual + ["1"], TERM="dumb")[0], "TERM=dumb has none", seen)
        check("\033[" in run(usual + ["1"], NO_COLOR="")[0], "an empty NO_COLOR says nothing", seen)

        seen, told, status = run(usual + ["1000000"], interrupt=True)
        check(status == 130, "Ctrl-C ends it with status 130", status)
        last = re.search(r"^test_accuracy=1\.0000 .* epochs=(\d+) ", told, re.M)
        check(last and 3 <= int(last[1]) < 1000000, "and with a summary", told)
        check(not re.search(r"tern: ", seen), "without an error", seen)
        short = subprocess.run([program, "-h"], capture_output=True, text=True)
        full = subprocess.run([program, "--help"], capture_output=True, text=True)
        check(short.returncode == 0 and short.stdout == full.stdout and "--epochs" in full.stdout,
              "-h is --help", short)
    return failed


if __name__ == "__main__":
    sys.exit(main())
