# SPDX-License-Identifier: Apache-2.0
"""Muon with AdamW for what is no matrix, from the formulas, with the dtype that Newton-Schulz
computes in as an option: PyTorch's is always bfloat16."""
import math

import torch

ADJUST = {0: lambda rows, columns: math.sqrt(max(1, rows / columns)),
          1: lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
          2: lambda rows, columns: math.sqrt(rows / columns)}


def orthogonal(u, coefficients, eps, steps):
    """U V^T of u = U S V^T, roughly, by the singular values' polynomial."""
    a, b, c = coefficients
    x = u.T if u.size(0) > u.size(1) else u
    x = x / max(x.norm().item(), eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.T if u.size(0) > u.size(1) else x


class Muon(torch.optim.Optimizer):
    """Of matrices b = momentum b + (1 - momentum) g; u = (1 - momentum) g + momentum b or b;
    p = (1 - lr weight_decay) p - lr adjust orthogonal(u). The others: AdamW with rest_*."""

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=0,
                 rest_lr=1e-3, rest_betas=(0.9, 0.999), rest_eps=1e-8):
        names = dict(locals())
        super().__init__(params, {name: names[name] for name in names
                                  if name not in ("self", "params", "__class__")})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    (self._matrix if p.dim() == 2 else self._rest)(group, p, self.state[p])

    def _matrix(self, group, p, state):
        momentum = group["momentum"]
        b = state.setdefault("momentum_buffer", torch.zeros_like(p))
        b.mul_(momentum).add_((1 - momentum) * p.grad)
        u = (1 - momentum) * p.grad + momentum * b if group["nesterov"] else b
        x = orthogonal(u, group["ns_coefficients"], group["eps"], group["ns_steps"])
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.sub_(group["lr"] * ADJUST[group["adjust_lr_fn"]](*p.shape) * x)

    def _rest(self, group, p, state):
        beta1, beta2 = group["rest_betas"]
        state["step"] = t = state.get("step", 0) + 1
        m = state.setdefault("exp_avg", torch.zeros_like(p))
        v = state.setdefault("exp_avg_sq", torch.zeros_like(p))
        m.mul_(beta1).add_((1 - beta1) * p.grad)
        v.mul_(beta2).add_((1 - beta2) * p.grad ** 2)
        p.mul_(1 - group["rest_lr"] * group["weight_decay"])
        root = (v / (1 - beta2 ** t)).sqrt() + group["rest_eps"]
        p.sub_(group["rest_lr"] * m / (1 - beta1 ** t) / root)
