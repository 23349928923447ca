// SPDX-License-Identifier: Apache-2.0
// Tensors beside stored arrays.
#ifndef TERN_TESTS_GOLDEN_COMPARE_H
#define TERN_TESTS_GOLDEN_COMPARE_H

#include "support/check.h"
#include "golden.h"

static inline tern_tensor *golden_tensor(const golden_array *g, tern_device device)
{
    tern_tensor *t = tern_from_data(g->shape, g->data, .dtype = g->dtype, .device = device);
    assert_no_error();
    return t;
}

// `more`: what is allowed besides, as a share.
static inline void golden_compare(const char *what, const tern_tensor *t, const golden_array *g,
                                  real more)
{
    static const double share[] = {[TERN_FLOAT32] = 4e-6,
                                   [TERN_FLOAT64] = 1e-12,
                                   [TERN_FLOAT16] = 2e-3,
                                   [TERN_BFLOAT16] = 1.6e-2,
                                   [TERN_BOOL] = 0};
    array got = array_of_tensor(t), want = golden_to_array(g);
    if (got.dtype != want.dtype || !tern_shape_equal(got.shape, want.shape))
        fail_msg("%s is %s of rank %d with %lld elements, not %s, %d, %lld", what,
                 tern_dtype_name(got.dtype), got.shape.rank, (long long)got.numel,
                 tern_dtype_name(want.dtype), want.shape.rank, (long long)want.numel);
    real room = (real)share[got.dtype] + more;
    for (int64_t i = 0; i < got.numel; i++) {
        real x = got.data[i], y = want.data[i];
        bool same = x == y || (isnan(x) && isnan(y));
        if (!same && !(fabsl(x - y) <= room * (fabsl(y) + 0.25L)))
            fail_msg("%s: element %lld is %.12Lg, PyTorch has %.12Lg", what, (long long)i, x, y);
    }
    array_free(&got);
    array_free(&want);
}

#endif
