# SPDX-License-Identifier: Apache-2.0
# An activation with a backward of its own: y = x sigmoid(beta x), which keeps x alone.
import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * x)
        return dy * (s + ctx.beta * x * s * (1 - s)), None


torch.manual_seed(8)
x = torch.randn(256, 4)
y = torch.sin(x).prod(1, keepdim=True)

hidden, out = nn.Linear(4, 64), nn.Linear(64, 1)
opt = torch.optim.Adam([*hidden.parameters(), *out.parameters()], lr=1e-2)

for step in range(1, 201):
    guess = out(Swish.apply(hidden(x), 1.5))
    loss = nn.functional.mse_loss(guess, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss:.6f}")
