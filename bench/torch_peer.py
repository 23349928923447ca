# SPDX-License-Identifier: Apache-2.0
"""Training steps of an MLP in PyTorch on request: the work of train_bench.c, and its protocol.

    torch_peer.py VARIANT 784,512,512,10 64 cross_entropy [DEVICE] [adam|adamw] [tf32]

eager: as most scripts run it. compile: forward, loss and backward compiled, without CUDA graphs.
reduce-overhead: those and the optimizer compiled, each replayed as a CUDA graph of PyTorch's own
making. graph: the whole step captured by hand and replayed. graph-compile: that with the body of
compile, the most that PyTorch offers. The last two take a CUDA device.
"""
import re
import sys
import time

import torch

from draws import POOL, draw_batches, make_net
from serve import serve, sort_words

COMPILED = ("compile", "reduce-overhead", "graph-compile")
CAPTURED = ("graph", "graph-compile")
WARM_UP = 3  # steps before one is captured
COARSE = 1 + 2**-12  # TF32 makes it 1


def compiler(variant):
    """What turns a function into the variant's."""
    if variant not in COMPILED:
        return lambda function: function
    if not hasattr(torch, "compile"):
        raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile")
    from torch import _inductor

    mode = "reduce-overhead" if variant == "reduce-overhead" else "max-autotune-no-cudagraphs"
    if mode not in _inductor.list_mode_options():  # before 2.1
        mode = "default"
    return lambda function: torch.compile(function, mode=mode)


def make_adam(parameters, variant, device, optimizer):
    """The fastest Adam there is: fused (on the CPU since 2.4), else one that works on lists."""
    adam = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[optimizer]
    kinds = [{"fused": True}, {"foreach": True}, {}]
    if variant == "reduce-overhead":
        del kinds[0]  # torch.compile leaves a fused one out of its graph
    for words in kinds:
        if device.type == "cuda" and variant in (*CAPTURED, "reduce-overhead"):
            words["capturable"] = True
        try:
            return adam(parameters, lr=1e-3, **words), words
        except (TypeError, RuntimeError, ValueError):
            continue
    raise RuntimeError("no Adam")


class Task:
    def __init__(self, variant, sizes, batch, loss, device, optimizer):
        self.variant, self.device = variant, torch.device(device)
        if variant in CAPTURED and self.device.type != "cuda":
            raise ValueError(f"{variant} takes a CUDA device")
        x, y = draw_batches(sizes, batch, loss)
        self.x, self.y = x.to(self.device).split(batch), y.to(self.device).split(batch)
        self.net = make_net(sizes).to(self.device)
        self.start = {name: value.clone() for name, value in self.net.state_dict().items()}
        mean = torch.nn.CrossEntropyLoss if loss == "cross_entropy" else torch.nn.MSELoss
        self.criterion = mean()
        self.compiled = compiler(variant)
        self.loss_of = self.compiled(lambda x, y: self.criterion(self.net(x), y))
        self.make_optimizer(optimizer)
        self.count = 0
        self.graph = None

    def make_optimizer(self, optimizer):
        parameters = list(self.net.parameters())
        self.opt, self.adam = make_adam(parameters, self.variant, self.device, optimizer)
        self.change_weights = self.opt.step
        if self.variant == "reduce-overhead":
            self.change_weights = self.compiled(lambda: self.opt.step())

    def update(self, x, y):
        self.opt.zero_grad(set_to_none=True)
        if self.variant == "reduce-overhead":
            torch.compiler.cudagraph_mark_step_begin()
        loss = self.loss_of(x, y)
        loss.backward()
        self.change_weights()
        return loss

    def capture(self):
        """What a step allocates and compiles once is there before one is captured."""
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
            self.fixed_loss = self.update(self.fixed_x, self.fixed_y).detach()
        self.reset()

    def step(self):
        if self.variant in CAPTURED and not self.graph:
            self.capture()
        i = self.count % POOL
        self.count += 1
        if not self.graph:
            return self.update(self.x[i], self.y[i])
        self.fixed_x.copy_(self.x[i])
        self.fixed_y.copy_(self.y[i])
        self.graph.replay()
        return self.fixed_loss

    def reset(self):
        """In place: a graph reads and writes where it did."""
        self.net.load_state_dict(self.start)
        for state in self.opt.state.values():
            for value in state.values():
                value.zero_()
        self.count = 0
        return "done"

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def run(self, count):
        self.wait()
        start = time.perf_counter()
        for _ in range(count):
            self.step()
        self.wait()
        return time.perf_counter() - start

    def probe(self):
        a = torch.full((64, 64), COARSE, device=self.device)
        product = self.compiled(lambda a, b: a @ b)(a, torch.eye(64, device=self.device))
        return product[0, 0].item() - 1

    def info(self):
        blas = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
        return (f"PyTorch {torch.__version__}, BLAS {blas.group(1) if blas else 'unknown'}, "
                f"Adam {self.adam}, {torch.get_num_threads()} thread(s), {self.device}"
                + self.skipped_graphs())

    def skipped_graphs(self):
        """reduce-overhead goes on without graphs where it can have none."""
        if self.variant != "reduce-overhead":
            return ""
        from torch._dynamo.utils import counters

        skips = counters["inductor"]["cudagraph_skips"]
        return f", {skips} parts without a CUDA graph" if skips else ""

    def answer(self, word, count):
        if word == "losses":
            return " ".join(repr(self.step().item()) for _ in range(count))
        if word == "run":
            return repr(self.run(count))
        return {"info": self.info, "reset": self.reset, "probe": self.probe,
                "versions": versions}[word]()


def versions():
    return (f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
            f"cuDNN {torch.backends.cudnn.version()}")


def make_task(sizes, batch, loss, more):
    device, optimizer, tf32 = sort_words(more)
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    return Task(sys.argv[1], sizes, batch, loss, device, optimizer)


serve(make_task, sys.argv[2:])
