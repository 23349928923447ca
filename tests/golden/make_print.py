# SPDX-License-Identifier: Apache-2.0
"""Stores how PyTorch prints tensors, for tests/tensor/test_print.c: the family print.
scripts/golden.sh runs it. PyTorch's words become tern's: torch.float64 is float64, True is true.
"""
import math
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden

NAN, INF = math.nan, math.inf

# name, shape, values (a list, or first and step of a sequence), dtype, requires_grad
CASES = [
    ("fractions", (2, 3), [1, -2.5, 3.25, 0.125, 100, -0.0625], torch.float32, False),
    ("a_scalar", (), [3.5], torch.float32, False),
    ("whole_numbers", (4,), [1, -20, 300, 0], torch.float32, False),
    ("zeros", (3,), [0, -0.0, 0], torch.float32, False),
    ("wide_range", (3,), [1e-6, 1, -123456], torch.float32, False),
    ("small", (3,), [0.00001, 0.5, 0], torch.float32, False),
    ("just_not_small", (2,), [0.00011, 0.05], torch.float64, False),
    ("large_whole", (2,), [1e9, -2e9], torch.float32, False),
    ("whole_with_wide_range", (3,), [1, 2000, 0], torch.float32, False),
    ("ratio_of_1000", (2,), [1, 1000], torch.float32, False),
    ("not_finite", (5,), [NAN, 1.5, INF, -INF, 0], torch.float32, False),
    ("not_finite_whole", (4,), [NAN, -10, INF, -INF], torch.float32, False),
    ("not_finite_scientific", (4,), [NAN, 1e-9, INF, -1], torch.float32, False),
    ("only_not_finite", (3,), [NAN, INF, 0], torch.float32, False),
    ("integers", (2, 2), [1, -20, 300, 4], torch.int64, False),
    ("int32", (2,), [-2147483648, 7], torch.int32, False),
    ("bytes", (3,), [0, 128, 255], torch.uint8, False),
    ("truths", (2, 2), [1, 0, 0, 1], torch.bool, False),
    ("only_true", (3,), [1, 1, 1], torch.bool, False),
    ("double", (2,), [0.1, 0.2], torch.float64, False),
    ("half", (2,), [0.1, 65504], torch.float16, False),
    ("bfloat16", (2,), [0.1, 3.14159], torch.bfloat16, False),
    ("a_leaf", (2,), [1, 2.5], torch.float32, True),
    ("a_leaf_of_doubles", (1,), [0.5], torch.float64, True),
    ("long_row", (50,), (0, 1.5), torch.float32, False),
    ("long_row_of_integers", (40,), (0, 1), torch.int64, False),
    ("cube", (2, 2, 3), (0, 0.5), torch.float32, False),
    ("four_dims", (2, 1, 2, 2), (-3, 1), torch.float32, False),
    ("size_one", (1, 1), [7], torch.int64, False),
    ("exactly_1000", (1000,), (7, 0), torch.int64, False),
    ("summarised_row", (1001,), (0, 1), torch.int64, False),
    ("summarised_floats", (2000,), (0, 0.25), torch.float32, False),
    ("summarised_matrix", (100, 20), (0, 1), torch.float32, False),
    ("summarised_one_dim", (6, 300), (0, 1), torch.int64, False),
    ("summarised_cube", (8, 9, 20), (0, 0.5), torch.float32, False),
    ("summarised_doubles", (1, 2000), (0, 1), torch.float64, False),
    ("full_lines_of_a_leaf", (18,), (0, 0.125), torch.float32, True),
    ("empty", (0,), [], torch.float32, False),
    ("empty_matrix", (0, 3), [], torch.float32, False),
    ("empty_integers", (2, 0), [], torch.int64, False),
]


def tensor(shape, values, dtype, requires_grad):
    if isinstance(values, tuple):
        values = [values[0] + values[1] * i for i in range(math.prod(shape))]
    made = torch.tensor(values, dtype=torch.float64).to(dtype).reshape(shape)
    return made.requires_grad_() if requires_grad else made


def text_of(made):
    return str(made).replace("torch.", "").replace("True", "true").replace("False", "false")


golden = Golden("print", "make_print.py", "How PyTorch prints tensors, in tern's words.")
for name, shape, values, dtype, requires_grad in CASES:
    made = tensor(shape, values, dtype, requires_grad)
    golden.case(name, [("requires_grad", requires_grad)], [("values", made)], text_of(made))
golden.write()
