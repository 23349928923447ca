// SPDX-License-Identifier: Apache-2.0
// Micro-batches through a model that is split over devices. The host queues them in an order in
// which devices work side by side; it needs no threads for that.
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/mem.h"
#include "device/capture.h"
#include "parallel/parallel.h"
#include "tensor/liveness.h"
#include "tensor/scope.h"

typedef struct pipeline {
    const tern_pipeline_options *options;
    int64_t size, each; // of the batch, and of a micro-batch
    int count;          // of micro-batches
    tern_tensor **losses;
} pipeline;

// ---- how many devices ---------------------------------------------------------------------------

typedef struct device_set {
    tern_device at[TERN_MAX_DEVICES];
    int count;
} device_set;

static tern_status add_device(const tern_module_entry *entry, void *user)
{
    device_set *set = user;
    const tern_device device = tern_dev(entry->tensor);
    for (int i = 0; i < set->count; i++)
        if (tern_device_equal(set->at[i], device))
            return TERN_OK;
    if (set->count < TERN_MAX_DEVICES)
        set->at[set->count++] = device;
    return TERN_OK;
}

// How many forwards run ahead of their backward.
static tern_status find_depth(const tern_module *module, int *depth)
{
    device_set set = {.count = 0};
    TERN_TRY(tern_module_each_parameter(module, add_device, &set));
    *depth = set.count > 0 ? set.count : 1;
    return *depth > 1 ? tern_capture_refuse("pipeline", "a graph is of one device") : TERN_OK;
}

// ---- a micro-batch ------------------------------------------------------------------------------

static tern_tensor *micro_batch(const pipeline *p, tern_tensor *t, int index)
{
    const int64_t begin = index * p->each, left = p->size - begin;
    return tern_narrow(t, p->options->dim, begin, left < p->each ? left : p->each);
}

static tern_tensor *loss_of(const pipeline *p, int index)
{
    tern_tensor *x = micro_batch(p, p->options->x, index),
                *y = micro_batch(p, p->options->y, index);
    tern_tensor *output = x && y ? tern_forward(p->options->module, x) : NULL;
    y = output ? tern_to(y, tern_dev(output)) : NULL;
    tern_tensor *loss = y ? tern_loss(p->options->criterion, output, y) : NULL;
    TERN_CHECK_PTR(!loss || loss->rank == 0, TERN_ERR_SHAPE,
                   "pipeline: the criterion gives a loss of shape %s, but it must be 0-dim",
                   tern_shape_string(tern_shape_get(loss)));
    return loss;
}

// What it makes dies with its scope; the graph stays with the loss.
static tern_status run_forward(pipeline *p, int index)
{
    const tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *loss = loss_of(p, index);
    p->losses[index] = tern_scope_close_keep(scope, loss);
    return p->losses[index] ? TERN_OK : tern_error_code();
}

// Of the loss of the whole batch.
static double share_of(const pipeline *p, int index)
{
    const int64_t left = p->size - index * p->each;
    if (p->options->reduction == TERN_REDUCTION_SUM || p->count == 1)
        return 1;
    return (double)(left < p->each ? left : p->each) / (double)p->size;
}

static tern_status run_backward(pipeline *p, int index)
{
    const tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *share = tern_full_like(p->losses[index], share_of(p, index));
    tern_status status =
        share ? tern_backward(p->losses[index], .gradient = share) : tern_error_code();
    tern_scope_close(scope);
    return status;
}

static tern_tensor *add_losses(const pipeline *p)
{
    tern_tensor *sum = NULL;
    for (int i = 0; i < p->count; i++) {
        tern_tensor *part = tern_mul_scalar(p->losses[i], share_of(p, i));
        sum = sum && part ? tern_add(sum, part) : part;
        if (!sum)
            return NULL;
    }
    return sum;
}

static tern_tensor *sum_losses(const pipeline *p)
{
    const bool before = tern_set_grad_enabled(false);
    tern_tensor *sum = add_losses(p);
    (void)tern_set_grad_enabled(before);
    return sum;
}

static tern_tensor *run(pipeline *p, int depth)
{
    for (int i = 0; i < p->count + depth - 1; i++) {
        if (i < p->count && run_forward(p, i))
            return NULL;
        if (i >= depth - 1 && run_backward(p, i - (depth - 1)))
            return NULL;
    }
    return sum_losses(p);
}

// ---- checks -------------------------------------------------------------------------------------

static tern_status check_batch(pipeline *p)
{
    const tern_pipeline_options *o = p->options;
    const tern_tensor *both[] = {o->x, o->y};
    for (int i = 0; i < 2; i++) {
        const tern_tensor *t = both[i];
        const int dim = o->dim < 0 ? o->dim + t->rank : o->dim;
        TERN_CHECK(dim >= 0 && dim < t->rank, TERN_ERR_ARG,
                   "pipeline: %s is %s, which has no dimension %d to be cut along", i ? "y" : "x",
                   tern_tensor_string(t), o->dim);
        TERN_CHECK(i == 0 || t->size[dim] == p->size, TERN_ERR_SHAPE,
                   "pipeline: x has %lld elements along dimension %d and y %lld: they are not one "
                   "batch",
                   (long long)p->size, o->dim, (long long)t->size[dim]);
        p->size = t->size[dim];
    }
    TERN_CHECK(p->size > 0, TERN_ERR_SHAPE, "pipeline: the batch is empty");
    return TERN_OK;
}

static tern_status check(pipeline *p)
{
    const tern_pipeline_options *o = p->options;
    TERN_TRY(tern_check_module("pipeline", o->module));
    if (!o->criterion)
        return tern_null_error("pipeline", "criterion");
    TERN_TRY(tern_check_not_freed("pipeline", o->criterion));
    TERN_TRY(tern_check_tensor("pipeline", "x", o->x));
    TERN_TRY(tern_check_tensor("pipeline", "y", o->y));
    TERN_CHECK(o->micro_batches >= 1, TERN_ERR_ARG,
               "pipeline: .micro_batches is %d, but must be at least 1", o->micro_batches);
    TERN_CHECK(o->reduction <= TERN_REDUCTION_SUM, TERN_ERR_ARG,
               "pipeline: .reduction must be the mean or the sum");
    TERN_CHECK(tern_grad_enabled(), TERN_ERR_STATE,
               "pipeline: called under tern_no_grad, where there is no backward");
    return check_batch(p);
}

tern_tensor *tern_pipeline_with(const tern_pipeline_options *options)
{
    pipeline p = {.options = options};
    int depth;
    if (!options)
        return (void)tern_null_error("pipeline", "options"), NULL;
    if (check(&p) || find_depth(options->module, &depth))
        return NULL;
    p.each = (p.size + options->micro_batches - 1) / options->micro_batches;
    p.count = (int)((p.size + p.each - 1) / p.each);
    p.losses = tern_mem_alloc((size_t)p.count * sizeof *p.losses);
    tern_tensor *loss = p.losses ? run(&p, depth) : NULL;
    tern_mem_free(p.losses, (size_t)p.count * sizeof *p.losses);
    return loss;
}
