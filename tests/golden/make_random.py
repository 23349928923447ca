# SPDX-License-Identifier: Apache-2.0
"""Writes random.h: PyTorch's random tensors, for tests/unit/test_random.c, beside those in rng.h.

Run: python3 make_random.py > random.h      (PyTorch 2.15, CPU)
"""
import torch

import ctable


def store(name, made):
    print("static const double %s[%d] =\n    %s;" %
          (name, made.numel(), ctable.braces(map(ctable.f64, made.double().flatten().tolist()))))


print(ctable.head("TERN_TESTS_GOLDEN_RANDOM_H", "make_random.py", torch.__version__,
                  "Random tensors of PyTorch's default CPU generator."))
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
print("\n#endif")
