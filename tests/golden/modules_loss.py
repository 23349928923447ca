# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/loss.h: name, module, inputs."""
import torch
from torch import nn

from modules_inputs import X

LABELS, TARGET = torch.tensor([0, 2, -100, 1, 1]), X.flip(0)
CASES = [
    ("cross_entropy_loss", lambda: nn.CrossEntropyLoss(), X, LABELS),
    ("cross_entropy_loss_weighted", lambda: nn.CrossEntropyLoss(
        weight=torch.linspace(0.5, 2, 3), label_smoothing=0.1), X, LABELS),
    ("mse_loss", lambda: nn.MSELoss(), X, TARGET),
    ("mse_loss_sum", lambda: nn.MSELoss(reduction="sum"), X, TARGET),
    ("l1_loss", lambda: nn.L1Loss(), X, TARGET),
    ("l1_loss_none", lambda: nn.L1Loss(reduction="none"), X, TARGET),
]
