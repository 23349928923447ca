#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch computes when it trains an MLP on Fashion-MNIST, and a 4-8-3 net with every
optimizer, as mlp_golden.h beside this file.

    /usr/bin/python3 make_mlp.py [directory of the data set]

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

from ctable import braces, f32, f32_bits, f64, fnv1a, head, wrap

STEPS32, STEPS64 = 20, 200
BATCH = 64
OPTIMIZERS = [
    ("sgd", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)),
    ("adam", lambda p: torch.optim.Adam(p, lr=1e-3)),
    ("adam_amsgrad", lambda p: torch.optim.Adam(p, lr=1e-3, weight_decay=1e-4, amsgrad=True)),
    ("adamw", lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01)),
]
PROSE = """
The model of golden_mlp_* is Sequential(Flatten, Linear(784, 512), ReLU, Linear(512, 512), ReLU,
Linear(512, 10)), the data Fashion-MNIST's training part as float32 (N, 1, 28, 28) = byte / 255,
the loss CrossEntropyLoss() and the batch 64. Each run is manual_seed(0), then the model, then a
shuffling loader without workers, then the optimizer. In float64 runs the float32 parameters and
images are converted after they were made.
The net of golden_small_* is Sequential(Linear(4, 8), ReLU, Linear(8, 3)) after manual_seed(0),
then x = randn(6, 4), all converted to float64: one batch, 30 steps of forward, zero_grad,
backward, clipping, step. Parameters are stored one after another in the order of parameters().
A 64-bit hash is FNV-1a over the little-endian bytes of the values.
"""


MLP_TYPES = """
typedef struct golden_mlp_parameter {
    const char *name;
    int ndim;
    int64_t shape[2];
    uint64_t hash;              // of all bits
    uint32_t first[4], last[4]; // bits of float32
} golden_mlp_parameter;

// The gradient of one parameter in step 1.
typedef struct golden_mlp_gradient {
    const char *name;
    double norm, sum; // the L2 norm and the sum, added up in double
    int64_t at[16];   // places in the flattened tensor,
    double value[16]; // and what is there
} golden_mlp_gradient;

// sgd: SGD(lr 0.05, momentum 0.9, nesterov, weight_decay 1e-4); adam: Adam(lr 1e-3);
// adam_amsgrad: Adam(lr 1e-3, weight_decay 1e-4, amsgrad);
// adamw: AdamW(lr 1e-3, weight_decay 0.01).
typedef struct golden_mlp_run {
    const char *optimizer;
    double losses32[20];  // of the float32 run
    double losses64[200]; // of the float64 run
} golden_mlp_run;
"""
SMALL_TYPES = """
// Options of a parameter group; those that the optimizer does not have are 0.
typedef struct golden_small_group {
    double lr, weight_decay, momentum, dampening, beta1, beta2, eps, alpha, lr_decay;
    double initial_accumulator_value, rho;
} golden_small_group;

typedef struct golden_small_case {
    const char *name, *optimizer;
    bool nesterov, amsgrad, centered;
    const char *clip; // "none", "norm" or "value"
    double clip_at, norm_type;
    bool weighted;    // class weights in the loss, and the second target
    int group_count;  // of 2 groups the first has the parameters of layer 0, the second of layer 2
    golden_small_group group[2];
    double losses[30];
    double norms[30]; // what clipping by norm returned
    double final[67]; // the parameters at the end
} golden_small_case;
"""


