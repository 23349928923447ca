#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's samplers give through its DataLoader and what its multinomial draws, for
the tests of samplers: the family sampling. scripts/golden.sh runs it.
"""
import sys

sys.dont_write_bytecode = True

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import (BatchSampler, DataLoader, RandomSampler, SequentialSampler,
                              TensorDataset, WeightedRandomSampler)

from golden import Golden

PROSE = """
sampler: the numbers of three epochs after manual_seed(7), batches behind each other, with `own`
from a Generator().manual_seed(5) that the loader and the sampler share. `after` is rand(1) from it,
or from the default one, when all is done; `sizes` are those of the batches of an epoch.
multinomial: after manual_seed(3), then rand(1).
padded: pad_sequence of three sequences with batch_first and padding value 9.
"""
# Kind, samples, numbers in an epoch (0: not said), replacement, batch size, drop_last, own.
CASES = [
    ("sequential", 10, 0, False, 4, False, False),
    ("random", 10, 0, False, 4, False, False),
    ("random", 10, 0, False, 4, False, True),
    ("random", 10, 4, False, 3, False, False),
    ("random", 10, 25, False, 4, False, False),
    ("random", 10, 25, False, 4, True, True),
    ("random", 10, 20, False, 5, False, True),
    ("random", 10, 7, True, 4, False, False),
    ("random", 10, 70, True, 16, False, True),
    ("random", 300, 64, True, 16, False, False),
    ("weighted", 12, 30, True, 8, False, False),
    ("weighted", 12, 30, True, 8, True, True),
    ("weighted", 12, 9, False, 4, False, False),
    ("weighted", 12, 1, True, 4, False, False),
    ("batch", 10, 0, False, 4, False, False),
    ("batch", 10, 0, False, 4, True, True),
    ("batch", 10, 25, True, 7, False, False),
]
DRAWS = [  # rows (0: one dimension), weights, samples, replacement, dtype
    (0, 5, 1, False, torch.float32),
    (0, 5, 4, False, torch.float32),
    (0, 5, 4, False, torch.float64),
    (0, 5, 40, True, torch.float32),
    (0, 5, 40, True, torch.float64),
    (3, 7, 1, True, torch.float32),
    (3, 7, 6, False, torch.float32),
    (3, 7, 20, True, torch.float64),
    (0, 2000, 500, False, torch.float64),
    (0, 2000, 500, True, torch.float32),
]


def weights_of(samples):
    weights = torch.arange(samples, dtype=torch.float64) / 7 + 0.25
    weights[3] = 0
    return weights


def sampler_of(kind, dataset, samples, numbers, replacement, generator):
    if kind == "sequential":
        return SequentialSampler(dataset)
    if kind == "weighted":
        return WeightedRandomSampler(weights_of(samples), numbers, replacement, generator)
    return RandomSampler(dataset, replacement, numbers or None, generator)


def sampler(kind, samples, numbers, replacement, batch_size, drop_last, own):
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(5) if own else None
    dataset = TensorDataset(torch.arange(samples))
    inner = sampler_of(kind, dataset, samples, numbers, replacement, generator)
    if kind == "batch":
        loader = DataLoader(dataset, batch_sampler=BatchSampler(inner, batch_size, drop_last),
                            generator=generator)
    else:
        loader = DataLoader(dataset, batch_size=batch_size, drop_last=drop_last, sampler=inner,
                            generator=generator)
    epochs = [[batch for (batch,) in loader] for _ in range(3)]
    words = [("kind", kind), ("samples", samples), ("numbers", numbers),
             ("replacement", replacement), ("batch_size", batch_size), ("drop_last", drop_last),
             ("own", own)]
    golden.case("sampler " + " ".join(f"{name} {value}" for name, value in words), words,
                [(f"epoch{i}", torch.cat(e)) for i, e in enumerate(epochs)] +
                [("sizes", torch.tensor([len(b) for b in epochs[0]])),
                 ("weights", weights_of(samples)),
                 ("after", torch.rand(1, generator=generator))])


def multinomial(rows, weights, samples, replacement, dtype):
    torch.manual_seed(11)
    p = torch.rand((rows, weights) if rows else (weights,), dtype=dtype)
    p[..., 1] = 0 if samples < weights or replacement else p[..., 1]
    torch.manual_seed(3)
    drawn = torch.multinomial(p, samples, replacement)
    name = str(dtype).split(".")[1]
    golden.case(f"multinomial {rows} {weights} {samples} {int(replacement)} {name}",
                [("samples", samples), ("replacement", replacement)],
                [("p", p), ("drawn", drawn), ("after", torch.rand(1))])


def padded():
    torch.manual_seed(2)
    parts = [torch.rand(n, 2) for n in (3, 1, 4)]
    golden.case("padded", [], [(f"part{i}", part) for i, part in enumerate(parts)] +
                [("padded", pad_sequence(parts, batch_first=True, padding_value=9))])


def main():
    for case in CASES:
        sampler(*case)
    for draw in DRAWS:
        multinomial(*draw)
    padded()
    golden.write()


golden = Golden("sampling", "make_sampling.py", PROSE)

if __name__ == "__main__":
    main()
