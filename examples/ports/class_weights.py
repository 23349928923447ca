# SPDX-License-Identifier: Apache-2.0
# Three kinds, one of them rare: the loss weighs each kind by how seldom it is.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(5)
share = torch.tensor([0.8, 0.18, 0.02])
center = torch.tensor([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
draw = torch.rand(1000)
y = (draw > 0.8).long() + (draw > 0.98).long()
x = center[y] + 0.6 * torch.randn(1000, 2)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)

net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss(weight=1 / (3 * share))
net.to(device)
criterion.to(device)  # its weight is a buffer: it moves too
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

for epoch in range(1, 11):
    total = 0.0
    for xb, yb in loader:
        loss = criterion(net(xb.to(device)), yb.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(loader):.6f}")

with torch.no_grad():
    guess = net(x.to(device)).argmax(1).cpu()
for kind in range(3):
    is_kind = y == kind
    found = is_kind & (guess == kind)
    print(f"kind {kind}: {found.sum()} of {is_kind.sum()} found")
