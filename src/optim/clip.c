// SPDX-License-Identifier: Apache-2.0
// Clipping gradients by their common norm (Pascanu et al. 2013) or by value.
#include <stdio.h>
#include "base/mem.h"
#include "device/backend.h"
#include "optim/optim.h"
#include "tensor/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

#define MAX_DEVICES 32

// The gradients that are there, in the order of their parameters.
typedef struct gradients {
    tern_tensor **at;
    int64_t count, capacity;
    bool counting; // a first pass finds how many there may be
    const char *function;
    const tern_optim *optim; // whose they are, or NULL
} gradients;

typedef struct gradient_source {
    const char *function;
    tern_module *module;
    tern_optim *optim;
    tern_tensor *const *params;
    int64_t param_count;
} gradient_source;

static tern_status visit_param(gradients *g, const tern_tensor *param)
{
    if (g->counting) {
        g->capacity++;
        return TERN_OK;
    }
    TERN_TRY(tern_capture_check_training(g->function, tern_dev(param)));
    TERN_TRY(tern_capture_leaf(param, TERN_LEAF_GRAD_QUERIED));
    TERN_CHECK(g->optim || !param->accumulates, TERN_ERR_STATE,
               "%s: the gradient of %s is one of several that an optimizer accumulates; give "
               ".optim, which knows when they are complete",
               g->function, tern_name(param));
    TERN_CHECK(param->grad_state != TERN_GRAD_UNUSABLE, TERN_ERR_STATE,
               "%s: the gradient of %s was left unusable by a failed backward; call zero_grad",
               g->function, tern_name(param));
    if (param->grad && param->grad_state == TERN_GRAD_PRESENT)
        g->at[g->count++] = param->grad;
    return TERN_OK;
}

static tern_status visit_entry(const tern_module_entry *entry, void *user)
{
    return visit_param(user, entry->tensor);
}

static tern_status visit_all(gradients *g, const gradient_source *s)
{
    if (s->module)
        return tern_module_each_parameter(s->module, visit_entry, g);
    for (int64_t i = 0; s->optim && i < s->optim->entry_count; i++)
        TERN_TRY(visit_param(g, s->optim->entries[i].param));
    for (int64_t i = 0; s->params && i < s->param_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "params[%lld]", (long long)i);
        TERN_TRY(tern_check_tensor(s->function, name, s->params[i]));
        TERN_TRY(visit_param(g, s->params[i]));
    }
    return TERN_OK;
}

static tern_status check_source(const gradient_source *s)
{
    int given = (s->module != NULL) + (s->optim != NULL) + (s->params != NULL);
    if (given == 0)
        return tern_null_error(s->function, "module");
    TERN_CHECK(given == 1, TERN_ERR_ARG, "%s: give a module, an optimizer or params, one of them",
               s->function);
    TERN_CHECK(s->param_count >= 0, TERN_ERR_ARG, "%s: param_count is %lld", s->function,
               (long long)s->param_count);
    return TERN_OK;
}

static void free_gradients(gradients *g)
{
    tern_cache_free(g->at, (size_t)g->capacity * sizeof *g->at);
}

static tern_status collect(gradients *g, const gradient_source *s)
{
    TERN_TRY(check_source(s));
    *g = (gradients){.counting = true, .function = s->function, .optim = s->optim};
    TERN_TRY(visit_all(g, s));
    g->counting = false;
    g->at = tern_cache_alloc((size_t)g->capacity * sizeof *g->at);
    if (!g->at)
        return TERN_ERR_NOMEM;
    tern_status status = visit_all(g, s);
    if (!status && s->optim && tern_optim_is_last(s->optim))
        status = tern_optim_make_mean(s->optim);
    if (status)
        free_gradients(g);
    return status;
}

// Gradients that are not complete yet are not clipped.
static bool is_complete(const gradient_source *s)
{
    return !s->optim || tern_optim_is_last(s->optim);
}

// ---- by norm ------------------------------------------------------------------------------------

// The gradients of one device, as its kernels see them.
typedef struct device_part {
    tern_device device;
    tern_strided *views;
    int64_t count;
    tern_tensor *norm;
} device_part;

typedef struct clip {
    const tern_clip_grad_norm_options *options;
    gradients grads;
    tern_strided *views; // grouped by device
    device_part part[MAX_DEVICES];
    int parts;
    tern_tensor *total; // the norm in float64, held
} clip;

static tern_status list_norm(double p, tern_device device, tern_tensor *total,
                             const tern_strided *views, int64_t count)
{
    tern_exec exec = tern_exec_of(device);
    tern_strided y = tern_view_of(total);
    return tern_kernels_of(device)->list_norm(&exec, p, &y, views, count);
}

static tern_tensor *new_norm(tern_device device)
{
    return tern_tensor_new("clip_grad_norm", TERN_FLOAT64, device, (tern_shape){0});
}

// What the caller gets.
static tern_dtype result_dtype(const gradients *g)
{
    for (int64_t i = 0; i < g->count; i++)
        if (g->at[i]->dtype == TERN_FLOAT64)
            return TERN_FLOAT64;
    return TERN_FLOAT32;
}

// Cuts the gradients into parts by device.
static tern_status split(clip *c)
{
    int64_t filled = 0;
    for (int64_t i = 0; i < c->grads.count; i++) {
        tern_device device = tern_dev(c->grads.at[i]);
        bool known = false;
        for (int k = 0; k < c->parts; k++)
            known = known || tern_device_equal(c->part[k].device, device);
        if (known)
            continue;
        TERN_CHECK(c->parts < MAX_DEVICES, TERN_ERR_UNSUPPORTED,
                   "clip_grad_norm: gradients on more than %d devices", MAX_DEVICES);
        device_part *part = &c->part[c->parts++];
        *part = (device_part){.device = device, .views = c->views + filled};
        for (int64_t k = i; k < c->grads.count; k++)
            if (tern_device_equal(tern_dev(c->grads.at[k]), device))
                c->views[filled++] = tern_view_of(c->grads.at[k]);
        part->count = c->views + filled - part->views;
    }
    return TERN_OK;
}

