// SPDX-License-Identifier: Apache-2.0
// Views as kernels take them, written short: VIEW(data, TERN_FLOAT32, 2, 3).
#ifndef TERN_TESTS_SUPPORT_STRIDED_H
#define TERN_TESTS_SUPPORT_STRIDED_H

#include "device/kernels.h"

// A contiguous view of up to 4 dimensions; sizes end with -1.
static inline tern_strided view_of(void *data, tern_dtype dtype, const int64_t *sizes)
{
    tern_strided view = {.data = data, .dtype = dtype};
    while (sizes[view.rank] >= 0) {
        view.size[view.rank] = sizes[view.rank];
        view.rank++;
    }
    int64_t stride = 1;
    for (int d = view.rank - 1; d >= 0; d--) {
        view.stride[d] = stride;
        stride *= view.size[d];
    }
    return view;
}
#define VIEW(data, dtype, ...) view_of(data, dtype, (const int64_t[]){__VA_ARGS__, -1})

#endif