def load(directory):
    """Images float32 (N, 1, 28, 28) in [0, 1] and labels int64 (N)."""
    with gzip.open(os.path.join(directory, "train-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(directory, "train-labels-idx1-ubyte.gz")) as file:
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


def initial_weights():
    torch.manual_seed(0)
    rows = []
    for name, p in make_model().named_parameters():
        flat = p.detach().flatten().numpy()
        rows.append("    {\"%s\", %d, %s, UINT64_C(0x%016x),\n     %s,\n     %s}" % (
            name, p.dim(), braces(str(n) for n in p.shape), fnv1a(flat.astype("<f4").tobytes()),
            braces(f32_bits(x) for x in flat[:4]), braces(f32_bits(x) for x in flat[-4:])))
    return ("static const golden_mlp_parameter golden_mlp_parameters[] = {\n%s};\n\n" %
            ",\n".join(rows))


def order(count):
    """The shuffle order of epochs 1 and 2, right after the model was made."""
    torch.manual_seed(0)
    make_model()
    loader = DataLoader(TensorDataset(torch.arange(count)), batch_size=BATCH, shuffle=True)
    epochs = [torch.cat([batch[0] for batch in loader]).numpy() for _ in range(2)]
    hashes = ["UINT64_C(0x%016x)" % fnv1a(e.astype("<i8").tobytes()) for e in epochs]
    return ("// Sample numbers in the order of the loader: the hash of epochs 1 and 2 as int64,\n"
            "// and the first 256 of epoch 1.\n"
            "static const uint64_t golden_mlp_order_hash[2] = {\n    %s};\n"
            "static const int64_t golden_mlp_order[256] = %s;\n\n" %
            (",\n    ".join(hashes), braces((str(i) for i in epochs[0][:256]), 0)))


def gradients(grads, dtype):
    literal = f32 if dtype == "float32" else f64
    rows = []
    for name, g in grads.items():
        flat = g.flatten()
        at = [(k * 2654435761 + 12345) % flat.numel() for k in range(16)]
        wide = flat.double()
        rows.append("    {\"%s\", %s, %s,\n     %s,\n     %s}" % (
            name, f64(wide.norm()), f64(wide.sum()), braces((str(i) for i in at), 5),
            braces((literal(flat[i]) for i in at), 5)))
    return "static const golden_mlp_gradient golden_mlp_gradients_%s[] = {\n%s};\n" % (
        dtype, ",\n".join(rows))


def mlp(data):
    text = MLP_TYPES.lstrip() + "\n" + initial_weights() + order(len(data[1]))
    runs = []
    for index, (name, make) in enumerate(OPTIMIZERS):
        losses32, grads32 = train(data, make, torch.float32, STEPS32)
        losses64, grads64 = train(data, make, torch.float64, STEPS64)
        if index == 0:
            text += gradients(grads32, "float32") + gradients(grads64, "float64")
        runs.append("    {\"%s\",\n     %s,\n     %s}" % (name, braces(map(f32, losses32), 5),
                                                         braces(map(f64, losses64), 5)))
    return text + "\nstatic const golden_mlp_run golden_mlp_runs[] = {\n%s};\n\n" % ",\n".join(runs)


GROUP_FIELDS = ("lr weight_decay momentum dampening beta1 beta2 eps alpha lr_decay "
                "initial_accumulator_value rho").split()
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
    ("RMSprop", dict(lr=0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.02)),
    ("Adagrad", dict(lr=0.05)),
    ("Adagrad", dict(lr=0.05, lr_decay=0.1, weight_decay=0.01, initial_accumulator_value=0.1)),
    ("Adadelta", dict()),
    ("Adadelta", dict(lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.01)),
]
SMALL_GROUPS = [
    ("SGD", dict(lr=0.1, momentum=0.9), dict(lr=0.02, weight_decay=0.1)),
    ("Adam", dict(lr=0.01), dict(lr=0.05, weight_decay=0.1)),
    ("AdamW", dict(lr=0.01), dict(lr=0.05, weight_decay=0.0)),
    ("RMSprop", dict(lr=0.01), dict(lr=0.02, weight_decay=0.1)),
    ("Adagrad", dict(lr=0.05), dict(lr=0.1, weight_decay=0.1)),
    ("Adadelta", dict(lr=1.0), dict(lr=0.5, weight_decay=0.1)),
]
SMALL_CLIPS = [("norm", 1.0, 2.0), ("norm", 0.1, 2.0), ("norm", 0.1, 1.0),
               ("norm", 0.1, float("inf")), ("value", 0.1, 0.0)]
WEIGHT = [0.5, 1.0, 2.0]
TARGETS = [[0, 1, 2, 0, 1, 2], [0, 1, -100, 0, 1, 2]]


def small_net():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    return net, torch.randn(6, 4)


def small_run(kind, options, second, clip, weighted):
    """One run of 30 steps: (optimizer, losses, norms before clipping, final parameters)."""
    net, x = small_net()
    net.double()
    x = x.double()
    groups = [dict(params=list(net.parameters()))]
    if second:
        groups = [dict(params=list(net[0].parameters())),
                  dict(params=list(net[2].parameters()), **second)]
    optimizer = getattr(torch.optim, kind)(groups, **options)
    weight = torch.tensor(WEIGHT, dtype=torch.float64) if weighted else None
    criterion = nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1)
    target = torch.tensor(TARGETS[weighted])
    losses, norms = [], []
    for _ in range(30):
        loss = criterion(net(x), target)
        optimizer.zero_grad()
        loss.backward()
        if clip[0] == "norm":
            norms.append(nn.utils.clip_grad_norm_(net.parameters(), clip[1], clip[2]).item())
        elif clip[0] == "value":
            nn.utils.clip_grad_value_(net.parameters(), clip[1])
        optimizer.step()
        losses.append(loss.item())
    final = torch.cat([p.detach().flatten() for p in net.parameters()]).tolist()
    return optimizer, losses, norms, final


