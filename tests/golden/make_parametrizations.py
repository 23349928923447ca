#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's parametrizations give: the family parametrizations. scripts/golden.sh runs
it."""
import sys

sys.dont_write_bytecode = True

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from golden import Golden

STEPS = 5
LR = 0.1
PROSE = """
A layer whose weight is computed. start.KEY is its state before, the generator having been seeded
with 7 before the layer was made; x goes in, and the loss is the sum of y * r. y and grad.NAME are
those of the first forward, in training; then 5 steps of SGD with a learning rate of 0.1 follow,
each with a forward and a backward. end.KEY is the state after them, and y_eval what the layer gives
then in evaluation. left.KEY is the state after the parametrization was removed. The word keys has
the state's keys in order.
"""
DTYPES = (torch.float64, torch.float32)
NONE = -1000  # the dim that is None


def weight_norm(**options):
    return "weight_norm", options, lambda m: parametrizations.weight_norm(m, **options)


def spectral_norm(**options):
    return "spectral_norm", options, lambda m: parametrizations.spectral_norm(m, **options)


class Double(nn.Module):
    def forward(self, x):
        return 2 * x


def chain():
    def register(m):
        parametrizations.weight_norm(m)
        return parametrize.register_parametrization(m, "weight", Double())
    return "chain", {}, register


def linear():
    return nn.Linear(5, 3), (4, 5)


def conv2d():
    return nn.Conv2d(4, 6, 3, groups=2), (2, 4, 5, 5)


def conv_transpose2d():
    return nn.ConvTranspose2d(4, 3, 3, stride=2), (2, 4, 3, 3)


def batch_norm():
    return nn.BatchNorm1d(5), (4, 5)


CASES = [
    (linear, weight_norm()), (linear, weight_norm(dim=1)), (linear, weight_norm(dim=None)),
    (linear, weight_norm(name="bias")), (linear, chain()),
    (conv2d, weight_norm()), (conv2d, weight_norm(dim=1)), (conv2d, weight_norm(dim=None)),
    (conv2d, weight_norm(dim=3)), (conv_transpose2d, weight_norm(dim=1)),
    (linear, spectral_norm()), (linear, spectral_norm(n_power_iterations=3, eps=1e-3)),
    (conv2d, spectral_norm()), (conv2d, spectral_norm(dim=2)), (conv2d, spectral_norm(dim=-3)),
    (conv_transpose2d, spectral_norm()), (batch_norm, spectral_norm()),
]


def named(prefix, state):
    return [(f"{prefix}.{key}", value.detach().clone()) for key, value in state.items()]


def case(golden, make, kind, options, register, dtype):
    torch.set_default_dtype(dtype)
    torch.manual_seed(7)
    layer, shape = make()
    register(layer)
    torch.set_default_dtype(torch.float32)
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
    arrays = named("start", layer.state_dict())
    optimizer = torch.optim.SGD(layer.parameters(), lr=LR)
    for step in range(STEPS + 1):
        optimizer.zero_grad()
        y = layer(x)
        if step == 0:
            r = torch.randn(y.shape, generator=generator, dtype=torch.float64).to(dtype)
            arrays += [("x", x), ("r", r), ("y", y.detach().clone())]
        (y * r).sum().backward()
        if step == 0:
            arrays += [(f"grad.{n}", p.grad.clone()) for n, p in layer.named_parameters()]
            continue
        optimizer.step()
    arrays += named("end", layer.state_dict())
    keys = list(layer.state_dict())
    layer.eval()
    arrays.append(("y_eval", layer(x).detach().clone()))
    parametrize.remove_parametrizations(layer, options.get("name", "weight"))
    arrays += named("left", layer.state_dict())
    words = [("layer", make.__name__), ("kind", kind), ("keys", keys)]
    words += [(k, NONE if v is None else v) for k, v in options.items()]
    title = " ".join([make.__name__, kind] + [f"{k}={v}" for k, v in options.items()])
    golden.case(f"{title} {str(dtype)[6:]}", words, arrays)


golden = Golden("parametrizations", "make_parametrizations.py", PROSE)
for make, (kind, options, register) in CASES:
    for dtype in DTYPES:
        case(golden, make, kind, options, register, dtype)
golden.write()
