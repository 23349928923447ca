// SPDX-License-Identifier: Apache-2.0
// A metric of another replica added to one's own.
#include <string.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/callback.h"
#include "device/capture.h"
#include "train/metric/metric.h"

#define MERGE "metric_merge"

static tern_status check(const tern_metric *metric, const tern_metric *other)
{
    char own[TERN_METRIC_DESCRIPTION_SIZE], theirs[TERN_METRIC_DESCRIPTION_SIZE];
    TERN_TRY(tern_check_metric(MERGE, metric));
    if (!other)
        return tern_null_error(MERGE, "other");
    TERN_TRY(tern_check_metric(MERGE, other));
    TERN_CHECK(metric != other, TERN_ERR_ARG, MERGE ": other is the metric itself (%s)",
               metric->private_->name);
    tern_metric_describe(metric, own);
    tern_metric_describe(other, theirs);
    TERN_CHECK(metric->klass == other->klass && strcmp(own, theirs) == 0 &&
                   metric->private_->state_count == other->private_->state_count,
               TERN_ERR_ARG, MERGE ": the metric is %s, but other is %s", own, theirs);
    TERN_TRY(tern_capture_refuse(MERGE, "replays would merge again"));
    return tern_error_code();
}

// What a state becomes, or the rows that are appended to one.
static tern_tensor *merged(const tern_metric_private *inside, const tern_metric_state *state,
                           const tern_metric_state *other)
{
    if (!state->kept)
        return tern_add(*state->slot, tern_to(*other->slot, inside->device));
    return other->count ? tern_to(tern_narrow(*other->slot, 0, 0, other->count), inside->device)
                        : NULL;
}

// All that can fail comes before the first state is changed.
static tern_status add_states(tern_metric *metric, const tern_metric *other)
{
    const tern_metric_private *inside = metric->private_;
    tern_tensor *rows[TERN_METRIC_KEPT] = {NULL};
    int64_t kept = 0;
    for (int64_t i = 0; i < inside->state_count; i++) {
        tern_metric_state *state = &inside->states[i];
        state->next = merged(inside, state, &other->private_->states[i]);
        TERN_TRY(tern_error_code());
        if (state->kept)
            rows[kept++] = state->next;
    }
    if (kept && rows[0])
        TERN_TRY(tern_metric_keep(metric, rows));
    for (int64_t i = 0; i < inside->state_count; i++)
        if (!inside->states[i].kept && !tern_copy_(*inside->states[i].slot, inside->states[i].next))
            return tern_error_code();
    return TERN_OK;
}

static tern_status call_merge(tern_metric *metric, const tern_metric *other)
{
    tern_callback_begin();
    const tern_status status = metric->klass->merge(metric, other);
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, MERGE ": %s failed and did not say why",
                                metric->private_->name);
    return tern_error_code();
}

static tern_status merge(tern_metric *metric, const tern_metric *other)
{
    tern_metric_private *inside = metric->private_;
    if (other->private_->updates == 0)
        return TERN_OK;
    if (inside->placement == TERN_METRIC_UNPLACED)
        TERN_TRY(tern_metric_move_states(metric, other->private_->device));
    TERN_TRY((metric->klass->merge ? call_merge : add_states)(metric, other));
    inside->updates += other->private_->updates;
    return TERN_OK;
}

static void forget_next(const tern_metric *metric)
{
    for (int64_t i = 0; i < metric->private_->state_count; i++)
        metric->private_->states[i].next = NULL; // temporaries
}

tern_status tern_metric_merge(tern_metric *metric, const tern_metric *other)
{
    tern_status status = TERN_ERR_NOMEM;
    TERN_TRY(check(metric, other));
    tern_scope scope = tern_scope_open();
    tern_no_grad
        if (scope)
            status = merge(metric, other);
    forget_next(metric);
    tern_scope_close(scope);
    return status;
}
