// SPDX-License-Identifier: Apache-2.0
// L-BFGS (Nocedal 1980; Nocedal and Wright 2006, algorithm 7.5), over all parameters as one vector.
#include "base/mem.h"
#include "base/saved_error.h"
#include "device/capture.h"
#include "optim/lbfgs/line_search.h"
#include "optim/lbfgs/state.h"
#include "optim/lbfgs/vector.h"
#include "tensor/header.h"

enum {
    LR,
    MAX_ITER,
    MAX_EVAL,
    TOLERANCE_GRAD,
    TOLERANCE_CHANGE,
    HISTORY_SIZE,
    STRONG_WOLFE,
    MAXIMIZE
};

static const char *const op = "optim_step_closure";

typedef struct stepping {
    tern_optim *optim;
    const double *number;
    tern_closure_fn *closure;
    void *user;
    tern_lbfgs now;      // becomes the state when all went well
    tern_tensor *start;  // all parameters, before the iteration
    int64_t evaluations; // of this step
    tern_line_point at;  // where the parameters are: the loss, the gradient
} stepping;

static tern_status check_alike(const tern_optim *optim)
{
    const tern_tensor *first = optim->entries[0].param;
    for (int64_t i = 1; i < optim->entry_count; i++) {
        const tern_tensor *other = optim->entries[i].param;
        TERN_CHECK(tern_same_device(tern_dev(first), tern_dev(other)), TERN_ERR_DEVICE,
                   "%s: LBFGS wants all parameters on one device, but %s is %s and %s %s", op,
                   optim->entries[0].name, tern_tensor_string(first), optim->entries[i].name,
                   tern_tensor_string(other));
        TERN_CHECK(first->dtype == other->dtype, TERN_ERR_DTYPE,
                   "%s: LBFGS wants all parameters of one dtype, but %s is %s and %s %s", op,
                   optim->entries[0].name, tern_tensor_string(first), optim->entries[i].name,
                   tern_tensor_string(other));
    }
    return TERN_OK;
}

// ---- evaluating ---------------------------------------------------------------------------------

static tern_status look(stepping *s, tern_tensor *loss, tern_line_point *point)
{
    const double sign = s->number[MAXIMIZE] != 0 ? -1 : 1;
    if (!loss)
        return tern_error_code();
    point->loss = sign * tern_item(loss);
    TERN_TRY(tern_optim_check_gradients(s->optim));
    tern_tensor *gradient = tern_lbfgs_join(s->optim, true);
    if (gradient && sign < 0)
        gradient = tern_neg(gradient);
    s->evaluations++;
    s->now.func_evals++;
    return tern_lbfgs_set_made(&point->gradient, gradient);
}

// The loss and the gradient where the parameters are.
static tern_status evaluate(stepping *s, tern_line_point *point)
{
    tern_status status = TERN_ERR_NOMEM;
    tern_with_scope
        status = look(s, tern_optim_evaluate(s->closure, s->user), point);
    return status;
}

static tern_status check_finite(const stepping *s, const tern_line_point *point)
{
    const double size = tern_lbfgs_largest(point->gradient);
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(isfinite(point->loss) && isfinite(size), TERN_ERR_NUMERIC,
               "%s: at evaluation %lld the loss is %g and the largest gradient %g; the parameters "
               "are as they were",
               op, (long long)s->evaluations, isnan(point->loss) ? (double)NAN : point->loss, size);
    return TERN_OK;
}

static tern_status evaluate_line(void *user, double t, tern_line_point *point)
{
    stepping *s = user;
    point->t = t;
    TERN_TRY(tern_lbfgs_add_to_parameters(s->optim, s->now.d, t));
    TERN_TRY(evaluate(s, point));
    tern_status status = tern_lbfgs_set_parameters(s->optim, s->start);
    point->slope = status ? NAN : tern_lbfgs_dot(point->gradient, s->now.d);
    if (!status && tern_error_pending())
        status = tern_error_code();
    if (!isfinite(point->slope) || !isfinite(point->loss))
        point->loss = INFINITY;
    if (status)
        tern_line_point_release(point);
    return status;
}

// ---- the direction ------------------------------------------------------------------------------

static tern_status remember(stepping *s, tern_tensor *y, tern_tensor *step)
{
    tern_lbfgs *l = &s->now;
    const double product = tern_lbfgs_dot(y, step);
    if (!(product > 1e-10))
        return tern_error_pending() ? tern_error_code() : TERN_OK;
    while (l->count > 0 && (double)l->count >= s->number[HISTORY_SIZE])
        tern_lbfgs_release_oldest(l);
    TERN_TRY(tern_lbfgs_add(l, y, step, 1 / product));
    l->h_diag = product / tern_lbfgs_dot(y, y);
    return tern_error_pending() ? tern_error_code() : TERN_OK;
}

