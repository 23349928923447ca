// SPDX-License-Identifier: Apache-2.0
// A module that runs another one on several devices.
#include "parallel/data_parallel.h"
#include <tern/cuda.h>
#include <tern/ops.h>
#include "device/capture.h"
#include "device/current.h"
#include "parallel/parallel.h"
#include "parallel/replicas.h"

typedef struct data_parallel {
    tern_module base;
    tern_module *module;
    tern_parallel_devices on;
    tern_replicas *replicas; // NULL for less than two devices
    atomic_flag busy;        // a forward has them
} data_parallel;

// ---- forward ------------------------------------------------------------------------------------

static tern_status run_one(const data_parallel *self, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_module_forward(self->module, in, out));
    for (int i = 0; i < out->count; i++) {
        out->at[i] = tern_to(out->at[i], self->on.output_device);
        if (!out->at[i])
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status run_jobs(data_parallel *self, tern_replicas *replicas, tern_apply_job *jobs,
                            int used)
{
    TERN_TRY(tern_replicas_update("data_parallel", replicas, self->module, used));
    for (int i = 1; i < used; i++)
        jobs[i].module = tern_replicas_at(replicas, i);
    return tern_apply_run(jobs, used);
}

// A second forward at the same time, on another thread, has replicas of its own.
static tern_status run_replicas(data_parallel *self, tern_apply_job *jobs, int used)
{
    const bool first = !atomic_flag_test_and_set(&self->busy);
    tern_replicas *own =
        first ? self->replicas : tern_replicas_new(self->on.devices, self->on.count);
    tern_status status = own ? run_jobs(self, own, jobs, used) : TERN_ERR_NOMEM;
    if (first)
        atomic_flag_clear(&self->busy);
    else
        tern_replicas_free(own);
    return status;
}

static tern_status run_shards(data_parallel *self, const tern_tensors *shards, int used,
                              tern_tensors *out)
{
    tern_apply_job jobs[TERN_MAX_DEVICES];
    tern_tensors outputs[TERN_MAX_DEVICES];
    for (int i = 0; i < used; i++)
        jobs[i] = (tern_apply_job){self->module, self->on.devices[i], shards[i], {0}};
    TERN_TRY(run_replicas(self, jobs, used));
    for (int i = 0; i < used; i++)
        outputs[i] = jobs[i].out;
    return tern_shards_gather("data_parallel", outputs, used, self->on.output_device, self->on.dim,
                              out);
}

// What moved away needs no replicas.
static tern_status check_home(data_parallel *self)
{
    tern_status status =
        tern_parallel_check_home("data_parallel", self->module, self->on.devices[0]);
    if (status && self->replicas && !atomic_flag_test_and_set(&self->busy)) {
        tern_replicas_clear(self->replicas);
        atomic_flag_clear(&self->busy);
    }
    return status;
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    data_parallel *self = (data_parallel *)module;
    tern_tensors shards[TERN_MAX_DEVICES];
    if (self->on.count == 0)
        return tern_module_forward(self->module, in, out);
    const int count = tern_forward_is_observed() ? 1 : self->on.count;
    TERN_TRY(check_home(self));
    if (count > 1)
        TERN_TRY(tern_capture_refuse("data_parallel", "a graph is of one device"));
    const int used =
        tern_shards_scatter("data_parallel", in, self->on.devices, count, self->on.dim, shards);
    if (used < 0)
        return tern_error_code();
    return count == 1 ? run_one(self, &shards[0], out) : run_shards(self, shards, used, out);
}

// ---- the class ----------------------------------------------------------------------------------

static void free_own(tern_module *module)
{
    tern_replicas_free(((data_parallel *)module)->replicas);
}

static tern_status make_replicas(data_parallel *self)
{
    self->replicas = NULL;
    atomic_flag_clear(&self->busy);
    if (self->on.count > 1)
        self->replicas = tern_replicas_new(self->on.devices, self->on.count);
    return self->on.count > 1 && !self->replicas ? TERN_ERR_NOMEM : TERN_OK;
}

static tern_status copy(tern_module *to, const tern_module *from)
{
    to->private_->parallel = from->private_->parallel;
    return make_replicas((data_parallel *)to);
}

static const tern_module_class data_parallel_class = {.name = "DataParallel",
                                                      .size = sizeof(data_parallel),
                                                      .call = call,
                                                      .free = free_own,
                                                      .copy = copy};

bool tern_is_data_parallel(const tern_module *module)
{
    return module->klass == &data_parallel_class;
}

tern_parallel_devices tern_data_parallel_on(const tern_module *module)
{
    return ((const data_parallel *)module)->on;
}

// ---- making one ---------------------------------------------------------------------------------

static tern_status refuse_nested(const char *name, tern_module *module, void *user)
{
    (void)user;
    TERN_CHECK(!module->private_->parallel, TERN_ERR_STATE,
               "nn_data_parallel: %s%s%s is data parallel already", name[0] ? "\"" : "",
               name[0] ? name : "the module", name[0] ? "\"" : "");
    return TERN_OK;
}

// All CUDA devices where none is listed.
static tern_status set_devices(data_parallel *self, const tern_nn_data_parallel_options *options)
{
    tern_device all[TERN_MAX_DEVICES];
    const tern_device *devices = options->devices;
    int count = options->count;
    if (!devices) {
        if (count != 0)
            return tern_null_error("nn_data_parallel", ".devices");
        count = tern_device_count(TERN_CUDA);
        if (count == 0)
            return TERN_OK;
        for (int i = 0; i < count; i++)
            all[i] = tern_cuda(i);
        devices = all;
    }
    TERN_TRY(tern_parallel_check_devices("nn_data_parallel", devices, count));
    for (int i = 0; i < count; i++)
        self->on.devices[i] = tern_device_or_default(devices[i]);
    self->on.count = count;
    TERN_TRY(tern_parallel_warn_of_imbalance(self->on.devices, count));
    self->on.output_device = options->output_device.type == TERN_DEVICE_UNSPECIFIED
                                 ? self->on.devices[0]
                                 : tern_device_or_default(options->output_device);
    return tern_device_resolve("nn_data_parallel", &self->on.output_device);
}

static tern_status set_up(data_parallel *self, const tern_nn_data_parallel_options *options)
{
    TERN_TRY(tern_check_module("nn_data_parallel", options->module));
    TERN_TRY(tern_module_each_module(options->module, refuse_nested, NULL));
    self->base.private_->parallel = true;
    self->on.dim = options->dim;
    TERN_TRY(set_devices(self, options));
    return make_replicas(self);
}

tern_module *tern_nn_data_parallel_with(const tern_nn_data_parallel_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_data_parallel", "options"), NULL;
    data_parallel *self = (data_parallel *)tern_module_new(&data_parallel_class);
    if (!self || set_up(self, options)) {
        tern_module_free(options->module);
        tern_module_free(self ? &self->base : NULL);
        return NULL;
    }
    tern_child(self, module, options->module);
    return tern_done(self);
}

int tern_nn_data_parallel_devices(const tern_module *module, tern_device *devices, int capacity)
{
    if (tern_check_module("nn_data_parallel_devices", module))
        return -1;
    if (!tern_is_data_parallel(module)) {
        tern_error_raise(TERN_ERR_ARG, "nn_data_parallel_devices: this %s is not data parallel",
                         module->klass->name);
        return -1;
    }
    const data_parallel *self = (const data_parallel *)module;
    if (capacity > 0 && !devices) {
        tern_null_error("nn_data_parallel_devices", "devices");
        return -1;
    }
    for (int i = 0; i < self->on.count && i < capacity; i++)
        devices[i] = self->on.devices[i];
    return self->on.count;
}
