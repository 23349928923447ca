// SPDX-License-Identifier: Apache-2.0
// torchvision's make_grid, step by step.
#include <math.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include <tern/ops/copy.h>
#include <tern/ops/inplace.h>
#include <tern/ops/join.h>
#include <tern/ops/view.h>

#include "base/integer.h"
#include "image/image.h"
#include "tensor/factory.h"
#include "tensor/liveness.h"
#include "tensor/tensor.h"

static const char op[] = "image_grid";

static tern_status check(const tern_image_grid_options *o)
{
    TERN_TRY(tern_check_tensor(op, "images", o->images));
    const tern_tensor *t = o->images;
    TERN_CHECK(t->rank >= 2 && t->rank <= 4 && t->numel > 0, TERN_ERR_SHAPE,
               "%s: the images are %s, but must be (count, channels, height, width), (channels, "
               "height, width) or (height, width), of 1 or more each",
               op, tern_shape_string(tern_shape_get(t)));
    TERN_CHECK(o->columns >= 1, TERN_ERR_ARG, "%s: .columns is %lld, but must be 1 or more", op,
               (long long)o->columns);
    TERN_CHECK(o->padding >= 0 && o->padding <= TERN_IMAGE_MAX_SIDE, TERN_ERR_ARG,
               "%s: .padding is %lld, but must be 0 to %d", op, (long long)o->padding,
               TERN_IMAGE_MAX_SIDE);
    TERN_CHECK(!o->normalize || tern_dtype_is_floating(t->dtype), TERN_ERR_DTYPE,
               "%s: .normalize is for floating elements, and the images are %s", op,
               tern_dtype_name(t->dtype));
    const bool given = isfinite(o->low) && isfinite(o->high);
    TERN_CHECK((isnan(o->low) && isnan(o->high)) || (given && o->low <= o->high), TERN_ERR_ARG,
               "%s: .low is %g and .high %g, but must be finite, .low not above it, and one is not "
               "without the other",
               op, o->low, o->high);
    return tern_check_range(op, ".pad_value", o->pad_value, t->dtype);
}

// (N, C, H, W), grey three times.
static tern_tensor *as_batch(tern_tensor *t)
{
    while (t && tern_rank(t) < 3)
        t = tern_unsqueeze(t, 0);
    if (t && tern_rank(t) < 4)
        t = tern_unsqueeze(t, 0);
    if (!t || t->size[1] != 1)
        return t;
    return tern_expand(t, tern_dims(t->size[0], 3, t->size[2], t->size[3]));
}

static tern_tensor *normalize(tern_tensor *t, double low, double high)
{
    if (isnan(low)) {
        low = tern_item(tern_amin(t, TERN_ALL_AXES, false));
        high = tern_item(tern_amax(t, TERN_ALL_AXES, false));
        if (tern_error_pending())
            return NULL;
        TERN_CHECK_PTR(isfinite(low) && isfinite(high), TERN_ERR_NUMERIC,
                       "%s: the elements of an image are %g to %g, so that it cannot be "
                       "normalized; .low and .high say what to",
                       op, low, high);
    }
    return tern_div_scalar(tern_sub_scalar(tern_clamp(t, low, high), low), fmax(high - low, 1e-5));
}

static tern_tensor *normalize_images(tern_tensor *t, const tern_image_grid_options *o)
{
    if (!t || !o->normalize)
        return t;
    if (!o->scale_each)
        return normalize(t, o->low, o->high);
    tern_tensor *out = tern_empty_like(t);
    for (int64_t i = 0; out && i < t->size[0]; i++)
        if (!tern_copy_(tern_select(out, 0, i), normalize(tern_select(t, 0, i), o->low, o->high)))
            return NULL;
    return out;
}

static tern_tensor *arrange(tern_tensor *t, const tern_image_grid_options *o)
{
    const int64_t count = t->size[0], columns = min_int64(o->columns, count);
    const int64_t height = t->size[2] + o->padding, width = t->size[3] + o->padding;
    const int64_t rows = ceil_div(count, columns);
    tern_tensor *grid =
        tern_full(tern_dims(t->size[1], rows * height + o->padding, columns * width + o->padding),
                  o->pad_value, .dtype = t->dtype, .device = tern_dev(t));
    for (int64_t i = 0; grid && i < count; i++) {
        tern_tensor *cell = tern_narrow(grid, 1, i / columns * height + o->padding, t->size[2]);
        cell = tern_narrow(cell, 2, i % columns * width + o->padding, t->size[3]);
        if (!tern_copy_(cell, tern_select(t, 0, i)))
            return NULL;
    }
    return grid;
}

static tern_tensor *make(const tern_image_grid_options *o)
{
    tern_tensor *t = normalize_images(as_batch(tern_detach(o->images)), o);
    if (!t)
        return NULL;
    return t->size[0] == 1 ? tern_clone(tern_select(t, 0, 0)) : arrange(t, o);
}

tern_tensor *tern_image_grid_with(const tern_image_grid_options *options)
{
    if (!options) {
        (void)tern_null_error(op, "options");
        return NULL;
    }
    if (check(options))
        return NULL;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    tern_tensor *grid = NULL;
    tern_no_grad
        grid = make(options);
    return tern_scope_close_keep(scope, grid);
}
