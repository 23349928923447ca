# SPDX-License-Identifier: Apache-2.0
# Trains on Fashion-MNIST's test images, which are flipped, shifted and made noisy at random.
# Usage: augmentation.py [FOLDER with the files of Fashion-MNIST]
import gzip
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"


def read(name, header):
    with gzip.open(f"{FOLDER}/{name}.gz") as file:
        return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)


def augment(x):
    """Flips each image (N, 1, 28, 28) or not, shifts all by up to 2 pixels, adds noise."""
    flip = torch.rand(len(x), 1, 1, 1) < 0.5
    x = torch.where(flip, x.flip(3), x)
    down, right = torch.randint(0, 5, (2,)).tolist()
    x = F.pad(x, (2, 2, 2, 2))[:, :, down:down + 28, right:right + 28]
    return x + 0.1 * torch.randn_like(x)


torch.manual_seed(7)
images = read("t10k-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28) / 255
labels = read("t10k-labels-idx1-ubyte", 8).long()
loader = DataLoader(TensorDataset(images, labels), batch_size=100, shuffle=True)

net = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.GELU(), nn.Conv2d(8, 16, 3, stride=2),
                    nn.GELU(), nn.Flatten(), nn.Linear(16 * 6 * 6, 10))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

total = 0.0
for step, (x, y) in enumerate(loader, 1):
    loss = criterion(net(augment(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    if step % 10 == 0:
        print(f"step {step}: loss {total / 10:.6f}")
        total = 0.0
