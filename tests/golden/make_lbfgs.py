#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's LBFGS does to two small problems: the family lbfgs. scripts/golden.sh runs
it."""
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden

STEPS = 8
PROSE = """
8 steps of LBFGS over the parameters p0, p1, ...: the losses that they return, how many evaluations
and iterations there were by then, and final0, final1, ... The problem rosenbrock is
100 (p1 - p0^2)^2 + (1 - p0)^2, and network is the mean squared error between y and
tanh(x p0^T + p1) p2^T; where maximize is 1, minus that.
"""
WOLFE = dict(line_search_fn="strong_wolfe")
CASES = [
    ("rosenbrock", torch.float64, dict(lr=0.001, max_iter=5)),
    ("rosenbrock", torch.float64, dict(WOLFE)),
    ("rosenbrock", torch.float64, dict(WOLFE, history_size=3, max_iter=4)),
    ("rosenbrock", torch.float64, dict(WOLFE, lr=30.0, max_iter=6, max_eval=7)),
    ("rosenbrock", torch.float64, dict(WOLFE, max_iter=1)),
    ("rosenbrock", torch.float64, dict(WOLFE, tolerance_grad=0.5, tolerance_change=1e-3)),
    ("network", torch.float64, dict(max_iter=4)),
    ("network", torch.float64, dict(lr=0.3, history_size=2, max_iter=3)),
    ("network", torch.float64, dict(WOLFE, max_iter=5, maximize=True)),
    ("network", torch.float64, dict(WOLFE, lr=0.01, max_iter=4)),
    ("network", torch.float32, dict(lr=0.1, max_iter=2)),
    ("network", torch.float32, dict(WOLFE, max_iter=2)),
]


def problem_of(name, dtype):
    """The parameters, the data, and the loss."""
    if name == "rosenbrock":
        params = [torch.tensor([v], dtype=dtype, requires_grad=True) for v in (-1.2, 1.0)]
        return params, [], lambda p0, p1: (100 * (p1 - p0 ** 2) ** 2 + (1 - p0) ** 2).sum()
    generator = torch.Generator().manual_seed(3)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)
    params = [t.requires_grad_() for t in (draw(5, 3), draw(5), draw(1, 5))]
    x, y = draw(16, 3), draw(16, 1)
    return params, [("x", x), ("y", y)], lambda p0, p1, p2: torch.nn.functional.mse_loss(
        torch.tanh(x @ p0.T + p1) @ p2.T, y)


def lbfgs_case(golden, name, dtype, options):
    params, data, loss_of = problem_of(name, dtype)
    sign = -1 if options.get("maximize") else 1
    start = [p.detach().clone() for p in params]
    optimizer = torch.optim.LBFGS(params, **options)

    def closure():
        optimizer.zero_grad()
        loss = sign * loss_of(*params)
        loss.backward()
        return loss

    losses, evaluations, iterations = [], [], []
    for _ in range(STEPS):
        losses.append(float(optimizer.step(closure)))
        state = optimizer.state[params[0]]
        evaluations.append(state["func_evals"])
        iterations.append(state["n_iter"])
    group = {k: v for k, v in optimizer.param_groups[0].items() if k != "params"}
    group["line_search_fn"] = int(group["line_search_fn"] is not None)
    words = [("problem", name), ("optimizer", "LBFGS"), ("options", list(group))]
    words += [(k, float(v)) for k, v in group.items()]
    words += [("evaluations", evaluations), ("iterations", iterations)]
    title = " ".join([name, str(dtype)[6:]] + ["%s=%s" % item for item in options.items()])
    golden.case(title, words, data + [(f"p{i}", p) for i, p in enumerate(start)] +
                [("losses", torch.tensor(losses, dtype=torch.float64))] +
                [(f"final{i}", p) for i, p in enumerate(params)])


golden = Golden("lbfgs", "make_lbfgs.py", PROSE)
for case in CASES:
    lbfgs_case(golden, *case)
golden.write()
