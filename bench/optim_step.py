#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of each optimizer over 10,000 tensors of 64 elements, float32, beside PyTorch's with
fused=True, where it has that, and with foreach=True, in one run. Needs a Python with PyTorch.

    optim_step.py [--tern PROGRAM] [--tensors N] [--elements N] [--rounds N] [--steps N]

tern and PyTorch take turns; a line has the least time of a step of each, and how many times tern's
PyTorch's is: the middle of the rounds, the least and the most."""
import argparse
import statistics
import subprocess
import sys
import time

import torch

KINDS = {  # tern's name, the class, its options; Lion is no class of PyTorch's
    "sgd": (torch.optim.SGD, {}),
    "sgd_momentum": (torch.optim.SGD, {"momentum": 0.9}),
    "adam": (torch.optim.Adam, {}),
    "adamw": (torch.optim.AdamW, {}),
    "amsgrad": (torch.optim.Adam, {"amsgrad": True}),
    "rmsprop": (torch.optim.RMSprop, {}),
    "rmsprop_momentum": (torch.optim.RMSprop, {"momentum": 0.9}),
    "rmsprop_centered": (torch.optim.RMSprop, {"centered": True}),
    "rmsprop_both": (torch.optim.RMSprop, {"momentum": 0.9, "centered": True}),
    "adagrad": (torch.optim.Adagrad, {}),
    "adadelta": (torch.optim.Adadelta, {}),
    "adamax": (torch.optim.Adamax, {}),
    "nadam": (torch.optim.NAdam, {}),
    "radam": (torch.optim.RAdam, {}),
    "asgd": (torch.optim.ASGD, {}),
    "rprop": (torch.optim.Rprop, {}),
}


def make(kind, form, options):
    """PyTorch's optimizer with gradients there, or None where it does not have the form."""
    params = [torch.randn(options.elements).requires_grad_() for _ in range(options.tensors)]
    for p in params:
        p.grad = torch.randn(options.elements)
    try:
        optimizer = kind[0](params, lr=1e-6, **kind[1], **{form: True})
        optimizer.step()
    except (TypeError, RuntimeError):
        return None
    return optimizer


def torch_step(optimizer, steps):
    least = float("inf")
    for _ in range(steps):
        begun = time.perf_counter()
        optimizer.step()
        least = min(least, time.perf_counter() - begun)
    return least


def tern_step(name, options):
    words = [options.tern, "many", name, options.tensors, options.elements, options.steps]
    return float(subprocess.run(list(map(str, words)), check=True, capture_output=True,
                                text=True).stdout)


def row(name, options):
    peers = {form: make(KINDS[name], form, options) for form in ("fused", "foreach")}
    peers = {form: optimizer for form, optimizer in peers.items() if optimizer}
    own, times = [], {form: [] for form in peers}
    for _ in range(options.rounds):
        own.append(tern_step(name, options))
        for form, optimizer in peers.items():
            times[form].append(torch_step(optimizer, options.steps))
    line = f"{name:18} {1e3 * min(own):8.2f} ms"
    for form, seconds in times.items():
        ratios = [b / a for a, b in zip(own, seconds)]
        line += f"   {form} {1e3 * min(seconds):8.2f} ms: {statistics.median(ratios):.2f} " \
                f"[{min(ratios):.2f}, {max(ratios):.2f}]"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", default="build/bench/optim_step_bench")
    parser.add_argument("--tensors", type=int, default=10000)
    parser.add_argument("--elements", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    print(f"{options.tensors} tensors of {options.elements} elements, PyTorch {torch.__version__}, "
          f"{torch.get_num_threads()} thread(s) of it; the ratios are PyTorch's time over tern's")
    for name in KINDS:
        row(name, options)


if __name__ == "__main__":
    sys.exit(main())
