// SPDX-License-Identifier: Apache-2.0
// y[i] = start + i * step
#include "base/thread_pool.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/span.h"
#include "cpu/loop.h"
#include "device/comparison.h"

#define CHUNK 32768
#define BLOCK 512

typedef struct sequence {
    const tern_strided *y;
    double start, step;    // for floating elements
    int64_t first, stride; // for integers
} sequence;

static void floating_chunk(const sequence *s, char *to, int64_t begin, int64_t n)
{
    double wide[BLOCK];
    float narrow[BLOCK];
    for (int64_t i = 0; i < n; i++)
        wide[i] = s->start + (double)(begin + i) * s->step;
    if (s->y->dtype == TERN_FLOAT64) {
        span_store_double(to, wide, TERN_FLOAT64, 1, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (float)wide[i];
    span_store_float(to, narrow, s->y->dtype, 1, n);
}

static void integer_chunk(const sequence *s, char *to, int64_t begin, int64_t n)
{
    int64_t values[BLOCK];
    for (int64_t i = 0; i < n; i++)
        values[i] = wrap_add(s->first, wrap_mul(begin + i, s->stride));
    span_store_int64(to, values, s->y->dtype, 1, n);
}

static void arange_chunk(void *context, int64_t chunk)
{
    const sequence *s = context;
    const int64_t first = chunk * CHUNK, last = first + CHUNK;
    const int64_t end = last < s->y->size[0] ? last : s->y->size[0];
    for (int64_t begin = first; begin < end; begin += BLOCK) {
        const int64_t n = end - begin < BLOCK ? end - begin : BLOCK;
        char *to = (char *)s->y->data + begin * (int64_t)tern_dtype_size(s->y->dtype);
        if (tern_dtype_is_floating(s->y->dtype))
            floating_chunk(s, to, begin, n);
        else
            integer_chunk(s, to, begin, n);
    }
}

tern_status TERN_ISA_NAME(arange)(const tern_exec *exec, const tern_strided *y, tern_scalar start,
                                  tern_scalar step)
{
    (void)exec;
    sequence s = {y, scalar_floating(start, TERN_FLOAT64), scalar_floating(step, TERN_FLOAT64),
                  scalar_integer(start), scalar_integer(step)};
    tern_pool_run((y->size[0] + CHUNK - 1) / CHUNK, arange_chunk, &s);
    return TERN_OK;
}
