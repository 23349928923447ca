#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of main.c with PyTorch and saves what main.c reads.

train.py [FOLDER with the four files of Fashion-MNIST]: writes, beside itself, weights.pt, the state
dict, and expected.pt, what PyTorch makes of the test images: the outputs for the first 100 of them,
and how many of all it gets right.
"""
import gzip
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).parent
EPOCHS, BATCH = 15, 128


def read(folder, name, header):
    data = gzip.decompress((folder / f'{name}-ubyte.gz').read_bytes())
    return torch.from_numpy(np.frombuffer(data, np.uint8, offset=header).copy())


def load(folder, part):
    images = read(folder, f'{part}-images-idx3', 16).reshape(-1, 1, 28, 28).float() / 255
    return images, read(folder, f'{part}-labels-idx1', 8).long()


def train(net, x, y):
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    steps = EPOCHS * -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    for epoch in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.cross_entropy(net(x[batch]), y[batch], label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f'epoch {epoch + 1}: loss {loss.item():.4f}', flush=True)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else '/usr/share/datasets/fashion-mnist')
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(),
                        nn.Linear(32, 10))
    train(net, *load(folder, 'train'))
    x, y = load(folder, 't10k')
    with torch.no_grad():
        outputs = net(x)
    correct = (outputs.argmax(1) == y).sum().item()
    # The two best outputs of an image are further apart than rounding can move them.
    best = outputs.topk(2, 1).values
    print(f'{correct} of {len(x)} are right; the closest two outputs differ by '
          f'{(best[:, 0] - best[:, 1]).min().item():.1e}')
    torch.save(net.state_dict(), HERE / 'weights.pt')
    torch.save({'outputs': outputs[:100].clone(), 'correct': correct}, HERE / 'expected.pt')


if __name__ == '__main__':
    main()
