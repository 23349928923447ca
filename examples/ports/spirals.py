# SPDX-License-Identifier: Apache-2.0
# Tells the arms of a spiral apart; stops when the validation loss does not fall any more, and goes
# back to the best weights.
import copy
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PATIENCE = 5


def spirals(count):
    """Points (count, 2) on three arms, and the arm of each."""
    radius = torch.rand(count)
    arm = torch.randint(0, 3, (count,))
    angle = 5 * radius + arm * (2 * math.pi / 3) + 0.4 * torch.randn(count)
    return torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 1), arm


torch.manual_seed(1)
x, y = spirals(600)
x_valid, y_valid = spirals(300)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)

net = nn.Sequential(nn.Linear(2, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 3))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-2)

best, best_epoch, best_state = math.inf, 0, None
for epoch in range(1, 101):
    net.train()
    total = 0.0
    for xb, yb in loader:
        loss = criterion(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    net.eval()
    with torch.no_grad():
        valid = criterion(net(x_valid), y_valid).item()
    print(f"epoch {epoch}: train {total / len(x):.6f}, validation {valid:.6f}")
    if valid < best:
        best, best_epoch, best_state = valid, epoch, copy.deepcopy(net.state_dict())
    elif epoch - best_epoch == PATIENCE:
        break

net.load_state_dict(best_state)
with torch.no_grad():
    logits = net(x_valid)
    correct = (logits.argmax(1) == y_valid).sum().item()
print(f"best epoch {best_epoch}: validation {criterion(logits, y_valid):.6f}, {correct} of 300")
