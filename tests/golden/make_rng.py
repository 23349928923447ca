# SPDX-License-Identifier: Apache-2.0
"""Writes rng.h: what PyTorch's CPU generator gives, for tests/unit/test_mt19937.c.

Run: python3 make_rng.py > rng.h      (PyTorch 2.15; its CPU kernels of AVX2 or AVX-512)
"""
import textwrap

import torch

torch.set_num_threads(1)
DOUBLE = torch.float64


def literal(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return f"INT64_C({value})"
    return value.hex()


def array(ctype, name, values):
    text = ", ".join(literal(v) for v in values.tolist())
    print(f"static const {ctype} {name}[{len(values)}] = {{")
    print(textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    ") + "};")


def f32(name, values):
    array("float", name, values)


def f64(name, values):
    array("double", name, values)


def i64(name, values):
    array("int64_t", name, values)


print("// SPDX-License-Identifier: Apache-2.0")
print(f"// Made by make_rng.py with PyTorch {torch.__version__}. "
      "Floats in hexadecimal: every bit counts.")
print("#ifndef TERN_TESTS_GOLDEN_RNG_H\n#define TERN_TESTS_GOLDEN_RNG_H\n\n#include <stdint.h>\n")
print("// clang-format off")

torch.manual_seed(0)
f32("rand_seed_0", torch.rand(2000)[-8:])
f64("rand_f64_after_it", torch.rand(1000, dtype=DOUBLE)[-8:])

torch.manual_seed(2**40 + 5)
f32("rand_seed_2_40_plus_5", torch.rand(4))
torch.manual_seed(2**64 - 1)
f32("rand_seed_2_64_minus_1", torch.rand(4))

torch.manual_seed(7)
f32("uniform_7", torch.empty(24).uniform_(-0.3, 0.9))
f64("uniform_f64_after_it", torch.empty(24, dtype=DOUBLE).uniform_(-1 / 28, 1 / 28))

torch.manual_seed(3)
f32("bernoulli_3", torch.empty(40).bernoulli_(0.4))

torch.manual_seed(9)
i64("randint_3_17", torch.randint(3, 17, (16,)))
i64("randint_32_bits_less_1", torch.randint(0, 2**32 - 1, (4,)))
i64("randint_32_bits", torch.randint(0, 2**32, (4,)))
i64("randint_wide", torch.randint(-(2**63), 2**63 - 1, (4,)))
i64("random63", torch.empty(4, dtype=torch.int64).random_())
i64("randperm_50", torch.randperm(50))

torch.manual_seed(10)
i64("randint_2_28_less_1", torch.randint(-3, 2**28 - 4, (4,)))
i64("randint_2_28", torch.randint(-3, 2**28 - 3, (4,)))
f32("uniform_to_the_end", torch.empty(24).uniform_(2**24 - 3, 2**24 + 4))
f64("uniform_f64_to_the_end", torch.empty(24, dtype=DOUBLE).uniform_(2**53 - 3, 2**53 + 4))

torch.manual_seed(11)
f32("normal_first_5", torch.randn(5))
f64("normal_next_4_f64", torch.randn(4, dtype=DOUBLE))
f32("normal_scaled_3", torch.empty(3).normal_(2, 3))
f32("normal_16", torch.randn(16))
f32("normal_after_16", torch.randn(2))

torch.manual_seed(4)
f32("normal_40", torch.randn(40))
f32("normal_scaled_33", torch.empty(33).normal_(-1, 0.02))
f64("normal_f64_40", torch.randn(40, dtype=DOUBLE))
f64("normal_f64_scaled_17", torch.empty(17, dtype=DOUBLE).normal_(5, 0.5))

torch.manual_seed(0)
loader = torch.utils.data.DataLoader(range(10), batch_size=4, shuffle=True)
i64("loader_order_seed_0", torch.cat(list(loader)))

print("// clang-format on\n\n#endif")
