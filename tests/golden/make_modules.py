#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's modules are made as and compute: the family modules, a line of CASES in
modules_*.py each. scripts/golden.sh runs it."""
import copy
import itertools
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden, name_of
import modules_activation
import modules_container
import modules_conv
import modules_dropout
import modules_linear
import modules_loss
import modules_pad
import modules_pool
import modules_resize
import modules_norm
import modules_shape

PROSE = """
A case is a module made after manual_seed(1), in float32, and then converted. state.NAME are the
entries of its state dict, in order, in float32. in0 and, for a loss, in1, in2 .. are what goes in;
train.out and eval.out what comes out in each mode, train first; where the module has no forward
there is neither, and where it draws random numbers in training there is no train.out. A backward
from `seed` (eval.seed) at the output gives train.grad.in0 and train.grad.NAME of each parameter,
with no gradient from before. after.NAME are the buffers behind both. The calls are those of
tests/support/public_modules.h and tests/support/modules.
"""
FAMILIES = (
    modules_linear,
    modules_container,
    modules_conv,
    modules_shape,
    modules_dropout,
    modules_activation,
    modules_loss,
    modules_pool,
    modules_pad,
    modules_resize,
    modules_norm,
)
SEED = [1.0, -0.5, 0.75, 2.0, -1.25]


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
        arrays += [(f"after.{n}", b.clone()) for n, b in module.named_buffers()]
    golden.case(f"{name}, {name_of(dtype)}", [("module", name)], state + arrays)


golden = Golden("modules", "make_modules.py", PROSE)
for case in (case for family in FAMILIES for case in family.CASES):
    for dtype in (torch.float32, torch.float64):
        module_case(golden, dtype, *case)
golden.write()
