#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores the values that torch.nn.init gives: the family init. scripts/golden.sh runs it."""
import sys

sys.dont_write_bytecode = True

import torch
from torch.nn import init

from golden import Golden, f64

PROSE = """
A tensor that was NaN after an initialiser, with the default generator seeded with 11, and next:
two numbers that it draws then. within: how far values may differ, besides by their last bit where
that is above 0.
"""
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32,
          "float64": torch.float64}
NORMAL = 2e-6
MADE = 1e-6


# The test has a call for each name. Sizes, within, PyTorch's.
CASES = {
    "uniform": ((5, 7), 0, lambda t: init.uniform_(t)),
    "uniform between": ((33,), 0, lambda t: init.uniform_(t, -0.3, 0.9)),
    "normal": ((5, 7), NORMAL, lambda t: init.normal_(t)),
    "normal of 0.02": ((6, 3, 2), NORMAL, lambda t: init.normal_(t, -1, 0.02)),
    "constant": ((3, 2), 0, lambda t: init.constant_(t, 0.3)),
    "ones": ((3,), 0, lambda t: init.ones_(t)),
    "zeros": ((3,), 0, lambda t: init.zeros_(t)),
    "eye": ((3, 5), 0, lambda t: init.eye_(t)),
    "dirac": ((4, 3, 3), 0, lambda t: init.dirac_(t)),
    "dirac of images": ((2, 3, 4, 5), 0, lambda t: init.dirac_(t)),
    "dirac in groups": ((6, 2, 1, 3, 2), 0, lambda t: init.dirac_(t, groups=2)),
    "xavier_uniform": ((6, 10), 0, lambda t: init.xavier_uniform_(t)),
    "xavier_uniform of relu": ((4, 3, 3, 2), 0, lambda t: init.xavier_uniform_(
        t, gain=init.calculate_gain("relu"))),
    "xavier_normal": ((6, 10), NORMAL, lambda t: init.xavier_normal_(t)),
    "xavier_normal of tanh": ((4, 3, 5), NORMAL, lambda t: init.xavier_normal_(
        t, gain=init.calculate_gain("tanh"))),
    "kaiming_uniform": ((6, 10), 0, lambda t: init.kaiming_uniform_(t)),
    "kaiming_uniform of a slope": ((4, 3, 3), 0, lambda t: init.kaiming_uniform_(
        t, a=0.3, mode="fan_out")),
    "kaiming_uniform of sigmoid": ((4, 9), 0, lambda t: init.kaiming_uniform_(
        t, a=0.3, nonlinearity="sigmoid")),
    "kaiming_uniform of tanh": ((4, 9), 0, lambda t: init.kaiming_uniform_(
        t, nonlinearity="tanh")),
    "kaiming_uniform of selu": ((4, 9), 0, lambda t: init.kaiming_uniform_(
        t, nonlinearity="selu")),
    "kaiming_uniform of linear": ((4, 9), 0, lambda t: init.kaiming_uniform_(
        t, nonlinearity="conv2d")),
    "kaiming_normal": ((6, 10), NORMAL, lambda t: init.kaiming_normal_(t)),
    "kaiming_normal of relu": ((4, 3, 3, 2), NORMAL, lambda t: init.kaiming_normal_(
        t, mode="fan_out", nonlinearity="relu")),
    "trunc_normal": ((20, 40), MADE, lambda t: init.trunc_normal_(t)),
    "trunc_normal of 0.02": ((9, 3), MADE, lambda t: init.trunc_normal_(t, std=0.02)),
    "trunc_normal of one side": ((30, 20), MADE, lambda t: init.trunc_normal_(
        t, mean=0.2, std=0.7, a=0.1, b=float("inf"))),
    "trunc_normal of a tail": ((30, 20), MADE, lambda t: init.trunc_normal_(
        t, mean=-0.5, std=0.5, a=0.25, b=1.5)),
    "trunc_normal of a narrow part": ((17,), MADE, lambda t: init.trunc_normal_(
        t, a=0.25, b=0.75)),
    "orthogonal": ((6, 6), MADE, lambda t: init.orthogonal_(t)),
    "orthogonal, high": ((24, 5), MADE, lambda t: init.orthogonal_(t, gain=1.5)),
    "orthogonal, wide": ((5, 4, 3, 2), MADE, lambda t: init.orthogonal_(t, gain=-0.5)),
    "orthogonal of one row": ((1, 9), MADE, lambda t: init.orthogonal_(t)),
    "sparse": ((10, 6), NORMAL, lambda t: init.sparse_(t, 0.35)),
    "sparse of 0.5": ((7, 3), NORMAL, lambda t: init.sparse_(t, 0.9, std=0.5)),
}
# PyTorch has no decomposition of 16 bits.
WITHOUT = {"float16": "orthogonal", "bfloat16": "orthogonal"}


golden = Golden("init", "make_init.py", PROSE)
for name, (sizes, within, fill) in CASES.items():
    for dtype in DTYPES:
        if name.startswith(WITHOUT.get(dtype, "-")):
            continue
        t = torch.full(sizes, float("nan"), dtype=DTYPES[dtype])
        torch.manual_seed(11)
        fill(t)
        golden.case(f"{name}, {dtype}", [("call", name), ("within", within)],
                    [("values", t), ("next", torch.rand(2))])
gains = [init.calculate_gain(name) for name in ("linear", "conv3d", "sigmoid", "tanh", "relu",
                                                "leaky_relu", "selu")]
golden.case("gains", (), [("values", f64(gains + [init.calculate_gain("leaky_relu", 0.2)]))])
golden.write()
