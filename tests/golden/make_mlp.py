#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch computes when it trains an MLP on Fashion-MNIST, and a 4-8-3 net with every
optimizer: the families mlp and small. scripts/golden.sh runs it.

    make_mlp.py [--sensitivity] [directory of the data set]

With --sensitivity it writes nothing and prints how far the losses move when the sums inside the
first layer run in another order: what two correct implementations may differ by.
"""
import gzip
import os
import sys

sys.dont_write_bytecode = True

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from golden import Golden, f64, fnv1a, make_optimizer, optimizer_words

STEPS32, STEPS64 = 20, 200
BATCH = 64
OPTIMIZERS = [
    ("sgd", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)),
    ("adam", lambda p: torch.optim.Adam(p, lr=1e-3)),
    ("adam_amsgrad", lambda p: torch.optim.Adam(p, lr=1e-3, weight_decay=1e-4, amsgrad=True)),
    ("adamw", lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01)),
]
MLP_PROSE = """
The model is Sequential(Flatten, Linear(784, 512), ReLU, Linear(512, 512), ReLU, Linear(512, 10)),
the data Fashion-MNIST's training part as float32 (N, 1, 28, 28) = byte / 255, the loss
CrossEntropyLoss() and the batch 64. Each run is manual_seed(0), then the model, then a shuffling
loader without workers, then the optimizer. In float64 runs the float32 parameters and images are
converted after they were made.
A hash is 64-bit FNV-1a over the little-endian bytes of the values.
parameter: the shape, the hash of all bits, the first and the last 4 elements.
order: sample numbers as the loader gives them, right after the model was made: the hashes of epochs
1 and 2 as int64, and the first 256 of epoch 1.
gradients of the first step: the L2 norm and the sum, added up in double; places in the flattened
tensor, and what is there.
run: sgd: SGD(lr 0.05, momentum 0.9, nesterov, weight_decay 1e-4); adam: Adam(lr 1e-3);
adam_amsgrad: Adam(lr 1e-3, weight_decay 1e-4, amsgrad); adamw: AdamW(lr 1e-3, weight_decay 0.01).
"""
SMALL_PROSE = """
The net is Sequential(Linear(4, 8), ReLU, Linear(8, 3)) after manual_seed(0), then x = randn(6, 4),
all converted to float64: one batch, 30 steps of forward, zero_grad, backward, clipping, step; the
loss is CrossEntropyLoss(label_smoothing=0.1). Parameters are stored one after another in the order
of parameters().
inputs: x and the 67 first parameters, in float32; the targets without and with `weighted`; the
class weights with `weighted`.
options: the names of the optimizer's numbers, each of which has a value for each group; of 2 groups
the first has the parameters of layer 0, the second of layer 2. skips: at every third step the first
bias has no gradient. norms: what clipping by norm returned; final: the parameters at the end.
AdamWScheduleFree: eval() and train() after every tenth step, final is after eval().
"""


def load(directory, part="train"):
    """Images float32 (N, 1, 28, 28) in [0, 1] and labels int64 (N)."""
    with gzip.open(os.path.join(directory, part + "-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(directory, part + "-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    return torch.from_numpy(images.copy()).float().div(255), torch.from_numpy(labels)


def make_model():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512),
                         nn.ReLU(), nn.Linear(512, 10))


def train(data, make_optimizer, dtype, steps, pixels=None):
    """The losses of `steps` steps, and the gradients of the first. `pixels` reorders the inputs."""
    torch.manual_seed(0)
    model = make_model()
    images, labels = data
    loader = DataLoader(TensorDataset(images.to(dtype), labels), batch_size=BATCH, shuffle=True)
    model.to(dtype)
    if pixels is not None:
        model[1].weight.data = model[1].weight.data[:, pixels].clone()
    optimizer = make_optimizer(model.parameters())
    criterion = nn.CrossEntropyLoss()
    losses, grads = [], None
    for x, y in loader:
        loss = criterion(model(x if pixels is None else x.flatten(1)[:, pixels]), y)
        optimizer.zero_grad()
        loss.backward()
        if grads is None:
            grads = {name: p.grad.clone() for name, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
        if len(losses) == steps:
            return losses, grads


def sensitivity(data):
    pixels = torch.randperm(784, generator=torch.Generator().manual_seed(1))
    for name, make in OPTIMIZERS:
        for dtype, steps in ((torch.float32, STEPS32), (torch.float64, STEPS64)):
            a, grads_a = train(data, make, dtype, steps)
            b, grads_b = train(data, make, dtype, steps, pixels)
            sums = [abs((g.double().sum() - grads_b[n].double().sum()).item())
                    for n, g in grads_a.items()]
            print("%s %s: losses %.3f .. %.3f, relative change %.2e, of sums of gradients %.2e" %
                  (name, dtype, a[0], a[-1], max(abs(x - y) / abs(x) for x, y in zip(a, b)),
                   max(sums)))


def initial_weights(golden):
    torch.manual_seed(0)
    for name, p in make_model().named_parameters():
        flat = p.detach().flatten()
        bits = fnv1a(flat.numpy().astype("<f4").tobytes())
        golden.case("parameter " + name, [("name", name), ("shape", list(p.shape)),
                                          ("hash", f"0x{bits:016x}")],
                    [("first", flat[:4]), ("last", flat[-4:])])


def order(golden, count):
    """The shuffle order of epochs 1 and 2, right after the model was made."""
    torch.manual_seed(0)
    make_model()
    loader = DataLoader(TensorDataset(torch.arange(count)), batch_size=BATCH, shuffle=True)
    epochs = [torch.cat([batch[0] for batch in loader]) for _ in range(2)]
    hashes = [fnv1a(e.numpy().astype("<i8").tobytes()) for e in epochs]
    golden.case("order", [(f"hash{i}", f"0x{h:016x}") for i, h in enumerate(hashes)],
                [("first", epochs[0][:256])])


def gradients(golden, grads, dtype):
    for name, g in grads.items():
        flat = g.flatten()
        at = torch.tensor([(k * 2654435761 + 12345) % flat.numel() for k in range(16)])
        wide = flat.double()
        golden.case(f"gradients {dtype} {name}",
                    [("dtype", dtype), ("name", name), ("norm", wide.norm().item()),
                     ("sum", wide.sum().item())], [("at", at), ("value", wide[at])])


def mlp(data):
    golden = Golden("mlp", "make_mlp.py", MLP_PROSE)
    initial_weights(golden)
    order(golden, len(data[1]))
    for index, (name, make) in enumerate(OPTIMIZERS):
        losses32, grads32 = train(data, make, torch.float32, STEPS32)
        losses64, grads64 = train(data, make, torch.float64, STEPS64)
        if index == 0:
            gradients(golden, grads32, "float32")
            gradients(golden, grads64, "float64")
        golden.case("run " + name, [("optimizer", name)],
                    [("losses32", f64(losses32)), ("losses64", f64(losses64))])
    golden.write()


SMALL_OPTIMIZERS = [
    ("SGD", dict(lr=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9)),
    ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.01)),
    ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
    ("Adam", dict(lr=0.01)),
    ("Adam", dict(lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.05)),
    ("Adam", dict(lr=0.05, weight_decay=0.01, amsgrad=True)),
    ("AdamW", dict(lr=0.01)),
    ("AdamW", dict(lr=0.05, weight_decay=0.1, amsgrad=True)),
    ("RMSprop", dict(lr=0.01)),
    ("RMSprop", dict(lr=0.01, momentum=0.9, weight_decay=0.01)),
    ("RMSprop", dict(lr=0.01, alpha=0.4, centered=True, eps=1e-3)),
    ("RMSprop", dict(lr=0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.02)),
    ("Adagrad", dict(lr=0.05)),
    ("Adagrad", dict(lr=0.02, eps=1e-3, maximize=True)),
    ("Adagrad", dict(lr=0.05, lr_decay=0.1, weight_decay=0.01, initial_accumulator_value=0.1)),
    ("Adadelta", dict()),
    ("Adadelta", dict(lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.01)),
    ("Adadelta", dict(lr=0.1, rho=1.0, maximize=True)),
    ("Adamax", dict()),
    ("Adamax", dict(lr=0.05, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.05)),
    ("Adamax", dict(lr=0.005, maximize=True)),
    ("Lion", dict(lr=0.003)),
    ("Lion", dict(lr=0.01, betas=(0.5, 0.75), weight_decay=0.1)),
    ("Lion", dict(lr=0.001, maximize=True)),
    ("RAdam", dict(lr=0.01)),
    ("RAdam", dict(lr=0.05, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.05)),
    ("RAdam", dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)),
    ("RAdam", dict(lr=0.01, betas=(0.9, 0.5), maximize=True)),
    ("Rprop", dict()),
    ("Rprop", dict(lr=0.02, etas=(0.25, 1.5), step_sizes=(0.002, 0.03))),
    ("Rprop", dict(lr=0.001, maximize=True)),
    ("NAdam", dict(lr=0.01)),
    ("NAdam", dict(lr=0.01, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.05)),
    ("NAdam", dict(lr=0.05, weight_decay=0.1, momentum_decay=0.5, decoupled_weight_decay=True)),
    ("NAdam", dict(lr=0.01, maximize=True)),
    ("ASGD", dict(lr=0.1)),
    ("ASGD", dict(lr=0.1, lambd=0.05, alpha=0.5, t0=3, weight_decay=0.01)),
    ("ASGD", dict(lr=0.02, maximize=True)),
    ("AdamWScheduleFree", dict(lr=0.01)),
    ("AdamWScheduleFree", dict(lr=0.05, betas=(0.4, 0.95), eps=1e-3, weight_decay=0.05)),
    ("AdamWScheduleFree", dict(lr=0.02, warmup_steps=7, r=1.0, weight_lr_power=1.0)),
    ("Muon", dict(lr=0.02)),
    ("Muon", dict(lr=0.01, momentum=0.5, nesterov=False, weight_decay=0.3, adjust_lr_fn=1)),
    ("Muon", dict(lr=0.02, ns_coefficients=(3.0, -3.5, 1.5), ns_steps=2, eps=0.5, adjust_lr_fn=2,
                  rest_lr=0.02, rest_betas=(0.4, 0.95), rest_eps=1e-3)),
    ("Adafactor", dict()),
    ("Adafactor", dict(lr=0.5, beta2_decay=-0.4, eps=(1e-3, 0.1), d=2.0, weight_decay=0.05)),
    ("Adafactor", dict(lr=0.01, maximize=True)),
]
SMALL_GROUPS = [
    ("SGD", dict(lr=0.1, momentum=0.9), dict(lr=0.02, weight_decay=0.1)),
    ("Adam", dict(lr=0.01), dict(lr=0.05, weight_decay=0.1)),
    ("AdamW", dict(lr=0.01), dict(lr=0.05, weight_decay=0.0)),
    ("RMSprop", dict(lr=0.01), dict(lr=0.02, weight_decay=0.1)),
    ("Adagrad", dict(lr=0.05), dict(lr=0.1, weight_decay=0.1)),
    ("Adadelta", dict(lr=1.0), dict(lr=0.5, weight_decay=0.1)),
    ("Adamax", dict(lr=0.01), dict(lr=0.05, weight_decay=0.1)),
    ("Lion", dict(lr=0.003), dict(lr=0.01, weight_decay=0.1)),
    ("RAdam", dict(lr=0.01), dict(lr=0.05, weight_decay=0.1)),
    ("Rprop", dict(lr=0.01), dict(lr=0.02, etas=(0.25, 1.5))),
    ("NAdam", dict(lr=0.01), dict(lr=0.05, momentum_decay=0.5)),
    ("ASGD", dict(lr=0.1), dict(lr=0.02, t0=3, lambd=0.05)),
    ("AdamWScheduleFree", dict(lr=0.01), dict(lr=0.05, betas=(0.5, 0.9), warmup_steps=3)),
    ("Muon", dict(lr=0.01), dict(lr=0.02, momentum=0.5, rest_lr=0.01)),
    ("Adafactor", dict(lr=0.1), dict(lr=0.05, weight_decay=0.1, d=1.5)),
]
SMALL_SKIPS = [
    ("SGD", dict(lr=0.1, momentum=0.9)), ("Adam", dict(lr=0.01)), ("Adadelta", dict()),
    ("Adamax", dict(lr=0.01)), ("Lion", dict(lr=0.003)), ("RAdam", dict(lr=0.01)),
    ("Rprop", dict()), ("NAdam", dict(lr=0.01)), ("ASGD", dict(lr=0.1, t0=3, lambd=0.05)),
    ("AdamWScheduleFree", dict(lr=0.01)), ("Muon", dict(lr=0.02)), ("Adafactor", dict(lr=0.1)),
    ("AdamW", dict(lr=0.01)), ("RMSprop", dict(lr=0.01, momentum=0.5, centered=True)),
    ("Adagrad", dict(lr=0.05, lr_decay=0.1)),
]
SMALL_CLIPS = [("norm", 1.0, 2.0), ("norm", 0.1, 2.0), ("norm", 0.1, 1.0),
               ("norm", 0.1, float("inf")), ("value", 0.1, 0.0)]
WEIGHT = [0.5, 1.0, 2.0]
TARGETS = [[0, 1, 2, 0, 1, 2], [0, 1, -100, 0, 1, 2]]


def small_net():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    return net, torch.randn(6, 4)


def parameters_of(net):
    return torch.cat([p.detach().flatten() for p in net.parameters()]).tolist()


def small_run(kind, options, second, clip, weighted, skips):
    """One run of 30 steps: (optimizer, losses, norms before clipping, final parameters)."""
    net, x = small_net()
    net.double()
    x = x.double()
    groups = [dict(params=list(net.parameters()))]
    if second:
        groups = [dict(params=list(net[0].parameters())),
                  dict(params=list(net[2].parameters()), **second)]
    optimizer = make_optimizer(kind, groups, **options)
    weight = torch.tensor(WEIGHT, dtype=torch.float64) if weighted else None
    criterion = nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1)
    target = torch.tensor(TARGETS[weighted])
    losses, norms = [], []
    for step in range(30):
        loss = criterion(net(x), target)
        optimizer.zero_grad()
        loss.backward()
        if clip[0] == "norm":
            norms.append(nn.utils.clip_grad_norm_(net.parameters(), clip[1], clip[2]).item())
        elif clip[0] == "value":
            nn.utils.clip_grad_value_(net.parameters(), clip[1])
        if skips and step % 3 == 2:
            net[0].bias.grad = None
        optimizer.step()
        losses.append(loss.item())
        if kind == "AdamWScheduleFree" and step % 10 == 9:
            optimizer.eval()
            final = parameters_of(net)
            optimizer.train()
    if kind != "AdamWScheduleFree":
        final = parameters_of(net)
    return optimizer, losses, norms, final


def small_case(golden, kind, options, second=None, clip=("none", 0.0, 0.0), weighted=False,
               skips=False):
    optimizer, losses, norms, final = small_run(kind, options, second, clip, weighted, skips)
    name = " ".join([kind] + ["%s=%s" % item for item in options.items()])
    name += "; second group " + " ".join("%s=%s" % i for i in second.items()) if second else ""
    name += "; clip %s %g (norm type %g)" % clip if clip[0] != "none" else ""
    name += "; weight and ignored target" if weighted else ""
    name += "; a bias skips" if skips else ""
    words = optimizer_words(kind, optimizer)
    words += [("clip", clip[0]), ("clip_at", clip[1]), ("norm_type", clip[2]),
              ("weighted", weighted), ("skips", skips)]
    golden.case(name, words, [("losses", f64(losses))] + [("norms", f64(norms))][not norms:] +
                [("final", f64(final))])


def small():
    golden = Golden("small", "make_mlp.py", SMALL_PROSE)
    net, x = small_net()
    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    golden.case("inputs", (), [("x", x), ("start", start), ("target0", torch.tensor(TARGETS[0])),
                               ("target1", torch.tensor(TARGETS[1])), ("weight", f64(WEIGHT))])
    for case in SMALL_OPTIMIZERS + SMALL_GROUPS:
        small_case(golden, *case)
    for clip in SMALL_CLIPS:
        small_case(golden, "SGD", dict(lr=0.5, momentum=0.9), clip=clip, weighted=True)
    small_case(golden, "Adam", dict(lr=0.05), clip=SMALL_CLIPS[1])
    small_case(golden, "SGD", dict(lr=0.1), weighted=True)
    small_case(golden, "AdamW", dict(lr=0.01), weighted=True)
    for case in SMALL_SKIPS:
        small_case(golden, *case, skips=True)
    golden.write()


def main():
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    data = load(words[0] if words else "/usr/share/datasets/fashion-mnist")
    if "--sensitivity" in sys.argv:
        return sensitivity(data)
    mlp(data)
    small()


if __name__ == "__main__":
    main()
