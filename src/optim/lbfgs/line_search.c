// SPDX-License-Identifier: Apache-2.0
#include "optim/lbfgs/line_search.h"

#include <math.h>
#include "base/error.h"
#include "tensor/header.h"

#define SUFFICIENT_DECREASE 1e-4
#define CURVATURE           0.9

typedef struct search {
    const tern_line *line;
    const tern_line_point *start;
    tern_line_point end[2]; // of the bracket
    int low;                // the end with the smaller loss
    int64_t count;          // evaluations after the first
    bool found;             // end[low] meets both conditions
} search;

void tern_line_point_set(tern_line_point *point, const tern_line_point *value)
{
    tern_tensor *before = point->gradient;
    *point = *value;
    tern_tensor_retain(point->gradient);
    tern_tensor_release(before);
}

void tern_line_point_release(tern_line_point *point)
{
    tern_tensor_release(point->gradient);
    point->gradient = NULL;
}

static bool decreases_enough(const search *s, const tern_line_point *at)
{
    return at->loss <= s->start->loss + SUFFICIENT_DECREASE * at->t * s->start->slope;
}

static bool is_flat(const search *s, const tern_line_point *at)
{
    return fabs(at->slope) <= -CURVATURE * s->start->slope;
}

// The minimum of the cubic through two points with their slopes (Nocedal and Wright 2006, 3.59),
// within the bounds; their middle where it has none.
static double cubic_minimum(const tern_line_point *a, const tern_line_point *b, double lowest,
                            double highest)
{
    const double d1 = a->slope + b->slope - 3 * (a->loss - b->loss) / (a->t - b->t);
    const double square = d1 * d1 - a->slope * b->slope;
    const tern_line_point *left = a->t <= b->t ? a : b, *right = left == a ? b : a;
    const double d2 = sqrt(square);
    const double t = right->t - (right->t - left->t) * ((right->slope + d2 - d1) /
                                                        (right->slope - left->slope + 2 * d2));
    return isfinite(t) ? fmin(fmax(t, lowest), highest) : (lowest + highest) / 2;
}

static double left_of(const search *s)
{
    return fmin(s->end[0].t, s->end[1].t);
}

static double right_of(const search *s)
{
    return fmax(s->end[0].t, s->end[1].t);
}

static void set_low(search *s)
{
    s->low = s->end[0].loss <= s->end[1].loss ? 0 : 1;
}

static void set_bracket(search *s, const tern_line_point *first, const tern_line_point *second)
{
    tern_line_point_set(&s->end[0], first);
    tern_line_point_set(&s->end[1], second);
    set_low(s);
}

static tern_status evaluate(const search *s, double t, tern_line_point *point)
{
    tern_line_point at = {0};
    TERN_TRY(s->line->evaluate(s->line->user, t, &at));
    tern_line_point_release(point);
    *point = at;
    return TERN_OK;
}

// ---- bracketing ---------------------------------------------------------------------------------

// Whether the bracket, or the point that is looked for, is there.
static bool ends_at(search *s, const tern_line_point *before, const tern_line_point *at)
{
    if (!decreases_enough(s, at) || (s->count > 1 && at->loss >= before->loss)) {
        set_bracket(s, before, at);
        return true;
    }
    s->found = is_flat(s, at);
    if (s->found || at->slope >= 0)
        set_bracket(s, before, at);
    if (s->found)
        s->low = 1;
    return s->found || at->slope >= 0;
}

static tern_status extend(search *s, tern_line_point *before, tern_line_point *at)
{
    while (s->count < s->line->max_evaluations) {
        if (ends_at(s, before, at))
            return TERN_OK;
        const double t = cubic_minimum(before, at, at->t + 0.01 * (at->t - before->t), at->t * 10);
        tern_line_point_set(before, at);
        TERN_TRY(evaluate(s, t, at));
        s->count++;
    }
    set_bracket(s, s->start, at);
    return TERN_OK;
}

static tern_status bracket(search *s, double t)
{
    tern_line_point before = {0}, at = {0};
    tern_line_point_set(&before, s->start);
    tern_status status = evaluate(s, t, &at);
    if (!status)
        status = extend(s, &before, &at);
    tern_line_point_release(&before);
    tern_line_point_release(&at);
    return status;
}

// ---- dividing the bracket -----------------------------------------------------------------------

// The next step length: the cubic's, but a tenth away from an end that it comes close to twice.
static double next_step(const search *s, bool *is_close)
{
    const double left = left_of(s), right = right_of(s), margin = 0.1 * (right - left);
    double t = cubic_minimum(&s->end[0], &s->end[1], left, right);
    if (fmin(right - t, t - left) >= margin) {
        *is_close = false;
        return t;
    }
    const bool moves = *is_close || t >= right || t <= left;
    if (moves)
        t = fabs(t - right) < fabs(t - left) ? right - margin : left + margin;
    *is_close = !moves;
    return t;
}

static void narrow(search *s, const tern_line_point *at)
{
    tern_line_point *low = &s->end[s->low], *high = &s->end[1 - s->low];
    if (!decreases_enough(s, at) || at->loss >= low->loss) {
        tern_line_point_set(high, at);
        set_low(s);
        return;
    }
    s->found = is_flat(s, at);
    if (!s->found && at->slope * (high->t - low->t) >= 0)
        tern_line_point_set(high, low);
    tern_line_point_set(low, at);
}

static tern_status zoom(search *s)
{
    tern_line_point at = {0};
    tern_status status = TERN_OK;
    bool is_close = false;
    while (!status && !s->found && s->count < s->line->max_evaluations &&
           (right_of(s) - left_of(s)) * s->line->length >= s->line->tolerance_change) {
        status = evaluate(s, next_step(s, &is_close), &at);
        s->count++;
        if (!status)
            narrow(s, &at);
    }
    tern_line_point_release(&at);
    return status;
}

tern_status tern_strong_wolfe(const tern_line *line, const tern_line_point *start, double t,
                              tern_line_point *found, int64_t *evaluations)
{
    search s = {.line = line, .start = start};
    tern_status status = bracket(&s, t);
    if (!status)
        status = zoom(&s);
    *found = (tern_line_point){0};
    if (!status)
        tern_line_point_set(found, &s.end[s.low]);
    *evaluations = s.count + 1;
    tern_line_point_release(&s.end[0]);
    tern_line_point_release(&s.end[1]);
    return status;
}
