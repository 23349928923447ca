#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch gives for a network with low-rank adaptation: the family lora.
scripts/golden.sh runs it. The formula is PEFT's: y = x W^T + b + alpha / rank * (x A^T) B^T."""
import sys

sys.dont_write_bytecode = True

import torch
from torch import nn

from golden import Golden

STEPS = 5
LR = 0.1
PROSE = """
A network of Linear(5, 4), ReLU, Linear(4, 3), of which the layers that the word layers names are
adapted with rank and alpha; start.KEY is its state. x goes in, and the loss is the sum of y * r. y
and grad.KEY are those of the first forward; then 5 steps of SGD over A and B with a learning rate
of 0.1 follow, each with a forward and a backward. end.KEY is the state after them, y_end what the
network gives then, and merged.KEY a weight with its adapter in it.
"""
CASES = [("0", 2, 6.0), ("0 2", 3, 1.5), ("2", 8, 8.0)]


class Adapted(nn.Linear):
    def __init__(self, features, outputs, rank, alpha):
        super().__init__(features, outputs)
        self.requires_grad_(False)
        self.lora_A = nn.Linear(features, rank, bias=False)
        self.lora_B = nn.Linear(rank, outputs, bias=False)
        self.scale = alpha / rank

    def forward(self, x):
        return super().forward(x) + self.lora_B(self.lora_A(x)) * self.scale

    def merged(self):
        return self.weight + self.scale * self.lora_B.weight @ self.lora_A.weight


def layer(adapted, features, outputs, rank, alpha):
    if adapted:
        return Adapted(features, outputs, rank, alpha)
    return nn.Linear(features, outputs).requires_grad_(False)


def named(prefix, tensors):
    return [(f"{prefix}.{key}", value.detach().clone()) for key, value in tensors]


def case(golden, layers, rank, alpha, dtype):
    torch.manual_seed(11)
    torch.set_default_dtype(torch.float64)
    net = nn.Sequential(layer("0" in layers, 5, 4, rank, alpha), nn.ReLU(),
                        layer("2" in layers, 4, 3, rank, alpha)).to(dtype)
    x, r = torch.randn(6, 5).to(dtype), torch.randn(6, 3).to(dtype)
    torch.set_default_dtype(torch.float32)
    arrays = named("start", net.state_dict().items()) + [("x", x), ("r", r)]
    trained = [(n, p) for n, p in net.named_parameters() if p.requires_grad]
    optimizer = torch.optim.SGD([p for _, p in trained], lr=LR)
    for step in range(STEPS + 1):
        optimizer.zero_grad()
        y = net(x)
        (y * r).sum().backward()
        if step == 0:
            arrays += [("y", y.detach().clone())] + named("grad", [(n, p.grad) for n, p in trained])
            continue
        optimizer.step()
    arrays += named("end", net.state_dict().items()) + [("y_end", net(x).detach().clone())]
    arrays += named("merged", [(f"{i}.weight", net[int(i)].merged()) for i in layers.split()])
    golden.case(f"layers {layers} rank={rank} alpha={alpha:g} {str(dtype)[6:]}",
                [("layers", layers), ("rank", rank), ("alpha", alpha),
                 ("keys", list(net.state_dict()))], arrays)


golden = Golden("lora", "make_lora.py", PROSE)
for layers, rank, alpha in CASES:
    for dtype in (torch.float64, torch.float32):
        case(golden, layers, rank, alpha, dtype)
golden.write()
