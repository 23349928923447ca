#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data_parallel.py PROGRAM cpu|cuda: mlp_mnist on two devices learns what it learns on one, files
and checkpoints of either go on with the other, and lists that are no such devices are refused."""
import os
import re
import subprocess
import sys
import tempfile
import zipfile

from terminal import write_images


def main():
    program, kind = sys.argv[1:]
    one, both = ("--device", f"{kind}:0"), ("--devices", f"{kind}:0,{kind}:1")
    environment = {**os.environ, "TERN_CPU_DEVICES": "2"}
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, "train", 650)
        write_images(folder, "t10k", 101)

        def run(*options):
            usual = [program, "--data", folder, "--hidden", "64", "--limit", "641"]
            done = subprocess.run([*usual, *options], capture_output=True, text=True,
                                  env=environment)
            return done.returncode, re.sub(" seconds=.*", "", done.stdout), done.stderr

        def check(holds, what, seen):
            if not holds:
                sys.exit(f"FAILED: {what}; it shows {seen!r}")

        def losses(found):
            told = re.findall(r"loss[ =]([0-9.]+)", found[2] + found[1])
            check(found[0] == 0 and len(told) == 3, "it trains for two epochs", found)
            return [float(loss) for loss in told]

        def train(where, name, *options):
            return run(*where, "--epochs", "2", "--lr", "0.0001", "--save",
                       f"{folder}/{name}.npz", "--checkpoint-dir", f"{folder}/{name}", *options)

        alone, shared = train(one, "alone"), train(both, "shared")
        print(shared[2] + shared[1])
        check(f"data parallel on {kind}:0, {kind}:1\n" in shared[2] and
              "data parallel" not in alone[2], "the log names the devices", (alone, shared))
        near = [abs(a - b) <= 2e-4 for a, b in zip(losses(alone), losses(shared))]
        check(all(near), "the same losses but for rounding", (alone, shared))
        files = [zipfile.ZipFile(f"{folder}/{name}.npz") for name in ("alone", "shared")]
        names = files[0].namelist()
        check(names == files[1].namelist(), "the names in files are the net's own", names)
        check(any(files[0].read(name) != files[1].read(name) for name in names),
              "the rounding is that of two pieces", names)

        def last_line(found):
            return found[0], found[1].splitlines()[-1:]

        test = ("--epochs", "2", "--lr", "0", "--load", f"{folder}/shared.npz")
        check(last_line(run(*one, *test)) == last_line(shared), "one device loads the file", shared)
        check(last_line(run(*both, *test)) == last_line(shared), "and so do two", shared)
        for where, name in ((one, "shared"), (both, "alone")):
            resumed = run(*where, "--epochs", "3", "--lr", "0.0001", "--resume",
                          "--checkpoint-dir", f"{folder}/{name}")
            check(resumed[0] == 0 and "goes on after step 22\n" in resumed[2] and
                  "epochs=3" in resumed[1], f"{where} goes on with that of {name}", resumed)

        for words, *options in (
                ("--devices cpu:0: not together with --device", "--device", "cpu", "--devices",
                 "cpu:0"),
                ("--devices cpu:1,cpu:0,cpu:1: cpu:1 is listed twice", "--devices",
                 "cpu:1,cpu:0,cpu:1"),
                ("there is no device cpu:2", "--devices", "cpu:0,cpu:2"),
                ("\"gpu\" is not a device", "--devices", "gpu,cpu:0"),
                ("\"\" is not a device", "--devices", "cpu:0,"),
                ("cpu:0 and cuda:0 are of two types" if kind == "cuda" else
                 "there is no cuda:0", "--devices", "cpu:0,cuda:0")):
            found = run(*options)
            told = [line for line in found[2].splitlines() if not line.startswith("  at ")]
            check(found[0] == 2 and not found[1] and len(told) == 1 and words in told[0],
                  f"{options} is refused with one sentence", found)


if __name__ == "__main__":
    main()
