// SPDX-License-Identifier: Apache-2.0
// The common norm of a list of tensors, and scaling them by it.
#include <math.h>

#include "base/mem.h"
#include "base/pool.h"
#include "cpu/copy.h"
#include "cpu/step.h"

static int64_t numel_of(const tern_strided *view)
{
    int64_t numel = 1;
    for (int i = 0; i < view->rank; i++)
        numel *= view->size[i];
    return numel;
}

static int64_t numel_at(const void *list, int64_t i)
{
    return numel_of(&((const tern_strided *)list)[i]);
}

// Elements of a piece as doubles, a block at a time.
static int64_t load_block(double *block, const tern_strided *x, int64_t begin, int64_t left)
{
    int64_t n = left < STEP_BLOCK ? left : STEP_BLOCK;
    const tern_strided y = {block, TERN_FLOAT64, 1, {n}, {1}};
    const tern_strided part = {(char *)x->data + begin * (int64_t)tern_dtype_size(x->dtype),
                               x->dtype, 1, {n}, {1}};
    if (x->dtype == TERN_FLOAT64)
        for (int64_t i = 0; i < n; i++)
            block[i] = ((const double *)part.data)[i];
    else
        TERN_ISA_NAME(copy_cast)(&y, &part);
    return n;
}

// Four sums side by side, so that the loop is a vector loop; then in a fixed order.
static double sum_squares(const double *x, int64_t n)
{
    double sum[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + k] * x[i + k];
    for (; i < n; i++)
        sum[0] += x[i] * x[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double largest(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

// What a block adds to sum |x|^p; for the infinite norm the largest |x|, which is not added.
static double fold_block(double p, const double *x, int64_t n)
{
    double result = 0;
    if (p == 2)
        return sum_squares(x, n);
    for (int64_t i = 0; i < n; i++)
        result = isinf(p) ? largest(fabs(x[i]), result) : result + pow(fabs(x[i]), p);
    return result;
}

typedef struct norm_pass {
    double p;
    const tern_strided *list;
    double *partial; // one a piece
} norm_pass;

static void norm_piece(void *context, int64_t index)
{
    const norm_pass *pass = context;
    double block[STEP_BLOCK], result = 0;
    step_range range = step_range_of(pass->list, numel_at, index);
    for (int64_t done = 0; done < range.count;) {
        int64_t n = load_block(block, &pass->list[range.tensor], range.begin + done,
                               range.count - done);
        double part = fold_block(pass->p, block, n);
        result = isinf(pass->p) ? largest(part, result) : result + part;
        done += n;
    }
    pass->partial[index] = result;
}

static void store_total(const tern_strided *total, double value)
{
    if (total->dtype == TERN_FLOAT64)
        *(double *)total->data = value;
    else
        *(float *)total->data = (float)value;
}

static double load_total(const tern_strided *total)
{
    return total->dtype == TERN_FLOAT64 ? *(const double *)total->data
                                        : (double)*(const float *)total->data;
}

tern_status TERN_ISA_NAME(list_norm)(const tern_exec *exec, double p, const tern_strided *total,
                                     const tern_strided *list, int64_t count)
{
    (void)exec;
    int64_t pieces = step_pieces(list, numel_at, count);
    size_t nbytes = (size_t)pieces * sizeof(double);
    norm_pass pass = {p, list, tern_cache_alloc(nbytes)};
    if (!pass.partial)
        return TERN_ERR_NOMEM;
    tern_pool_run(pieces, norm_piece, &pass);
    double result = 0;
    for (int64_t i = 0; i < pieces; i++)
        result = isinf(p) ? largest(pass.partial[i], result) : result + pass.partial[i];
    store_total(total, isinf(p) ? result : p == 2 ? sqrt(result) : pow(result, 1 / p));
    tern_cache_free(pass.partial, nbytes);
    return TERN_OK;
}

tern_status TERN_ISA_NAME(list_clip)(const tern_exec *exec, double max_norm,
                                     const tern_strided *total, const tern_strided *list,
                                     int64_t count)
{
    double factor = max_norm / (load_total(total) + 1e-6);
    const double p[2] = {factor > 1 ? 1 : factor, 0};
    for (int64_t i = 0; i < count; i++) {
        tern_strided flat = {list[i].data, list[i].dtype, 1, {numel_of(&list[i])}, {1}};
        tern_status status = TERN_ISA_NAME(unary)(exec, TERN_UNARY_MUL_SCALAR, p, &flat, &flat);
        if (status)
            return status;
    }
    return TERN_OK;
}