// Minus the approximate inverse of the Hessian times the gradient.
static tern_tensor *two_loops(tern_lbfgs *l, tern_tensor *gradient)
{
    tern_tensor *q = tern_neg(gradient);
    for (int64_t i = l->count - 1; q && i >= 0; i--) {
        tern_lbfgs_correction *c = &l->history[i];
        c->al = tern_lbfgs_dot(c->step, q) * c->ro;
        q = tern_add_(q, c->gradient, -c->al);
    }
    tern_tensor *r = tern_mul_scalar(q, l->h_diag);
    for (int64_t i = 0; r && i < l->count; i++) {
        const tern_lbfgs_correction *c = &l->history[i];
        r = tern_add_(r, c->step, c->al - tern_lbfgs_dot(c->gradient, r) * c->ro);
    }
    return tern_error_pending() ? NULL : r;
}

static tern_status find_direction(stepping *s)
{
    tern_lbfgs *l = &s->now;
    if (l->n_iter == 1) {
        l->h_diag = 1;
        return tern_lbfgs_set_made(&l->d, tern_neg(s->at.gradient));
    }
    tern_tensor *y = tern_sub(s->at.gradient, l->prev_flat_grad);
    tern_tensor *step = tern_mul_scalar(l->d, l->t);
    if (!y || !step)
        return tern_error_code();
    TERN_TRY(remember(s, y, step));
    return tern_lbfgs_set_made(&l->d, two_loops(l, s->at.gradient));
}

// ---- one step -----------------------------------------------------------------------------------

static tern_status search_line(stepping *s, double length)
{
    const tern_line line = {evaluate_line, s, length, s->number[TOLERANCE_CHANGE],
                            (int64_t)s->number[MAX_EVAL] - s->evaluations};
    tern_line_point found;
    int64_t evaluations;
    TERN_TRY(tern_lbfgs_set_made(&s->start, tern_lbfgs_join(s->optim, false)));
    TERN_TRY(tern_strong_wolfe(&line, &s->at, s->now.t, &found, &evaluations));
    tern_line_point_release(&s->at);
    s->at = found;
    s->now.t = found.t;
    return tern_lbfgs_add_to_parameters(s->optim, s->now.d, s->now.t);
}

static tern_status go_along(stepping *s, bool last, double length)
{
    if (s->number[STRONG_WOLFE] != 0)
        return search_line(s, length);
    TERN_TRY(tern_lbfgs_add_to_parameters(s->optim, s->now.d, s->now.t));
    if (last)
        return TERN_OK;
    TERN_TRY(evaluate(s, &s->at));
    return check_finite(s, &s->at);
}

static double first_length(const stepping *s)
{
    const double lr = s->number[LR];
    return s->now.n_iter == 1 ? fmin(1, 1 / tern_lbfgs_sum_of_sizes(s->at.gradient)) * lr : lr;
}

// One iteration, in a scope of its own; `*ends` where it is the last.
static tern_status iterate(stepping *s, bool last, bool *ends)
{
    tern_lbfgs *l = &s->now;
    l->n_iter++;
    TERN_TRY(find_direction(s));
    tern_lbfgs_set(&l->prev_flat_grad, s->at.gradient);
    l->prev_loss = s->at.loss;
    l->t = first_length(s);
    const double length = tern_lbfgs_largest(l->d), tolerance = s->number[TOLERANCE_CHANGE];
    s->at.t = 0;
    s->at.slope = tern_lbfgs_dot(s->at.gradient, l->d);
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(isfinite(s->at.slope), TERN_ERR_NUMERIC,
               "%s: the slope along the direction is %g; the parameters are as they were", op,
               s->at.slope);
    *ends = true;
    if (s->at.slope > -tolerance)
        return TERN_OK;
    TERN_TRY(go_along(s, last, length));
    *ends = last || (double)s->evaluations >= s->number[MAX_EVAL] ||
            tern_lbfgs_largest(s->at.gradient) <= s->number[TOLERANCE_GRAD] ||
            length * fabs(l->t) <= tolerance || fabs(s->at.loss - l->prev_loss) < tolerance;
    return tern_error_pending() ? tern_error_code() : TERN_OK;
}

static tern_status run(stepping *s)
{
    const int64_t max = (int64_t)s->number[MAX_ITER];
    TERN_TRY(check_finite(s, &s->at));
    bool ends = tern_lbfgs_largest(s->at.gradient) <= s->number[TOLERANCE_GRAD];
    for (int64_t n = 1; !ends; n++) {
        tern_status status = TERN_ERR_NOMEM;
        tern_with_scope
            status = iterate(s, n == max, &ends);
        TERN_TRY(status);
    }
    return TERN_OK;
}

