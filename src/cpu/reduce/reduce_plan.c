// SPDX-License-Identifier: Apache-2.0
#include "cpu/reduce/reduce_plan.h"

#include "cpu/reduce/reduce_sum.h"
#include "base/integer.h"
#include "device/dtype.h"

// A task should be worth its while: elements that it reads.
#define TASK_TERMS  65536
#define CHUNK_TERMS 32768

// Broadcasts (stride 0) outermost, then by falling stride.
static bool is_outside(const reduce_dim *a, const reduce_dim *b)
{
    const uint64_t sa = (uint64_t)(a->x_stride < 0 ? -a->x_stride : a->x_stride);
    const uint64_t sb = (uint64_t)(b->x_stride < 0 ? -b->x_stride : b->x_stride);
    return sa - 1 > sb - 1;
}

static int64_t add_dim(reduce_dim *dims, int *count, reduce_dim dim)
{
    dims[(*count)++] = dim;
    return dim.size;
}

static void split_dims(reduce_plan *plan, const tern_strided *x, const tern_strided *y,
                       const tern_strided *y2)
{
    plan->outputs = plan->terms = 1;
    for (int d = 0; d < x->rank; d++) {
        reduce_dim dim = {.size = x->size[d], .x_stride = x->stride[d]};
        if (y->size[d] == 1) {
            plan->terms *= add_dim(plan->reduce, &plan->reduce_count, dim);
            continue;
        }
        dim.y_stride[0] = y->stride[d];
        dim.y_stride[1] = y2 ? y2->stride[d] : 0;
        plan->outputs *= add_dim(plan->keep, &plan->keep_count, dim);
    }
    const reduce_dim none = {.size = 1};
    if (plan->keep_count == 0)
        add_dim(plan->keep, &plan->keep_count, none);
    if (plan->reduce_count == 0)
        add_dim(plan->reduce, &plan->reduce_count, none);
}

static void cut(reduce_plan *plan)
{
    const reduce_dim *keep = &plan->keep[plan->keep_count - 1];
    const reduce_dim *reduce = &plan->reduce[plan->reduce_count - 1];
    plan->columns = keep->size > 1 && (reduce->size == 1 || is_outside(reduce, keep));
    plan->block = plan->blocks = 1;
    plan->units = plan->outputs;
    if (plan->columns) {
        plan->blocks = ceil_div(keep->size, REDUCE_MAX_COLUMNS);
        plan->block = ceil_div(keep->size, plan->blocks);
        plan->units = plan->outputs / keep->size * plan->blocks;
    }
    int64_t terms = ceil_div(TASK_TERMS, plan->block);
    const int64_t limit = ceil_div(plan->terms, REDUCE_MAX_SEGMENTS);
    terms = terms < limit ? limit : terms;
    plan->segments = plan->terms > 0 ? ceil_div(plan->terms, terms) : 1;
    plan->segment_terms = terms;
    plan->tasks = plan->units * plan->segments;
    const int64_t work = min_int64(terms, plan->terms) * plan->block;
    plan->tasks_per_chunk = work < CHUNK_TERMS ? CHUNK_TERMS / (work + 1) + 1 : 1;
}

void reduce_make_plan(reduce_plan *plan, const tern_strided *x, const tern_strided *y,
                      const tern_strided *y2)
{
    plan->x = x->data;
    plan->dtype = x->dtype;
    plan->element = tern_element_size(x->dtype);
    plan->keep_count = plan->reduce_count = 0;
    plan->segments = plan->tasks = 0;
    split_dims(plan, x, y, y2);
    if (plan->outputs > 0)
        cut(plan);
}

int64_t reduce_offset(const reduce_plan *plan, int which, int64_t index)
{
    int64_t at = 0;
    for (int d = plan->keep_count - 1; d >= 0; d--) {
        at += index % plan->keep[d].size * plan->keep[d].y_stride[which];
        index /= plan->keep[d].size;
    }
    return at;
}
