// SPDX-License-Identifier: Apache-2.0
// Random tensors, from a generator's stream.
#include "ops/random.h"

#include <float.h>
#include <math.h>
#include <tern/random.h>
#include "base/mem.h"
#include "device/generator.h"
#include "ops/alias.h"
#include "ops/launch.h"
#include "tensor/liveness.h"

static tern_status draw(const tern_random_args *fill, tern_generator *generator, tern_tensor *t)
{
    tern_exec exec = tern_exec_of(tern_dev(t));
    tern_strided view = tern_view_flat(t);
    tern_generator_lock(generator);
    tern_status status = tern_kernels_of(exec.device)->random(&exec, fill, generator, &view);
    tern_generator_unlock(generator);
    return status;
}

// Fills `t`, of any strides.
static tern_status draw_into(const tern_random_args *fill, tern_generator *generator,
                             tern_tensor *t)
{
    if (t->contiguous)
        return draw(fill, generator, t);
    tern_tensor *packed = tern_tensor_new("random", t->dtype, tern_dev(t), tern_shape_get(t));
    if (!packed)
        return tern_error_code();
    TERN_TRY(draw(fill, generator, packed));
    return tern_launch_copy(t, packed);
}

// A new tensor, filled; NULL when `t` is.
static tern_tensor *drawn(const tern_random_args *fill, tern_generator *generator, tern_tensor *t)
{
    generator = t ? tern_generator_for(t->op, generator, tern_dev(t)) : NULL;
    return generator && !draw(fill, generator, t) ? t : NULL;
}

static tern_status check_floating(const char *op, tern_dtype dtype)
{
    TERN_TRY(tern_check_dtype(op, dtype));
    TERN_CHECK(tern_dtype_is_floating(dtype), TERN_ERR_DTYPE,
               "%s: dtype is %s, but must be a floating one", op, tern_dtype_name(dtype));
    return TERN_OK;
}

// ---- rand and randn ----------------------------------------------------------------------------

static const tern_random_args unit_uniform = {.kind = TERN_RANDOM_UNIFORM, .a = 0, .b = 1};
static const tern_random_args unit_normal = {.kind = TERN_RANDOM_NORMAL, .a = 0, .b = 1};

static tern_tensor *create_drawn(const char *op, const tern_random_args *fill,
                                 const tern_rand_options *o)
{
    if (!o)
        return (void)tern_null_error(op, "options"), NULL;
    tern_dtype dtype = o->dtype == TERN_DTYPE_UNSPECIFIED ? tern_default_dtype() : o->dtype;
    if (check_floating(op, dtype))
        return NULL;
    return drawn(fill, o->generator, tern_create(op, dtype, o->device, o->requires_grad, o->shape));
}

tern_tensor *tern_rand_with(const tern_rand_options *options)
{
    return create_drawn("rand", &unit_uniform, options);
}

tern_tensor *tern_randn_with(const tern_rand_options *options)
{
    return create_drawn("randn", &unit_normal, options);
}

static tern_tensor *drawn_like(const char *op, const tern_random_args *fill, const tern_tensor *t)
{
    if (tern_check_tensor(op, "t", t) || check_floating(op, t->dtype))
        return NULL;
    return drawn(fill, NULL, tern_create(op, t->dtype, tern_dev(t), false, tern_shape_get(t)));
}

tern_tensor *tern_rand_like(const tern_tensor *t)
{
    return drawn_like("rand_like", &unit_uniform, t);
}

tern_tensor *tern_randn_like(const tern_tensor *t)
{
    return drawn_like("randn_like", &unit_normal, t);
}

// ---- integers ----------------------------------------------------------------------------------

static tern_status check_bounds(const char *op, int64_t low, int64_t high, tern_dtype dtype)
{
    TERN_TRY(tern_check_dtype(op, dtype));
    TERN_CHECK(low < high, TERN_ERR_ARG, "%s: low %lld is not below high %lld", op, (long long)low,
               (long long)high);
    if (dtype == TERN_INT64)
        return TERN_OK;
    TERN_TRY(tern_check_range(op, "low", low, dtype));
    return tern_check_range(op, "high - 1", high - 1, dtype);
}

