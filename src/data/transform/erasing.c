// SPDX-License-Identifier: Apache-2.0
// Rectangles that are erased: Z. Zhong et al., "Random Erasing Data Augmentation", AAAI 2020.
#include <math.h>
#include <string.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"
#include "ops/prepare.h"

// ---- given boxes --------------------------------------------------------------------------------

typedef struct erase {
    char *y; // (N, C, height, width)
    const char *x;
    int64_t channels, height, width, size; // bytes of an element
    const tern_image_box *boxes;
    const tern_channel_list *value;
    const float *noise; // (N, C, height, width) instead of the value, or NULL
    tern_dtype dtype;
} erase;

static void erase_row(const erase *e, char *to, int64_t first, int64_t count, uint32_t value)
{
    if (e->noise)
        memcpy(to, e->noise + first, (size_t)count * sizeof(float));
    else if (e->dtype == TERN_UINT8)
        memset(to, (int)value, (size_t)count);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * 4, &value, sizeof value);
}

static void erase_image(void *context, int64_t n)
{
    const erase *e = context;
    const tern_image_box *box = &e->boxes[n];
    const int64_t elements = e->channels * e->height * e->width;
    memcpy(e->y + n * elements * e->size, e->x + n * elements * e->size,
           (size_t)(elements * e->size));
    for (int64_t c = 0; c < e->channels; c++) {
        const uint32_t value = tern_image_element(e->dtype, tern_channel_value(e->value, c));
        for (int64_t row = box->top; row < box->top + box->height; row++) {
            const int64_t first = ((n * e->channels + c) * e->height + row) * e->width + box->left;
            erase_row(e, e->y + first * e->size, first, box->width, value);
        }
    }
}

static tern_tensor *erase_on_cpu(const char *op, tern_tensor *x, const tern_image_box *boxes,
                                 const tern_channel_list *value, const float *noise)
{
    x = tern_make_contiguous(x);
    tern_tensor *y = x ? tern_tensor_new(op, x->dtype, tern_dev(x), tern_shape_get(x)) : NULL;
    if (!y)
        return NULL;
    erase e = {.y = tern_image_data(y),
               .x = tern_image_data(x),
               .channels = x->size[1],
               .height = x->size[2],
               .width = x->size[3],
               .size = (int64_t)tern_dtype_size(x->dtype),
               .boxes = boxes,
               .value = value,
               .noise = noise,
               .dtype = x->dtype};
    tern_image_each(x->size[0], x->numel / x->size[0], erase_image, &e);
    return y;
}

static tern_tensor *mask_of_boxes(const tern_tensor *x, const tern_image_box *boxes)
{
    const int64_t count = x->size[0], height = x->size[2], width = x->size[3];
    const size_t nbytes = (size_t)(count * height * width);
    bool *mask = tern_cache_alloc(nbytes);
    if (!mask)
        return NULL;
    memset(mask, 0, nbytes);
    for (int64_t n = 0; n < count; n++)
        for (int64_t row = boxes[n].top; row < boxes[n].top + boxes[n].height; row++)
            memset(mask + (n * height + row) * width + boxes[n].left, 1, (size_t)boxes[n].width);
    tern_tensor *t = tern_from_data(tern_dims(count, 1, height, width), mask, .dtype = TERN_BOOL,
                                    .device = tern_dev(x));
    tern_cache_free(mask, nbytes);
    return t;
}

tern_tensor *tern_image_erase(const char *op, tern_tensor *x, const tern_image_box *boxes,
                              const tern_channel_list *value, const float *noise)
{
    if (tern_image_on_cpu(x))
        return erase_on_cpu(op, x, boxes, value, noise);
    tern_tensor *with =
        noise ? tern_image_floats(x, tern_shape_get(x), noise) : tern_image_channels(x, value);
    return tern_where(mask_of_boxes(x, boxes), with, x);
}

// ---- boxes that are drawn -----------------------------------------------------------------------

typedef struct erasing {
    tern_transform base;
    double p;
    tern_range scale, ratio;
    tern_channel_list value;
    bool noise;
} erasing;

// The draws: whether, ten times an area and a ratio, where, and the seed of noise.
enum { WHETHER, AREA, TRIES = 10, TOP = AREA + 2 * TRIES, LEFT, NOISE, DRAWS };

