#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores small files that the safetensors library writes, for the tests of tern's reader. They go
into the folder that TERN_GOLDEN_FILES names, or into tests/io/data. scripts/golden.sh runs it."""
import os
import sys

sys.dont_write_bytecode = True

import torch
from safetensors.torch import save_file

FOLDER = os.environ.get("TERN_GOLDEN_FILES") or os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "io", "data")
DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
          "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8,
          "bool": torch.bool}
# What the tests expect, of each dtype as far as it goes: a third is rounded, 200 needs 8 bits.
NUMBERS = [0, 1, 2, 200, 1 / 3, 5]


def save(name, tensors, **options):
    path = os.path.join(FOLDER, "safetensors_" + name + ".safetensors")
    save_file(tensors, path, **options)
    os.chmod(path, 0o644)


values = torch.tensor(NUMBERS, dtype=torch.float64).reshape(2, 3)
every = {name: values.to(dtype) for name, dtype in DTYPES.items()}
every["empty"] = torch.empty(0, 3)
every["scalar"] = torch.tensor(-1.5)
save("dtypes", every, metadata={"format": "pt"})
save("int8", {"a": torch.arange(4, dtype=torch.int8), "b": torch.arange(3.)})
save("nothing", {})
