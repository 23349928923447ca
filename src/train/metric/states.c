// SPDX-License-Identifier: Apache-2.0
// The states of metrics: adding, moving, resetting, merging and visiting them.
#include <string.h>
#include <tern/autograd.h>
#include <tern/ops.h>
#include "base/callback.h"
#include "base/mem.h"
#include "device/backend.h"
#include "device/capture.h"
#include "tensor/header.h"
#include "train/metric/metric.h"

// ---- adding and freeing -------------------------------------------------------------------------

static tern_status check_state(const char *op, const tern_metric *metric, const char *name,
                               tern_tensor *const *slot)
{
    TERN_TRY(tern_check_metric(op, metric));
    const tern_metric_private *inside = metric->private_;
    if (!name || !slot)
        return tern_null_error(op, name ? "slot" : "name");
    TERN_CHECK(inside->updates == 0, TERN_ERR_STATE,
               "%s: %s has been updated already; states are added before", op, inside->name);
    TERN_CHECK(strcmp(name, "kind") != 0 && strcmp(name, "updates") != 0, TERN_ERR_ARG,
               "%s: \"%s\" is a name of the library's own", op, name);
    for (int64_t i = 0; i < inside->state_count; i++)
        TERN_CHECK(strcmp(inside->states[i].name, name) != 0, TERN_ERR_ARG,
                   "%s: %s has a state \"%.64s\" already", op, inside->name, name);
    return TERN_OK;
}

static tern_status add(tern_metric *metric, const char *name, tern_metric_state state)
{
    tern_metric_private *inside = metric->private_;
    TERN_TRY(tern_mem_grow((void **)&inside->states, &inside->state_capacity,
                           inside->state_count + 1, sizeof *inside->states));
    state.name = tern_mem_string(name);
    if (!state.name)
        return TERN_ERR_NOMEM;
    inside->states[inside->state_count++] = state;
    return TERN_OK;
}

tern_status tern_metric_add_state(tern_metric *metric, const char *name, tern_tensor **slot,
                                  tern_shape shape, tern_dtype dtype)
{
    TERN_TRY(check_state("metric_add_state", metric, name, slot));
    tern_scope scope = tern_scope_open();
    tern_tensor *zeros =
        scope ? tern_zeros(shape, .dtype = dtype, .device = metric->private_->device) : NULL;
    const tern_status status =
        zeros ? add(metric, name, (tern_metric_state){.slot = slot}) : tern_error_code();
    if (!status)
        *slot = tern_tensor_retain(zeros);
    tern_scope_close(scope);
    return status;
}

tern_status tern_metric_add_kept(tern_metric *metric, const char *name, tern_tensor **slot,
                                 tern_shape row, tern_dtype dtype)
{
    TERN_TRY(check_state("metric_add_kept", metric, name, slot));
    return add(metric, name,
               (tern_metric_state){.slot = slot, .kept = true, .row = row, .dtype = dtype});
}

static void release(tern_tensor **slot)
{
    tern_tensor_release_as(*slot, TERN_STAMP_HOLDER);
    *slot = NULL;
}

void tern_metric_free_states(tern_metric *metric)
{
    tern_metric_private *inside = metric->private_;
    for (int64_t i = 0; i < inside->state_count; i++) {
        release(inside->states[i].slot);
        tern_mem_free_string(inside->states[i].name);
    }
    tern_mem_free(inside->states, (size_t)inside->state_capacity * sizeof *inside->states);
}

// ---- replacing all of them ----------------------------------------------------------------------

// The slots take what was made for them, or, after a failure, none does.
static tern_status take_next(tern_metric *metric, tern_status status)
{
    tern_metric_private *inside = metric->private_;
    for (int64_t i = 0; i < inside->state_count; i++) {
        tern_metric_state *state = &inside->states[i];
        if (state->next && !status) {
            release(state->slot);
            *state->slot = state->next;
        } else {
            tern_tensor_release(state->next);
        }
        state->next = NULL;
    }
    return status;
}

// Of no batch they are zeros, which need no copy.
static tern_tensor *moved(const tern_metric_private *inside, tern_tensor *state, tern_device device)
{
    return inside->updates
               ? tern_to(state, device)
               : tern_zeros(tern_shape_of(state), .dtype = tern_dtype_of(state), .device = device);
}

