# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/linear.h: name, module, inputs."""
from torch import nn

from modules_inputs import X

CASES = [
    ("linear", lambda: nn.Linear(3, 4), X),
    ("linear_without_bias", lambda: nn.Linear(3, 4, bias=False), X),
]
