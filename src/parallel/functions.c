// SPDX-License-Identifier: Apache-2.0
// The parts of data parallel, as programs call them.
#include "base/mem.h"
#include "device/capture.h"
#include "parallel/parallel.h"
#include "parallel/replicas.h"

int tern_scatter_batch(const tern_tensors *in, const tern_device *devices, int count, int dim,
                       tern_tensors *shards)
{
    const char *function = "scatter_batch";
    if (!in || !shards) {
        tern_null_error(function, in ? "pieces" : "in");
        return -1;
    }
    if (tern_parallel_check_devices(function, devices, count) || tern_tensors_check(function, in))
        return -1;
    return tern_shards_scatter(function, in, devices, count, dim, shards);
}

tern_status tern_gather_batch(const tern_tensors *shards, int count, tern_device device, int dim,
                              tern_tensors *out)
{
    const char *function = "gather_batch";
    if (!shards || !out)
        return tern_null_error(function, shards ? "out" : "pieces");
    TERN_CHECK(count >= 1 && count <= TERN_MAX_DEVICES, TERN_ERR_ARG,
               "%s: %d pieces, but 1 to %d are possible", function, count, TERN_MAX_DEVICES);
    TERN_TRY(tern_device_resolve(function, &device));
    for (int i = 0; i < count; i++)
        TERN_TRY(tern_tensors_check(function, &shards[i]));
    return tern_shards_gather(function, shards, count, device, dim, out);
}

// ---- replicas -----------------------------------------------------------------------------------

static tern_status replicate(tern_replicas *r, tern_module *module, int count,
                             tern_module **replicas)
{
    TERN_TRY(tern_replicas_update("replicate", r, module, count));
    replicas[0] = tern_module_retain(module);
    for (int i = 1; i < count; i++)
        replicas[i] = tern_replicas_take(r, i);
    return TERN_OK;
}

tern_status tern_replicate(tern_module *module, const tern_device *devices, int count,
                           tern_module **replicas)
{
    const char *function = "replicate";
    TERN_TRY(tern_check_module(function, module));
    if (!replicas)
        return tern_null_error(function, "replicas");
    TERN_CHECK(module->private_->done, TERN_ERR_STATE,
               "%s: the constructor of %s did not end with tern_module_done", function,
               module->klass->name);
    TERN_TRY(tern_parallel_check_devices(function, devices, count));
    TERN_TRY(tern_capture_refuse(function, "a graph is of one device"));
    TERN_TRY(tern_parallel_check_home(function, module, devices[0]));
    tern_replicas *r = tern_replicas_new(devices, count);
    tern_status status = r ? replicate(r, module, count, replicas) : TERN_ERR_NOMEM;
    tern_replicas_free(r);
    return status;
}

// ---- apply --------------------------------------------------------------------------------------

// Where the piece is.
static tern_device device_of(const tern_tensors *in)
{
    for (int i = 0; i < in->count; i++)
        if (in->at[i])
            return tern_dev(in->at[i]);
    return tern_default_device();
}

static tern_status apply(tern_apply_job *jobs, tern_module *const *modules, const tern_tensors *in,
                         tern_tensors *out, int count)
{
    for (int i = 0; i < count; i++) {
        TERN_TRY(tern_check_module("parallel_apply", modules[i]));
        TERN_TRY(tern_tensors_check("parallel_apply", &in[i]));
        jobs[i] = (tern_apply_job){modules[i], device_of(&in[i]), in[i], {0}};
    }
    TERN_TRY(tern_apply_run(jobs, count));
    for (int i = 0; i < count; i++)
        out[i] = jobs[i].out;
    return TERN_OK;
}

tern_status tern_parallel_apply(tern_module *const *modules, const tern_tensors *in,
                                tern_tensors *out, int count)
{
    const char *function = "parallel_apply";
    if (!modules || !in || !out)
        return tern_null_error(function, !modules ? "modules" : !in ? "in" : "out");
    TERN_CHECK(count >= 1 && count <= TERN_MAX_DEVICES, TERN_ERR_ARG,
               "%s: %d modules, but 1 to %d are possible", function, count, TERN_MAX_DEVICES);
    TERN_TRY(tern_capture_refuse(function, "a graph is of one device"));
    tern_apply_job *jobs = tern_mem_alloc((size_t)count * sizeof *jobs);
    tern_status status = jobs ? apply(jobs, modules, in, out, count) : TERN_ERR_NOMEM;
    tern_mem_free(jobs, (size_t)count * sizeof *jobs);
    return status;
}
