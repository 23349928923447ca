#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what numpy reads from Fashion-MNIST and in which order PyTorch's DataLoader hands out
samples, for the tests of data sets and loaders: the family data. scripts/golden.sh runs it.

    make_data.py [directory of the data set]
"""
import gzip
import os
import sys
import zlib

sys.dont_write_bytecode = True

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from golden import Golden

PROSE = """
fashion: a part of Fashion-MNIST. CRC-32 as zlib's: of the bytes of the pixels, of the pixels as
float32 = byte / 255, of the labels, and of the labels as int64, little-endian.
order: three epochs after manual_seed(7), with `own` from a Generator().manual_seed(5). In the first
epoch the loop breaks after `broken` batches, when that is not 0. `after` is rand(1) from the
generator of the order when all is done.
"""
CASES = [  # samples, batch size, shuffle, drop_last, own, broken
    (10, 4, True, False, False, 0),
    (10, 4, False, False, False, 0),
    (10, 4, True, True, False, 0),
    (10, 4, True, False, True, 0),
    (10, 5, True, False, True, 0),
    (10, 4, True, True, True, 0),
    (10, 4, False, False, True, 0),
    (10, 4, True, False, False, 1),
    (10, 4, True, False, True, 1),
    (10, 4, True, False, True, 3),
    (24, 1, True, False, True, 0),
    (7, 100, True, False, True, 0),
    (1, 1, True, False, True, 0),
]


def read(directory, name, offset):
    with gzip.open(os.path.join(directory, name + ".gz")) as file:
        return np.frombuffer(file.read(), np.uint8, offset=offset)


def fashion(directory, part):
    pixels = read(directory, part + "-images-idx3-ubyte", 16)
    labels = read(directory, part + "-labels-idx1-ubyte", 8)
    floats = torch.from_numpy(pixels.copy()).to(torch.float32).div(255).numpy()
    bytes_of = {"bytes": pixels, "pixels": floats.astype("<f4"), "labels": labels,
                "labels64": labels.astype("<i8")}
    golden.case("fashion " + part, [("count", len(labels))] +
                [(name, zlib.crc32(a.tobytes())) for name, a in bytes_of.items()],
                [("first_labels", torch.from_numpy(labels[:8].astype(np.int64)))])


def epoch(loader, broken):
    order = []
    for number, (batch,) in enumerate(loader):
        order += batch.tolist()
        if number + 1 == broken:
            break
    return order


def order(samples, batch_size, shuffle, drop_last, own, broken):
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(5) if own else None
    loader = DataLoader(TensorDataset(torch.arange(samples)), batch_size=batch_size,
                        shuffle=shuffle, drop_last=drop_last, generator=generator)
    orders = [epoch(loader, broken if e == 0 else 0) for e in range(3)]
    flags = [("samples", samples), ("batch_size", batch_size), ("shuffle", shuffle),
             ("drop_last", drop_last), ("own", own), ("broken", broken)]
    golden.case("order " + " ".join(f"{name} {int(value)}" for name, value in flags), flags,
                [(f"epoch{i}", torch.tensor(o)) for i, o in enumerate(orders)] +
                [("after", torch.rand(1, generator=generator))])


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
    for part in ("train", "t10k"):
        fashion(directory, part)
    for case in CASES:
        order(*case)
    golden.write()


golden = Golden("data", "make_data.py", PROSE)

if __name__ == "__main__":
    main()
