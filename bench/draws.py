# SPDX-License-Identifier: Apache-2.0
"""Data and weights of train_bench.c, which are PyTorch's draws.

    draws.py 784,512,512,10 64 cross_entropy    as .npz to stdout, for a peer that is not PyTorch
"""
import io
import sys

import torch

from serve import CNN

POOL = 8  # batches that take turns


def draw_batches(sizes, batch, loss):
    torch.manual_seed(0)
    if sizes == CNN:
        x = torch.rand(POOL * batch, 784)
        return x.reshape(-1, 1, 28, 28), torch.randint(0, 10, (POOL * batch,))
    x = torch.rand(POOL * batch, sizes[0])
    if loss == "cross_entropy":
        return x, torch.randint(0, sizes[-1], (POOL * batch,))
    return x, torch.rand(POOL * batch, sizes[-1])


def make_net(sizes):
    torch.manual_seed(1)
    nn = torch.nn
    if sizes == CNN:
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Dropout(0), nn.Linear(128, 10))
    layers = []
    for layer in [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]:
        layers += [nn.ReLU(), layer] if layers else [layer]
    return nn.Sequential(*layers)


def main():
    import numpy  # PyTorch's own peer does without

    sizes, batch, loss = sys.argv[1:]
    if sizes != CNN:
        sizes = [int(size) for size in sizes.split(",")]
    x, y = draw_batches(sizes, int(batch), loss)
    arrays = {name: array.reshape(POOL, int(batch), *array.shape[1:])
              for name, array in (("x", x), ("y", y))}
    arrays.update((name, value.detach()) for name, value in make_net(sizes).named_parameters())
    file = io.BytesIO()
    numpy.savez(file, **{name: array.numpy() for name, array in arrays.items()})
    sys.stdout.buffer.write(file.getvalue())


if __name__ == "__main__":
    main()
