// SPDX-License-Identifier: Apache-2.0
// Brings a product of any shapes and strides to the form that kernels take: (B, M, K) x (B, K, N).
#include "ops/launch.h"

// Where a launch runs, and the scope of the copies that it needs (0: none yet).
typedef struct scratch {
    tern_device device;
    tern_scope scope;
} scratch;

void tern_view_transpose(tern_strided *view)
{
    int rows = view->rank - 2, cols = view->rank - 1;
    int64_t size = view->size[rows], stride = view->stride[rows];
    view->size[rows] = view->size[cols];
    view->stride[rows] = view->stride[cols];
    view->size[cols] = size;
    view->stride[cols] = stride;
}

static tern_shape shape_of(const tern_strided *view)
{
    tern_shape shape = {.rank = view->rank};
    for (int i = 0; i < view->rank; i++)
        shape.dim[i] = view->size[i];
    return shape;
}

// Makes one dim of the first `count` (count >= 1), where one stride walks them. No elements need no
// stride.
static bool merge_first(tern_strided *view, int count)
{
    int64_t size = 1, stride = 0;
    bool empty = false;
    for (int i = 0; i < count; i++)
        empty = empty || view->size[i] == 0;
    for (int i = count - 1; i >= 0; i--) {
        if (view->size[i] == 1)
            continue;
        if (!empty && size > 1 && view->stride[i] != stride * size)
            return false;
        if (size == 1)
            stride = view->stride[i];
        size *= view->size[i];
    }
    for (int i = count; i < view->rank; i++) {
        view->size[i - count + 1] = view->size[i];
        view->stride[i - count + 1] = view->stride[i];
    }
    view->size[0] = size;
    view->stride[0] = stride;
    view->rank -= count - 1;
    return true;
}

// Says whether a kernel takes the matrices: one stride is 1, the other spans it. Dims of size 1 get
// a stride that fits.
static bool canonicalize_strides(tern_strided *view)
{
    int64_t rows = view->size[view->rank - 2], cols = view->size[view->rank - 1];
    int64_t *down = &view->stride[view->rank - 2], *along = &view->stride[view->rank - 1];
    if (cols <= 1)
        *along = 1;
    if (rows <= 1)
        *down = *along == 1 && cols > 0 ? cols : 1;
    return (*along == 1 && *down >= cols) || (*down == 1 && *along >= rows);
}

static tern_status make_contiguous(scratch *temp, tern_strided *view)
{
    if (!temp->scope && !(temp->scope = tern_scope_open()))
        return tern_failed();
    tern_tensor *copy = tern_tensor_new("matmul", view->dtype, temp->device, shape_of(view));
    if (!copy)
        return tern_failed();
    tern_strided to = tern_view_of(copy), from = *view;
    *view = to;
    if (tern_strided_numel(&to) == 0)
        return TERN_OK;
    tern_views_coalesce((tern_strided *const[]){&to, &from}, 2);
    tern_exec exec = tern_exec_of(temp->device);
    return tern_kernels_of(temp->device)->copy(&exec, &to, &from);
}

// (B, rows, cols) with the leading sizes of y.
static tern_status make_batches(scratch *temp, const tern_strided *y, tern_strided *view)
{
    if (!canonicalize_strides(view))
        TERN_TRY(make_contiguous(temp, view));
    tern_shape shape = {.rank = y->rank};
    for (int i = 0; i < y->rank; i++)
        shape.dim[i] = y->rank - i > 2 ? y->size[i] : view->size[view->rank - (y->rank - i)];
    *view = tern_view_expand(*view, shape);
    if (!merge_first(view, y->rank - 2)) {
        TERN_TRY(make_contiguous(temp, view));
        (void)merge_first(view, y->rank - 2);
    }
    (void)canonicalize_strides(view);
    return TERN_OK;
}

// A single matrix as a batch of one.
static void add_batch(tern_strided *view)
{
    for (int i = 2; i > 0; i--) {
        view->size[i] = view->size[i - 1];
        view->stride[i] = view->stride[i - 1];
    }
    view->size[0] = 1;
    view->stride[0] = 0;
    view->rank = 3;
}

// A single b serves every batch: the rows of all batches are one matrix, where strides allow.
static void merge_batches(tern_product *p)
{
    if (p->b.rank != 2 || p->y.rank <= 2 || p->a.rank != p->y.rank)
        return;
    tern_strided a = p->a;
    if (!merge_first(&a, a.rank - 1) || !canonicalize_strides(&a))
        return;
    p->a = a;
    (void)merge_first(&p->y, p->y.rank - 1); // contiguous, so it can
}

static tern_status prepare(scratch *temp, tern_product *p)
{
    merge_batches(p);
    tern_strided *operands[] = {&p->a, &p->b};
    for (int i = 0; i < 2; i++) {
        if (p->y.rank > 2)
            TERN_TRY(make_batches(temp, &p->y, operands[i]));
        else if (!canonicalize_strides(operands[i]))
            TERN_TRY(make_contiguous(temp, operands[i]));
        if (p->y.rank == 2)
            add_batch(operands[i]);
    }
    (void)canonicalize_strides(&p->y);
    if (p->y.rank == 2)
        add_batch(&p->y);
    else
        (void)merge_first(&p->y, p->y.rank - 2);
    return TERN_OK;
}

tern_status tern_launch_product(tern_device device, tern_product *p)
{
    if (tern_strided_numel(&p->y) == 0)
        return TERN_OK;
    scratch temp = {.device = device};
    tern_status status = prepare(&temp, p);
    if (status == TERN_OK) {
        tern_exec exec = tern_exec_of(device);
        status = tern_kernels_of(device)->matmul(&exec, p);
    }
    if (temp.scope)
        tern_scope_close(temp.scope);
    return status;
}

bool tern_view_rows(tern_strided *view)
{
    if (view->rank > 1)
        return view->rank == 2 || merge_first(view, view->rank - 1);
    view->size[1] = view->size[0];
    view->stride[1] = view->stride[0];
    view->size[0] = 1;
    view->stride[0] = 0;
    view->rank = 2;
    return true;
}
