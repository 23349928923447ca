# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch gives as archives, for the scripts beside it; golden.h says what is in
them, and golden.c reads them. They go into the folder that TERN_GOLDEN names, or into data."""
import gzip
import os
import sys

import torch

from lion import Lion
from muon import Muon

torch.set_num_threads(1)
FOLDER = os.environ.get("TERN_GOLDEN") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                       "data")
VERSION = torch.__version__.split("+")[0]
assert sys.byteorder == "little"
assert VERSION.startswith("2.15."), f"the reference is PyTorch 2.15, this is {VERSION}"


def fnv1a(data, before=0xCBF29CE484222325):
    """The 64-bit FNV-1a hash of bytes."""
    h = before
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def name_of(dtype):
    return str(dtype).replace("torch.", "")


def f64(values):
    return torch.tensor(values, dtype=torch.float64)


def _word(value):
    """A word's text; of a list that of each, with blanks between."""
    if isinstance(value, (list, tuple)):
        return " ".join(map(_word, value))
    return str(int(value)) if isinstance(value, bool) else str(value)


def make_optimizer(kind, groups, **options):
    """One of PyTorch; of what it does not have, from the formula or by its authors."""
    if kind == "AdamWScheduleFree":
        import schedulefree # PyPI: schedulefree

        optimizer = schedulefree.AdamWScheduleFree(groups, **dict(options, foreach=False))
        optimizer.train()
        return optimizer
    return {"Lion": Lion, "Muon": Muon}.get(kind, getattr(torch.optim, kind, None))(groups,
                                                                                    **options)


# What groups hold besides numbers that are options.
NO_NUMBERS = {"params", "param_names", "foreach", "capturable", "differentiable", "fused", "k",
              "train_mode", "weight_sum", "lr_max", "scheduled_lr"}


def group_numbers(group):
    """The options of an optimizer's parameter group: names, each of a pair too, and numbers."""
    numbers = {}
    for name, value in group.items():
        if isinstance(value, tuple):
            numbers.update((f"{name}[{i}]", -1.0 if v is None else float(v))
                           for i, v in enumerate(value))
        elif name not in NO_NUMBERS:
            numbers[name] = float(value)
    return numbers


def optimizer_words(kind, optimizer):
    """Words that say how the optimizer was made; an option has a value for each group."""
    groups = [group_numbers(group) for group in optimizer.param_groups]
    return ([("optimizer", kind), ("groups", len(groups)), ("options", list(groups[0]))] +
            [(name, [group[name] for group in groups]) for name in groups[0]])


class Golden:
    """One family: an index and its arrays."""

    def __init__(self, family, script, prose=""):
        self.family, self.count, self.names = family, 0, set()
        self.arrays = bytearray()
        self.lines = [f"# Written by tests/golden/{script} with PyTorch {VERSION}: do not edit."]
        self.lines += [("# " + line).rstrip() for line in prose.strip("\n").split("\n") if prose]

    def case(self, name, words=(), arrays=(), text=None):
        """`words` and `arrays` are pairs of a name and its value; arrays are tensors."""
        assert name not in self.names, name
        self.names.add(name)
        self.count += 1
        self.lines += ["", f"case {name}"]
        self.lines += [f"word {key} {_word(value)}" for key, value in words]
        for key, tensor in arrays:
            flat = tensor.detach().contiguous().flatten()
            self.lines.append(" ".join(map(str, (name_of(tensor.dtype), key, *tensor.shape))))
            self.arrays += flat.view(torch.uint8).numpy().tobytes()
            self.arrays += bytes(-len(self.arrays) % 8)
        self.lines += [f"> {line}".rstrip() for line in text.split("\n")] if text else []

    def write(self):
        rest = ("\n".join(self.lines) + "\n").encode()
        head = (f"tern golden 1 {self.family}: {self.count} cases, {len(self.arrays)} bytes, "
                f"0x{fnv1a(self.arrays, fnv1a(rest)):016x}\n")
        os.makedirs(FOLDER, exist_ok=True)
        with open(os.path.join(FOLDER, self.family + ".gz"), "wb") as file:
            file.write(gzip.compress(head.encode() + rest + self.arrays, mtime=0))
        print(f"{self.family}: {self.count} cases, {len(self.arrays)} bytes")
