# SPDX-License-Identifier: Apache-2.0
# Squeezes images of a spot through two numbers, and draws new ones from such numbers.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 16


def spots(count):
    """Images (count, SIZE * SIZE), each with a bright spot somewhere."""
    center = 3 + (SIZE - 7) * torch.rand(count, 2, 1, 1)
    row = torch.arange(SIZE).reshape(1, SIZE, 1)
    column = torch.arange(SIZE).reshape(1, 1, SIZE)
    distance = (row - center[:, 0]) ** 2 + (column - center[:, 1]) ** 2
    return torch.exp(-distance / 8).flatten(1)


torch.manual_seed(2)
images = spots(1000)
loader = DataLoader(TensorDataset(images), batch_size=50, shuffle=True)

encoder = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.ReLU(), nn.Linear(64, 2))
decoder = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, SIZE * SIZE), nn.Sigmoid())
net = nn.Sequential(encoder, decoder)
criterion = nn.MSELoss()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(1, 11):
    total = 0.0
    for (x,) in loader:
        loss = criterion(net(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    print(f"epoch {epoch}: loss {total / len(images):.6f}")

with torch.no_grad():
    code = encoder(images[:2])
    middle = decoder(code.mean(0))
print(f"code {code[0, 0]:.6f} {code[0, 1]:.6f}, brightest between two: {middle.max():.6f}")
