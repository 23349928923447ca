// SPDX-License-Identifier: Apache-2.0
#include "train/fit/fit_check.h"

#include <errno.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "data/loader/loader.h"
#include "device/capture.h"
#include "optim/optim.h"
#include "optim/sched/sched.h"
#include "train/folder.h"

static const char op[] = "fit";

// ---- options ------------------------------------------------------------------------------------

static tern_status check_module(const char *name, const tern_module *module)
{
    if (!module)
        return tern_null_error(op, name);
    return tern_module_num_parameters(module) < 0 ? tern_error_code() : TERN_OK; // it was freed
}

static tern_status check_objects(const tern_fit_options *o)
{
    TERN_TRY(check_module("net", o->net));
    TERN_TRY(check_module("criterion", o->criterion));
    TERN_TRY(tern_check_optim(op, o->optim));
    if (!o->train)
        return tern_null_error(op, "train");
    TERN_TRY(tern_check_loader(op, o->train));
    if (o->valid)
        TERN_TRY(tern_check_loader(op, o->valid));
    if (o->average)
        TERN_TRY(check_module("average", o->average));
    if (!o->file)
        return tern_null_error(op, "file");
    return o->scheduler ? tern_check_sched(op, o->scheduler) : TERN_OK;
}

static tern_status check_whole(const char *name, int64_t value, int64_t min)
{
    TERN_CHECK(value >= min, TERN_ERR_ARG, "%s: %s is %lld, not %lld or more", op, name,
               (long long)value, (long long)min);
    return TERN_OK;
}

static tern_status check_real(const char *name, double value)
{
    TERN_CHECK(value >= 0, TERN_ERR_ARG, "%s: %s is %g, not 0 or more", op, name, value);
    return TERN_OK;
}

static tern_status check_numbers(const tern_fit_options *o)
{
    TERN_TRY(check_whole("epochs", o->epochs, 1));
    TERN_TRY(check_whole("accumulate", o->accumulate, 1));
    const int64_t every = o->optim->accumulate_every;
    TERN_CHECK(every == 1 || every == o->accumulate, TERN_ERR_ARG,
               "%s: the %s accumulates %lld gradients already: say .accumulate = %lld", op,
               o->optim->klass->name, (long long)every, (long long)every);
    TERN_TRY(check_whole("patience", o->patience, 0));
    TERN_TRY(check_whole("keep_last", o->keep_last, 0));
    TERN_TRY(check_whole("checkpoint_every", o->checkpoint_every, 0));
    TERN_TRY(check_whole("log_every", o->log_every, 1));
    TERN_TRY(check_real("clip_grad_norm", o->clip_grad_norm));
    TERN_TRY(check_real("min_delta", o->min_delta));
    TERN_CHECK(o->checkpoint || !(o->resume || o->checkpoint_every > 0), TERN_ERR_ARG,
               "%s: %s without a folder: .checkpoint = \"runs/a\"", op,
               o->resume ? "resume" : "checkpoint_every");
    return TERN_OK;
}

static tern_status check_metrics(const tern_metric_list *list)
{
    TERN_CHECK(list->count >= 0 && list->count <= TERN_METRICS, TERN_ERR_ARG,
               "%s: there are %d metrics, not 0 to %d", op, list->count, TERN_METRICS);
    for (int i = 0; i < list->count; i++) {
        const char *name = tern_metric_name(list->at[i]);
        TERN_TRY(tern_error_code());
        for (int k = 0; k < i; k++)
            TERN_CHECK(strcmp(name, tern_metric_name(list->at[k])) != 0, TERN_ERR_ARG,
                       "%s: two metrics are called \"%s\"; .name gives one another name", op, name);
    }
    return TERN_OK;
}

// ---- the monitored value ------------------------------------------------------------------------

// The value of a name behind "train/" or "valid/"; NULL: there is none.
static const double *find_value(const tern_metric_list *list, const char *name, const double *loss,
                                const double *values)
{
    if (strcmp(name, "loss") == 0)
        return loss;
    for (int i = 0; i < list->count; i++)
        if (strcmp(name, tern_metric_name(list->at[i])) == 0)
            return &values[i];
    return NULL;
}

static const double *find_monitored(const tern_fit_options *o, const char *name,
                                    const tern_fit_result *r)
{
    if (strncmp(name, "train/", 6) == 0)
        return find_value(&o->metrics, name + 6, &r->train_loss, r->train_metrics);
    if (strncmp(name, "valid/", 6) == 0)
        return find_value(&o->metrics, name + 6, &r->valid_loss, r->valid_metrics);
    return NULL;
}

