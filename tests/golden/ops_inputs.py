# SPDX-License-Identifier: Apache-2.0
"""What the cases of make_ops.py and ops_*.py are made of."""
import torch

INF, NAN = float("inf"), float("nan")
MEAN, SUM, NONE, BATCHMEAN = 1, 2, 3, 4
REDUCTION = {MEAN: "mean", SUM: "sum", NONE: "none", BATCHMEAN: "batchmean"}


def sixteenths(*shape, seed=0):
    """Normal numbers, rounded to 1/16."""
    g = torch.Generator().manual_seed(seed)
    return torch.round(torch.randn(*shape, generator=g, dtype=torch.float64) * 16) / 16


def real(values):
    return torch.tensor(values, dtype=torch.float64)
