# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/container.h: name, module, inputs."""
import torch
from torch import nn

from modules_inputs import X

CASES = [
    ("sequential", lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), X),
    ("module_dict", lambda: nn.ModuleDict({"b": nn.Linear(3, 2), "a": nn.PReLU()})),
    ("parameter_list", lambda: nn.ParameterList([torch.linspace(0.5, 2, 3), torch.ones(2, 1)])),
    ("parameter_dict", lambda: nn.ParameterDict({"a": torch.ones(2, 1), "b": torch.zeros(3)})),
    ("module_list", lambda: nn.ModuleList([nn.Linear(3, 2), nn.Tanh()])),
]
