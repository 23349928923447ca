// SPDX-License-Identifier: Apache-2.0
// Batches whose samples are mixed, each with the one before it, the first with the last. mixup:
// H. Zhang et al., "mixup: Beyond Empirical Risk Minimization", ICLR 2018; cutmix: S. Yun et al.,
// "CutMix", ICCV 2019.
#include <math.h>
#include <tern/ops.h>
#include <tern/ops/join.h>

#include "base/integer.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"

typedef struct mix {
    tern_transform base;
    int64_t classes;
    double alpha;
} mix;

// ---- the share of a sample itself ---------------------------------------------------------------

// A normal number and a uniform one; a try fails in less than one of twenty times.
enum { TRIES = 32, DRAWS_OF_TRY = 3, DRAWS_OF_GAMMA = TRIES * DRAWS_OF_TRY + 1 };
enum { LAMBDA, ROW = LAMBDA + 2 * DRAWS_OF_GAMMA, COLUMN, DRAWS };

static double draw_normal(const tern_draws *draws, int64_t index, int64_t k)
{
    const double radius = sqrt(-2 * log(1 - tern_draw(draws, index, k, 0, 1)));
    return radius * cos(6.28318530717958647693 * tern_draw(draws, index, k + 1, 0, 1));
}

// The logarithm of a number of Gamma(alpha, 1). G. Marsaglia and W. W. Tsang, "A Simple Method for
// Generating Gamma Variables", 2000, also for what is done below 1.
static double draw_log_gamma(const tern_draws *draws, int64_t index, int64_t k, double alpha)
{
    const double above = alpha < 1 ? alpha + 1 : alpha, d = above - 1.0 / 3, c = 1 / sqrt(9 * d);
    double less = 0, v = 1;
    if (alpha < 1)
        less = log(1 - tern_draw(draws, index, k, 0, 1)) / alpha;
    for (int i = 0; i < TRIES; i++) {
        const int64_t first = k + 1 + i * DRAWS_OF_TRY;
        const double x = draw_normal(draws, index, first);
        const double u = 1 - tern_draw(draws, index, first + 2, 0, 1);
        v = 1 + c * x;
        v = v * v * v;
        if (v > 0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return log(d * v) + less;
    }
    return log(d) + less;
}

// Of Beta(alpha, alpha), from two of Gamma.
static double draw_lambda(const mix *self, const tern_draws *draws, int64_t index)
{
    const double a = draw_log_gamma(draws, index, LAMBDA, self->alpha);
    const double b = draw_log_gamma(draws, index, LAMBDA + DRAWS_OF_GAMMA, self->alpha);
    return 1 / (1 + exp(b - a));
}

// ---- mixing -------------------------------------------------------------------------------------

// Sample n - 1 in the place of sample n.
static tern_tensor *rolled(tern_tensor *x)
{
    const int64_t count = x->size[0];
    if (count == 1)
        return x;
    tern_tensor *parts[] = {tern_narrow(x, 0, count - 1, 1), tern_narrow(x, 0, 0, count - 1)};
    return tern_cat(parts, 2, 0);
}

tern_tensor *tern_image_mix(tern_tensor *x, double lambda)
{
    return tern_add(tern_mul_scalar(rolled(x), 1 - lambda), tern_mul_scalar(x, lambda));
}

tern_tensor *tern_image_cut(tern_tensor *x, const tern_image_box *box)
{
    if (box->height == 0 || box->width == 0)
        return x;
    tern_tensor *mask = tern_zeros(tern_dims(1, 1, x->size[2], x->size[3]), .dtype = TERN_BOOL,
                                   .device = tern_cpu(0));
    if (!mask)
        return NULL;
    bool *inside = tern_image_data(mask);
    for (int64_t row = box->top; row < box->top + box->height; row++)
        for (int64_t col = box->left; col < box->left + box->width; col++)
            inside[row * x->size[3] + col] = true;
    return tern_where(tern_to(mask, tern_dev(x)), rolled(x), x);
}

static tern_status check_labels(const char *op, const mix *self, const tern_batch *batch)
{
    TERN_CHECK(batch->count >= 2, TERN_ERR_ARG, "%s: the batch has no labels to mix", op);
    const tern_tensor *y = batch->y;
    TERN_CHECK((y->rank == 1 && y->dtype == TERN_INT64) ||
                   (y->rank == 2 && y->dtype == TERN_FLOAT32 && y->size[1] == self->classes),
               TERN_ERR_SHAPE,
               "%s: y is %s %s, but must be int64 labels (N) or float32 probabilities (N, %lld)",
               op, tern_dtype_name(y->dtype), tern_shape_string(tern_shape_get(y)),
               (long long)self->classes);
    return TERN_OK;
}

static tern_status mix_labels(const mix *self, double lambda, tern_batch *batch)
{
    tern_tensor *y = batch->y;
    if (y->rank == 1)
        y = tern_to_dtype(tern_one_hot(y, self->classes), TERN_FLOAT32);
    batch->at[1] = y ? tern_image_mix(y, lambda) : NULL;
    return batch->at[1] ? TERN_OK : tern_error_code();
}

// ---- the transforms -----------------------------------------------------------------------------

static tern_status run_mixup(const tern_transform *transform, const tern_sample_context *context,
                             int64_t first_draw, tern_batch *batch)
{
    const mix *self = (const mix *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, false, NULL, NULL));
    TERN_TRY(check_labels(op, self, batch));
    const double lambda = draw_lambda(self, &draws, batch->index[0]);
    TERN_TRY(mix_labels(self, lambda, batch));
    batch->at[0] = tern_image_mix(batch->x, lambda);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

// Around a pixel that is drawn, of the share 1 - lambda of the image, as far as it lies inside.
static tern_image_box draw_box(const mix *self, const tern_draws *draws, int64_t index,
                               const tern_tensor *x)
{
    const int64_t height = x->size[2], width = x->size[3];
    const double edge = 0.5 * sqrt(1 - draw_lambda(self, draws, index));
    const int64_t row = tern_draw_int(draws, index, ROW, height);
    const int64_t col = tern_draw_int(draws, index, COLUMN, width);
    const int64_t rows = (int64_t)(edge * (double)height), cols = (int64_t)(edge * (double)width);
    tern_image_box box = {.top = max_int64(row - rows, 0), .left = max_int64(col - cols, 0)};
    box.height = min_int64(row + rows, height) - box.top;
    box.width = min_int64(col + cols, width) - box.left;
    return box;
}

static tern_status run_cutmix(const tern_transform *transform, const tern_sample_context *context,
                              int64_t first_draw, tern_batch *batch)
{
    const mix *self = (const mix *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, true, NULL, NULL));
    TERN_TRY(check_labels(op, self, batch));
    const tern_image_box box = draw_box(self, &draws, batch->index[0], batch->x);
    const double pixels = (double)(batch->x->size[2] * batch->x->size[3]);
    TERN_TRY(mix_labels(self, 1 - (double)(box.height * box.width) / pixels, batch));
    batch->at[0] = tern_image_cut(batch->x, &box);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

static tern_transform *make(const tern_transform_class *klass, const tern_transform_mix_options *o)
{
    if (!o) {
        (void)tern_null_error(klass->name, "options");
        return NULL;
    }
    TERN_CHECK_PTR(o->classes >= 1, TERN_ERR_ARG, "%s: classes is %lld, but must be at least 1",
                   klass->name, (long long)o->classes);
    TERN_CHECK_PTR(o->alpha > 0 && isfinite(o->alpha), TERN_ERR_ARG,
                   "%s: alpha is %g, but must be above 0", klass->name, o->alpha);
    mix *self = (mix *)tern_transform_new(klass);
    if (!self)
        return NULL;
    self->classes = o->classes;
    self->alpha = o->alpha;
    return &self->base;
}

tern_transform *tern_transform_mixup_with(const tern_transform_mix_options *options)
{
    static const tern_transform_class klass = {.name = "transform_mixup",
                                               .size = sizeof(mix),
                                               .draws = DRAWS,
                                               .apply = run_mixup,
                                               .mixes = true};
    return make(&klass, options);
}

tern_transform *tern_transform_cutmix_with(const tern_transform_mix_options *options)
{
    static const tern_transform_class klass = {.name = "transform_cutmix",
                                               .size = sizeof(mix),
                                               .draws = DRAWS,
                                               .apply = run_cutmix,
                                               .mixes = true};
    return make(&klass, options);
}