static tern_random_args integer_fill(int64_t low, int64_t high)
{
    return (tern_random_args){.kind = TERN_RANDOM_INTEGER, .low = low, .high = high};
}

tern_tensor *tern_randint_with(const tern_randint_options *o)
{
    if (!o)
        return (void)tern_null_error("randint", "options"), NULL;
    tern_dtype dtype = o->dtype == TERN_DTYPE_UNSPECIFIED ? TERN_INT64 : o->dtype;
    if (check_bounds("randint", o->low, o->high, dtype))
        return NULL;
    tern_random_args fill = integer_fill(o->low, o->high);
    return drawn(&fill, o->generator,
                 tern_create("randint", dtype, o->device, o->requires_grad, o->shape));
}

tern_tensor *tern_randint_like(const tern_tensor *t, int64_t low, int64_t high)
{
    if (tern_check_tensor("randint_like", "t", t) ||
        check_bounds("randint_like", low, high, t->dtype))
        return NULL;
    tern_random_args fill = integer_fill(low, high);
    return drawn(&fill, NULL,
                 tern_create("randint_like", t->dtype, tern_dev(t), false, tern_shape_get(t)));
}

// ---- permutations ------------------------------------------------------------------------------

// The number up to which a dtype holds every integer.
static int64_t largest_exact(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_INT64:
        return INT64_MAX;
    case TERN_FLOAT64:
        return (int64_t)1 << 53;
    case TERN_INT32:
        return INT32_MAX;
    case TERN_FLOAT32:
        return 1 << 24;
    case TERN_FLOAT16:
        return 1 << 11;
    case TERN_BFLOAT16:
        return 1 << 8;
    case TERN_UINT8:
        return 255;
    case TERN_BOOL:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return 0;
}

static tern_status check_perm(int64_t n, tern_dtype dtype)
{
    TERN_TRY(tern_check_dtype("randperm", dtype));
    TERN_CHECK(dtype != TERN_BOOL, TERN_ERR_DTYPE, "randperm: dtype is bool, which cannot count");
    TERN_CHECK(n >= 0, TERN_ERR_SHAPE, "randperm: n %lld is negative", (long long)n);
    TERN_CHECK(n - 1 <= largest_exact(dtype), TERN_ERR_ARG,
               "randperm: %s does not hold every number below n %lld", tern_dtype_name(dtype),
               (long long)n);
    return tern_check_shape("randperm", tern_dims(n), TERN_INT64);
}

// On the host, also for tensors elsewhere: a permutation is drawn in sequence.
static void permute(tern_generator *generator, int64_t *values, int64_t count)
{
    tern_generator_lock(generator);
    tern_mt19937_randperm(&generator->mt, values, count);
    tern_generator_unlock(generator);
}

static tern_status permute_into(tern_tensor *t, tern_generator *generator)
{
    tern_tensor *whole = t;
    if (t->dtype != TERN_INT64)
        whole = tern_tensor_new("randperm", TERN_INT64, tern_dev(t), tern_shape_get(t));
    size_t nbytes = (size_t)t->numel * sizeof(int64_t);
    int64_t *values = whole ? tern_cache_alloc(nbytes) : NULL;
    if (!values)
        return tern_error_code();
    permute(generator, values, t->numel);
    tern_status status = tern_upload("randperm", whole, values);
    if (!status && whole != t)
        status = tern_launch_copy(t, whole);
    tern_cache_free(values, nbytes);
    return status;
}

tern_tensor *tern_randperm_with(const tern_randperm_options *o)
{
    if (!o)
        return (void)tern_null_error("randperm", "options"), NULL;
    tern_dtype dtype = o->dtype == TERN_DTYPE_UNSPECIFIED ? TERN_INT64 : o->dtype;
    if (check_perm(o->n, dtype))
        return NULL;
    tern_tensor *t = tern_create("randperm", dtype, o->device, o->requires_grad, tern_dims(o->n));
    tern_generator *generator =
        t ? tern_generator_for("randperm", o->generator, tern_dev(t)) : NULL;
    return generator && !permute_into(t, generator) ? t : NULL;
}

