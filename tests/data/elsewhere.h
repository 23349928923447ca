// SPDX-License-Identifier: Apache-2.0
// Devices other than cpu:0 for tests that run on whatever there is: CUDA devices, real or
// simulated, else the CPU's others (TERN_CPU_DEVICES). Include <cmocka.h> before.
#ifndef TERN_TESTS_ELSEWHERE_H
#define TERN_TESTS_ELSEWHERE_H

#include <string.h>

#include <tern/tern.h>

// The n-th of them, from 0; there are 2, or 1 where there is a single GPU.
static inline tern_device elsewhere(int n)
{
    int gpus = tern_device_count(TERN_CUDA);
    return gpus > 0 ? tern_cuda(n % gpus) : tern_cpu(n + 1);
}

// Both have the same dtype, shape and bytes, wherever they are.
static inline void assert_same_bits(tern_tensor *a, tern_tensor *b)
{
    assert_int_equal(tern_dtype_of(a), tern_dtype_of(b));
    assert_true(tern_shape_equal(tern_shape_of(a), tern_shape_of(b)));
    tern_tensor *left = tern_to(a, tern_cpu(0)), *right = tern_to(b, tern_cpu(0));
    size_t nbytes = (size_t)tern_numel(a) * tern_dtype_size(tern_dtype_of(a));
    assert_memory_equal(tern_data(left), tern_data(right), nbytes);
}

// Its elements are these, wherever it is.
static inline void assert_elements(tern_tensor *t, const void *bytes)
{
    tern_tensor *here = tern_to(t, tern_cpu(0));
    assert_non_null(here);
    assert_memory_equal(tern_data(here), bytes,
                        (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t)));
}

static inline void assert_is_on(const tern_tensor *t, tern_device device)
{
    assert_string_equal(tern_device_string(tern_device_of(t)), tern_device_string(device));
}

#endif