static tern_status check_monitor(const tern_fit_options *o, const tern_fit_result *result,
                                 tern_fit_monitor *m)
{
    m->name = o->monitor ? o->monitor : o->valid ? "valid/loss" : "train/loss";
    m->value = find_monitored(o, m->name, result);
    TERN_CHECK(m->value, TERN_ERR_ARG,
               "%s: monitor is \"%s\", but values are \"train/loss\", \"valid/loss\" and, of the "
               "metrics, \"train/%s\" and the like",
               op, m->name, o->metrics.count ? tern_metric_name(o->metrics.at[0]) : "accuracy");
    TERN_CHECK(o->valid || strncmp(m->name, "valid/", 6) != 0, TERN_ERR_ARG,
               "%s: monitor is \"%s\", but there is no .valid", op, m->name);
    TERN_CHECK(o->valid || o->monitor || o->patience == 0, TERN_ERR_ARG,
               "%s: patience is %lld, but there is no .valid to lose it with; .monitor = "
               "\"train/loss\" takes the training's",
               op, (long long)o->patience);
    const bool is_loss = m->value == &result->train_loss || m->value == &result->valid_loss;
    m->mode = o->mode == TERN_MODE_UNSPECIFIED && is_loss ? TERN_MIN : o->mode;
    TERN_CHECK(m->mode == TERN_MIN || m->mode == TERN_MAX, TERN_ERR_ARG,
               "%s: say which \"%s\" is better: .mode = TERN_MAX or TERN_MIN", op, m->name);
    return TERN_OK;
}

static tern_status check_scheduler(const tern_fit_options *o, tern_fit_monitor *m)
{
    TERN_CHECK(o->scheduler_unit >= TERN_FIT_UNIT_UNSPECIFIED && o->scheduler_unit <= TERN_FIT_STEP,
               TERN_ERR_ARG, "%s: there is no scheduler_unit %d", op, (int)o->scheduler_unit);
    m->scheduler = o->scheduler && o->scheduler->klass->takes_metric;
    TERN_CHECK(!m->scheduler || o->scheduler_unit != TERN_FIT_STEP, TERN_ERR_ARG,
               "%s: %s takes a metric, which there is once an epoch: .scheduler_unit = "
               "TERN_FIT_EPOCH",
               op, o->scheduler->klass->name);
    return TERN_OK;
}

// ---- the folder ---------------------------------------------------------------------------------

static tern_status count_steps(const char *name, int64_t *count)
{
    char folder[PATH_MAX];
    tern_steps steps = {0};
    TERN_TRY(tern_folder_make(op, name, folder));
    TERN_TRY(tern_folder_steps(op, folder, &steps));
    *count = steps.count;
    tern_steps_free(&steps);
    return TERN_OK;
}

static tern_status check_folder(const tern_fit_options *o)
{
    int64_t count = 0;
    if (!o->checkpoint || o->resume)
        return TERN_OK;
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = count_steps(o->checkpoint, &count);
    tern_cancel_restore(cancel_state);
    errno = saved;
    TERN_TRY(status);
    TERN_CHECK(count == 0, TERN_ERR_STATE,
               "%s: %s has the checkpoints of a run: .resume = true goes on with it, another "
               "folder begins another",
               op, o->checkpoint);
    return TERN_OK;
}

tern_status tern_fit_check(const tern_fit_options *o, const tern_fit_result *result,
                           tern_fit_monitor *monitor)
{
    if (!o)
        return tern_null_error(op, "options");
    TERN_TRY(check_objects(o));
    TERN_TRY(check_metrics(&o->metrics));
    TERN_CHECK(!tern_error_pending(), TERN_ERR_STATE,
               "%s: an error is pending; look at it and clear it before", op);
    TERN_TRY(tern_capture_refuse(op, "an epoch is not a step"));
    TERN_TRY(check_numbers(o));
    TERN_TRY(check_monitor(o, result, monitor));
    TERN_TRY(check_scheduler(o, monitor));
    return check_folder(o);
}

tern_generator *tern_fit_generator(const tern_loader *loader)
{
    return loader ? loader->own : NULL;
}

// ---- while it runs ------------------------------------------------------------------------------

void tern_fit_warn_of_nan(const char *name, int64_t epoch)
{
    tern_log_send(TERN_LOG_WARN,
                  "%s: %s is NaN in epoch %lld: it is no better than any other; a smaller learning "
                  "rate or clip_grad_norm may help",
                  op, name, (long long)epoch);
}

tern_status tern_fit_called(const char *callback, tern_status status)
{
    TERN_TRY(tern_error_code());
    TERN_CHECK(!status, status, "%s: the callback %s failed without an error", op, callback);
    return TERN_OK;
}
