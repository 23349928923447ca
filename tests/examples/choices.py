#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""choices.py PROGRAM: mlp_mnist learns with every optimizer and every schedule that it lists where
a name is wrong, and what cannot be is refused in one sentence."""
import random
import re
import subprocess
import sys
import tempfile

from bands import write_images

# The bands of neighbouring labels can be the same, so that half is nearly the best; 0.1 is chance.
LEARNT = 0.45


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        draw = random.Random(1)
        write_images(folder, "train", 2000, draw)
        write_images(folder, "t10k", 300, draw)
        usual = [program, "--data", folder, "--device", "cpu", "--hidden", "32", "--epochs", "6",
                 "--batch-size", "50", "--quiet"]

        def run(*options):
            return subprocess.run([*usual, *options], capture_output=True, text=True)

        def fail(what, done):
            sys.exit(f"FAILED: {what}: exit status {done.returncode}, {done.stdout}{done.stderr}")

        def check_learns(*options):
            done = run(*options)
            found = re.match(r"test_accuracy=(0\.\d+) ", done.stdout)
            if done.returncode or not found or float(found[1]) < LEARNT:
                fail(f"{options} learns", done)
            return done.stdout.split(" seconds")[0]

        def check_refused(words, *options):
            done = run(*options)
            if not done.returncode or words not in done.stderr or done.stderr.count("\n") != 1:
                fail(f"{options} is refused with {words!r}", done)
            return done.stderr

        optimizers = check_refused("--optimizer no: not one of ", "--optimizer", "no")
        optimizers = re.split(", | and ", optimizers.split("not one of ")[1].strip())
        for name in optimizers:
            whole = ["--batch-size", "1000"] if name in ("rprop", "lbfgs") else []
            check_learns("--optimizer", name, *whole)
        schedules = check_refused("--schedule no: not one of ", "--schedule", "no")
        schedules = re.split(", | and ", schedules.split("not one of ")[1].strip())
        shown = {name: check_learns("--schedule", name) for name in schedules}
        if len(optimizers) < 13 or len(schedules) < 11 or len(set(shown.values())) < 8:
            sys.exit(f"FAILED: {optimizers}, {shown}")
        for name, other in (("cosine_annealing", "cosine"), ("one_cycle", "onecycle"),
                            ("linear", "polynomial:power=1"),
                            ("step", "step:step_size=2,gamma=0.1")):
            if check_learns("--schedule", other) != shown[name]:
                sys.exit(f"FAILED: {other} is not {name}")
        if check_learns() != shown["linear"]:
            sys.exit("FAILED: without a schedule the rate does not fall in a line")
        if len({check_learns("--warmup", "20"), check_learns("--clip", "0.1"),
                shown["linear"]}) < 3:
            sys.exit("FAILED: a warm-up or clipping changes nothing")
        if check_learns("--ema", "0.9") == shown["linear"]:
            sys.exit("FAILED: averages are the weights")
        saved = f"{folder}/average.safetensors"
        learnt = check_learns("--ema", "0.5", "--save", saved)
        again = check_learns("--lr", "0", "--epochs", "1", "--load", saved)
        if again.split()[:2] != learnt.split()[:2]:
            sys.exit("FAILED: what is saved is not the averages")
        check_refused("--ema 1.5: not a number of 0 to 1", "--ema", "1.5")
        check_refused("step has step_size and gamma", "--schedule", "step:gama=0.5")
        check_refused("step has step_size and gamma", "--schedule", "step:step_size=1.5")
        check_refused("step has step_size and gamma", "--schedule", "step:step_size=")
        check_refused("mlp_mnist: step_size is 0, but must be", "--schedule", "step:step_size=0")
        check_refused("--warmup: counts steps", "--schedule", "step", "--warmup", "3")
        check_refused("--clip -1: not a number of 0 or more", "--clip", "-1")
        check_refused("mlp_mnist: --clip: lbfgs searches along whole gradients", "--optimizer",
                      "lbfgs", "--clip", "1")
        check_refused("mlp_mnist: Rprop has no \"weight_decay\"", "--optimizer", "rprop",
                      "--weight-decay", "0.1")


sys.exit(main())
