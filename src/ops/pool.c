// SPDX-License-Identifier: Apache-2.0
// Sizes of poolings: what is given, what is refused, what comes out.
#include "ops/pool.h"

#include <string.h>

// ---- what is given -----------------------------------------------------------------------------

static bool given(const tern_shape *sizes, int64_t nothing)
{
    for (int i = 0; i < sizes->rank; i++)
        if (sizes->dim[i] != nothing)
            return true;
    return false;
}

static tern_status check_sizes(const tern_pool *pool, const char *what, const tern_shape *sizes,
                               int64_t min)
{
    for (int i = 0; i < pool->dims; i++)
        TERN_CHECK(sizes->dim[i] >= min && sizes->dim[i] <= INT32_MAX, TERN_ERR_ARG,
                   "%s: %s is %lld, but must be at least %lld%s", pool->name, what,
                   (long long)sizes->dim[i], (long long)min,
                   sizes->dim[i] > min ? " and below 2^31" : "");
    return TERN_OK;
}

static tern_status check_padding(const tern_pool *pool)
{
    int64_t volume = 1;
    for (int i = 0; i < pool->dims; i++) {
        TERN_CHECK(2 * pool->padding.dim[i] <= pool->kernel.dim[i], TERN_ERR_ARG,
                   "%s: padding %lld is more than half of the kernel, which is %lld", pool->name,
                   (long long)pool->padding.dim[i], (long long)pool->kernel.dim[i]);
        TERN_CHECK(pool->dilation.dim[i] * (pool->kernel.dim[i] - 1) <= INT32_MAX &&
                       volume <= INT32_MAX / pool->kernel.dim[i],
                   TERN_ERR_ARG, "%s: a window of the kernel has or spans more than 2^31 elements",
                   pool->name);
        volume *= pool->kernel.dim[i];
    }
    return TERN_OK;
}

static void fill(tern_shape *sizes, int64_t size)
{
    for (int i = 0; i < sizes->rank; i++)
        sizes->dim[i] = size;
}

tern_status tern_pool_finalize(tern_pool *pool, int64_t kernel, tern_sizes kernel_size,
                               tern_sizes stride, tern_sizes padding, tern_sizes dilation)
{
    const char *name = pool->name;
    const int dims = pool->dims;
    TERN_TRY(tern_sizes_shape(name, "kernel_size", kernel_size, dims, &pool->kernel));
    TERN_TRY(tern_sizes_shape(name, "stride", stride, dims, &pool->stride));
    TERN_TRY(tern_sizes_shape(name, "padding", padding, dims, &pool->padding));
    TERN_TRY(tern_sizes_shape(name, "dilation", dilation, dims, &pool->dilation));
    bool sizes = given(&pool->kernel, 0);
    TERN_CHECK(kernel == 0 || !sizes, TERN_ERR_ARG,
               "%s: the kernel is given twice, as %lld and as .kernel_size: leave one out",
               pool->name, (long long)kernel);
    TERN_CHECK(kernel != 0 || sizes, TERN_ERR_ARG,
               pool->dims == 1 ? "%s: kernel is 0, but must be at least 1"
                               : "%s: give a kernel of at least 1, or .kernel_size",
               pool->name);
    if (!sizes)
        fill(&pool->kernel, kernel);
    for (int i = 0; i < pool->dims; i++)
        if (pool->stride.dim[i] == TERN_SAME_AS_KERNEL)
            pool->stride.dim[i] = pool->kernel.dim[i];
    TERN_TRY(check_sizes(pool, "kernel", &pool->kernel, 1));
    TERN_TRY(check_sizes(pool, "stride", &pool->stride, 1));
    TERN_TRY(check_sizes(pool, "padding", &pool->padding, 0));
    TERN_TRY(check_sizes(pool, "dilation", &pool->dilation, 1));
    TERN_CHECK(dims > 1 || pool->divisor_override == 0, TERN_ERR_ARG,
               "%s: divisor_override is %lld, but only two and three dimensions have one", name,
               (long long)pool->divisor_override);
    return check_padding(pool);
}

tern_status tern_pool_finalize_adaptive(tern_pool *pool, int64_t out, tern_sizes size)
{
    TERN_TRY(tern_sizes_shape(pool->name, "size", size, pool->dims, &pool->out));
    bool sizes = given(&pool->out, -1);
    TERN_CHECK(out == -1 || !sizes, TERN_ERR_ARG,
               "%s: the size is given twice, as %lld and as .size: leave one out", pool->name,
               (long long)out);
    if (!sizes)
        fill(&pool->out, out);
    for (int i = 0; i < pool->dims; i++)
        TERN_CHECK(pool->out.dim[i] == TERN_KEEP_SIZE ||
                       (pool->out.dim[i] >= 0 && pool->out.dim[i] <= INT32_MAX),
                   TERN_ERR_ARG,
                   "%s: a size is %lld, but must be at least 0 and below 2^31, or TERN_KEEP_SIZE",
                   pool->name, (long long)pool->out.dim[i]);
    return TERN_OK;
}

