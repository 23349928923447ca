# SPDX-License-Identifier: Apache-2.0
"""What mlp_mnist does, in PyTorch: the other program of programs.py.

    program_torch.py DataLoader|index EPOCHS THREADS
"""
import gzip
import sys

import torch
from torch import nn

FOLDER = "/usr/share/datasets/fashion-mnist/"


def read(name, header, shape):
    with gzip.open(FOLDER + name) as file:
        data = bytearray(file.read()[header:])
    return torch.frombuffer(data, dtype=torch.uint8).reshape(shape)


def images(name):
    x = read(name + "-images-idx3-ubyte.gz", 16, (-1, 28, 28)).float() / 255
    return x, read(name + "-labels-idx1-ubyte.gz", 8, (-1,)).long()


class Batches:
    """Rows of the tensors by index."""

    def __init__(self, x, y, size, shuffle):
        self.x, self.y, self.size, self.shuffle = x, y, size, shuffle

    def __len__(self):
        return (len(self.x) + self.size - 1) // self.size

    def __iter__(self):
        order = torch.randperm(len(self.x)) if self.shuffle else torch.arange(len(self.x))
        for index in order.split(self.size):
            yield self.x[index], self.y[index]


def batches(way, x, y, size, shuffle):
    if way == "index":
        return Batches(x, y, size, shuffle)
    data = torch.utils.data.TensorDataset(x, y)
    return torch.utils.data.DataLoader(data, batch_size=size, shuffle=shuffle)


def make_adam(parameters):
    try:
        return torch.optim.Adam(parameters, lr=1e-3, fused=True)  # on the CPU since 2.4
    except (TypeError, RuntimeError):
        return torch.optim.Adam(parameters, lr=1e-3)


def accuracy(net, test):
    right = count = 0
    with torch.no_grad():
        for x, y in test:
            right += (net(x).argmax(1) == y).sum()
            count += len(x)
    return float(right) / count


def main(way, epochs, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    train = batches(way, *images("train"), 64, True)
    test = batches(way, *images("t10k"), 1000, False)
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512),
                        nn.ReLU(), nn.Linear(512, 10))
    criterion, optimizer = nn.CrossEntropyLoss(), make_adam(net.parameters())
    steps = epochs * len(train)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for epoch in range(epochs):
        for number, (x, y) in enumerate(train):
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            schedule.step()
            if epoch == number == 0:
                print(f"epoch 1/{epochs}", flush=True)
        print(f"epoch {epoch + 1}/{epochs} test accuracy {accuracy(net, test):.4f}", flush=True)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
