#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores how PyTorch splits data sets, for the tests of those: the family datasets.
scripts/golden.sh runs it.

    make_datasets.py
"""
import sys

sys.dont_write_bytecode = True

import torch
from torch.utils.data import random_split

from golden import Golden

PROSE = """
split: random_split of the numbers 0 ... samples - 1 by lengths or fractions, after manual_seed(11)
or, with `own`, from a Generator().manual_seed(samples). `after` is rand(1) of that generator then.
"""
SPLITS = [  # samples, lengths or fractions, own
    (10, [3, 7], False),
    (10, [3, 7], True),
    (30, [0.3, 0.3, 0.4], True),
    (11, [0.5, 0.5], False),
    (10, [0.25, 0.25, 0.25, 0.25], False),
    (23, [0.7, 0.2, 0.1], True),
    (10, [0.8, 0.1, 0.1], False),
    (7, [0, 7, 0], False),
    (3, [0.125] * 8, True),
    (100, [1.0], False),
    (1000, [0.9, 0.1], True),
]


def split(samples, sizes, own):
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(samples) if own else torch.default_generator
    parts = random_split(range(samples), sizes, generator=generator)
    fractions = any(isinstance(size, float) for size in sizes)
    golden.case(f"split {samples} {sizes} own {int(own)}",
                [("samples", samples), ("sizes", sizes), ("fractions", fractions), ("own", own)],
                [(f"part{i}", torch.tensor(list(part), dtype=torch.int64))
                 for i, part in enumerate(parts)] + [("after", torch.rand(1, generator=generator))])


def main():
    for case in SPLITS:
        split(*case)
    golden.write()


golden = Golden("datasets", "make_datasets.py", PROSE)

if __name__ == "__main__":
    main()
