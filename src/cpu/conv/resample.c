// SPDX-License-Identifier: Apache-2.0
// Resampling: averages over windows, interpolation, padding that repeats; and its gradient.
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define GROUP_ELEMENTS 32768 // in and out, of one group of planes
#define MAX_GROUPS     64
#define FEW_GROUPS     8
#define WINDOW_TAPS    32    // for each input and output, from which on they are not listed
#define ROOMY          65536 // elements of scratch, from which on there are few groups

#define RESAMPLE_FN                static inline __attribute__((unused))
#define RESAMPLE_DIM               tern_resample_dim
#define RESAMPLE_BY(n, dim, field) ((n) / (dim)->field)

// `nbytes` from the beginning of *memory, in lines of their own.
static void *partition(char **memory, int64_t nbytes)
{
    void *const begin = *memory;
    *memory += (nbytes + 63) / 64 * 64;
    return begin;
}

// Places of a shuffle: the halves of two vectors, in turns.
#define LOW_8  0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_4  0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7

#define REAL                float
#define REAL_BITS           int32_t
#define RESAMPLE_PICK(half) half##_8
#define TAPS(name)          float_##name
#define FLOOR               floorf
#include "device/resample_taps.h"
#include "cpu/conv/resample_real.h"
#undef REAL
#undef REAL_BITS
#undef RESAMPLE_PICK
#undef TAPS
#undef FLOOR
#define REAL                double
#define REAL_BITS           int64_t
#define RESAMPLE_PICK(half) half##_4
#define TAPS(name)          double_##name
#define FLOOR               floor
#include "device/resample_taps.h"
#include "cpu/conv/resample_real.h"

// Means over all three dimensions: their elements; else 0.
static int64_t whole_of(const tern_resample_args *args)
{
    int64_t elements = 1;
    bool averages = false;
    for (int i = 0; i < 3; i++) {
        const tern_resample_dim *d = &args->dim[i];
        averages |= d->kind == TERN_RESAMPLE_AREA;
        if (d->out != 1 || (d->kind != TERN_RESAMPLE_AREA && d->in != 1))
            return 0;
        elements *= d->in;
    }
    return averages && args->scale == 1 ? elements : 0;
}

static tern_status run(const tern_resample_args *args, bool transposed, const tern_strided *y,
                       const tern_strided *x)
{
    if (tern_strided_numel(y) == 0)
        return TERN_OK;
    const int64_t whole = whole_of(args);
    if (whole > 0) {
        (y->dtype == TERN_FLOAT64 ? double_whole : float_whole)(transposed, y->data, x->data,
                                                                y->size[0], whole);
        return TERN_OK;
    }
    return (y->dtype == TERN_FLOAT64 ? double_resample : float_resample)(args, transposed, y->data,
                                                                         x->data, y->size[0]);
}

static tern_status run_upcast(const tern_resample_args *args, bool transposed,
                              const tern_strided *y, const tern_strided *x)
{
    tern_strided upcast_x = {0}, upcast_y = {0};
    tern_status status = upcast_copy(&upcast_x, x);
    if (status == TERN_OK)
        status = upcast_new(&upcast_y, y);
    if (status == TERN_OK)
        status = run(args, transposed, &upcast_y, &upcast_x);
    if (status == TERN_OK)
        downcast_store(y, &upcast_y);
    upcast_free(&upcast_y);
    upcast_free(&upcast_x);
    return status;
}

tern_status TERN_ISA_NAME(resample)(const tern_exec *exec, const tern_resample_args *args,
                                    const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("resample", x->dtype));
    return (upcast_needed(x->dtype) ? run_upcast : run)(args, false, y, x);
}

tern_status TERN_ISA_NAME(resample_grad)(const tern_exec *exec, const tern_resample_args *args,
                                         const tern_strided *dx, const tern_strided *dy)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating("resample_grad", dx->dtype));
    return (upcast_needed(dx->dtype) ? run_upcast : run)(args, true, dx, dy);
}
