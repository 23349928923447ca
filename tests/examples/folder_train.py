#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""folder_train on a part of Fashion-MNIST written as PNG files by class is within 0.01 of the run
from the IDX files, and right on 0.80 or more; with other numbers of workers it prints the same; it
names its worst mistakes by their files; what is no folder of images is refused.

    folder_train.py PROGRAM
"""
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

FASHION = os.environ.get("TERN_TEST_DATA", "/usr/share/datasets/fashion-mnist")
COUNTS = {"train": ("train", 6000), "test": ("t10k", 2000)}
SKIPPED = 77


def fail(what):
    sys.exit(f"FAILED: {what}")


def read(name, count, offset, size):
    with gzip.open(f"{FASHION}/{name}.gz") as f:
        return f.read(offset + count * size)[offset:]


def png(pixels):
    """A grey image of 28 x 28."""
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))
    rows = b"".join(b"\0" + pixels[i:i + 28] for i in range(0, 784, 28))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write(folder):
    """The same images in the same order as IDX files in folder/idx and by class in folder/png."""
    os.makedirs(f"{folder}/idx")
    for part, (name, count) in COUNTS.items():
        images = read(f"{name}-images-idx3-ubyte", count, 16, 784)
        labels = read(f"{name}-labels-idx1-ubyte", count, 8, 1)
        order = sorted(range(count), key=lambda i: labels[i])
        images = b"".join(images[784 * i:784 * i + 784] for i in order)
        labels = bytes(labels[i] for i in order)
        with open(f"{folder}/idx/{name}-images-idx3-ubyte", "wb") as f:
            f.write(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + images)
        with open(f"{folder}/idx/{name}-labels-idx1-ubyte", "wb") as f:
            f.write(struct.pack(">4BI", 0, 0, 8, 1, count) + labels)
        for i, label in enumerate(labels):
            os.makedirs(f"{folder}/png/{part}/{label}", exist_ok=True)
            with open(f"{folder}/png/{part}/{label}/{i:05}.png", "wb") as f:
                f.write(png(images[784 * i:784 * i + 784]))


def run(program, *options):
    return subprocess.run([program, *options], capture_output=True, text=True)


def train(program, directory, epochs, *options):
    done = run(program, "--size", "28", "--epochs", epochs, *options, directory)
    if done.returncode:
        fail(f"{options} ends with {done.returncode}: {done.stderr}")
    lines = [line.split(",")[0] for line in done.stdout.split("\n")]
    return float(re.search(r"^test_accuracy=(.*)$", done.stdout, re.M)[1]), lines, done.stdout


def main():
    program = sys.argv[1]
    if not os.path.exists(f"{FASHION}/train-images-idx3-ubyte.gz"):
        print(f"skipped: there is no {FASHION}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        from_idx, _, _ = train(program, f"{folder}/idx", "3", "--workers", "0")
        plain, _, shown = train(program, f"{folder}/png", "3", "--workers", "2")
        moved, lines, _ = train(program, f"{folder}/png", "1", "--workers", "2", "--augment")
        again, lines_again, _ = train(program, f"{folder}/png", "1", "--workers", "0", "--augment")
        print(f"idx {from_idx}, png {plain}, one epoch of png augmented {moved}")
        if abs(plain - from_idx) > 0.01 or plain < 0.80:
            fail(f"{plain} from files, {from_idx} from IDX")
        if again != moved or lines_again != lines:
            fail("another number of workers gives other numbers")
        named = re.findall(r"^  (\d)/(\d{5})\.png: \1, taken for (\d) with", shown, re.M)
        if len(named) != 10 or any(label == taken for label, _, taken in named):
            fail(f"the worst mistakes are not named: {shown}")
        refused = run(program, f"{folder}/png/train/0")
        if refused.returncode != 2 or "folder_train: " not in refused.stderr:
            fail(f"a folder without classes is not refused: {refused.stderr}")
        print(refused.stderr, end="")
        for label in "01":
            os.makedirs(f"{folder}/few/{label}")
            first = min(os.listdir(f"{folder}/png/train/{label}"))
            shutil.copy(f"{folder}/png/train/{label}/{first}", f"{folder}/few/{label}")
        refused = run(program, f"{folder}/few")
        if refused.returncode != 2 or "too few images" not in refused.stderr:
            fail(f"two images, of which none tests, are not refused: {refused.stderr}")


if __name__ == "__main__":
    main()
