#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches of tern's loader beside PyTorch's DataLoader, in one run: from memory, 64 shuffled
samples of 784 float32, and from a folder of images, PNG and JPEG, 256 x 256 made of Fashion-MNIST.
SPDL joins in for files where it is installed. Needs a Python with PyTorch; files, torchvision.

    loader.py [--tern PROGRAM] [--rounds N] [--samples N] [--images N]

Each round runs everything once, tern first; a line has the middle of the rates of both and how many
times PyTorch's tern's is: the middle of the rounds, the least and the most."""
import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

FASHION = "/usr/share/datasets/fashion-mnist/"
BATCH = 64


def tern(options, *words):
    out = subprocess.run([options.tern, *map(str, words)], check=True, capture_output=True,
                         text=True).stdout.split()
    return dict(zip(out[::2], map(float, out[1::2])))


def torch_rate(dataset, workers, count):
    """Batches a second of one epoch, `count` a batch's share of the unit."""
    loader = DataLoader(dataset, batch_size=BATCH, shuffle=True, num_workers=workers)
    begun, units = time.perf_counter(), 0
    for batch in loader:
        units += count(batch)
    return units / (time.perf_counter() - begun)


def spdl_rate(files, threads):
    """Images a second of SPDL's pipeline of threads; None where it cannot be had."""
    try:
        import spdl.io
        from spdl.pipeline import PipelineBuilder
        spdl.io.load_image_batch(files[:1], width=None, height=None, pix_fmt="rgb24")
    except (ImportError, RuntimeError):  # it has no FFmpeg to open
        return None

    def load(paths):
        return spdl.io.load_image_batch(paths, width=None, height=None, pix_fmt="rgb24")

    batches = [files[i:i + BATCH] for i in range(0, len(files), BATCH)]
    pipeline = (PipelineBuilder().add_source(batches).pipe(load, concurrency=threads)
                .add_sink(4).build(num_threads=threads))
    begun = time.perf_counter()
    with pipeline.auto_stop():
        for _ in pipeline:
            pass
    return len(files) / (time.perf_counter() - begun)


def read_fashion(count):
    with gzip.open(FASHION + "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(16 + 784 * count), np.uint8, offset=16)
    with gzip.open(FASHION + "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(8 + count), np.uint8, offset=8)
    return images.reshape(-1, 28, 28), labels


def write_folder(directory, ending, count):
    """Enlarged, in a colour of its own and with some noise, so that they compress as photos do."""
    from PIL import Image
    images, labels = read_fashion(count)
    numbers = np.random.default_rng(0)
    for i, (image, label) in enumerate(zip(images, labels)):
        grey = np.asarray(Image.fromarray(image).resize((256, 256), Image.BICUBIC), np.float32)
        pixels = grey[..., None] * numbers.uniform(0.5, 1, 3) + numbers.normal(0, 6, (256, 256, 3))
        folder = os.path.join(directory, str(label))
        os.makedirs(folder, exist_ok=True)
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(
            os.path.join(folder, f"{i:05}.{ending}"))


def report(name, unit, pairs):
    ratios = [a / b for a, b in pairs]
    print(f"{name:34} {statistics.median(a for a, _ in pairs):10.4g} "
          f"{statistics.median(b for _, b in pairs):10.4g} {unit}/s  "
          f"{statistics.median(ratios):6.2f} [{min(ratios):.2f}, {max(ratios):.2f}]", flush=True)


def memory(options):
    data = TensorDataset(torch.rand(options.samples, 784), torch.randint(10, (options.samples,)))
    pairs = {(mine, theirs): [] for mine in (0, 1, 2) for theirs in (0, 2)}
    shares = {0: [], 1: [], 2: []}
    for _ in range(options.rounds):
        rates = {w: tern(options, "memory", options.samples, BATCH, w, 1) for w in (0, 1, 2)}
        peers = {w: torch_rate(data, w, lambda _: 1) for w in (0, 2)}
        for w, values in rates.items():
            shares[w].append(values["copy_share"])
        for mine, theirs in pairs:
            pairs[mine, theirs].append((rates[mine]["batches_per_second"], peers[theirs]))
    for (mine, theirs), values in pairs.items():
        report(f"memory, workers {mine} and {theirs}", "batches", values)
    for w, values in shares.items():
        print(f"of a copy, workers {w}: {statistics.median(values):.2f}")


def folder(options, ending):
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import ToTensor
    with tempfile.TemporaryDirectory() as directory:
        write_folder(directory, ending, options.images)
        data = ImageFolder(directory, ToTensor())
        files = [path for path, _ in data.samples]
        pairs = {(mine, theirs): [] for mine in (0, 1, 2) for theirs in (0, 2, "spdl")}
        shares = []
        for _ in range(options.rounds):
            rates = {w: tern(options, "folder", directory, BATCH, w, 1) for w in (0, 1, 2)}
            peers = {w: torch_rate(data, w, lambda b: len(b[1])) for w in (0, 2)}
            peers["spdl"] = spdl_rate(files, 2)
            shares.append(rates[0]["decode_share"])
            for mine, theirs in pairs:
                if peers[theirs]:
                    pairs[mine, theirs].append((rates[mine]["images_per_second"], peers[theirs]))
        for (mine, theirs), values in pairs.items():
            if values:
                report(f"{ending}, workers {mine} and {theirs}", "images", values)
        print(f"{ending}: reading and decoding is {statistics.median(shares):.2f} of the time "
              "without workers")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tern", default="build/bench/loader_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=60000)
    parser.add_argument("--images", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    print(f"{'':34} {'tern':>10} {'peer':>10}          times")
    memory(options)
    try:
        import torchvision  # noqa: F401
    except ImportError:
        return print("left out: torchvision is not there", file=sys.stderr)
    for ending in ("png", "jpg"):
        folder(options, ending)
    return None


if __name__ == "__main__":
    sys.exit(main())
