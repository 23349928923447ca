#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's modules are made as and compute: the family modules, a line of CASES each.
scripts/golden.sh runs it."""
import copy
import itertools
import sys

sys.dont_write_bytecode = True

import torch
from torch import nn

from golden import Golden, name_of

PROSE = """
A case is a module made after manual_seed(1), in float32, and then converted. state.NAME are the
entries of its state dict, in order, in float32. in0 and, for a loss, in1 are what goes in;
train.out and eval.out what comes out in each mode, train first; where the module has no forward
there is neither, and where it draws random numbers in training there is no train.out. A backward
from `seed` (eval.seed) at the output gives train.grad.in0 and train.grad.NAME of each parameter,
with no gradient from before. The calls are those of tests/public_modules.h.
"""
SEED = [1.0, -0.5, 0.75, 2.0, -1.25]


def sixteenths(*shape):
    """Normal numbers, rounded to 1/16: the same in every dtype here."""
    g = torch.Generator().manual_seed(3)
    return torch.round(torch.randn(*shape, generator=g, dtype=torch.float64) * 16) / 16


X, IMAGES = sixteenths(5, 3), sixteenths(2, 3, 4)
LABELS, TARGET = torch.tensor([0, 2, -100, 1, 1]), X.flip(0)
CASES = [
    ("linear", lambda: nn.Linear(3, 4), X),
    ("linear_without_bias", lambda: nn.Linear(3, 4, bias=False), X),
    ("sequential", lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), X),
    ("module_list", lambda: nn.ModuleList([nn.Linear(3, 2), nn.Tanh()])),
    ("flatten", lambda: nn.Flatten(), IMAGES),
    ("flatten_all", lambda: nn.Flatten(0), IMAGES),
    ("dropout", lambda: nn.Dropout(), X),
    ("identity", lambda: nn.Identity(), X),
    ("relu", lambda: nn.ReLU(), X),
    ("tanh", lambda: nn.Tanh(), X),
    ("sigmoid", lambda: nn.Sigmoid(), X),
    ("silu", lambda: nn.SiLU(), X),
    ("hardswish", lambda: nn.Hardswish(), 3 * X),
    ("softmax", lambda: nn.Softmax(1), X),
    ("gelu", lambda: nn.GELU(), X),
    ("gelu_tanh", lambda: nn.GELU(approximate="tanh"), X),
    ("leaky_relu", lambda: nn.LeakyReLU(), X),
    ("leaky_relu_steep", lambda: nn.LeakyReLU(0.3), X),
    ("cross_entropy_loss", lambda: nn.CrossEntropyLoss(), X, LABELS),
    ("cross_entropy_loss_weighted", lambda: nn.CrossEntropyLoss(
        weight=torch.linspace(0.5, 2, 3), label_smoothing=0.1), X, LABELS),
    ("mse_loss", lambda: nn.MSELoss(), X, TARGET),
    ("mse_loss_sum", lambda: nn.MSELoss(reduction="sum"), X, TARGET),
    ("l1_loss", lambda: nn.L1Loss(), X, TARGET),
    ("l1_loss_none", lambda: nn.L1Loss(reduction="none"), X, TARGET),
]


def draws(module, inputs):
    """Does it give something else each time in training?"""
    other = copy.deepcopy(module).train()
    return not torch.equal(other(*inputs), other(*inputs))


def results(mode, module, inputs):
    """Arrays of one forward and its backward."""
    inputs[0].grad = None
    module.zero_grad()
    out = module(*inputs)
    seed = torch.tensor([s for s, _ in zip(itertools.cycle(SEED), range(out.numel()))])
    seed = seed.to(out.dtype).reshape(out.shape)
    out.backward(seed)
    grads = [("in0", inputs[0].grad)] + [(n, p.grad) for n, p in module.named_parameters()]
    return ([(f"{mode}.out", out), (f"{mode}.seed", seed)] +
            [(f"{mode}.grad.{n}", g.clone()) for n, g in grads])


def module_case(golden, dtype, name, make, *inputs):
    torch.manual_seed(1)
    module = make()
    state = [(f"state.{n}", t.clone()) for n, t in module.state_dict().items()]
    module.to(dtype)
    inputs = [t.to(dtype) if t.is_floating_point() else t for t in inputs]
    arrays = [(f"in{i}", t) for i, t in enumerate(inputs)]
    if inputs:
        inputs[0] = inputs[0].clone().requires_grad_()
        if not draws(module, inputs):
            arrays += results("train", module.train(), inputs)
        arrays += results("eval", module.eval(), inputs)
    golden.case(f"{name}, {name_of(dtype)}", [("module", name)], state + arrays)


golden = Golden("modules", "make_modules.py", PROSE)
for case in CASES:
    for dtype in (torch.float32, torch.float64):
        module_case(golden, dtype, *case)
golden.write()
