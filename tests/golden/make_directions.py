#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's Muon and Adafactor make of one float32 parameter, step by step: the family
directions. scripts/golden.sh runs it."""
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden, group_numbers

STEPS = 20
PROSE = """
20 steps over one float32 parameter of shape `shape`: start, the gradients one after another, and
the parameter after each step. options: the names of the optimizer's numbers. Muon's Newton-Schulz
iterations are in bfloat16, which PyTorch's products round to once.
"""
# adjust_lr_fn: the number of the enumerator.
ADJUST = {"original": 0, "match_rms_adamw": 1, "spectral_unclamped": 2}
CASES = [
    ("Muon", (12, 20), dict(lr=0.02)),
    ("Muon", (20, 12), dict(lr=0.02, adjust_lr_fn="match_rms_adamw", nesterov=False)),
    ("Muon", (33, 7), dict(lr=0.1, adjust_lr_fn="spectral_unclamped", momentum=0.5,
                           weight_decay=0)),
    ("Muon", (1, 5), dict(lr=0.02, ns_steps=3)),
    ("Muon", (16, 16), dict(lr=0.02, ns_coefficients=(3.0, -3.5, 1.5), eps=0.5)),
    ("Adafactor", (12, 20), dict()),
    ("Adafactor", (20, 12), dict(lr=0.5, beta2_decay=-0.4, eps=(1e-3, 0.1), d=2.0,
                                 weight_decay=0.05)),
    ("Adafactor", (203,), dict(lr=0.1, maximize=True)),
    ("Adafactor", (3, 4, 5), dict(lr=0.1)),
    ("Adafactor", (2, 3, 4, 5), dict(lr=0.1, d=1.5)),
    ("Adafactor", (1,), dict(lr=0.1)),
    ("Adafactor", (7, 1), dict(lr=0.1)),
]


def case(golden, kind, shape, options):
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(shape, generator=generator)
    gradients = torch.randn(STEPS, *shape, generator=generator)
    p = start.clone().requires_grad_()
    optimizer = getattr(torch.optim, kind)([p], **options)
    after = []
    for g in gradients:
        p.grad = g.clone()
        optimizer.step()
        after.append(p.detach().clone())
    group = dict(optimizer.param_groups[0])
    if kind == "Muon":
        group["adjust_lr_fn"] = ADJUST[group["adjust_lr_fn"] or "original"]
    numbers = group_numbers(group)
    name = " ".join([kind, "x".join(map(str, shape))] + ["%s=%s" % i for i in options.items()])
    golden.case(name, [("optimizer", kind), ("shape", shape), ("options", list(numbers)),
                       *numbers.items()],
                [("start", start), ("gradients", gradients), ("after", torch.stack(after))])


golden = Golden("directions", "make_directions.py", PROSE)
for one in CASES:
    case(golden, *one)
golden.write()
