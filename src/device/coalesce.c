// SPDX-License-Identifier: Apache-2.0
// Views with as few dims as they need. Of the backends, those that make views of their own use it.
#include "device/kernels.h"

// Dims d and d + 1 of every view can be merged into one. Sizes and strides of views without
// elements may be any.
static bool mergeable(tern_strided *const *views, int count, int d)
{
    for (int v = 0; v < count; v++) {
        const tern_strided *view = views[v];
        int64_t stride, size;
        if (__builtin_mul_overflow(view->stride[d + 1], view->size[d + 1], &stride) ||
            __builtin_mul_overflow(view->size[d], view->size[d + 1], &size) ||
            view->stride[d] != stride)
            return false;
    }
    return true;
}

static void remove_dim(tern_strided *view, int d)
{
    for (int i = d; i + 1 < view->rank; i++) {
        view->size[i] = view->size[i + 1];
        view->stride[i] = view->stride[i + 1];
    }
    view->rank--;
}

void tern_views_coalesce(tern_strided *const *views, int count)
{
    for (int d = views[0]->rank - 1; d >= 0; d--) {
        bool unit = views[0]->size[d] == 1;
        bool merge = !unit && d + 1 < views[0]->rank && mergeable(views, count, d);
        for (int v = 0; v < count; v++) {
            if (merge)
                views[v]->size[d + 1] *= views[v]->size[d];
            if (merge || unit)
                remove_dim(views[v], d);
        }
    }
}
