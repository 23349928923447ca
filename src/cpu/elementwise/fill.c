// SPDX-License-Identifier: Apache-2.0
// y[..] = value
#include <string.h>
#include "cpu/elementwise/elementwise.h"
#include "cpu/span.h"
#include "cpu/loop.h"
#include "device/comparison.h"

// One element as it is stored.
typedef struct pattern {
    size_t size;
    bool zero;
    uint8_t byte;
    uint16_t word;
    uint32_t twin;
    uint64_t quad;
} pattern;

#define FILL(type, bits)                                                                           \
    do {                                                                                           \
        type *to = (type *)(void *)data;                                                           \
        if (step == 1) {                                                                           \
            for (int64_t i = 0; i < n; i++)                                                        \
                to[i] = bits;                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                to[i * step] = bits;                                                               \
        }                                                                                          \
    } while (0)

static void fill_run(const void *context, int64_t n, char *const *views, const int64_t *steps)
{
    const pattern *p = context;
    char *data = views[0];
    const int64_t step = steps[0];
    if (p->zero && step == 1)
        memset(data, 0, (size_t)n * p->size);
    else if (p->size == 1)
        FILL(raw_1, p->byte);
    else if (p->size == 2)
        FILL(raw_2, p->word);
    else if (p->size == 4)
        FILL(raw_4, p->twin);
    else
        FILL(raw_8, p->quad);
}

// Writes the value as an element of the dtype.
static void store_value(void *to, tern_dtype dtype, tern_scalar value)
{
    const double wide = scalar_floating(value, dtype);
    const float narrow = (float)wide;
    const int64_t integer = dtype == TERN_BOOL ? scalar_truth(value) : scalar_integer(value);
    switch (compute_type_of(dtype)) {
    case COMPUTE_FLOAT:
        span_store_float(to, &narrow, dtype, 1, 1);
        break;
    case COMPUTE_DOUBLE:
        span_store_double(to, &wide, dtype, 1, 1);
        break;
    case COMPUTE_INT64:
        span_store_int64(to, &integer, dtype, 1, 1);
        break;
    case COMPUTE_COUNT:
        break;
    }
}

tern_status TERN_ISA_NAME(fill)(const tern_exec *exec, const tern_strided *y, tern_scalar value)
{
    (void)exec;
    uint64_t storage = 0;
    pattern p = {.size = tern_dtype_size(y->dtype)};
    store_value(&storage, y->dtype, value);
    p.zero = storage == 0;
    memcpy(&p.byte, &storage, sizeof p.byte);
    memcpy(&p.word, &storage, sizeof p.word);
    memcpy(&p.twin, &storage, sizeof p.twin);
    memcpy(&p.quad, &storage, sizeof p.quad);
    tern_loop(&y, 1, fill_run, &p, TERN_LOOP_ALONE);
    return TERN_OK;
}
