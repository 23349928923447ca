#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy, and Python's own zip reader, read the arrays that tern writes.

    numpy_reads.py WRITE_ARRAYS
"""
import os
import subprocess
import sys
import tempfile
import zipfile

DTYPES = {"float16": "<f2", "float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8",
          "uint8": "|u1", "bool": "|b1"}
NAMES = list(DTYPES) + ["scalar", "empty"]


def check_zip(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [name + ".npy" for name in NAMES], archive.namelist()


def check_array(np, name, array):
    if name == "scalar":
        expected = np.array(-2.5, "<f4")
    elif name == "empty":
        expected = np.zeros((0, 3), "<f4")
    else:
        expected = np.array([[0, 1, 0], [1, 0, 1]], DTYPES[name])
    assert array.dtype == expected.dtype and array.shape == expected.shape, name
    assert array.tobytes() == expected.tobytes(), name


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder], check=True)
    check_zip(os.path.join(folder, "arrays.npz"))
    try:
        import numpy as np
    except ImportError:
        print("skipped: there is no numpy; Python's zip reader reads the archive")
        sys.exit(77)
    for name in NAMES:
        check_array(np, name, np.load(os.path.join(folder, name + ".npy"), allow_pickle=False))
    with np.load(os.path.join(folder, "arrays.npz"), allow_pickle=False) as archive:
        assert archive.files == NAMES
        for name in NAMES:
            check_array(np, name, archive[name])
print(f"{2 * len(NAMES)} arrays are numpy's")
