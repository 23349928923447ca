// SPDX-License-Identifier: Apache-2.0
// Averages of a model's weights: stochastic weight averaging (Izmailov et al. 2018) and exponential
// moving averages. How far an update goes is computed on the device, from the count that is there:
// nothing waits, and a captured update counts on.
#include <math.h>
#include <tern/averaged_model.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/mem.h"
#include "nn/module/module.h"
#include "tensor/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

typedef struct averaged_model {
    tern_module base;
    tern_module *module;
    tern_tensor *n_averaged; // (): int64
    double decay;            // NAN: the mean of all
    tern_average_fn *avg_fn; // instead of both; NULL: none
    void *user;              // its
    bool use_buffers;
} averaged_model;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    return tern_module_forward(((averaged_model *)module)->module, in, out);
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    (void)generator;
    return tern_zero_(((averaged_model *)module)->n_averaged) ? TERN_OK : tern_error_code();
}

static const tern_module_class averaged_model_class = {
    .name = "AveragedModel", .size = sizeof(averaged_model), .call = call, .reset = reset};

// ---- making one ---------------------------------------------------------------------------------

typedef struct making {
    const char *function;
    double decay;
    bool use_buffers;
    tern_device device;
    tern_average_fn *avg_fn;
    void *user;
} making;

static tern_status take_device(const tern_module_entry *entry, void *user)
{
    tern_device *device = user;
    if (device->type == TERN_DEVICE_UNSPECIFIED)
        *device = tern_dev(entry->tensor);
    return TERN_OK;
}

// Moves the module; where no device is said, `device` becomes that of its first tensor.
static tern_status move(tern_module *module, tern_device *device)
{
    if (device->type != TERN_DEVICE_UNSPECIFIED)
        return tern_module_to(module, *device) ? TERN_OK : tern_error_code();
    TERN_TRY(tern_module_each_parameter(module, take_device, device));
    return tern_module_each_buffer(module, take_device, device);
}

static tern_module *make(const making *m, const tern_module *module)
{
    tern_device device = m->device;
    if (tern_check_module(m->function, module))
        return NULL;
    averaged_model *self = NULL;
    tern_module *copy = tern_module_copy(module);
    if (copy && !move(copy, &device))
        self = (averaged_model *)tern_module_new(&averaged_model_class);
    if (!self) {
        tern_module_free(copy);
        return NULL;
    }
    self->decay = m->decay;
    self->use_buffers = m->use_buffers;
    self->avg_fn = m->avg_fn;
    self->user = m->user;
    tern_buffer(self, n_averaged, tern_empty(tern_dims(), .dtype = TERN_INT64, .device = device));
    tern_child(self, module, copy);
    return tern_done(self);
}

tern_module *tern_averaged_model_swa_with(const tern_averaged_model_swa_options *o)
{
    const char *function = "averaged_model_swa";
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    return make(&(making){function, NAN, o->use_buffers, o->device, NULL, NULL}, o->module);
}

tern_module *tern_averaged_model_ema_with(const tern_averaged_model_ema_options *o)
{
    const char *function = "averaged_model_ema";
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    TERN_CHECK_PTR(o->decay >= 0 && o->decay <= 1, TERN_ERR_ARG,
                   "%s: decay is %g, but must be 0 to 1", function, o->decay);
    return make(&(making){function, o->decay, o->use_buffers, o->device, NULL, NULL}, o->module);
}

tern_module *tern_averaged_model_avg_fn_with(const tern_averaged_model_avg_fn_options *o)
{
    const char *function = "averaged_model_avg_fn";
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    if (!o->avg_fn)
        return (void)tern_null_error(function, "avg_fn"), NULL;
    return make(&(making){function, NAN, o->use_buffers, o->device, o->avg_fn, o->user}, o->module);
}

// ---- updating -----------------------------------------------------------------------------------

#define UPDATE "averaged_model_update"

// An average and what goes into it.
typedef struct pair {
    tern_tensor *average, *value;
    bool follows; // takes the value as it is
    bool done;
} pair;

typedef struct update {
    averaged_model *self;
    const tern_module *model;
    pair *pairs; // for all tensors of the averaged module
    int64_t count;
    tern_step_tensor *tensors; // of a launch; as many
} update;