def small_case(kind, options, second=None, clip=("none", 0.0, 0.0), weighted=False):
    optimizer, losses, norms, final = small_run(kind, options, second, clip, weighted)
    groups = []
    for group in optimizer.param_groups:
        values = dict(group)
        if "betas" in group:
            values["beta1"], values["beta2"] = group["betas"]
        words = [".%s = %s" % (f, f64(values[f])) for f in GROUP_FIELDS if values.get(f)]
        groups.append("{" + wrap(words, 10).strip() + "}")
    flags = ", ".join(".%s = %s" % (f, "true" if options.get(f) else "false")
                      for f in ("nesterov", "amsgrad", "centered"))
    name = " ".join([kind] + ["%s=%s" % item for item in options.items()])
    name += "; second group " + " ".join("%s=%s" % i for i in second.items()) if second else ""
    name += "; clip %s %g (norm type %g)" % clip if clip[0] != "none" else ""
    name += "; weight and ignored target" if weighted else ""
    lines = ["    {.name = \"%s\"," % name,
             "     .optimizer = \"%s\", %s," % (kind, flags),
             "     .clip = \"%s\", .clip_at = %s, .norm_type = %s, .weighted = %s," %
             (clip[0], f64(clip[1]), f64(clip[2]), "true" if weighted else "false"),
             "     .group_count = %d, .group = {" % len(groups),
             ",\n".join("         " + g for g in groups) + "},",
             "     .losses = %s," % braces(map(f64, losses), 5)]
    if norms:
        lines.append("     .norms = %s," % braces(map(f64, norms), 5))
    return "\n".join(lines) + "\n     .final = %s}" % braces(map(f64, final), 5)


def small():
    net, x = small_net()
    start = torch.cat([p.detach().flatten() for p in net.parameters()])
    cases = [small_case(*c) for c in SMALL_OPTIMIZERS]
    cases += [small_case(kind, first, second) for kind, first, second in SMALL_GROUPS]
    cases += [small_case("SGD", dict(lr=0.5, momentum=0.9), clip=clip, weighted=True)
              for clip in SMALL_CLIPS]
    cases += [small_case("Adam", dict(lr=0.05), clip=SMALL_CLIPS[1]),
              small_case("SGD", dict(lr=0.1), weighted=True),
              small_case("AdamW", dict(lr=0.01), weighted=True)]
    return "\n".join([
        "// The input (6, 4) and the 67 first parameters, bits of float32; label_smoothing is 0.1.",
        "static const uint32_t golden_small_x[24] = %s;" % braces(map(f32_bits, x.flatten()), 0),
        "static const uint32_t golden_small_start[67] = %s;" % braces(map(f32_bits, start), 0),
        "// The targets without and with `weighted`.",
        "static const int64_t golden_small_target[2][6] = {%s};" %
        ", ".join(braces(map(str, t)) for t in TARGETS),
        "static const double golden_small_weight[3] = %s;" % braces(map(f64, WEIGHT)),
        SMALL_TYPES,
        "static const golden_small_case golden_small_cases[] = {\n%s};\n\n" % ",\n".join(cases)])


def main():
    torch.set_num_threads(1)
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    data = load(words[0] if words else "/usr/share/datasets/fashion-mnist")
    if "--sensitivity" in sys.argv:
        return sensitivity(data)
    text = head("TERN_TESTS_MLP_GOLDEN_H", "make_mlp.py", torch.__version__, PROSE)
    text += "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n\n" + mlp(data) + small()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mlp_golden.h")
    with open(path, "w") as file:
        file.write(text + "#endif\n")


if __name__ == "__main__":
    main()
