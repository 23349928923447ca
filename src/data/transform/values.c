// SPDX-License-Identifier: Apache-2.0
// Bytes to numbers, and their means and deviations taken out.
#include <tern/ops.h>

#include "data/rows.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"
#include "ops/prepare.h"

// ---- bytes --------------------------------------------------------------------------------------

typedef struct scale {
    const uint8_t *x;
    float *y;
    int64_t cols; // elements of a sample
} scale;

static void scale_sample(void *context, int64_t n)
{
    const scale *s = context;
    const uint8_t *restrict x = s->x + n * s->cols;
    float *restrict y = s->y + n * s->cols;
    for (int64_t i = 0; i < s->cols; i++)
        y[i] = (float)x[i] / 255.0f;
}

tern_tensor *tern_image_to_float(const char *op, tern_tensor *x)
{
    if (x->dtype == TERN_FLOAT32)
        return x;
    if (!tern_image_on_cpu(x))
        return tern_div_scalar(tern_to_dtype(x, TERN_FLOAT32), 255);
    x = tern_make_contiguous(x);
    tern_tensor *y = x ? tern_tensor_new(op, TERN_FLOAT32, tern_dev(x), tern_shape_get(x)) : NULL;
    if (!y)
        return NULL;
    scale s = {tern_image_data(x), tern_image_data(y), x->numel / x->size[0]};
    tern_image_each(x->size[0], s.cols, scale_sample, &s);
    return y;
}

static tern_status run_to_float(const tern_transform *self, const tern_sample_context *context,
                                int64_t first_draw, tern_batch *batch)
{
    (void)context;
    (void)first_draw;
    const char *op = self->klass->name;
    TERN_TRY(tern_image_check(op, batch->x, true, NULL, NULL));
    batch->at[0] = tern_image_to_float(op, batch->x);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

tern_transform *tern_transform_to_float(void)
{
    static const tern_transform_class klass = {
        .name = "transform_to_float", .size = sizeof(tern_transform), .apply = run_to_float};
    return tern_transform_new(&klass);
}

// ---- normalization ------------------------------------------------------------------------------

typedef struct normalize {
    tern_transform base;
    tern_channel_list mean, std;
} normalize;

typedef struct shift {
    const float *x;
    float *y;
    int64_t channels, pixels;
    const tern_channel_list *mean, *std;
} shift;

static void normalize_sample(void *context, int64_t n)
{
    const shift *s = context;
    for (int64_t c = 0; c < s->channels; c++) {
        const float mean = (float)tern_channel_value(s->mean, c);
        const float std = (float)tern_channel_value(s->std, c);
        const float *restrict x = s->x + (n * s->channels + c) * s->pixels;
        float *restrict y = s->y + (n * s->channels + c) * s->pixels;
        for (int64_t i = 0; i < s->pixels; i++)
            y[i] = (x[i] - mean) / std;
    }
}

static tern_tensor *normalize_by_operations(tern_tensor *x, const tern_channel_list *mean,
                                            const tern_channel_list *std)
{
    tern_tensor *y = mean->count == 1 ? tern_sub_scalar(x, (double)(float)mean->at[0])
                                      : tern_sub(x, tern_image_channels(x, mean));
    return std->count == 1 ? tern_div_scalar(y, (double)(float)std->at[0])
                           : tern_div(y, tern_image_channels(x, std));
}

tern_tensor *tern_image_normalize(const char *op, tern_tensor *x, const tern_channel_list *mean,
                                  const tern_channel_list *std)
{
    if (!tern_image_on_cpu(x))
        return normalize_by_operations(x, mean, std);
    x = tern_make_contiguous(x);
    tern_tensor *y = x ? tern_tensor_new(op, x->dtype, tern_dev(x), tern_shape_get(x)) : NULL;
    if (!y)
        return NULL;
    shift s = {
        tern_image_data(x), tern_image_data(y), x->size[1], x->size[2] * x->size[3], mean, std};
    tern_image_each(x->size[0], x->size[1] * s.pixels, normalize_sample, &s);
    return y;
}

static tern_status run_normalize(const tern_transform *transform,
                                 const tern_sample_context *context, int64_t first_draw,
                                 tern_batch *batch)
{
    (void)context;
    (void)first_draw;
    const normalize *self = (const normalize *)transform;
    const char *op = transform->klass->name;
    TERN_TRY(tern_image_check(op, batch->x, false, &self->mean, &self->std));
    batch->at[0] = tern_image_normalize(op, batch->x, &self->mean, &self->std);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

static tern_status check_normalize(const char *op, const tern_channel_list *mean,
                                   const tern_channel_list *std)
{
    TERN_TRY(tern_check_channels(op, "mean", mean));
    TERN_TRY(tern_check_channels(op, "std", std));
    TERN_CHECK(mean->count > 0 && std->count > 0, TERN_ERR_ARG, "%s: %s has no numbers", op,
               mean->count > 0 ? "std" : "mean");
    for (int c = 0; c < std->count; c++)
        TERN_CHECK((float)std->at[c] != 0, TERN_ERR_ARG,
                   "%s: std[%d] is 0, and nothing can be divided by it", op, c);
    return TERN_OK;
}

tern_transform *tern_transform_normalize(tern_channel_list mean, tern_channel_list std)
{
    static const tern_transform_class klass = {
        .name = "transform_normalize", .size = sizeof(normalize), .apply = run_normalize};
    if (check_normalize(klass.name, &mean, &std))
        return NULL;
    normalize *self = (normalize *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->mean = mean;
    self->std = std;
    return &self->base;
}