static tern_status check_pair(const char *name, const tern_tensor *average,
                              const tern_tensor *value)
{
    TERN_CHECK(tern_shape_equal(tern_shape_get(average), tern_shape_get(value)), TERN_ERR_SHAPE,
               UPDATE ": \"%s\" is %s in the model, but %s in the average", name,
               tern_tensor_string(value), tern_tensor_string(average));
    TERN_CHECK(average->storage != value->storage, TERN_ERR_ARG,
               UPDATE ": \"%s\" of the model is in the average too; tern_averaged_model_swa and "
                      "_ema make a copy",
               name);
    TERN_TRY(tern_capture_check_training(UPDATE, tern_dev(value)));
    return tern_capture_check_training(UPDATE, tern_dev(average));
}

static tern_status add_pair(const tern_module_entry *entry, void *user)
{
    update *u = user;
    tern_module *owner;
    const tern_module_tensor *found =
        tern_module_find_tensor(UPDATE, u->model, entry->name, entry->is_parameter, &owner);
    if (!found)
        return tern_error_code();
    TERN_CHECK(found->tensor, TERN_ERR_ARG, UPDATE ": \"%s\" of the average is absent in the model",
               entry->name);
    u->pairs[u->count++] = (pair){.average = tern_tensor_retain(entry->tensor),
                                  .value = found->tensor,
                                  .follows = !entry->is_parameter && !u->self->use_buffers};
    return check_pair(entry->name, entry->tensor, found->tensor);
}

static tern_status find_in_average(const tern_module_entry *entry, void *user)
{
    const update *u = user;
    tern_module *owner;
    const tern_module_tensor *found =
        tern_module_find_tensor(UPDATE, u->self->module, entry->name, entry->is_parameter, &owner);
    if (!found)
        return tern_error_code();
    TERN_CHECK(found->tensor, TERN_ERR_ARG, UPDATE ": \"%s\" of the model is absent in the average",
               entry->name);
    return TERN_OK;
}

static tern_status add_pairs(update *u)
{
    TERN_TRY(tern_module_each_parameter(u->self->module, add_pair, u));
    TERN_TRY(tern_module_each_buffer(u->self->module, add_pair, u));
    TERN_TRY(tern_module_each_parameter(u->model, find_in_average, u));
    return tern_module_each_buffer(u->model, find_in_average, u);
}

// What the kernel takes.
static bool is_dense(const tern_tensor *t)
{
    return t->contiguous && tern_is_floating(t->dtype);
}

// w + (v - w) / (n + 1), or decay w + (1 - decay) v, in float32 or the dtype that the average has.
static tern_tensor *mean_of(const averaged_model *self, const pair *p, tern_tensor *averaged)
{
    const tern_dtype dtype = tern_is_floating(p->average->dtype) ? p->average->dtype : TERN_FLOAT32;
    tern_tensor *w = tern_to_dtype(p->average, dtype), *v = tern_to_dtype(p->value, dtype);
    if (!isnan(self->decay))
        return tern_add(tern_mul_scalar(w, self->decay), tern_mul_scalar(v, 1 - self->decay));
    tern_tensor *next = tern_to_dtype(tern_add_scalar(averaged, 1), dtype);
    return tern_add(w, tern_div(tern_sub(v, w), next));
}

static tern_status check_returned(const pair *p, const tern_tensor *mean)
{
    TERN_TRY(tern_error_code());
    if (!mean)
        return tern_null_error(UPDATE, "what avg_fn returned");
    TERN_TRY(tern_check_tensor(UPDATE, "what avg_fn returned", mean));
    TERN_CHECK(tern_shape_equal(tern_shape_get(mean), tern_shape_get(p->average)), TERN_ERR_SHAPE,
               UPDATE ": avg_fn returned %s for an average that is %s", tern_tensor_string(mean),
               tern_tensor_string(p->average));
    TERN_CHECK(tern_same_device(tern_dev(mean), tern_dev(p->average)), TERN_ERR_DEVICE,
               UPDATE ": avg_fn returned %s for an average that is %s", tern_tensor_string(mean),
               tern_tensor_string(p->average));
    return TERN_OK;
}

// What the function of the caller's own makes, in a scope of its own.
static tern_tensor *call_avg_fn(const averaged_model *self, const pair *p, tern_tensor *averaged)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *average = tern_detach(p->average), *value = tern_detach(p->value), *mean = NULL;
    if (scope && average && value && averaged)
        mean = self->avg_fn(average, value, averaged, self->user);
    if (check_returned(p, mean))
        mean = NULL;
    return mean ? tern_scope_close_keep(scope, mean) : (tern_scope_close(scope), NULL);
}

// The average that is to be, by operations, of what the kernel does not take.
static tern_tensor *next_average(const averaged_model *self, const pair *p)
{
    tern_tensor *averaged = tern_to(self->n_averaged, tern_dev(p->average));
    tern_tensor *mean = self->avg_fn ? call_avg_fn(self, p, averaged) : mean_of(self, p, averaged);
    mean = tern_to_dtype(mean, p->average->dtype);
    return tern_where(tern_eq_scalar(averaged, 0), p->value, mean);
}

