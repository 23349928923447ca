# SPDX-License-Identifier: Apache-2.0
# A generator learns to draw points of a circle from noise, a discriminator to tell them apart.
import math

import torch
from torch import nn

BATCH = 64
NOISE = 8


def circle(count):
    """Points (count, 2) near the unit circle."""
    angle = 2 * math.pi * torch.rand(count)
    points = torch.stack([torch.cos(angle), torch.sin(angle)], 1)
    return points + 0.05 * torch.randn(count, 2)


torch.manual_seed(3)
generator = nn.Sequential(nn.Linear(NOISE, 64), nn.SiLU(), nn.Linear(64, 2))
discriminator = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 1))
criterion = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for step in range(1, 501):
    real = circle(BATCH)
    fake = generator(torch.randn(BATCH, NOISE))

    loss_d = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = criterion(discriminator(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    if step % 50 == 0:
        radius = fake.detach().norm(dim=1).mean()
        print(f"step {step}: discriminator {loss_d:.6f}, generator {loss_g:.6f}, "
              f"radius {radius:.6f}")
