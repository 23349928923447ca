// SPDX-License-Identifier: Apache-2.0
// Metrics as parts of states and checkpoints.
#include <tern/ops.h>
#include "state/visitor.h"
#include "tensor/header.h"
#include "tensor/shape.h"
#include "train/metric/metric.h"

// ---- states of rows -----------------------------------------------------------------------------

static bool rows_fit(const tern_metric_state *state, const tern_tensor *saved)
{
    tern_shape row = tern_shape_get(saved);
    if (row.rank == 0 || saved->dtype != state->dtype)
        return false;
    for (int i = 1; i < row.rank; i++)
        row.dim[i - 1] = row.dim[i];
    row.rank--;
    return tern_shape_equal(row, state->row);
}

// The rows of all such states are of the same samples.
static bool count_fits(const tern_metric *metric, const tern_state_visitor *visitor, int64_t count)
{
    const tern_metric_private *inside = metric->private_;
    for (int64_t i = 0; i < inside->state_count; i++) {
        if (!inside->states[i].kept)
            continue;
        const tern_tensor *saved = tern_visit_peek_tensor(visitor, inside->states[i].name);
        if (!saved || saved->rank == 0 || saved->size[0] != count)
            return false;
    }
    return true;
}

// It may have any number of rows, so that a tensor is made for what is loaded.
static tern_status load_rows(const tern_metric *metric, tern_metric_state *state,
                             tern_state_visitor *visitor)
{
    const tern_tensor *saved = tern_visit_peek_tensor(visitor, state->name);
    tern_tensor *loaded = NULL, *like = NULL;
    const bool fits =
        !saved || (rows_fit(state, saved) && count_fits(metric, visitor, saved->size[0]));
    if (!fits && !tern_visit_is_taking(visitor))
        return tern_visit_refuse(visitor, state->name, "is %s, which is not of the metric's rows",
                                 tern_tensor_string(saved));
    like = tern_empty(saved ? tern_shape_get(saved) : tern_dims(0), .dtype = state->dtype,
                      .device = metric->private_->device);
    if (!like)
        return tern_error_code();
    TERN_TRY(tern_visit_optional_retained(visitor, state->name, &loaded, like));
    if (!tern_visit_is_taking(visitor))
        return TERN_OK;
    tern_tensor_release_as(*state->slot, TERN_STAMP_HOLDER);
    *state->slot = loaded;
    state->count = loaded ? loaded->size[0] : 0;
    return TERN_OK;
}

static tern_status save_rows(const tern_metric *metric, const tern_metric_state *state,
                             tern_state_visitor *visitor)
{
    tern_tensor *rows = tern_metric_kept(metric, state->slot);
    TERN_TRY(tern_error_code());
    return rows ? tern_visit_tensor(visitor, state->name, &rows) : TERN_OK;
}

// ---- the metric ---------------------------------------------------------------------------------

static tern_status visit_state(const tern_metric *metric, tern_metric_state *state,
                               tern_state_visitor *visitor)
{
    if (!state->kept)
        return tern_visit_tensor(visitor, state->name, state->slot);
    return tern_visit_is_loading(visitor) ? load_rows(metric, state, visitor)
                                          : save_rows(metric, state, visitor);
}

static tern_status visit_updates(tern_metric_private *inside, tern_state_visitor *visitor)
{
    int64_t saved;
    if (tern_visit_peek_int(visitor, "updates", &saved) && saved < 0)
        return tern_visit_refuse(visitor, "updates", "is %lld, not 0 or more", (long long)saved);
    return tern_visit_int(visitor, "updates", &inside->updates);
}

// What was loaded goes where the next update is, whatever was updated before.
static tern_status visit(void *object, tern_state_visitor *visitor)
{
    tern_metric *metric = object;
    tern_metric_private *inside = metric->private_;
    char kind[TERN_METRIC_DESCRIPTION_SIZE];
    tern_metric_describe(metric, kind);
    TERN_TRY(tern_visit_kind(visitor, "kind", kind));
    TERN_TRY(visit_updates(inside, visitor));
    for (int64_t i = 0; i < inside->state_count; i++)
        TERN_TRY(visit_state(metric, &inside->states[i], visitor));
    if (metric->klass->visit)
        TERN_TRY(metric->klass->visit(metric, visitor));
    if (tern_visit_is_taking(visitor) && inside->placement == TERN_METRIC_FOLLOWS)
        inside->placement = TERN_METRIC_UNPLACED;
    return TERN_OK;
}

tern_status tern_visit_metric(tern_state_visitor *visitor, const char *name, tern_metric *metric)
{
    TERN_TRY(tern_check_metric("visit_metric", metric));
    return tern_visit_part(visitor, name, visit, metric);
}
