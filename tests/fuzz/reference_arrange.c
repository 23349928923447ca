// SPDX-License-Identifier: Apache-2.0
// Views, copies and joins: which element of the operand is which of the result.
#include "reference.h"

static bool shaped(array *v, int rank, const int64_t *size)
{
    *v = machine_shape(rank, size);
    return v->numel <= MOST_NUMEL;
}

// `a` without or with a dimension of size 1.
static bool resized(const array *a, const instruction *ins, array *v)
{
    int64_t size[MOST_RANK + 1];
    int rank = 0;
    const bool more = ins->op == OP_unsqueeze;
    if (more ? a->rank == MOST_RANK : a->rank == 0)
        return false;
    for (int d = 0; d < a->rank + more; d++)
        if (more && d == ins->n[0])
            size[rank++] = 1;
        else if (more || d != ins->n[0] || a->size[d] != 1)
            size[rank++] = a->size[more && d > ins->n[0] ? d - 1 : d];
    return shaped(v, rank, size);
}

// The element of `a` at start + stride * index, by dimension of the result.
static void pick(const array *v, int start, const int *stride, int *picked)
{
    for (int i = 0; i < v->numel; i++) {
        int rest = i;
        picked[i] = start;
        for (int d = v->rank - 1; d >= 0; d--) {
            picked[i] += rest % (int)v->size[d] * stride[d];
            rest /= (int)v->size[d];
        }
    }
}

static void strides_of(const array *a, int *stride)
{
    for (int d = a->rank - 1, step = 1; d >= 0; d--) {
        stride[d] = step;
        step *= (int)a->size[d];
    }
}

static bool transposed(const array *a, const instruction *ins, array *v, int *picked)
{
    int stride[MOST_RANK] = {0};
    const int64_t p = ins->n[0], q = ins->n[1];
    if (a->rank < 2)
        return false;
    strides_of(a, stride);
    const int step = stride[p];
    stride[p] = stride[q];
    stride[q] = step;
    *v = machine_shape(a->rank, a->size);
    v->size[p] = a->size[q];
    v->size[q] = a->size[p];
    pick(v, 0, stride, picked);
    return true;
}

// n: dimension, start, length, step.
static bool cut(const array *a, const instruction *ins, array *v, int *picked)
{
    int stride[MOST_RANK] = {0};
    const int64_t dim = ins->n[0], start = ins->n[1], length = ins->n[2], step = ins->n[3];
    if (a->rank == 0 || a->numel == 0 || length < 1 ||
        start + (length - 1) * step >= a->size[dim] || (ins->op == OP_narrow && step != 1))
        return false;
    strides_of(a, stride);
    const int first = (int)start * stride[dim];
    stride[dim] *= (int)step;
    *v = machine_shape(a->rank, a->size);
    v->size[dim] = length;
    *v = machine_shape(v->rank, v->size);
    pick(v, first, stride, picked);
    return true;
}

// n: dimension, index.
static bool selected(const array *a, const instruction *ins, array *v, int *picked)
{
    int stride[MOST_RANK] = {0};
    int64_t size[MOST_RANK];
    const int dim = (int)ins->n[0];
    if (a->rank == 0 || a->numel == 0 || ins->n[1] >= a->size[dim])
        return false;
    strides_of(a, stride);
    const int first = (int)ins->n[1] * stride[dim];
    for (int d = 0, out = 0; d < a->rank; d++)
        if (d != dim) {
            stride[out] = stride[d];
            size[out++] = a->size[d];
        }
    *v = machine_shape(a->rank - 1, size);
    pick(v, first, stride, picked);
    return true;
}

// n: the sizes.
static bool expanded(const array *a, const instruction *ins, array *v, int *picked)
{
    int stride[MOST_RANK], own[MOST_RANK];
    const int more = ins->count - a->rank;
    if (more < 0 || !shaped(v, ins->count, ins->n))
        return false;
    strides_of(a, own);
    for (int d = 0; d < ins->count; d++) {
        const int64_t before = d < more ? 1 : a->size[d - more];
        if (before != 1 && before != ins->n[d])
            return false;
        stride[d] = before == 1 ? 0 : own[d - more];
    }
    pick(v, 0, stride, picked);
    return true;
}

// n: dimension, then the indices.
static bool indexed(const array *a, const instruction *ins, array *v, int *picked)
{
    if (a->rank == 0 || a->numel == 0)
        return false;
    const int dim = (int)ins->n[0], length = ins->count - 1;
    int stride[MOST_RANK] = {0};
    strides_of(a, stride);
    *v = machine_shape(a->rank, a->size);
    v->size[dim] = length;
    *v = machine_shape(v->rank, v->size);
    if (v->numel > MOST_NUMEL)
        return false;
    const int step = stride[dim];
    stride[dim] = 0;
    pick(v, 0, stride, picked);
    for (int i = 0; i < v->numel; i++) {
        const int64_t index = ins->n[1 + i / step % length];
        if (index >= a->size[dim])
            return false;
        picked[i] += (int)index * step;
    }
    return true;
}

// n: batch size, whether the last is dropped.
static bool loaded(const array *a, const instruction *ins, array *v, int *picked)
{
    if (a->rank == 0 || a->numel == 0)
        return false;
    *v = machine_shape(a->rank, a->size);
    v->size[0] -= ins->n[1] ? a->size[0] % ins->n[0] : 0;
    *v = machine_shape(v->rank, v->size);
    for (int i = 0; i < v->numel; i++)
        picked[i] = i;
    return v->numel > 0;
}

bool arrange(const machine *m, const instruction *ins, array *v, int *picked)
{
    const array *a = &m->reg[ins->a];
    bool fits = true;
    for (int i = 0; i < MOST_NUMEL; i++)
        picked[i] = i;
    switch ((int)ins->op) {
    case OP_transpose:
        return transposed(a, ins, v, picked);
    case OP_narrow:
    case OP_slice:
        return cut(a, ins, v, picked);
    case OP_select:
        return selected(a, ins, v, picked);
    case OP_expand:
        return expanded(a, ins, v, picked);
    case OP_index_select:
        return indexed(a, ins, v, picked);
    case OP_loader:
        return loaded(a, ins, v, picked);
    case OP_reshape:
        fits = shaped(v, ins->count, ins->n);
        return fits && v->numel == a->numel;
    case OP_unsqueeze:
    case OP_squeeze:
        return resized(a, ins, v);
    }
    *v = machine_shape(a->rank, a->size);
    return true;
}