static tern_image_box draw_box(const erasing *self, const tern_draws *draws, int64_t index,
                               int64_t height, int64_t width)
{
    const double low = log(self->ratio.low), high = log(self->ratio.high);
    if (tern_draw(draws, index, WHETHER, 0, 1) >= self->p)
        return (tern_image_box){0};
    for (int64_t k = AREA; k < AREA + 2 * TRIES; k += 2) {
        const double share = tern_draw(draws, index, k, self->scale.low, self->scale.high);
        const double area = (double)height * (double)width * share;
        const double ratio = exp(tern_draw(draws, index, k + 1, low, high));
        const double h = rint(sqrt(area * ratio)), w = rint(sqrt(area / ratio));
        if (h >= (double)height || w >= (double)width)
            continue;
        tern_image_box box = {.height = (int64_t)h, .width = (int64_t)w};
        box.top = tern_draw_int(draws, index, TOP, height - box.height + 1);
        box.left = tern_draw_int(draws, index, LEFT, width - box.width + 1);
        return box;
    }
    return (tern_image_box){0};
}

// Normal numbers in the box, by Box and Muller, of a stream of the sample's own.
static void draw_noise(const tern_draws *draws, int64_t index, const tern_image_box *box,
                       const tern_tensor *x, float *noise)
{
    const int64_t seed =
        tern_sample_randint(draws->context, index, draws->first + NOISE, INT64_MIN, INT64_MAX);
    const tern_sample_context stream = {.seed = (uint64_t)seed, .epoch = draws->context->epoch};
    for (int64_t line = 0; line < x->size[1] * box->height; line++) {
        const int64_t c = line / box->height, row = box->top + line % box->height;
        const int64_t first = (c * x->size[2] + row) * x->size[3] + box->left;
        for (int64_t i = first; i < first + box->width; i++) {
            const double radius = sqrt(-2 * log(1 - tern_sample_rand(&stream, i, 0)));
            const double angle = 6.28318530717958647693 * tern_sample_rand(&stream, i, 1);
            noise[i] = (float)(radius * cos(angle));
        }
    }
}

static tern_tensor *erase_with_noise(const char *op, const tern_draws *draws,
                                     const tern_batch *batch, const tern_image_box *boxes)
{
    tern_tensor *x = batch->x;
    const int64_t elements = x->numel / x->size[0];
    const size_t nbytes = (size_t)x->numel * sizeof(float);
    float *noise = tern_cache_alloc(nbytes);
    if (!noise)
        return NULL;
    memset(noise, 0, nbytes);
    for (int64_t n = 0; n < batch->size; n++)
        draw_noise(draws, batch->index[n], &boxes[n], x, noise + n * elements);
    tern_tensor *y = tern_image_erase(op, x, boxes, &(tern_channel_list){0}, noise);
    tern_cache_free(noise, nbytes);
    return y;
}

static tern_status run(const tern_transform *transform, const tern_sample_context *context,
                       int64_t first_draw, tern_batch *batch)
{
    const erasing *self = (const erasing *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, !self->noise, &self->value, NULL));
    const size_t nbytes = (size_t)batch->size * sizeof(tern_image_box);
    tern_image_box *boxes = tern_cache_alloc(nbytes);
    if (!boxes)
        return TERN_ERR_NOMEM;
    for (int64_t n = 0; n < batch->size; n++)
        boxes[n] = draw_box(self, &draws, batch->index[n], batch->x->size[2], batch->x->size[3]);
    batch->at[0] = self->noise ? erase_with_noise(op, &draws, batch, boxes)
                               : tern_image_erase(op, batch->x, boxes, &self->value, NULL);
    tern_cache_free(boxes, nbytes);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

static tern_status check(const char *op, const tern_transform_random_erasing_options *o)
{
    TERN_TRY(tern_check_probability(op, o->p));
    TERN_TRY(tern_check_number_range(op, "scale", o->scale));
    TERN_TRY(tern_check_number_range(op, "ratio", o->ratio));
    TERN_TRY(tern_check_channels(op, "value", &o->value));
    TERN_CHECK(o->scale.low >= 0 && o->scale.high <= 1, TERN_ERR_ARG,
               "%s: scale is {%g, %g}, but shares of an area are 0 to 1", op, o->scale.low,
               o->scale.high);
    TERN_CHECK(o->ratio.low > 0, TERN_ERR_ARG, "%s: ratio is {%g, %g}, but must be above 0", op,
               o->ratio.low, o->ratio.high);
    TERN_CHECK(!o->noise || o->value.count == 0, TERN_ERR_ARG,
               "%s: value and noise were both given, and only one of them can be there", op);
    return TERN_OK;
}

tern_transform *tern_transform_random_erasing_with(const tern_transform_random_erasing_options *o)
{
    static const tern_transform_class klass = {
        .name = "transform_random_erasing", .size = sizeof(erasing), .draws = DRAWS, .apply = run};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    if (check(klass.name, o))
        return NULL;
    erasing *self = (erasing *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->p = o->p;
    self->scale = o->scale;
    self->ratio = o->ratio;
    self->value = o->value;
    self->noise = o->noise;
    return &self->base;
}
