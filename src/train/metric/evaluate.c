// SPDX-License-Identifier: Apache-2.0
// A net over an epoch of a loader, in evaluation mode and without recording.
#include <math.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/mem.h"
#include "data/loader/loader.h"
#include "nn/module/module.h"
#include "tensor/capture.h"
#include "tensor/header.h"
#include "train/metric/metric.h"

#define EVALUATE "evaluate"

// ---- modes --------------------------------------------------------------------------------------

// A module, held, and the mode that it was in.
typedef struct mode {
    tern_module *module;
    bool training;
} mode;

typedef struct modes {
    mode *at;
    int64_t count, capacity;
    tern_status status;
} modes;

static void record_mode(tern_module *module, void *user)
{
    modes *m = user;
    if (!m->status)
        m->status = tern_mem_grow((void **)&m->at, &m->capacity, m->count + 1, sizeof *m->at);
    if (!m->status)
        m->at[m->count++] = (mode){tern_module_retain(module), module->private_->training};
}

static void restore_modes(modes *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        m->at[i].module->private_->training = m->at[i].training;
        tern_module_release(m->at[i].module);
    }
    tern_mem_free(m->at, (size_t)m->capacity * sizeof *m->at);
}

// ---- batches ------------------------------------------------------------------------------------

typedef struct evaluation {
    const tern_evaluate_options *o;
    tern_tensor *loss; // float64 (): the sum over the samples, held; NULL before the first batch
    int64_t samples;
} evaluation;

static tern_status check_target(const evaluation *e, const tern_batch *b)
{
    bool needed = e->o->criterion;
    for (int i = 0; i < e->o->metrics.count; i++)
        needed = needed || !e->o->metrics.at[i]->klass->target_optional;
    TERN_CHECK(b->y || !needed, TERN_ERR_STATE,
               EVALUATE ": the loader's batches have no y, which the criterion and metrics take");
    return TERN_OK;
}

// What a batch adds to the sum: its mean as often as it has samples, or its sum.
static tern_status add_loss(evaluation *e, tern_tensor *loss, int64_t size)
{
    const bool sum = e->o->reduction == TERN_REDUCTION_SUM;
    if (loss && loss->rank > 0)
        loss = (sum ? tern_sum_all : tern_mean_all)(tern_to_dtype(loss, TERN_FLOAT64));
    if (loss && !e->loss)
        e->loss = tern_tensor_retain(
            tern_zeros(tern_dims(), .dtype = TERN_FLOAT64, .device = tern_dev(loss)));
    if (!loss || !e->loss || !tern_add_(e->loss, loss, sum ? 1 : (double)size))
        return tern_error_code();
    return TERN_OK;
}

static tern_status run_batch(evaluation *e, const tern_batch *b)
{
    const tern_evaluate_options *o = e->o;
    TERN_TRY(check_target(e, b));
    tern_tensor *out = tern_forward(o->net, b->x);
    if (!out)
        return tern_error_code();
    if (o->loss)
        TERN_TRY(add_loss(e, tern_loss(o->criterion, out, b->y), b->size));
    for (int i = 0; i < o->metrics.count; i++)
        TERN_TRY(tern_metric_update(o->metrics.at[i], out, b->y));
    e->samples += b->size;
    return TERN_OK;
}

static tern_status run_epoch(evaluation *e)
{
    tern_each_batch (b, e->o->loader)
        if (run_batch(e, &b))
            break;
    TERN_TRY(tern_error_code());
    TERN_CHECK(e->samples > 0, TERN_ERR_STATE, EVALUATE ": the loader gave no batch");
    if (e->o->loss)
        *e->o->loss = tern_item(e->loss) / (double)e->samples;
    return tern_error_code();
}

// ---- the whole ----------------------------------------------------------------------------------

static tern_status check(const tern_evaluate_options *o)
{
    if (!o->net)
        return tern_null_error(EVALUATE, "net");
    TERN_TRY(tern_check_module(EVALUATE, o->net));
    TERN_TRY(tern_check_loader_change(EVALUATE, o->loader));
    if (o->criterion)
        TERN_TRY(tern_check_module(EVALUATE, o->criterion));
    TERN_TRY(tern_check_metrics(EVALUATE, &o->metrics));
    TERN_CHECK(!o->loss || o->criterion, TERN_ERR_ARG,
               EVALUATE ": .loss needs a .criterion, which it is computed by");
    TERN_CHECK(o->reduction >= TERN_REDUCTION_MEAN && o->reduction <= TERN_REDUCTION_NONE,
               TERN_ERR_ARG, EVALUATE ": reduction is %d, not MEAN, SUM or NONE",
               (int)o->reduction);
    TERN_TRY(tern_capture_refuse(EVALUATE, "replays would read no batch"));
    return tern_error_code();
}

static tern_status evaluate(const tern_evaluate_options *o)
{
    evaluation e = {.o = o};
    modes m = {0};
    tern_module_visit(o->net, record_mode, &m);
    if (o->criterion)
        tern_module_visit(o->criterion, record_mode, &m);
    tern_status status = m.status;
    if (!status) {
        tern_module_eval(o->net);
        if (o->criterion)
            tern_module_eval(o->criterion);
        for (int i = 0; i < o->metrics.count; i++)
            tern_metric_reset(o->metrics.at[i]);
        tern_no_grad
            status = run_epoch(&e);
    }
    restore_modes(&m);
    tern_tensor_release(e.loss);
    return status;
}

tern_status tern_evaluate_with(const tern_evaluate_options *options)
{
    if (!options)
        return tern_null_error(EVALUATE, "options");
    if (options->loss)
        *options->loss = NAN;
    TERN_TRY(check(options));
    return evaluate(options);
}
