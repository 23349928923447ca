#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores how PyTorch splits data sets and what pandas reads from CSV files, for the tests of those:
the family datasets. scripts/golden.sh runs it.

    make_datasets.py
"""
import io
import sys

sys.dont_write_bytecode = True

import numpy as np
import pandas
import torch
from torch.utils.data import random_split

from golden import Golden

PROSE = """
split: random_split of the numbers 0 ... samples - 1 by lengths or fractions, after manual_seed(11)
or, with `own`, from a Generator().manual_seed(samples). `after` is rand(1) of that generator then.
csv: the bytes of a file, and what pandas.read_csv makes of it: x
float32, columns of texts as their category codes; y integers, or the codes of texts.
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


def random_numbers():
    """Of all sizes, with 1 to 25 digits."""
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(60):
        digits = [f"{m:.{p}e}" for m, p in zip(rng.standard_normal(3), rng.integers(0, 25, 3))]
        powers = rng.integers(-30, 30, 3)
        rows.append([f"{d.split('e')[0]}e{int(d.split('e')[1]) + p}"
                     for d, p in zip(digits, powers)])
    return "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)


FILES = [  # name, text, separator, header, label, fill_empty
    ("plain", "a,b,l\n1,2.5,0\n-3,4e1,2\n.5,6.,1\n", ",", True, "l", False),
    ("texts", "city,n,l\nRome,1,dog\nBern,2,cat\nRome,3,Dog\n", ",", True, "l", False),
    ("quotes", 'a,"l, ""x"""\n"1","one, two"\n2,"line\nline"\n3,""""\n4,plain\n', ",", True,
     'l, "x"', False),
    ("mark", "\ufeffa;b;l\r\n1;2;x\r\n\r\n3;4;y\r\n", ";", True, "l", False),
    ("no header", "1\tx\t9\n3\ty\t8\n", "tab", False, "1", False),
    ("empty", "a,b,c\n1,,3\n,5,\n7,8,\"\"\n", ",", True, None, True),
    ("numbers", random_numbers(), ",", True, None, False),
    ("blanks", "a,b\n 1, 2\n3 ,+4\n", ",", True, None, False),
    ("accents", "a,l\n1,\u00e9t\u00e9\n2,zoo\n3,\u00c5re\n4,\U0001f408\n", ",", True, "l", False),
]


def codes(column):
    if not pandas.api.types.is_numeric_dtype(column):
        column = column.astype("category").cat.codes
    return column.to_numpy()


def csv(name, text, separator, header, label, fill_empty):
    file = text.encode()
    table = pandas.read_csv(io.BytesIO(file), sep="\t" if separator == "tab" else separator,
                            header=0 if header else None)
    table.columns = [str(column) for column in table.columns]
    features = [codes(table[column]) for column in table.columns if column != label]
    arrays = [("file", torch.frombuffer(bytearray(file), dtype=torch.uint8)),
              ("x", torch.from_numpy(np.stack(features, 1).astype(np.float32)))]
    words = [("separator", separator), ("header", header), ("fill_empty", fill_empty)]
    if label is not None:
        words.append(("label", label))
        arrays.append(("y", torch.from_numpy(codes(table[label]).astype(np.int64))))
    golden.case("csv " + name, words, arrays)


def main():
    for case in SPLITS:
        split(*case)
    for case in FILES:
        csv(*case)
    golden.write()


golden = Golden("datasets", "make_datasets.py", PROSE)

if __name__ == "__main__":
    main()
