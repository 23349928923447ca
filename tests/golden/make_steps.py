#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's optimizers make of one float32 parameter: the family steps, for the
optimizers whose bits are PyTorch's. scripts/golden.sh runs it.

PyTorch leaves roots to MKL, which does not round all of them correctly on every processor. Here it
computes them in double and rounds to float32, which gives what IEEE 754 asks for."""
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden, optimizer_words

STEPS, NUMEL = 10, 203
PROSE = """
10 steps over one float32 parameter: start, the gradients one after another, and final. options: the
names of the optimizer's numbers.
"""
CASES = [
    ("RMSprop", dict(lr=0.01)),
    ("RMSprop", dict(lr=0.01, alpha=0.9, momentum=0.5, weight_decay=0.02)),
    ("RMSprop", dict(lr=0.01, centered=True, maximize=True)),
    ("RMSprop", dict(lr=0.01, alpha=0.4, momentum=0.9, centered=True, eps=1e-3)),
    ("Adagrad", dict(lr=0.05)),
    ("Adagrad", dict(lr=0.05, lr_decay=0.1, weight_decay=0.01, initial_accumulator_value=0.1)),
    ("Adagrad", dict(lr=0.02, eps=1e-3, maximize=True)),
]


def steps_case(golden, kind, options):
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(NUMEL, generator=generator)
    gradients = torch.randn(STEPS, NUMEL, generator=generator)
    p = start.clone().requires_grad_()
    optimizer = getattr(torch.optim, kind)([p], foreach=False, **options)
    for g in gradients:
        p.grad = g.clone()
        optimizer.step()
    name = " ".join([kind] + ["%s=%s" % item for item in options.items()])
    golden.case(name, optimizer_words(kind, optimizer),
                [("start", start), ("gradients", gradients), ("final", p)])


root = torch.Tensor.sqrt
torch.Tensor.sqrt = lambda x: root(x.double()).to(x.dtype)
torch.Tensor.sqrt_ = lambda x: x.copy_(torch.Tensor.sqrt(x))

golden = Golden("steps", "make_steps.py", PROSE)
for case in CASES:
    steps_case(golden, *case)
golden.write()
