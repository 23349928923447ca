#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what numpy reads from Fashion-MNIST and in which order PyTorch's DataLoader hands out
samples, as data_golden.h beside this file.

    /usr/bin/python3 make_data.py [directory of the data set]
"""
import gzip
import os
import sys
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from ctable import braces, f32_bits

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Written by tests/data/make_data.py with PyTorch %s: do not edit.
// clang-format off
#ifndef TERN_TESTS_DATA_GOLDEN_H
#define TERN_TESTS_DATA_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>

// Fashion-MNIST: the train part, then the test part. CRC-32 as zlib's; of the pixels as float32 =
// byte / 255 and of the labels as int64, little-endian.
typedef struct golden_fashion {
    int64_t count;
    uint32_t bytes, pixels, labels, labels64;
    int64_t first_labels[8];
} golden_fashion;

"""
ORDER = """
// Three epochs after manual_seed(7), with `own` from a Generator().manual_seed(5). In the first
// epoch the loop breaks after `broken` batches, when that is not 0. `after` is rand(1) from the
// generator of the order when all is done, as bits of float32.
typedef struct golden_order {
    int64_t samples, batch_size;
    bool shuffle, drop_last, own;
    int broken;
    int64_t count[3];
    int64_t order[3][24];
    uint32_t after;
} golden_order;

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
    crc = [zlib.crc32(a) for a in (pixels.tobytes(), floats.astype("<f4").tobytes(),
                                   labels.tobytes(), labels.astype("<i8").tobytes())]
    return "    {%d, %s, %s}" % (len(labels), ", ".join("0x%08x" % c for c in crc),
                                 braces(map(str, labels[:8])))


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
    flags = ", ".join(str(flag).lower() for flag in (shuffle, drop_last, own))
    return "    {%d, %d, %s, %d, %s,\n     %s,\n     %s}" % (
        samples, batch_size, flags, broken, braces(str(len(o)) for o in orders),
        "{" + ",\n      ".join(braces(map(str, o)) for o in orders) + "}",
        f32_bits(torch.rand(1, generator=generator)))


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
    text = HEAD % torch.__version__ + "static const golden_fashion golden_fashions[2] = {\n"
    text += ",\n".join(fashion(directory, part) for part in ("train", "t10k")) + "};\n"
    text += ORDER + "static const golden_order golden_orders[] = {\n"
    text += ",\n".join(order(*case) for case in CASES) + "};\n\n#endif\n"
    with open(os.path.join(HERE, "data_golden.h"), "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
