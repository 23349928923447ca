# SPDX-License-Identifier: Apache-2.0
# A module with two inputs and two outputs: from two measurements a kind and an amount.
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 32)
        self.right = nn.Linear(4, 32)
        self.kind = nn.Linear(64, 3)
        self.amount = nn.Linear(64, 1)

    def forward(self, a, b):
        both = torch.cat([torch.relu(self.left(a)), torch.relu(self.right(b))], 1)
        return self.kind(both), self.amount(both)


torch.manual_seed(6)
a, b = torch.randn(600, 8), torch.randn(600, 4)
kind = (a[:, :3] + b[:, :3]).argmax(1)
amount = a[:, 3:4] * 0.5 - b[:, 3:4].abs()
loader = DataLoader(TensorDataset(a, b, kind, amount), batch_size=50, shuffle=True)

net = TwoHeads()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(1, 11):
    kinds = amounts = 0.0
    for a, b, kind, amount in loader:
        logits, guess = net(a, b)
        loss_kind = F.cross_entropy(logits, kind)
        loss_amount = F.mse_loss(guess, amount)
        opt.zero_grad()
        (loss_kind + 0.5 * loss_amount).backward()
        opt.step()
        kinds += loss_kind.item()
        amounts += loss_amount.item()
    print(f"epoch {epoch}: kind {kinds / len(loader):.6f}, amount {amounts / len(loader):.6f}")
