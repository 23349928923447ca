// SPDX-License-Identifier: Apache-2.0
// What the tests of optimizers share: leaves whose gradients are known, and a failing allocator.
#ifndef TERN_TESTS_OPTIM_OPTIM_CHECK_H
#define TERN_TESTS_OPTIM_OPTIM_CHECK_H

#include "support/memory_hook.h"
#include "support/tensor_check.h"

// A leaf in double with these values.
static inline tern_tensor *leaf(const double *values, int64_t count)
{
    return tern_from_data(tern_dims(count), values, .dtype = TERN_FLOAT64, .requires_grad = true);
}

// Gives `p` this gradient: that of sum(p * g).
static inline void set_grad(tern_tensor *p, double a, double b)
{
    const double g[] = {a, b};
    tern_zero_grad(p);
    tern_tensor *t = tern_from_data(tern_dims(2), g, .dtype = TERN_FLOAT64);
    t = tern_to_dtype(tern_to(t, tern_device_of(p)), tern_dtype_of(p));
    assert_int_equal(tern_backward(tern_sum(tern_mul(p, t), TERN_ALL_AXES, false)), TERN_OK);
}

static const double start[] = {1, -2};

// Bit for bit.
static inline void assert_same_values(tern_tensor *a, tern_tensor *b)
{
    assert_int_equal(tern_numel(a), tern_numel(b));
    assert_int_equal(tern_dtype_of(a), tern_dtype_of(b));
    assert_memory_equal(tern_data(a), tern_data(b),
                        (size_t)tern_numel(a) * tern_dtype_size(tern_dtype_of(a)));
}

// Two devices, and the allocator that fails.
static inline int optim_check_begin(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    return use_memory_hook();
}

#endif
