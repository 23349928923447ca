// SPDX-License-Identifier: Apache-2.0
// What the tests of transforms share. Include <cmocka.h> before.
#ifndef TERN_TESTS_TRANSFORM_TEST_H
#define TERN_TESTS_TRANSFORM_TEST_H

#include "loader_test.h"

// The numbers of a sample, asked for here.
static inline double drawn(uint64_t seed, int64_t index, int64_t k)
{
    const tern_sample_context context = {.seed = seed};
    return tern_sample_rand(&context, index, k);
}

static inline int64_t drawn_int(uint64_t seed, int64_t index, int64_t k, int64_t below)
{
    const tern_sample_context context = {.seed = seed};
    return tern_sample_randint(&context, index, k, 0, below);
}

// (n, c, h, w) with another value in each place.
static inline tern_tensor *ramp(int64_t n, int64_t c, int64_t h, int64_t w)
{
    tern_tensor *x = tern_arange(0, (double)(n * c * h * w), 1, .dtype = TERN_FLOAT32);
    x = tern_reshape(x, tern_dims(n, c, h, w));
    assert_non_null(x);
    return x;
}

static inline const float *values_of(tern_tensor *t)
{
    if (!t)
        fail_msg("%s", tern_error_message());
    assert_int_equal(tern_dtype_of(t), TERN_FLOAT32);
    assert_true(tern_is_contiguous(t));
    return tern_data(t);
}

static inline int at(int n, int c, int h, int w, int channels, int height, int width)
{
    return ((n * channels + c) * height + h) * width + w;
}

static inline void assert_same_bits(tern_tensor *a, tern_tensor *b)
{
    if (!a || !b)
        fail_msg("%s", tern_error_message());
    assert_true(tern_shape_equal(tern_shape_of(a), tern_shape_of(b)));
    assert_int_equal(tern_dtype_of(a), tern_dtype_of(b));
    const size_t nbytes =
        (size_t)tern_numel(a) * (tern_dtype_of(a) == TERN_UINT8 ? 1 : sizeof(float));
    assert_memory_equal(tern_data(tern_contiguous(a)), tern_data(tern_contiguous(b)), nbytes);
}

#endif
