#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""files.py PROGRAM: the weights that mlp_mnist saves are loaded, a folder of checkpoints is one
run's, Ctrl-C saves one, and options that do not go together are refused before anything is done."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from terminal import write_images


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, "train", 650)
        write_images(folder, "t10k", 100)
        usual = [program, "--data", folder, "--device", "cpu", "--hidden", "8", "--epochs", "1"]
        checkpoints = f"{folder}/a/b"

        def run(*options):
            done = subprocess.run([*usual, *options], capture_output=True, text=True)
            return done.returncode, re.sub(" seconds=.*", "", done.stdout), done.stderr

        def check(holds, what, seen):
            if not holds:
                sys.exit(f"FAILED: {what}; it shows {seen!r}")

        def check_refused(status, words, *options):
            found = run(*options)
            check(found[0] == status and words in found[2], f"{options} is refused", found)

        for ending in ("safetensors", "pt", "npz"):
            saved = run("--quiet", "--save", f"{folder}/net.{ending}")
            again = run("--quiet", "--lr", "0", "--load", f"{folder}/net.{ending}")
            check(saved[0] == 0 and saved == again, f"{ending} has the weights", (saved, again))
        check(run("--quiet", "--lr", "0")[1] != saved[1], "a net without them is another", saved)

        few = run("--limit", "64", "--quiet", "--save", f"{folder}/few.npz")
        check(few[0] == 0 and few[1] != saved[1], "fewer images are another training", few)
        check(run("--checkpoint-dir", checkpoints, "--resume")[0] == 0, "nothing to resume", "")
        names = sorted(os.listdir(checkpoints))
        check(names == ["step-00000011.safetensors"], "one checkpoint an epoch", names)
        resumed = run("--checkpoint-dir", checkpoints, "--resume", "--checkpoint-every", "1")
        check("goes on after step 11\n" in resumed[2] and resumed[1].endswith("epochs=1\n"),
              "what is done is not done again", resumed)

        check_refused(2, "--resume: needs --checkpoint-dir\n", "--resume")
        check_refused(2, "--checkpoint-every: needs --checkpoint-dir\n", "--checkpoint-every", "5")
        check_refused(2, "has checkpoints already: --resume goes on with them",
                      "--checkpoint-dir", checkpoints)
        check_refused(2, "does not end with .safetensors", "--save", f"{folder}/net.onnx")
        check_refused(2, "its folder cannot be written to", "--save", "/nowhere/net.pt")
        check_refused(2, "--limit 0: not a whole number", "--limit", "0")
        check_refused(2, "--limit 651: there are 650 training images", "--limit", "651")
        # The file and the cause: no function of C and no line of the program.
        for status, words, option, value in (
                (2, "there is no directory /nowhere: No such file or directory", "--data",
                 "/nowhere"),
                (1, "cannot open /nowhere/net.pt: No such file or directory", "--load",
                 "/nowhere/net.pt")):
            found = run(option, value, "--quiet")
            check(found == (status, "", f"mlp_mnist: {words}\n"), f"{option} {value}", found)
        found = run("--load", f"{folder}/few.npz", "--hidden", "9", "--quiet")
        check(found[2].startswith(f"mlp_mnist: {folder}/few.npz: mismatched 3: ") and
              found[2].count("\n") == 1, "another net's file is named first", found)
        version = run("--version")
        check(version[0] == 0 and re.fullmatch(rf"mlp_mnist \d+\.\d+\.\d+\n", version[1]),
              "--version", version)
        usage = run("--help")[1]
        check(re.search(r"\n  test_accuracy=0\.\d{4} test_loss=0\.\d{4} epochs=5\n", usage),
              "--help shows the last line of a run with its defaults", usage)
        check_refused(1, "mismatched", "--load", f"{folder}/few.npz", "--hidden", "9")
        check_refused(1, "mismatched", "--checkpoint-dir", checkpoints, "--resume", "--hidden", "9")
        check_refused(1, "\"train.batch_size\" is 64 in the state and 32 here",
                      "--checkpoint-dir", checkpoints, "--resume", "--batch-size", "32")
        check_refused(1, "is Adam in the state and SGD here",
                      "--checkpoint-dir", checkpoints, "--resume", "--optimizer", "sgd")

        stopped = subprocess.Popen([*usual, "--epochs", "1000000", "--checkpoint-dir",
                                    f"{folder}/stopped"], stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        for line in stopped.stderr:
            if line.startswith("epoch 3/"):
                stopped.send_signal(signal.SIGINT)
                break
        stopped.communicate()
        check(stopped.returncode == 130, "Ctrl-C ends it", stopped.returncode)
        check(len(os.listdir(f"{folder}/stopped")) == 3, "with the last three", "")


sys.exit(main())