tern_status tern_metric_move_states(tern_metric *metric, tern_device device)
{
    tern_metric_private *inside = metric->private_;
    tern_status status = TERN_OK;
    for (int64_t i = 0; i < inside->state_count && !status; i++) {
        tern_metric_state *state = &inside->states[i];
        if (*state->slot)
            state->next = tern_tensor_retain(moved(inside, *state->slot, device));
        status = *state->slot && !state->next ? tern_error_code() : TERN_OK;
    }
    TERN_TRY(take_next(metric, status));
    inside->device = device;
    return TERN_OK;
}

tern_metric *tern_metric_to(tern_metric *metric, tern_device device)
{
    static const char op[] = "metric_to";
    if (tern_check_metric(op, metric) || tern_error_pending() ||
        tern_capture_refuse(op, "the states would move"))
        return NULL;
    tern_status status = tern_device_resolve(op, &device);
    if (status)
        return NULL;
    tern_scope scope = tern_scope_open();
    tern_no_grad
        status = scope ? tern_metric_move_states(metric, device) : TERN_ERR_NOMEM;
    tern_scope_close(scope);
    if (status)
        return NULL;
    metric->private_->placement = TERN_METRIC_PLACED;
    return metric;
}

// ---- resetting ----------------------------------------------------------------------------------

void tern_metric_reset(tern_metric *metric)
{
    if (tern_check_metric("metric_reset", metric))
        return;
    tern_metric_private *inside = metric->private_;
    for (int64_t i = 0; i < inside->state_count; i++) {
        tern_metric_state *state = &inside->states[i];
        if (state->kept)
            release(state->slot);
        else if (!tern_zero_(*state->slot))
            return;
        state->count = 0;
    }
    inside->updates = 0;
    if (inside->placement == TERN_METRIC_FOLLOWS)
        inside->placement = TERN_METRIC_UNPLACED;
    if (!metric->klass->reset)
        return;
    tern_callback_begin();
    metric->klass->reset(metric);
    tern_callback_end();
}

// ---- states of rows -----------------------------------------------------------------------------

static const tern_metric_state *find(const tern_metric *metric, tern_tensor *const *slot)
{
    const tern_metric_state *state = metric->private_->states;
    while (state->slot != slot)
        state++;
    return state;
}

static tern_tensor *rows_of(const tern_metric_state *state)
{
    return state->count ? tern_narrow(*state->slot, 0, 0, state->count) : NULL;
}

tern_tensor *tern_metric_kept(const tern_metric *metric, tern_tensor *const *slot)
{
    return rows_of(find(metric, slot));
}

// Twice the memory where it does not suffice, so that keeping costs as much as copying once.
static tern_status grow(tern_metric_state *state, tern_tensor *rows)
{
    const int64_t needed = state->count + tern_size(rows, 0);
    const int64_t capacity = *state->slot ? tern_size(*state->slot, 0) : 0;
    if (needed <= capacity)
        return TERN_OK;
    tern_shape shape = tern_shape_of(rows);
    shape.dim[0] = needed > 2 * capacity ? needed : 2 * capacity;
    tern_tensor *more =
        tern_empty(shape, .dtype = tern_dtype_of(rows), .device = tern_device_of(rows));
    if (!more ||
        (state->count && !tern_copy_(tern_narrow(more, 0, 0, state->count), rows_of(state))))
        return tern_error_code();
    release(state->slot);
    *state->slot = tern_tensor_retain(more);
    return TERN_OK;
}

static tern_status write_rows(const tern_metric_state *state, tern_tensor *rows)
{
    tern_tensor *to = tern_narrow(*state->slot, 0, state->count, tern_size(rows, 0));
    return to && tern_copy_(to, rows) ? TERN_OK : tern_error_code();
}

tern_status tern_metric_keep(tern_metric *metric, tern_tensor *const *rows)
{
    tern_metric_private *inside = metric->private_;
    if (tern_size(rows[0], 0) == 0)
        return TERN_OK;
    for (int64_t i = 0, k = 0; i < inside->state_count; i++)
        if (inside->states[i].kept) {
            TERN_TRY(grow(&inside->states[i], rows[k]));
            TERN_TRY(write_rows(&inside->states[i], rows[k++]));
        }
    for (int64_t i = 0, k = 0; i < inside->state_count; i++)
        if (inside->states[i].kept)
            inside->states[i].count += tern_size(rows[k++], 0);
    return TERN_OK;
}
