// SPDX-License-Identifier: Apache-2.0
// What the loops over images share.
#include "data/transform/image.h"

#include <math.h>
#include <string.h>
#include <tern/ops.h>

#include "base/integer.h"
#include "data/transform/transform.h"
#include "ops/op.h"

static tern_status check_count(const char *op, const tern_tensor *x, const tern_channel_list *list)
{
    TERN_CHECK(!list || list->count <= 1 || list->count == x->size[1], TERN_ERR_SHAPE,
               "%s: x has shape %s, so %lld channels, but there are numbers for %d", op,
               tern_shape_string(tern_shape_get(x)), (long long)x->size[1], list->count);
    return TERN_OK;
}

tern_status tern_image_check(const char *op, const tern_tensor *x, bool bytes,
                             const tern_channel_list *a, const tern_channel_list *b)
{
    TERN_CHECK(x->rank == 4 && x->numel > 0, TERN_ERR_SHAPE,
               "%s: x has shape %s, but must be images, (N, C, H, W) with pixels", op,
               tern_shape_string(tern_shape_get(x)));
    TERN_CHECK(x->size[2] <= INT32_MAX && x->size[3] <= INT32_MAX, TERN_ERR_SHAPE,
               "%s: x has shape %s, but images have at most 2147483647 rows and columns", op,
               tern_shape_string(tern_shape_get(x)));
    if (x->dtype == TERN_UINT8)
        TERN_CHECK(bytes, TERN_ERR_DTYPE,
                   "%s: x is uint8, but must be float32: put tern_transform_to_float before it",
                   op);
    else
        TERN_CHECK(x->dtype == TERN_FLOAT32, TERN_ERR_DTYPE, "%s: x is %s, but must be float32%s",
                   op, tern_dtype_name(x->dtype), bytes ? " or uint8" : "");
    TERN_TRY(check_count(op, x, a));
    return check_count(op, x, b);
}

// ---- in parallel --------------------------------------------------------------------------------

// Below this many elements waking a thread costs more than it saves.
#define CHUNK_ELEMENTS 16384

typedef struct samples {
    int64_t count;
    int64_t chunk; // samples of a task
    tern_pool_fn *fn;
    void *context;
} samples;

static void run_chunk(void *context, int64_t task)
{
    const samples *s = context;
    const int64_t end = min_int64((task + 1) * s->chunk, s->count);
    for (int64_t n = task * s->chunk; n < end; n++)
        s->fn(s->context, n);
}

void tern_image_each(int64_t count, int64_t elements, tern_pool_fn *fn, void *context)
{
    samples s = {.count = count, .chunk = 1, .fn = fn, .context = context};
    if (elements < CHUNK_ELEMENTS)
        s.chunk = CHUNK_ELEMENTS / max_int64(elements, 1);
    tern_pool_run(ceil_div(count, s.chunk), run_chunk, &s);
}

// ---- numbers of channels ------------------------------------------------------------------------

tern_tensor *tern_image_floats(const tern_tensor *x, tern_shape shape, const float *values)
{
    return tern_from_data(shape, values, .dtype = TERN_FLOAT32, .device = tern_dev(x));
}

tern_tensor *tern_image_channels(const tern_tensor *x, const tern_channel_list *list)
{
    float values[TERN_MAX_CHANNELS] = {0};
    const int64_t count = max_int64(list->count, 1);
    for (int64_t c = 0; c < count; c++)
        values[c] = (float)tern_channel_value(list, c);
    if (x->dtype == TERN_FLOAT32)
        return tern_image_floats(x, tern_dims(1, count, 1, 1), values);
    uint8_t bytes[TERN_MAX_CHANNELS];
    for (int64_t c = 0; c < count; c++)
        bytes[c] = (uint8_t)tern_image_element(TERN_UINT8, tern_channel_value(list, c));
    return tern_from_data(tern_dims(1, count, 1, 1), bytes, .dtype = TERN_UINT8,
                          .device = tern_dev(x));
}

uint32_t tern_image_element(tern_dtype dtype, double value)
{
    if (dtype == TERN_UINT8)
        return (uint32_t)rint(fmin(fmax(value, 0), 255));
    const float element = (float)value;
    uint32_t bits;
    memcpy(&bits, &element, sizeof bits);
    return bits;
}
