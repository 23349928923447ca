#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a log costs a run: three epochs of mlp_mnist (784-512-512-10, Adam, batch 64) with --log,
which writes a scalar for each step, and histograms, images and the page for each epoch, beside the
same run without.

    logging.py [--tern PROGRAM] [--rounds N] [-- OPTION of the program...]

Each round runs both, the one that begins taking turns; the ratio is the time without over the time
with a log: the middle of the rounds, the least and the most."""
import argparse
import os
import re
import statistics
import subprocess
import tempfile


def seconds(options, log):
    words = [options.tern, "--epochs", "3", "--quiet", *options.words]
    out = subprocess.run(words + (["--log", log] if log else []), check=True, capture_output=True,
                         text=True)
    if out.stderr:
        raise SystemExit(f"logging.py: {options.tern} says: {out.stderr}")
    return float(re.search(r"seconds=([0-9.]+)", out.stdout).group(1))


def round_of(options, number):
    """Seconds without and with a log, and the bytes of the log."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "run")
        both = {name: seconds(options, name) for name in
                ((None, log) if number % 2 == 0 else (log, None))}
        size = sum(os.path.getsize(os.path.join(log, name)) for name in os.listdir(log))
    return both[None], both[log], size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tern", default="build/examples/mlp_mnist/mlp_mnist")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    rounds = [round_of(options, n) for n in range(options.rounds)]
    ratios = [plain / logged for plain, logged, _ in rounds]
    print(f"without a log {statistics.median(r[0] for r in rounds):.2f} s, "
          f"with one {statistics.median(r[1] for r in rounds):.2f} s, "
          f"{rounds[0][2] / 2**20:.1f} MiB of files; speed with a log "
          f"{statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]")


if __name__ == "__main__":
    main()
