# SPDX-License-Identifier: Apache-2.0
# A network whose first half is on one device and whose second half is on another one.
import torch
from torch import nn

gpus = torch.cuda.device_count() > 1
FIRST, SECOND = ("cuda:0", "cuda:1") if gpus else ("cpu", "cpu")


class SplitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Linear(16, 64), nn.ReLU()).to(FIRST)
        self.back = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)).to(SECOND)

    def forward(self, x):
        return self.back(self.front(x.to(FIRST)).to(SECOND))


torch.manual_seed(4)
x = torch.randn(512, 16)
y = (x @ torch.randn(16, 4)).argmax(1)

net = SplitNet()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(1, 11):
    total = 0.0
    for xb, yb in zip(x.split(64), y.split(64)):
        loss = criterion(net(xb), yb.to(SECOND))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / 8:.6f}")
