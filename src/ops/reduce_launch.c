// SPDX-License-Identifier: Apache-2.0
// What reductions share: which dims they take, and the launch of their kernel.
#include "ops/launch.h"

static tern_status mark_axes(const char *op, const tern_tensor *x, tern_axis_list axes,
                             bool reduced[TERN_MAX_RANK])
{
    TERN_CHECK(axes.count <= TERN_MAX_RANK, TERN_ERR_ARG, "%s: %d axes; there are at most %d", op,
               axes.count, TERN_MAX_RANK);
    TERN_CHECK(axes.count >= -1, TERN_ERR_ARG, "%s: %d axes; -1 stands for all", op, axes.count);
    for (int i = 0; i < axes.count; i++) {
        int dim = axes.axis[i];
        TERN_TRY(tern_check_dim(op, x->rank, &dim));
        TERN_CHECK(!reduced[dim], TERN_ERR_ARG, "%s: axis %d is there twice", op, dim);
        reduced[dim] = true;
    }
    return TERN_OK;
}

tern_status tern_reduction_shape_make(const char *op, const tern_tensor *x, tern_axis_list axes,
                                      bool keepdim, tern_reduction_shape *out)
{
    bool reduced[TERN_MAX_RANK] = {false};
    bool all = axes.count <= 0;
    TERN_TRY(mark_axes(op, x, axes, reduced));
    *out = (tern_reduction_shape){.keepdim = {.rank = x->rank}, .count = 1};
    for (int i = 0; i < x->rank; i++) {
        bool goes = all || reduced[i];
        out->keepdim.dim[i] = goes ? 1 : x->size[i];
        out->count *= goes ? x->size[i] : 1;
        if (keepdim || !goes)
            out->result.dim[out->result.rank++] = out->keepdim.dim[i];
    }
    return TERN_OK;
}

static bool is_reduced(const tern_strided *y, int d)
{
    return y->stride[d] == 0;
}

// Dim a belongs outside b: kept ones outside, then broadcasts (stride 0), then by falling stride.
static bool is_outside(const tern_strided *x, const tern_strided *y, int a, int b)
{
    if (is_reduced(y, a) != is_reduced(y, b))
        return is_reduced(y, b);
    const uint64_t sa = (uint64_t)(x->stride[a] < 0 ? -x->stride[a] : x->stride[a]);
    const uint64_t sb = (uint64_t)(x->stride[b] < 0 ? -x->stride[b] : x->stride[b]);
    return sa - 1 > sb - 1;
}

static void exchange(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

// Views of the same sizes; all[1] is 0 strides where x is reduced.
static void sort_dims(tern_strided *const *all, int count)
{
    for (int last = 1; last < all[0]->rank; last++) {
        for (int d = last; d > 0 && is_outside(all[0], all[1], d, d - 1); d--) {
            for (int k = 0; k < count; k++) {
                exchange(&all[k]->size[d], &all[k]->size[d - 1]);
                exchange(&all[k]->stride[d], &all[k]->stride[d - 1]);
            }
        }
    }
}

// To the sizes of x, stride 0 where it is reduced. Of x's rank.
static void expand(tern_strided *y, const tern_strided *x)
{
    for (int i = 0; i < x->rank; i++) {
        if (y->size[i] != x->size[i])
            y->stride[i] = 0;
        y->size[i] = x->size[i];
    }
}

void tern_views_reduce(tern_strided *x, tern_strided *const *results, int count)
{
    tern_strided *all[3] = {x};
    for (int k = 0; k < count; k++) {
        expand(results[k], x);
        all[k + 1] = results[k];
    }
    sort_dims(all, count + 1);
    tern_views_coalesce(all, count + 1);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < results[k]->rank; i++)
            if (is_reduced(results[k], i))
                results[k]->size[i] = 1;
}

tern_status tern_launch_reduce(tern_reduce_op op, double p, tern_tensor *y, const tern_tensor *x,
                               tern_shape keepdim)
{
    if (y->numel == 0)
        return TERN_OK;
    tern_strided xv, yv = tern_view_shaped(y, keepdim);
    tern_view_set(&xv, x);
    tern_views_reduce(&xv, (tern_strided *const[]){&yv}, 1);
    tern_device device = tern_dev(y);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->reduce(&exec, op, p, &yv, &xv);
}
