#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's optimizers make of one float32 parameter: the family steps, for the
optimizers whose bits are PyTorch's. scripts/golden.sh runs it.

PyTorch leaves roots to MKL, which does not round all of them correctly on every processor. Here it
computes them in double and rounds to float32, which gives what IEEE 754 asks for."""
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden, make_optimizer, optimizer_words

STEPS, NUMEL = 20, 203
PROSE = """
20 steps over one float32 parameter: start, the gradients one after another, and final. options: the
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
    ("Adadelta", dict()),
    ("Adadelta", dict(lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.01, maximize=True)),
    ("Adamax", dict()),
    ("Adamax", dict(lr=0.01, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.01, maximize=True)),
    ("Lion", dict(lr=0.01)),
    ("Lion", dict(lr=0.01, betas=(0.5, 0.75), weight_decay=0.1, maximize=True)),
    ("RAdam", dict(lr=0.01)),
    ("RAdam", dict(lr=0.01, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.01, maximize=True)),
    ("RAdam", dict(lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)),
    ("Rprop", dict()),
    ("Rprop", dict(lr=0.1, etas=(0.25, 1.5), step_sizes=(0.02, 0.15), maximize=True)),
    ("NAdam", dict(lr=0.01)),
    ("NAdam", dict(lr=0.01, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.01, maximize=True)),
    ("NAdam", dict(lr=0.01, weight_decay=0.1, momentum_decay=0.5, decoupled_weight_decay=True)),
    ("AdamWScheduleFree", dict(lr=0.01)),
    ("AdamWScheduleFree", dict(lr=0.05, betas=(0.4, 0.95), weight_decay=0.05, warmup_steps=7)),
    ("ASGD", dict()),
    ("ASGD", dict(lr=0.1, lambd=0.05, alpha=0.5, t0=3, weight_decay=0.01, maximize=True)),
]


def steps_case(golden, kind, options):
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(NUMEL, generator=generator)
    gradients = torch.randn(STEPS, NUMEL, generator=generator)
    p = start.clone().requires_grad_()
    optimizer = make_optimizer(kind, [p], **dict(options, foreach=False))
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