// Values become as their averages are, by temporaries: of their dtypes and on their devices.
static tern_status prepare(update *u)
{
    for (int64_t i = 0; i < u->count; i++) {
        pair *p = &u->pairs[i];
        tern_tensor *cast = tern_to_dtype(p->value, p->average->dtype);
        tern_tensor *here = cast ? tern_to(cast, tern_dev(p->average)) : NULL;
        p->value = here ? tern_make_contiguous(here) : NULL;
        if (p->value && !p->follows && (u->self->avg_fn || !is_dense(p->average))) {
            p->value = next_average(u->self, p);
            p->follows = true;
        }
        if (!p->value)
            return tern_error_code();
    }
    return TERN_OK;
}

static bool goes_with(const pair *p, const pair *first)
{
    return !p->done && is_dense(p->average) && p->follows == first->follows &&
           tern_same_device(tern_dev(p->average), tern_dev(first->average));
}

// The averages that go as far as that of pair `first` on its device, in one launch.
static tern_status launch_like(update *u, int64_t first)
{
    const pair like = u->pairs[first];
    const tern_device device = tern_dev(like.average);
    tern_tensor *averaged = tern_to(u->self->n_averaged, device);
    int64_t count = 0;
    if (!averaged)
        return tern_error_code();
    for (int64_t i = first; i < u->count; i++) {
        pair *p = &u->pairs[i];
        if (!goes_with(p, &like))
            continue;
        p->done = true;
        u->tensors[count++] = (tern_step_tensor){.param = tern_view_data(p->average),
                                                 .grad = tern_view_data(p->value),
                                                 .numel = p->average->numel,
                                                 .dtype = p->average->dtype};
        tern_tensor_touched(p->average);
    }
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->average(&exec, like.follows ? 0 : u->self->decay,
                                            tern_view_data(averaged), u->tensors, count);
}

static tern_status run(update *u)
{
    TERN_TRY(add_pairs(u));
    TERN_TRY(prepare(u));
    for (int64_t i = 0; i < u->count; i++) {
        const pair *p = &u->pairs[i];
        if (!p->done && is_dense(p->average))
            TERN_TRY(launch_like(u, i));
        else if (!p->done && !tern_copy_(p->average, p->value))
            return tern_error_code();
    }
    return tern_add_scalar_(u->self->n_averaged, 1) ? TERN_OK : tern_error_code();
}

static tern_status run_in_scope(update *u)
{
    tern_scope scope = tern_scope_open();
    tern_status status = scope ? TERN_OK : TERN_ERR_NOMEM;
    tern_no_grad
        status = status ? status : run(u);
    tern_scope_close(scope);
    return status;
}

static tern_status check(const tern_module *average, const tern_module *model)
{
    if (!average)
        return tern_null_error(UPDATE, "average");
    if (!model)
        return tern_null_error(UPDATE, "model");
    TERN_TRY(tern_check_module(UPDATE, average));
    TERN_TRY(tern_check_module(UPDATE, model));
    TERN_CHECK(average->klass == &averaged_model_class, TERN_ERR_ARG,
               UPDATE ": this %s is not an averaged model", average->klass->name);
    return tern_error_code();
}

tern_status tern_averaged_model_update(tern_module *average, tern_module *model)
{
    TERN_TRY(check(average, model));
    update u = {.self = (averaged_model *)average, .model = model};
    const int64_t parameters = tern_module_num_parameters(u.self->module),
                  buffers = tern_module_num_buffers(u.self->module);
    if (parameters < 0 || buffers < 0)
        return tern_error_code();
    const size_t pair_bytes = (size_t)(parameters + buffers) * sizeof *u.pairs,
                 tensor_bytes = (size_t)(parameters + buffers) * sizeof *u.tensors;
    tern_status status = TERN_ERR_NOMEM;
    tern_module_retain(average); // avg_fn may give it back, or put another tensor into it
    u.pairs = tern_cache_alloc(pair_bytes);
    u.tensors = tern_cache_alloc(tensor_bytes);
    if (u.pairs && u.tensors)
        status = run_in_scope(&u);
    for (int64_t i = 0; u.pairs && i < u.count; i++)
        tern_tensor_release(u.pairs[i].average);
    tern_module_free(average);
    tern_cache_free(u.tensors, tensor_bytes);
    tern_cache_free(u.pairs, pair_bytes);
    return status;
}
