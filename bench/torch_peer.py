# SPDX-License-Identifier: Apache-2.0
"""Training steps of an MLP in PyTorch on request: the work of train_bench.c, and its protocol.

    torch_peer.py eager|compile|graph 784,512,512,10 64 cross_entropy [DEVICE] [tf32]

graph: each step is a replay of a CUDA graph that was captured by hand.
"""
import re
import sys
import time

import torch

POOL = 8
WARM_UP = 3  # steps before one is captured


def make_net(sizes):
    layers = []
    for i, (n_in, n_out) in enumerate(zip(sizes, sizes[1:])):
        if i > 0:
            layers.append(torch.nn.ReLU())
        layers.append(torch.nn.Linear(n_in, n_out))
    return torch.nn.Sequential(*layers)


def make_adam(parameters, captured):
    """The fastest Adam there is: fused on the CPU since 2.4, else one that works on lists."""
    parameters = list(parameters)
    for words in ({"fused": True}, {"foreach": True}, {}):
        words = {**words, "capturable": True} if captured else words
        try:
            return torch.optim.Adam(parameters, lr=1e-3, **words), words
        except (TypeError, RuntimeError, ValueError):
            continue
    raise RuntimeError("no Adam")


class Task:
    def __init__(self, variant, sizes, batch, loss, device):
        self.device = torch.device(device)
        classes = loss == "cross_entropy"
        torch.manual_seed(0)
        x = torch.rand(POOL * batch, sizes[0])
        if classes:
            y = torch.randint(0, sizes[-1], (POOL * batch,))
        else:
            y = torch.rand(POOL * batch, sizes[-1])
        self.x, self.y = x.to(self.device).split(batch), y.to(self.device).split(batch)
        torch.manual_seed(1)
        self.net = make_net(sizes).to(self.device)
        self.start = {name: value.clone() for name, value in self.net.state_dict().items()}
        self.criterion = torch.nn.CrossEntropyLoss() if classes else torch.nn.MSELoss()
        self.opt, self.adam = make_adam(self.net.parameters(), variant == "graph")
        self.loss_of = self.plain_loss
        if variant == "compile":
            self.loss_of = torch.compile(self.plain_loss)
        self.count = 0
        self.graph = None
        if variant == "graph":
            self.capture()

    def plain_loss(self, x, y):
        return self.criterion(self.net(x), y)

    def update(self, x, y):
        loss = self.loss_of(x, y)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss

    def capture(self):
        self.fixed_x, self.fixed_y = self.x[0].clone(), self.y[0].clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.update(self.fixed_x, self.fixed_y)
        torch.cuda.current_stream().wait_stream(side)
        self.opt.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.fixed_loss = self.update(self.fixed_x, self.fixed_y)
        self.reset()

    def step(self):
        i = self.count % POOL
        self.count += 1
        if not self.graph:
            return self.update(self.x[i], self.y[i])
        self.fixed_x.copy_(self.x[i])
        self.fixed_y.copy_(self.y[i])
        self.graph.replay()
        return self.fixed_loss

    def reset(self):
        """A graph reads and writes where it did: what it holds is cleared in place."""
        self.net.load_state_dict(self.start)
        if self.graph:
            for state in self.opt.state.values():
                for value in state.values():
                    value.zero_()
        else:
            self.opt.state.clear()
        self.count = 0
        return "done"

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def answer(self, word, count):
        if word == "info":
            blas = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
            return (f"PyTorch {torch.__version__}, BLAS {blas.group(1) if blas else 'unknown'}, "
                    f"Adam {self.adam}, {torch.get_num_threads()} thread(s), {self.device}")
        if word == "reset":
            return self.reset()
        if word == "losses":
            return " ".join(repr(self.step().item()) for _ in range(count))
        self.wait()
        start = time.perf_counter()
        for _ in range(count):
            self.step()
        self.wait()
        return repr(time.perf_counter() - start)


def main():
    variant, sizes, batch, loss, *more = sys.argv[1:]
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in more
    device = next((word for word in more if word != "tf32"), "cpu")
    task = Task(variant, [int(size) for size in sizes.split(",")], int(batch), loss, device)
    for request in sys.stdin:
        word, *count = request.split()
        print(task.answer(word, int(count[0]) if count else 0), flush=True)


main()
