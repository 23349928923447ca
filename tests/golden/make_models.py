#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores the start and the outputs of torchvision's networks: the family models.
scripts/golden.sh runs it."""
import sys

sys.dont_write_bytecode = True

import torch
from torchvision import models

from golden import Golden

NAMES = ["resnet18", "resnet34", "resnet50", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]
CLASSES = 10
PROSE = f"""
Each network of torchvision is made with {CLASSES} classes after manual_seed(0). Its lines are the
names and sizes of its state dict. starts has a row for each of them in order: the first and last
element, the mean and the square root of the mean square. outputs are those for x of the case
input, in evaluation mode; next is what rand(1) gives after the network was made.
"""


def start(tensor):
    flat = tensor.double().flatten()
    return torch.stack([flat[0], flat[-1], flat.mean(), flat.square().mean().sqrt()])


def main():
    golden = Golden("models", "make_models.py", PROSE)
    x = torch.sin(torch.arange(2 * 3 * 40 * 40, dtype=torch.float64)).float().reshape(2, 3, 40, 40)
    golden.case("input", [], [("x", x)])
    for name in NAMES:
        torch.manual_seed(0)
        net = getattr(models, name)(num_classes=CLASSES)
        after = torch.rand(1)
        state = net.state_dict()
        text = "\n".join(f"{key} {' '.join(map(str, value.shape))}".rstrip()
                         for key, value in state.items())
        net.eval()
        with torch.no_grad():
            golden.case(name, [("classes", CLASSES)],
                        [("starts", torch.stack([start(value) for value in state.values()])),
                         ("next", after), ("outputs", net(x))], text)
    golden.write()


if __name__ == "__main__":
    main()