// ---- bernoulli ---------------------------------------------------------------------------------

static tern_status check_probability(const char *op, double p)
{
    TERN_CHECK(p >= 0 && p <= 1, TERN_ERR_ARG, "%s: p is %g, but must be 0 to 1", op, p);
    return TERN_OK;
}

tern_tensor *tern_bernoulli_like(const tern_tensor *t, double p, tern_generator *generator)
{
    if (tern_check_tensor("bernoulli_like", "t", t) || check_probability("bernoulli_like", p))
        return NULL;
    tern_random_args fill = {.kind = TERN_RANDOM_BERNOULLI, .a = p};
    return drawn(&fill, generator,
                 tern_create("bernoulli_like", t->dtype, tern_dev(t), false, tern_shape_get(t)));
}

// ---- in place ----------------------------------------------------------------------------------

static double largest_value(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64    ? DBL_MAX
           : dtype == TERN_FLOAT16  ? 65504
           : dtype == TERN_BFLOAT16 ? 0x1.fep127
                                    : (double)FLT_MAX;
}

static tern_tensor *redraw(const tern_op *op, const tern_random_args *fill, tern_tensor *t,
                           tern_generator *generator)
{
    tern_op_call call = {.op = op, .count = 1, .in = {t}};
    tern_node *node = NULL;
    generator = tern_generator_for(op->name, generator, tern_dev(t));
    if (!generator || tern_op_begin_inplace(&call, &node))
        return NULL;
    return tern_op_end_inplace(&call, t, node, draw_into(fill, generator, t));
}

tern_tensor *tern_draw_uniform(const tern_op *op, tern_tensor *t, double low, double high,
                               tern_generator *generator)
{
    if (tern_check_inplace(op->name, t) || check_floating(op->name, t->dtype))
        return NULL;
    TERN_CHECK_PTR(isfinite(low) && isfinite(high) && low <= high, TERN_ERR_ARG,
                   "%s: low %g and high %g are no range", op->name, low, high);
    const double largest = largest_value(t->dtype);
    TERN_CHECK_PTR(low >= -largest && high <= largest && high - low <= largest, TERN_ERR_ARG,
                   "%s: low %g, high %g or their difference is beyond %s", op->name, low, high,
                   tern_dtype_name(t->dtype));
    tern_random_args fill = {.kind = TERN_RANDOM_UNIFORM, .a = low, .b = high};
    return redraw(op, &fill, t, generator);
}

tern_tensor *tern_uniform_(tern_tensor *t, double low, double high, tern_generator *generator)
{
    static const tern_op op = {"uniform_", {"t"}, tern_overwrite_backward};
    return tern_draw_uniform(&op, t, low, high, generator);
}

tern_tensor *tern_draw_normal(const tern_op *op, tern_tensor *t, double mean, double std,
                              tern_generator *generator)
{
    if (tern_check_inplace(op->name, t) || check_floating(op->name, t->dtype))
        return NULL;
    TERN_CHECK_PTR(std >= 0 && isfinite(mean) && isfinite(std), TERN_ERR_ARG,
                   "%s: mean %g and std %g must be finite, std not negative", op->name, mean, std);
    tern_random_args fill = {.kind = TERN_RANDOM_NORMAL, .a = mean, .b = std};
    return redraw(op, &fill, t, generator);
}

tern_tensor *tern_normal_(tern_tensor *t, double mean, double std, tern_generator *generator)
{
    static const tern_op op = {"normal_", {"t"}, tern_overwrite_backward};
    return tern_draw_normal(&op, t, mean, std, generator);
}

tern_tensor *tern_bernoulli_(tern_tensor *t, double p, tern_generator *generator)
{
    if (tern_check_inplace("bernoulli_", t) || check_probability("bernoulli_", p))
        return NULL;
    tern_random_args fill = {.kind = TERN_RANDOM_BERNOULLI, .a = p};
    static const tern_op op = {"bernoulli_", {"t"}, tern_overwrite_backward};
    return redraw(&op, &fill, t, generator);
}
