#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores small files that numpy writes, for the tests of tern's readers and writers of npy and
npz. They go into the folder that TERN_GOLDEN_FILES names, or into tests/io/data.
scripts/golden.sh runs it."""
import os
import sys

sys.dont_write_bytecode = True

import numpy as np

FOLDER = os.environ.get("TERN_GOLDEN_FILES") or os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "io", "data")
# What the tests expect, of each dtype as far as it goes: a third is rounded, 200 needs 8 bits.
NUMBERS = [0, 1, 2, 200, 1 / 3, 5]


def path_of(name):
    return os.path.join(FOLDER, "numpy_" + name)


def array(dtype):
    return np.array(NUMBERS).astype(dtype).reshape(2, 3)


def save(name, array):
    np.save(path_of(name + ".npy"), array, allow_pickle=False)


def save_version(name, array, version):
    with open(path_of(name + ".npy"), "wb") as file:
        np.lib.format.write_array(file, array, version=version)


os.makedirs(FOLDER, exist_ok=True)
for dtype in ("f2", "f4", "f8", "i4", "i8", "u1", "b1"):
    save(dtype, array(dtype))
for dtype in (">f2", ">f4", ">f8", ">i4", ">i8"):
    save("big_" + dtype[1:], array(dtype))
save("fortran", np.asfortranarray(array("f4")))
save("fortran_3d", np.asfortranarray(np.arange(24, dtype="i4").reshape(2, 3, 4)))
save("fortran_big", np.asfortranarray(array(">f8")))
save("scalar", np.array(-2.5))
save("one", np.array([7], dtype="i8"))
save("empty", np.zeros((0, 3), dtype="f4"))
save("rank_8", np.arange(2, dtype="f4").reshape(1, 1, 1, 2, 1, 1, 1, 1))
save_version("version_2", array("f4"), (2, 0))
save_version("version_3", array("f4"), (3, 0))
# What tern does not have.
for dtype in ("i1", "i2", "u2", "u4", "u8", "c8", "S3", "U2", "M8[ns]"):
    save("other_" + dtype[:2], array("u1").astype(dtype))

weights = {"layer.weight": array("f4"), "layer.bias": np.array([1.5, -1], dtype="f8")}
np.savez(path_of("savez.npz"), np.arange(3, dtype="i8"), **weights)
np.savez_compressed(path_of("savez_compressed.npz"), zeros=np.zeros((40, 50), dtype="f4"),
                    counts=np.arange(300, dtype="i4"), **weights)
np.savez(path_of("savez_empty.npz"))
