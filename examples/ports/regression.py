# SPDX-License-Identifier: Apache-2.0
# Fits a noisy sine: dataset, network, loss, optimizer, loop.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.linspace(-3, 3, 512).unsqueeze(1)
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.MSELoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

for epoch in range(1, 11):
    total = 0.0
    for xb, yb in loader:
        loss = criterion(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    print(f"epoch {epoch}: loss {total / len(x):.6f}")
