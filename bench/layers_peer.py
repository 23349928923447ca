# SPDX-License-Identifier: Apache-2.0
"""The same in PyTorch: the other side of layers_bench.c, eager or compiled."""
import os
import resource
import sys
import time

import torch

nn = torch.nn
KINDS = {
    "conv2d": lambda n: nn.Conv2d(n[0], n[1], n[2], stride=n[3], padding=n[4], groups=n[5]),
    "batch_norm2d": lambda n: nn.BatchNorm2d(n[0]),
    "layer_norm": lambda n: nn.LayerNorm(n[0]),
    "group_norm": lambda n: nn.GroupNorm(n[0], n[1]),
    "max_pool2d": lambda n: nn.MaxPool2d(n[0], stride=n[1], padding=n[2]),
    "avg_pool2d": lambda n: nn.AvgPool2d(n[0], stride=n[1], padding=n[2]),
    "adaptive_avg_pool2d": lambda n: nn.AdaptiveAvgPool2d(n[0]),
}


def numbers(text):
    return [int(word) for word in text.split(",")]


def most_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run(module, x, dy):
    """The seconds of a forward, or of a backward when dy comes in."""
    begun = time.perf_counter()
    if dy is None:
        with torch.no_grad():
            module(x)
    else:
        y = module(x)
        begun = time.perf_counter()
        y.backward(dy)
    taken = time.perf_counter() - begun
    x.grad = None
    module.zero_grad()
    return taken


def main(variant, kind, sizes, words):
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    module = KINDS[kind](numbers(words))
    if variant == "compile":
        module = torch.compile(module)
    x = torch.randn(numbers(sizes), requires_grad=True)
    before = most_memory()
    dy = torch.randn_like(module(x).detach())
    for request in sys.stdin:
        word, *count = request.split()
        if word == "memory":
            print(most_memory() - before, flush=True)
            continue
        came_in = dy if word == "backward" else None
        print(min(run(module, x, came_in) for _ in range(int(count[0]))), flush=True)


main(*sys.argv[1:])
