# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's CPU generator gives, for tests/base/test_mt19937.c and test_random.c: the
family random. scripts/golden.sh runs it.
"""
import sys

sys.dont_write_bytecode = True

import torch

from golden import Golden

DOUBLE = torch.float64
_stored = []


def store(name, made):
    _stored.append((name, made))


torch.manual_seed(0)
store("rand_seed_0", torch.rand(2000)[-8:])
store("rand_f64_after_it", torch.rand(1000, dtype=DOUBLE)[-8:])

torch.manual_seed(2**40 + 5)
store("rand_seed_2_40_plus_5", torch.rand(4))
torch.manual_seed(2**64 - 1)
store("rand_seed_2_64_minus_1", torch.rand(4))

torch.manual_seed(7)
store("uniform_7", torch.empty(24).uniform_(-0.3, 0.9))
store("uniform_f64_after_it", torch.empty(24, dtype=DOUBLE).uniform_(-1 / 28, 1 / 28))

torch.manual_seed(3)
store("bernoulli_3", torch.empty(40).bernoulli_(0.4))

torch.manual_seed(9)
store("randint_3_17", torch.randint(3, 17, (16,)))
store("randint_32_bits_less_1", torch.randint(0, 2**32 - 1, (4,)))
store("randint_32_bits", torch.randint(0, 2**32, (4,)))
store("randint_wide", torch.randint(-(2**63), 2**63 - 1, (4,)))
store("random63", torch.empty(4, dtype=torch.int64).random_())
store("randperm_50", torch.randperm(50))

torch.manual_seed(10)
store("randint_2_28_less_1", torch.randint(-3, 2**28 - 4, (4,)))
store("randint_2_28", torch.randint(-3, 2**28 - 3, (4,)))
store("uniform_to_the_end", torch.empty(24).uniform_(2**24 - 3, 2**24 + 4))
store("uniform_f64_to_the_end", torch.empty(24, dtype=DOUBLE).uniform_(2**53 - 3, 2**53 + 4))

torch.manual_seed(11)
store("normal_first_5", torch.randn(5))
store("normal_next_4_f64", torch.randn(4, dtype=DOUBLE))
store("normal_scaled_3", torch.empty(3).normal_(2, 3))
store("normal_16", torch.randn(16))
store("normal_after_16", torch.randn(2))

torch.manual_seed(4)
store("normal_40", torch.randn(40))
store("normal_scaled_33", torch.empty(33).normal_(-1, 0.02))
store("normal_f64_40", torch.randn(40, dtype=DOUBLE))
store("normal_f64_scaled_17", torch.empty(17, dtype=DOUBLE).normal_(5, 0.5))

torch.manual_seed(0)
loader = torch.utils.data.DataLoader(range(10), batch_size=4, shuffle=True)
store("loader_order_seed_0", torch.cat(list(loader)))


# torch.Generator() has a fixed seed; PyTorch's default generator another one in each process.
store("rand_unseeded", torch.rand(4, generator=torch.Generator()))

for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
    torch.manual_seed(0)
    store("rand_" + name, torch.rand(6, dtype=dtype))
    store("uniform_" + name, torch.empty(5, dtype=dtype).uniform_(-0.3, 0.9))
    store("randn_5_" + name, torch.randn(5, dtype=dtype))
    store("randn_35_" + name, torch.randn(35, dtype=dtype))
    store("after_" + name, torch.rand(1))
    store("randn_16_" + name, torch.empty(16, dtype=dtype).normal_(2, 3))
    store("to_the_end_" + name, torch.empty(24, dtype=dtype).uniform_(1000, 1003))

torch.manual_seed(0)
store("randint_float16", torch.randint(3, 17, (6,), dtype=torch.float16))
store("randint_uint8", torch.randint(0, 256, (6,), dtype=torch.uint8))
store("randint_int32", torch.randint(-(2**31), 2**31 - 1, (4,), dtype=torch.int32))
store("bernoulli_float64", torch.empty(12, dtype=torch.float64).bernoulli_(0.3))
store("bernoulli_uint8", torch.empty(12, dtype=torch.uint8).bernoulli_(0.7))
store("bernoulli_bool", torch.empty(12, dtype=torch.bool).bernoulli_(0.5))
store("randperm_float32", torch.randperm(9, dtype=torch.float32))

golden = Golden("random", "make_random.py", "Random tensors of PyTorch's default CPU generator.")
golden.case("draws", (), _stored)
golden.write()
