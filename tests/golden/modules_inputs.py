# SPDX-License-Identifier: Apache-2.0
"""What goes into the modules of modules_*.py."""
import torch


def sixteenths(*shape):
    """Normal numbers, rounded to 1/16: the same in every dtype here."""
    g = torch.Generator().manual_seed(3)
    return torch.round(torch.randn(*shape, generator=g, dtype=torch.float64) * 16) / 16


X, IMAGES = sixteenths(5, 3), sixteenths(2, 3, 4)
