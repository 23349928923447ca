// SPDX-License-Identifier: Apache-2.0
// The learning rate range test: Smith, "Cyclical Learning Rates for Training Neural Networks"
// (2017), 3.3.
#include <math.h>
#include <tern/autograd.h>

#include "base/error.h"
#include "base/mem.h"
#include "data/loader/loader.h"
#include "device/capture.h"
#include "nn/module/module.h"
#include "optim/optim.h"
#include "train/fit/lr_suggest.h"
#include "train/fit/lr_undo.h"

static const char op[] = "lr_find";

#define MAX_STEPS 100000

// ---- checks -------------------------------------------------------------------------------------

static tern_status check_objects(const tern_lr_find_options *o)
{
    if (!o->net || !o->criterion || !o->optim || !o->loader)
        return tern_null_error(op, !o->net         ? "net"
                                   : !o->criterion ? "criterion"
                                   : !o->optim     ? "optim"
                                                   : "loader");
    TERN_TRY(tern_check_module(op, o->net));
    TERN_TRY(tern_check_module(op, o->criterion));
    TERN_TRY(tern_check_optim(op, o->optim));
    TERN_TRY(tern_check_loader(op, o->loader));
    TERN_CHECK(!tern_error_pending(), TERN_ERR_STATE,
               "%s: an error is pending; look at it and clear it before", op);
    return tern_capture_refuse(op, "it is undone afterwards");
}

static tern_status check(const tern_lr_find_options *o)
{
    if (!o)
        return tern_null_error(op, "options");
    TERN_TRY(check_objects(o));
    TERN_CHECK(o->start_lr > 0 && isfinite(o->start_lr), TERN_ERR_ARG,
               "%s: start_lr is %g, not above 0", op, o->start_lr);
    TERN_CHECK(o->end_lr > o->start_lr && isfinite(o->end_lr), TERN_ERR_ARG,
               "%s: end_lr is %g, not above start_lr, %g", op, o->end_lr, o->start_lr);
    TERN_CHECK(o->steps >= 2 && o->steps <= MAX_STEPS, TERN_ERR_ARG,
               "%s: steps is %lld, not 2 to %d", op, (long long)o->steps, MAX_STEPS);
    TERN_CHECK(o->smooth >= 0 && o->smooth < 1, TERN_ERR_ARG, "%s: smooth is %g, not 0 to below 1",
               op, o->smooth);
    TERN_CHECK(o->divergence == 0 || o->divergence > 1, TERN_ERR_ARG,
               "%s: divergence is %g, neither 0 nor above 1", op, o->divergence);
    TERN_CHECK(o->rule == TERN_LR_VALLEY || o->rule == TERN_LR_STEEPEST, TERN_ERR_ARG,
               "%s: there is no rule %d", op, (int)o->rule);
    return TERN_OK;
}

// ---- a curve ------------------------------------------------------------------------------------

typedef struct columns {
    double *lr, *loss, *smoothed;
} columns;

static size_t bytes_of(int64_t capacity)
{
    return sizeof(tern_lr_curve) + 3 * (size_t)capacity * sizeof(double);
}

static columns columns_of(tern_lr_curve *curve)
{
    double *first = (double *)(curve + 1);
    return (columns){first, first + curve->capacity_, first + 2 * curve->capacity_};
}

static tern_lr_curve *curve_new(int64_t capacity)
{
    _Static_assert(sizeof(tern_lr_curve) % sizeof(double) == 0, "numbers follow the struct");
    tern_lr_curve *curve = tern_mem_alloc(bytes_of(capacity));
    if (!curve)
        return NULL;
    curve->capacity_ = capacity;
    const columns c = columns_of(curve);
    curve->lr = c.lr;
    curve->loss = c.loss;
    curve->smoothed = c.smoothed;
    curve->suggestion = (double)NAN;
    return curve;
}

void tern_lr_curve_free(tern_lr_curve *curve)
{
    if (curve)
        tern_mem_free(curve, bytes_of(curve->capacity_));
}

// ---- training -----------------------------------------------------------------------------------

typedef struct finder {
    const tern_lr_find_options *o;
    tern_lr_curve *curve;
    double average, min; // of the losses, with the bias of its begin; of the averages without
} finder;

static tern_status step(const finder *f, const tern_batch *b, double *value)
{
    const tern_lr_find_options *o = f->o;
    const double part = (double)f->curve->count / (double)(o->steps - 1);
    const double lr = o->start_lr * pow(o->end_lr / o->start_lr, part);
    TERN_TRY(tern_optim_set_lr(o->optim, TERN_ALL_GROUPS, lr));
    tern_tensor *loss = tern_loss(o->criterion, tern_forward(o->net, b->x), b->y);
    tern_optim_zero_grad(o->optim);
    TERN_TRY(tern_backward(loss));
    *value = tern_item(loss);
    columns_of(f->curve).lr[f->curve->count] = lr;
    return isfinite(*value) ? tern_optim_step(o->optim) : tern_error_code();
}

// False: it has diverged.
static bool add(finder *f, double loss)
{
    const double smooth = f->o->smooth;
    const columns c = columns_of(f->curve);
    if (!isfinite(loss))
        return false;
    const int64_t at = f->curve->count++;
    f->average = smooth * f->average + (1 - smooth) * loss;
    c.loss[at] = loss;
    c.smoothed[at] = f->average / (1 - pow(smooth, (double)(at + 1)));
    if (at == 0 || c.smoothed[at] < f->min)
        f->min = c.smoothed[at];
    return f->o->divergence == 0 ||
           c.smoothed[at] - f->min <= (f->o->divergence - 1) * fabs(f->min); // losses may be < 0
}

static tern_status run_epoch(finder *f)
{
    tern_lr_curve *curve = f->curve;
    const int64_t before = curve->count;
    tern_each_batch (b, f->o->loader) {
        double loss = (double)NAN;
        if (step(f, &b, &loss))
            break;
        curve->diverged = !add(f, loss);
        if (curve->diverged || curve->count == f->o->steps)
            break;
    }
    TERN_TRY(tern_error_code());
    TERN_CHECK(curve->count > before || curve->diverged, TERN_ERR_STATE,
               "%s: the loader gave no batch", op);
    return TERN_OK;
}

static tern_status run(finder *f)
{
    if (!tern_module_is_training(f->o->net) && !tern_module_train(f->o->net, true))
        return tern_error_code();
    while (!f->curve->diverged && f->curve->count < f->o->steps)
        TERN_TRY(run_epoch(f));
    f->curve->suggestion =
        tern_lr_suggest(f->o->rule, f->curve->lr, f->curve->smoothed, f->curve->count, f->o->steps);
    return tern_error_code();
}

tern_lr_curve *tern_lr_find_with(const tern_lr_find_options *o)
{
    if (check(o))
        return NULL;
    finder f = {.o = o, .curve = curve_new(o->steps)};
    tern_lr_undo undo = {0};
    tern_scope scope = tern_scope_open();
    tern_status status = f.curve && scope ? tern_lr_undo_keep(&undo, o) : tern_error_code();
    if (!status) {
        (void)run(&f);
        status = tern_lr_undo_run(&undo);
    }
    tern_lr_undo_free(&undo);
    tern_scope_close(scope);
    if (!status)
        return f.curve;
    tern_lr_curve_free(f.curve);
    return NULL;
}
