# SPDX-License-Identifier: Apache-2.0
# Steps once for four small batches: their gradients add up to that of a large one.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4

torch.manual_seed(9)
x = torch.randn(1024, 10)
y = (x @ torch.randn(10, 1)).tanh() + 0.1 * torch.randn(1024, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)

net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

for epoch in range(1, 9):
    total = norms = 0.0
    for i, (xb, yb) in enumerate(loader, 1):
        loss = criterion(net(xb), yb) / ACCUMULATE
        loss.backward()
        total += loss.item()
        if i % ACCUMULATE == 0:
            norms += nn.utils.clip_grad_norm_(net.parameters(), 1.0).item()
            opt.step()
            opt.zero_grad()
    steps = len(loader) // ACCUMULATE
    print(f"epoch {epoch}: loss {total / steps:.6f}, gradient norm {norms / steps:.6f}")