// Puts the parameters back, whatever has gone wrong, and leaves that pending.
static void restore(const tern_optim *optim, tern_tensor *before)
{
    tern_saved_error error;
    tern_error_save(&error);
    if (tern_lbfgs_set_parameters(optim, before))
        tern_error_clear();
    tern_error_restore(&error);
}

// From the first evaluation on.
static tern_status step_from(stepping *s, tern_tensor *loss)
{
    tern_lbfgs *own = s->optim->own;
    tern_tensor *before = NULL;
    TERN_TRY(look(s, loss, &s->at));
    TERN_TRY(tern_lbfgs_set_made(&before, tern_lbfgs_join(s->optim, false)));
    const tern_status status = run(s);
    if (status)
        restore(s->optim, before);
    tern_tensor_release(before);
    if (status)
        return status;
    tern_lbfgs_release(own);
    *own = s->now;
    s->now = (tern_lbfgs){0};
    for (int64_t i = 0; i < s->optim->entry_count; i++)
        s->optim->entries[i].step++;
    s->optim->has_stepped = true;
    return TERN_OK;
}

static tern_status prepare(stepping *s)
{
    TERN_TRY(check_alike(s->optim));
    TERN_TRY(tern_capture_refuse(op, "LBFGS looks at each loss"));
    TERN_TRY(tern_lbfgs_copy(&s->now, s->optim->own));
    tern_status status = TERN_ERR_NOMEM;
    tern_with_scope
        status = tern_lbfgs_follow(&s->now, s->optim->entries[0].param);
    return status;
}

static tern_tensor *step_closure(tern_optim *optim, tern_closure_fn *closure, void *user)
{
    stepping s = {
        .optim = optim, .number = optim->groups[0].number, .closure = closure, .user = user};
    tern_status status = prepare(&s);
    tern_tensor *loss = status ? NULL : tern_optim_evaluate(closure, user);
    tern_no_grad
        tern_with_scope
            if (loss)
                status = step_from(&s, loss);
    tern_line_point_release(&s.at);
    tern_lbfgs_set(&s.start, NULL);
    tern_lbfgs_release(&s.now);
    return status || tern_error_pending() ? NULL : loss;
}

// ---- the class ----------------------------------------------------------------------------------

static void free_own(tern_optim *optim)
{
    if (optim->own)
        tern_lbfgs_release(optim->own);
    tern_mem_free(optim->own, sizeof(tern_lbfgs));
}

static const char *const searches[] = {NULL, "strong_wolfe"};
static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [MAX_ITER] = {"max_iter", TERN_RANGE_COUNT},
    [MAX_EVAL] = {"max_eval", TERN_RANGE_COUNT},
    [TOLERANCE_GRAD] = {"tolerance_grad", TERN_RANGE_NOT_NEGATIVE},
    [TOLERANCE_CHANGE] = {"tolerance_change", TERN_RANGE_NOT_NEGATIVE},
    [HISTORY_SIZE] = {"history_size", TERN_RANGE_COUNT},
    [STRONG_WOLFE] = {"line_search_fn", TERN_RANGE_FLAG, .words = searches, .word_count = 2},
    [MAXIMIZE] = {"maximize", TERN_RANGE_FLAG},
};
static const tern_optim_class lbfgs_class = {
    .name = "LBFGS",
    .function = "optim_lbfgs",
    .numbers = numbers,
    .number_count = sizeof numbers / sizeof *numbers,
    .step_closure = step_closure,
    .visit = tern_lbfgs_visit,
    .free = free_own,
    .torch = {.no_foreach = true, .no_differentiable = true},
};

tern_optim *tern_optim_lbfgs_with(const tern_optim_lbfgs_options *o)
{
    const int64_t evaluations = !o ? 0 : o->max_eval ? o->max_eval : o->max_iter * 5 / 4;
    tern_optim *optim = TERN_OPTIM_MAKE(
        lbfgs_class, o, [LR] = o->lr, [MAX_ITER] = (double)o->max_iter,
        [MAX_EVAL] = (double)evaluations, [TOLERANCE_GRAD] = o->tolerance_grad,
        [TOLERANCE_CHANGE] = o->tolerance_change, [HISTORY_SIZE] = (double)o->history_size,
        [STRONG_WOLFE] = (double)o->line_search_fn, [MAXIMIZE] = o->maximize);
    if (optim && !(optim->own = tern_mem_alloc(sizeof(tern_lbfgs)))) {
        tern_optim_free(optim);
        return NULL;
    }
    return optim;
}
