// SPDX-License-Identifier: Apache-2.0
// Running statistics of BatchNorm computed anew, as the mean over the batches of an epoch.
#include <math.h>
#include <tern/autograd.h>
#include <tern/averaged_model.h>
#include <tern/ops.h>
#include "base/mem.h"
#include "data/loader/loader.h"
#include "nn/layer/norm.h"
#include "tensor/capture.h"

// A module as it was, held.
typedef struct kept {
    tern_channel_norm *norm; // the module as BatchNorm with running statistics, or NULL
    tern_module *module;
    bool training;
    double momentum;
    tern_tensor *mean, *var, *batches; // copies, held
} kept;

typedef struct modules {
    kept *at;
    int64_t count, capacity;
    int64_t norms;
} modules;

static tern_status keep_copy(tern_tensor *t, tern_tensor **copy)
{
    *copy = t ? tern_retain(tern_clone(t)) : NULL;
    return t && !*copy ? tern_error_code() : TERN_OK;
}

static tern_status keep_statistics(kept *k)
{
    k->momentum = k->norm->momentum;
    TERN_TRY(keep_copy(k->norm->running_mean, &k->mean));
    TERN_TRY(keep_copy(k->norm->running_var, &k->var));
    return keep_copy(k->norm->num_batches_tracked, &k->batches);
}

static tern_status keep(const char *name, tern_module *module, void *user)
{
    modules *m = user;
    (void)name;
    TERN_TRY(tern_mem_grow((void **)&m->at, &m->capacity, m->count + 1, sizeof *m->at));
    kept *k = &m->at[m->count++];
    *k = (kept){.module = tern_module_retain(module), .training = module->private_->training};
    tern_channel_norm *norm = (tern_channel_norm *)module;
    if (!tern_nn_is_batch_norm(module) || !norm->running_mean)
        return TERN_OK;
    m->norms++;
    k->norm = norm;
    return keep_statistics(k);
}

static tern_status begin(const modules *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        m->at[i].module->private_->training = true;
        if (!m->at[i].norm)
            continue;
        TERN_TRY(tern_channel_norm_reset_running(m->at[i].norm));
        m->at[i].norm->momentum = NAN; // the mean of all
    }
    return TERN_OK;
}

static tern_status run_epoch(tern_module *module, tern_loader *loader)
{
    int64_t batches = 0;
    tern_each_batch (b, loader) {
        tern_tensors out = {0};
        if (tern_module_forward(module, &(tern_tensors){1, {b.x}}, &out))
            break;
        batches++;
    }
    TERN_TRY(tern_error_code());
    TERN_CHECK(batches > 0, TERN_ERR_STATE,
               "update_bn: the loader gave no batch; the statistics are as they were");
    return TERN_OK;
}

static void put_back(tern_tensor *t, tern_tensor *was)
{
    if (t && !tern_copy_(t, was))
        return; // the error of the failure is pending
}

static void restore_statistics(const modules *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        const kept *k = &m->at[i];
        if (!k->norm)
            continue;
        put_back(k->norm->running_mean, k->mean);
        put_back(k->norm->running_var, k->var);
        put_back(k->norm->num_batches_tracked, k->batches);
    }
}

static void restore_modules(modules *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        kept *k = &m->at[i];
        k->module->private_->training = k->training;
        if (k->norm)
            k->norm->momentum = k->momentum;
        tern_release(k->mean);
        tern_release(k->var);
        tern_release(k->batches);
        tern_module_release(k->module);
    }
    tern_mem_free(m->at, (size_t)m->capacity * sizeof *m->at);
}

static tern_status update(tern_module *module, tern_loader *loader)
{
    modules m = {0};
    tern_status status = tern_module_each_module(module, keep, &m);
    if (!status && m.norms > 0) {
        status = begin(&m);
        if (!status)
            status = run_epoch(module, loader);
        if (status)
            restore_statistics(&m);
    }
    restore_modules(&m);
    return status;
}

tern_status tern_update_bn(tern_module *module, tern_loader *loader)
{
    tern_status status = TERN_ERR_NOMEM;
    TERN_TRY(tern_check_module("update_bn", module));
    TERN_TRY(tern_check_loader_change("update_bn", loader));
    TERN_TRY(tern_capture_refuse("update_bn", "replays would read no batch"));
    TERN_TRY(tern_error_code());
    tern_scope scope = tern_scope_open();
    tern_no_grad
        if (scope)
            status = update(module, loader);
    tern_scope_close(scope);
    return status;
}
