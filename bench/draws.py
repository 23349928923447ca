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


def draw_layers(sizes):
    torch.manual_seed(1)
    return [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]


def main():
    import numpy  # PyTorch's own peer does without

    text, batch, loss = sys.argv[1:]
    sizes = [int(size) for size in text.split(",")]
    x, y = draw_batches(sizes, int(batch), loss)
    arrays = {"x": x.reshape(POOL, int(batch), -1), "y": y.reshape(POOL, int(batch), *y.shape[1:])}
    for i, layer in enumerate(draw_layers(sizes)):
        arrays[f"weight{i}"], arrays[f"bias{i}"] = layer.weight.detach(), layer.bias.detach()
    file = io.BytesIO()
    numpy.savez(file, **{name: array.numpy() for name, array in arrays.items()})
    sys.stdout.buffer.write(file.getvalue())


if __name__ == "__main__":
    main()
