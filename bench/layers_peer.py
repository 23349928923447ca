# SPDX-License-Identifier: Apache-2.0
"""The same in PyTorch: the other side of layers_bench.c."""
import os
import resource
import sys
import time

import torch

KINDS = {
    "conv2d": lambda n: torch.nn.Conv2d(n[0], n[1], n[2], stride=n[3], padding=n[4], groups=n[5]),
}


def numbers(text):
    return [int(word) for word in text.split(",")]


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


def main(kind, sizes, words):
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    module = KINDS[kind](numbers(words))
    x = torch.randn(numbers(sizes), requires_grad=True)
    dy = torch.randn_like(module(x).detach())
    for request in sys.stdin:
        word, *count = request.split()
        if word == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
            continue
        came_in = dy if word == "backward" else None
        print(min(run(module, x, came_in) for _ in range(int(count[0]))), flush=True)


main(*sys.argv[1:])