// The norm of the parts' norms, on the first part's device.
static tern_tensor *join_norms(clip *c)
{
    tern_strided views[MAX_DEVICES];
    if (c->parts == 1)
        return c->part[0].norm;
    for (int i = 0; i < c->parts; i++) {
        tern_tensor *here = tern_to(c->part[i].norm, c->part[0].device);
        if (!here)
            return NULL;
        views[i] = tern_view_of(here);
    }
    tern_tensor *total = new_norm(c->part[0].device);
    if (!total || list_norm(c->options->norm_type, c->part[0].device, total, views, c->parts))
        return NULL;
    return total;
}

static tern_tensor *total_norm(clip *c)
{
    if (c->parts == 0)
        return tern_zeros(tern_dims(), .dtype = TERN_FLOAT64, .device = tern_cpu(0));
    for (int i = 0; i < c->parts; i++) {
        device_part *part = &c->part[i];
        part->norm = new_norm(part->device);
        if (!part->norm ||
            list_norm(c->options->norm_type, part->device, part->norm, part->views, part->count))
            return NULL;
    }
    return join_norms(c);
}

// The CPU is done already, so looking costs nothing; elsewhere it would mean waiting.
static tern_status check_finite(const clip *c)
{
    if (c->options->allow_nonfinite || tern_dev(c->total).type != TERN_CPU)
        return TERN_OK;
    double norm = *(const double *)tern_view_data(c->total);
    TERN_CHECK(isfinite(norm), TERN_ERR_NUMERIC,
               "clip_grad_norm: the norm of the gradients is %g; they are left as they are", norm);
    return TERN_OK;
}

static tern_status scale(clip *c)
{
    tern_strided norms[MAX_DEVICES];
    for (int i = 0; i < c->parts; i++) {
        tern_tensor *here = tern_to(c->total, c->part[i].device);
        if (!here)
            return tern_error_code();
        norms[i] = tern_view_of(here);
    }
    for (int i = 0; i < c->parts; i++) {
        const device_part *part = &c->part[i];
        tern_exec exec = tern_exec_of(part->device);
        if (!c->options->allow_nonfinite)
            exec.location = tern_fault_location("clip_grad_norm", "the norm of the gradients",
                                                TERN_FAULT_NOT_FINITE);
        TERN_TRY(tern_kernels_of(part->device)
                     ->list_clip(&exec, c->options->max_norm, &norms[i], part->views, part->count));
    }
    for (int64_t i = 0; i < c->grads.count; i++)
        tern_tensor_touched(c->grads.at[i]);
    return TERN_OK;
}

// The norm, kept for the caller before any gradient changes, and scratch that goes.
static tern_tensor *measure(clip *c)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    c->total = tern_tensor_retain(split(c) ? NULL : total_norm(c));
    return tern_scope_close_keep(scope, c->total ? tern_to_dtype(c->total, result_dtype(&c->grads))
                                                 : NULL);
}

static tern_status shorten(clip *c)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_status status = check_finite(c);
    if (!status)
        status = scale(c);
    tern_scope_close(scope);
    return status;
}

static tern_status check_norm_options(const tern_clip_grad_norm_options *options)
{
    TERN_CHECK(options->max_norm >= 0, TERN_ERR_ARG,
               "clip_grad_norm: max_norm is %g, but must be 0 or more", options->max_norm);
    TERN_CHECK(options->norm_type > 0, TERN_ERR_ARG,
               "clip_grad_norm: norm_type is %g, but must be above 0", options->norm_type);
    return TERN_OK;
}

tern_tensor *tern_clip_grad_norm_with(const tern_clip_grad_norm_options *options)
{
    if (!options)
        return (void)tern_null_error("clip_grad_norm", "options"), NULL;
    clip c = {.options = options};
    const gradient_source source = {"clip_grad_norm", options->module, options->optim,
                                    options->params, options->param_count};
    tern_tensor *norm = NULL;
    if (check_norm_options(options) || collect(&c.grads, &source))
        return NULL;
    size_t nbytes = (size_t)c.grads.count * sizeof *c.views;
    c.views = tern_cache_alloc(nbytes);
    if (!c.views)
        goto no_views;
    norm = measure(&c);
    if (norm && is_complete(&source) && shorten(&c))
        norm = NULL;
    tern_tensor_release(c.total);
    tern_cache_free(c.views, nbytes);
no_views:
    free_gradients(&c.grads);
    return norm;
}

// ---- by value -----------------------------------------------------------------------------------

tern_status tern_clip_grad_value_with(const tern_clip_grad_value_options *options)
{
    if (!options)
        return tern_null_error("clip_grad_value", "options");
    double limit = options->clip_value;
    const gradient_source source = {"clip_grad_value", options->module, options->optim,
                                    options->params, options->param_count};
    gradients grads;
    TERN_CHECK(limit >= 0, TERN_ERR_ARG, "clip_grad_value: clip_value is %g, but must be 0 or more",
               limit);
    TERN_TRY(collect(&grads, &source));
    tern_status status = TERN_OK;
    for (int64_t i = 0; !status && i < grads.count && is_complete(&source); i++) {
        status = tern_launch_unary(TERN_UNARY_CLAMP, -limit, limit, grads.at[i], grads.at[i]);
        tern_tensor_touched(grads.at[i]);
    }
    free_gradients(&grads);
    return status;
}
