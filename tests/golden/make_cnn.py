#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores the losses of PyTorch training convolutional networks on Fashion-MNIST: the family cnn.
scripts/golden.sh runs it.

    make_cnn.py [--sensitivity | --accuracy] [directory of the data set]

With --sensitivity it writes nothing and prints how far the losses move when the sums inside the
last layer run in another order: what two correct implementations may differ by. With --accuracy it
prints what the examples are held to: the shares of the test images that are right, of the cnn after
2 epochs of 10000 images for four seeds, of resnet18 after one epoch.
"""
import math
import sys

sys.dont_write_bytecode = True

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.models import resnet18

from golden import Golden, f64
from make_mlp import load

BATCH, EPOCHS, LAST_LR = 64, 3, 0.01
PROSE = """
The data is Fashion-MNIST's training part as float32 (N, 1, 28, 28) = byte / 255, the loss
CrossEntropyLoss(), the batch 64, the optimizer Adam(lr 1e-3), whose learning rate falls in a line
to 1 % after 3 epochs of 938 steps. Each run is manual_seed(0), then the model, then a shuffling
loader without workers. In float64 runs the float32 parameters and images are converted after they
were made. losses32 and losses64 are those of the first steps.
cnn: conv(1, 32, 3, padding 1), batch norm, relu, max pool 2, conv(32, 64, 3, padding 1), batch
norm, relu, max pool 2, linear(3136, 128), relu, linear(128, 10).
resnet18: torchvision's with 10 classes, on grey images as three equal channels; uniform resnet18:
convolutions drawn anew, uniformly in +-sqrt(6 / fan_in).
"""


def make_cnn(dropout=0):
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, 10))


def make_resnet18():
    return resnet18(num_classes=10)


def make_uniform_resnet18():
    """Uniform draws have the same bits everywhere."""
    net = make_resnet18()
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.dim() == 4:
                bound = math.sqrt(6 / parameter[0].numel())
                parameter.uniform_(-bound, bound)
    return net


MODELS = [("cnn", make_cnn, 1, 20, 200), ("resnet18", make_resnet18, 3, 5, 5),
          ("uniform resnet18", make_uniform_resnet18, 3, 5, 5)]


def reversed_features(model):
    """Sums of the last layer run backwards."""
    last = model.fc if hasattr(model, "fc") else model[-1]
    last.weight.data = last.weight.data.flip(1).clone()
    last.register_forward_pre_hook(lambda _, inputs: inputs[0].flip(1))


def train(data, make, channels, dtype, steps, change=None):
    """The losses of `steps` steps."""
    torch.manual_seed(0)
    model = make()
    images, labels = data
    loader = DataLoader(TensorDataset(images.to(dtype), labels), batch_size=BATCH, shuffle=True)
    model.to(dtype)
    if change:
        change(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, LAST_LR, EPOCHS * len(loader))
    criterion = nn.CrossEntropyLoss()
    losses = []
    for x, y in loader:
        loss = criterion(model(x.expand(-1, channels, -1, -1)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if len(losses) == steps:
            return losses


def sensitivity(data):
    for name, make, channels, steps32, steps64 in MODELS:
        for dtype, steps in ((torch.float32, steps32), (torch.float64, steps64)):
            a = train(data, make, channels, dtype, steps)
            b = train(data, make, channels, dtype, steps, reversed_features)
            print("%s %s: losses %.3f .. %.3f, relative change %.2e" % (
                name, dtype, a[0], a[-1], max(abs(x - y) / abs(x) for x, y in zip(a, b))))


def accuracy(data, test, make, channels, count, epochs, seed):
    torch.manual_seed(seed)
    net = make()
    loader = DataLoader(TensorDataset(*(t[:count] for t in data)), batch_size=BATCH, shuffle=True)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, LAST_LR, epochs * len(loader))
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x.expand(-1, channels, -1, -1)), y).backward()
            optimizer.step()
            scheduler.step()
    net.eval()
    with torch.no_grad():
        guesses = torch.cat([net(x).argmax(1) for x in
                             test[0].expand(-1, channels, -1, -1).split(1000)])
    return (guesses == test[1]).float().mean().item()


def main():
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    folder = words[0] if words else "/usr/share/datasets/fashion-mnist"
    data = load(folder)
    if "--accuracy" in sys.argv:
        test = load(folder, "t10k")
        print([accuracy(data, test, lambda: make_cnn(0.25), 1, 10000, 2, seed)
               for seed in range(4)])
        return print(accuracy(data, test, make_resnet18, 3, len(data[1]), 1, 0))
    if "--sensitivity" in sys.argv:
        return sensitivity(data)
    golden = Golden("cnn", "make_cnn.py", PROSE)
    for name, make, channels, steps32, steps64 in MODELS:
        golden.case("run " + name, [],
                    [("losses32", f64(train(data, make, channels, torch.float32, steps32))),
                     ("losses64", f64(train(data, make, channels, torch.float64, steps64)))])
    golden.write()


if __name__ == "__main__":
    main()