// ---- inputs ------------------------------------------------------------------------------------

tern_status tern_pool_check_input(const tern_pool *pool, const tern_tensor *x)
{
    static const char *const batched[] = {"(N, C, W)", "(N, C, H, W)", "(N, C, D, H, W)"};
    static const char *const single[] = {"(C, W)", "(C, H, W)", "(C, D, H, W)"};
    TERN_CHECK(x->rank == pool->dims + 1 || x->rank == pool->dims + 2, TERN_ERR_SHAPE,
               "%s: x %s is neither %s nor %s", pool->name, tern_shape_string(tern_shape_get(x)),
               batched[pool->dims - 1], single[pool->dims - 1]);
    bool adaptive = pool->kernel.dim[0] == 0;
    int first = adaptive ? x->rank - pool->dims : x->rank == pool->dims + 2;
    for (int i = first; i < x->rank; i++) {
        TERN_CHECK(x->size[i] > 0, TERN_ERR_SHAPE,
                   "%s: x %s is empty along dimension %d: there is nothing to pool", pool->name,
                   tern_shape_string(tern_shape_get(x)), i);
        TERN_CHECK(x->size[i] <= INT32_MAX, TERN_ERR_SHAPE,
                   "%s: dimension %d of x %s has more than 2^31 elements", pool->name, i,
                   tern_shape_string(tern_shape_get(x)));
    }
    return TERN_OK;
}

// The windows along a dimension of size `in`; below 1 there are none.
static int64_t length(const tern_pool *pool, int i, int64_t in)
{
    int64_t kernel = pool->dilation.dim[i] * (pool->kernel.dim[i] - 1) + 1;
    int64_t stride = pool->stride.dim[i], padding = pool->padding.dim[i];
    int64_t span = in + 2 * padding - kernel + (pool->ceil_mode ? stride - 1 : 0);
    if (span < 0)
        return 0;
    int64_t out = span / stride + 1;
    return pool->ceil_mode && (out - 1) * stride >= in + padding ? out - 1 : out;
}

tern_status tern_pool_shape(const tern_pool *pool, const tern_tensor *x, tern_shape *out)
{
    *out = tern_shape_get(x);
    for (int i = 0; i < pool->dims; i++) {
        int dim = x->rank - pool->dims + i;
        int64_t kernel = pool->dilation.dim[i] * (pool->kernel.dim[i] - 1) + 1;
        out->dim[dim] = length(pool, i, x->size[dim]);
        TERN_CHECK(out->dim[dim] > 0, TERN_ERR_SHAPE,
                   "%s: the kernel spans %lld elements, but dimension %d of x %s has %lld with "
                   "its padding of %lld",
                   pool->name, (long long)kernel, dim, tern_shape_string(tern_shape_get(x)),
                   (long long)(x->size[dim] + 2 * pool->padding.dim[i]),
                   (long long)pool->padding.dim[i]);
    }
    return TERN_OK;
}

tern_status tern_pool_adaptive_shape(const tern_pool *pool, const tern_tensor *x, tern_shape *out)
{
    *out = tern_shape_get(x);
    for (int i = 0; i < pool->dims; i++)
        if (pool->out.dim[i] != TERN_KEEP_SIZE)
            out->dim[x->rank - pool->dims + i] = pool->out.dim[i];
    return TERN_OK;
}

// ---- numbers of a call -------------------------------------------------------------------------

enum { DIMS = 4 * TERN_POOL_DIMS, DIVISOR, PADDED };

void tern_pool_save(const tern_pool *pool, tern_op_attrs *attrs)
{
    const tern_shape *sizes[] = {&pool->kernel, &pool->stride, &pool->padding, &pool->dilation};
    for (int i = 0; i < 4; i++)
        memcpy(attrs->i + i * TERN_POOL_DIMS, sizes[i]->dim, TERN_POOL_DIMS * sizeof(int64_t));
    attrs->i[DIMS] = pool->dims;
    attrs->i[DIVISOR] = pool->divisor_override;
    attrs->i[PADDED] = pool->count_include_pad;
}

tern_pool tern_pool_saved(const tern_op_attrs *attrs)
{
    tern_pool pool = {.dims = (int)attrs->i[DIMS], .divisor_override = attrs->i[DIVISOR]};
    pool.count_include_pad = attrs->i[PADDED];
    tern_shape *sizes[] = {&pool.kernel, &pool.stride, &pool.padding, &pool.dilation};
    for (int i = 0; i < 4; i++)
        memcpy(sizes[i]->dim, attrs->i + i * TERN_POOL_DIMS, TERN_POOL_DIMS * sizeof(int64_t));
    return pool;
}
