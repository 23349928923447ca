# SPDX-License-Identifier: Apache-2.0
# Predicts ratings: a vector for each user and item, whose product is the rating.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

USERS, ITEMS, RANK = 100, 60, 4


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, RANK)
        self.item = nn.Embedding(ITEMS, RANK)
        self.bias = nn.Parameter(torch.zeros(ITEMS))

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(1) + self.bias[item]


torch.manual_seed(10)
user, item = torch.randint(0, USERS, (4000,)), torch.randint(0, ITEMS, (4000,))
truth = torch.randn(USERS, 2) @ torch.randn(2, ITEMS)
rating = truth[user, item] + 0.1 * torch.randn(4000)
loader = DataLoader(TensorDataset(user, item, rating), batch_size=100, shuffle=True)

net = Factors()
opt = torch.optim.Adam(net.parameters(), lr=2e-2)

for epoch in range(1, 13):
    total = 0.0
    for user, item, rating in loader:
        loss = nn.functional.mse_loss(net(user, item), rating)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(loader):.6f}")
