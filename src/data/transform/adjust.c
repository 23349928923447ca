// SPDX-License-Identifier: Apache-2.0
// Steps of changing colours, other ones for each image of a batch.
#include <string.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/transform/color.h"
#include "data/transform/transform.h"
#include "ops/op.h"
#include "ops/prepare.h"

tern_status tern_image_check_colors(const char *op, const tern_tensor *x)
{
    TERN_TRY(tern_image_check(op, x, false, NULL, NULL));
    TERN_CHECK(x->size[1] == 1 || x->size[1] == 3, TERN_ERR_SHAPE,
               "%s: x has shape %s, so %lld channels, but colours are 1 or 3", op,
               tern_shape_string(tern_shape_get(x)), (long long)x->size[1]);
    return TERN_OK;
}

// ---- on the CPU ---------------------------------------------------------------------------------

typedef struct adjust {
    const float *x; // (N, C, H, W)
    float *y;
    float *scratch; // (N, H, W), or NULL
    int64_t channels, pixels, width, count;
    const tern_image_step *steps;
} adjust;

static void adjust_image(void *context, int64_t n)
{
    const adjust *a = context;
    const int64_t elements = a->channels * a->pixels;
    const tern_planes planes = {.data = a->y + n * elements,
                                .channels = a->channels,
                                .pixels = a->pixels,
                                .width = a->width,
                                .scratch = a->scratch ? a->scratch + n * a->pixels : NULL};
    memcpy(planes.data, a->x + n * elements, (size_t)elements * sizeof *a->x);
    for (int64_t i = 0; i < a->count; i++)
        tern_planes_adjust(&planes, a->steps[n * a->count + i]);
}

static bool any_sharpness(const tern_image_step *steps, int64_t count)
{
    bool any = false;
    for (int64_t i = 0; i < count; i++)
        any |= steps[i].kind == TERN_ADJUST_SHARPNESS;
    return any;
}

static tern_tensor *adjust_on_cpu(const char *op, tern_tensor *x, const tern_image_step *steps,
                                  int64_t count)
{
    x = tern_make_contiguous(x);
    tern_tensor *y = x ? tern_tensor_new(op, x->dtype, tern_dev(x), tern_shape_get(x)) : NULL;
    if (!y)
        return NULL;
    adjust a = {.x = tern_image_data(x),
                .y = tern_image_data(y),
                .channels = x->size[1],
                .pixels = x->size[2] * x->size[3],
                .width = x->size[3],
                .count = count,
                .steps = steps};
    const size_t nbytes = any_sharpness(steps, x->size[0] * count)
                              ? (size_t)(x->size[0] * a.pixels) * sizeof(float)
                              : 0;
    if (nbytes > 0) {
        a.scratch = tern_cache_alloc(nbytes);
        if (!a.scratch)
            return NULL;
    }
    tern_image_each(x->size[0], count * y->numel / x->size[0], adjust_image, &a);
    tern_cache_free(a.scratch, nbytes);
    return y;
}

// ---- elsewhere ----------------------------------------------------------------------------------

static tern_tensor *adjust_each(tern_tensor *x, tern_tensor **images, const tern_image_step *steps,
                                int64_t count)
{
    for (int64_t n = 0; n < x->size[0]; n++) {
        images[n] = tern_narrow(x, 0, n, 1);
        for (int64_t i = 0; i < count && images[n]; i++)
            images[n] = tern_image_adjust_by_operations(images[n], steps[n * count + i]);
        if (!images[n])
            return NULL;
    }
    return tern_cat(images, x->size[0], 0);
}

tern_tensor *tern_image_adjust(const char *op, tern_tensor *x, const tern_image_step *steps,
                               int64_t count)
{
    if (tern_image_on_cpu(x))
        return adjust_on_cpu(op, x, steps, count);
    const size_t nbytes = (size_t)x->size[0] * sizeof(tern_tensor *);
    tern_tensor **images = tern_cache_alloc(nbytes);
    if (!images)
        return NULL;
    tern_tensor *y = adjust_each(x, images, steps, count);
    tern_cache_free(images, nbytes);
    return y;
}
