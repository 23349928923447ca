# SPDX-License-Identifier: Apache-2.0
"""Lion (Chen et al. 2023), which PyTorch does not have, from the formula of the paper."""
import torch


class Lion(torch.optim.Optimizer):
    """p *= 1 - lr weight_decay; p -= lr sign(beta1 m + (1 - beta1) g);
    m = beta2 m + (1 - beta2) g."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0, maximize=False,
                 foreach=None, differentiable=False):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay,
                                      maximize=maximize, foreach=foreach,
                                      differentiable=differentiable))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._update(group, p)

    def _update(self, group, p):
        beta1, beta2 = group["betas"]
        state = self.state[p]
        m = state.setdefault("exp_avg", torch.zeros_like(p))
        g = -p.grad if group["maximize"] else p.grad
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.sub_(torch.sign(m * beta1 + g * (1 - beta1)), alpha=group["lr"])
        m.mul_(beta2).add_(g * (1 - beta2))
