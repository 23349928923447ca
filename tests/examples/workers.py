#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two epochs of cnn_mnist on images that are moved and mirrored at random give the same weights,
bit for bit, for any number of workers, and other ones than plain images.

    workers.py PROGRAM DEVICE
"""
import random
import subprocess
import sys
import tempfile

from bands import write_images


def weights(program, device, folder, *options):
    saved = f"{folder}/net.safetensors"
    done = subprocess.run([program, "--data", folder, "--device", device, "--epochs", "2",
                           "--quiet", "--save", saved, *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"FAILED: {options} ends with {done.returncode}: {done.stderr}")
    with open(saved, "rb") as f:
        return f.read()


def main():
    program, device = sys.argv[1:]
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, "train", 600, draw)
        write_images(folder, "t10k", 100, draw)
        alone = weights(program, device, folder, "--augment")
        for workers in ("1", "2", "8"):
            if weights(program, device, folder, "--augment", "--workers", workers) != alone:
                sys.exit(f"FAILED: {workers} workers give other weights than none")
        if weights(program, device, folder) == alone:
            sys.exit("FAILED: --augment changes nothing")


if __name__ == "__main__":
    main()
