#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""large_batches.py PROGRAM [DATA]: mlp_mnist with Rprop and LBFGS, which want large batches, gets
as many test images right as PyTorch with the same weights at first and the same batches.
scripts/large_batches.sh runs it. Ends with 0, or 1 where two differ by more than 0.005."""
import gzip
import re
import subprocess
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, MOST = 3, 0.005
PROGRAM = sys.argv[1]
DATA = sys.argv[2] if len(sys.argv) > 2 else "/usr/share/datasets/fashion-mnist"

# As examples/common/optimizers.c makes them.
KINDS = {
    "rprop": lambda p: torch.optim.Rprop(p, lr=1e-3, step_sizes=(1e-6, 1e-2)),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=1, max_iter=10, history_size=10,
                                         line_search_fn="strong_wolfe"),
}
RUNS = [("rprop", 10000), ("rprop", 1000), ("lbfgs", 10000)]


def read(name, header, shape):
    with gzip.open(f"{DATA}/{name}-ubyte.gz") as file:
        return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8).reshape(shape)


def images(name):
    return TensorDataset(read(name + "-images-idx3", 16, (-1, 1, 28, 28)).float() / 255,
                         read(name + "-labels-idx1", 8, (-1,)).long())


def accuracy(net, test):
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum() for x, y in test)
    return float(right) / len(test.dataset)


def in_torch(name, batch):
    """The rate falls in a line, as that of the program."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512),
                        nn.ReLU(), nn.Linear(512, 10))
    train = DataLoader(images("train"), batch_size=batch, shuffle=True)
    test = DataLoader(images("t10k"), batch_size=1000)
    criterion, optimizer = nn.CrossEntropyLoss(), KINDS[name](net.parameters())
    rate, done = optimizer.param_groups[0]["lr"], 0
    for _ in range(EPOCHS):
        for x, y in train:
            def closure():
                optimizer.zero_grad()
                loss = criterion(net(x), y)
                loss.backward()
                return loss
            optimizer.param_groups[0]["lr"] = rate * (1 - done / (EPOCHS * len(train)))
            optimizer.step(closure)
            done += 1
        right = accuracy(net, test)
    return right


def in_tern(name, batch):
    done = subprocess.run([PROGRAM, "--quiet", "--data", DATA, "--device", "cpu", "--epochs",
                           str(EPOCHS), "--optimizer", name, "--batch-size", str(batch)],
                          capture_output=True, text=True)
    found = re.match(r"test_accuracy=(0\.\d+) ", done.stdout)
    if done.returncode or not found:
        sys.exit(f"FAILED: {done.stdout}{done.stderr}")
    return float(found[1])


def timed(run, *words):
    begun = time.perf_counter()
    return run(*words), time.perf_counter() - begun


def main():
    differ = False
    for words in RUNS:
        (own, seconds), (other, longer) = timed(in_tern, *words), timed(in_torch, *words)
        print(f"{words[0]}, batches of {words[1]}: {own:.4f} in {seconds:.0f} s; "
              f"PyTorch {torch.__version__}: {other:.4f} in {longer:.0f} s", flush=True)
        differ |= abs(own - other) > MOST
    if differ:
        sys.exit(f"FAILED: they differ by more than {MOST}")


main()
