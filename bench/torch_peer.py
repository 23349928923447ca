# SPDX-License-Identifier: Apache-2.0
"""Training steps of an MLP in PyTorch on request: the work of train_bench.c, and its protocol.

    torch_peer.py eager|compile 784,512,512,10 64 cross_entropy
"""
import re
import sys
import time

import torch

POOL = 8


def make_net(sizes):
    layers = []
    for i, (n_in, n_out) in enumerate(zip(sizes, sizes[1:])):
        if i > 0:
            layers.append(torch.nn.ReLU())
        layers.append(torch.nn.Linear(n_in, n_out))
    return torch.nn.Sequential(*layers)


def make_adam(parameters):
    """The fastest Adam there is: fused on the CPU since 2.4, else one that works on lists."""
    parameters = list(parameters)
    for words in ({"fused": True}, {"foreach": True}, {}):
        try:
            return torch.optim.Adam(parameters, lr=1e-3, **words), words
        except (TypeError, RuntimeError, ValueError):
            continue
    raise RuntimeError("no Adam")


class Task:
    def __init__(self, variant, sizes, batch, loss):
        classes = loss == "cross_entropy"
        torch.manual_seed(0)
        x = torch.rand(POOL * batch, sizes[0])
        if classes:
            y = torch.randint(0, sizes[-1], (POOL * batch,))
        else:
            y = torch.rand(POOL * batch, sizes[-1])
        self.x, self.y = x.split(batch), y.split(batch)
        torch.manual_seed(1)
        self.net = make_net(sizes)
        self.start = {name: value.clone() for name, value in self.net.state_dict().items()}
        self.criterion = torch.nn.CrossEntropyLoss() if classes else torch.nn.MSELoss()
        self.opt, self.adam = make_adam(self.net.parameters())
        self.loss_of = self.plain_loss
        if variant == "compile":
            self.loss_of = torch.compile(self.plain_loss)
        self.count = 0

    def plain_loss(self, x, y):
        return self.criterion(self.net(x), y)

    def step(self):
        i = self.count % POOL
        self.count += 1
        loss = self.loss_of(self.x[i], self.y[i])
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss

    def reset(self):
        self.net.load_state_dict(self.start)
        self.opt.state.clear()
        self.count = 0
        return "done"

    def answer(self, word, count):
        if word == "info":
            blas = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
            return (f"PyTorch {torch.__version__}, BLAS {blas.group(1) if blas else 'unknown'}, "
                    f"Adam {self.adam}, {torch.get_num_threads()} thread(s)")
        if word == "reset":
            return self.reset()
        if word == "losses":
            return " ".join(repr(self.step().item()) for _ in range(count))
        start = time.perf_counter()
        for _ in range(count):
            self.step()
        return repr(time.perf_counter() - start)


def main():
    variant, sizes, batch, loss = sys.argv[1:]
    task = Task(variant, [int(size) for size in sizes.split(",")], int(batch), loss)
    for request in sys.stdin:
        word, *count = request.split()
        print(task.answer(word, int(count[0]) if count else 0), flush=True)


main()
