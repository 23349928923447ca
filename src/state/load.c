// SPDX-License-Identifier: Apache-2.0
// Saving what a visit says, and loading in two runs of it: one that checks, one that takes. What
// devices do comes between the two, so that a failure there leaves the object as it was.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/callback.h"
#include "base/mem.h"
#include "device/capture.h"
#include "state/visitor.h"
#include "tensor/header.h"

static tern_status check_visit(const char *function, tern_visit_fn *visit)
{
    return visit ? TERN_OK : tern_null_error(function, "visit");
}

// Visits of the thread that save or load something themselves, inside each other at most.
#define MAX_VISITS 64
static _Thread_local int visits;

// One run. A temporary that a visit makes dies with the caller's scope.
static tern_status run(const char *function, tern_visit_fn *visit, void *object,
                       tern_state_visitor *visitor)
{
    TERN_CHECK(visits < MAX_VISITS, TERN_ERR_STATE,
               "%s: called by visits inside each other, %d deep; a visit that saves or loads its "
               "own object has no end",
               function, MAX_VISITS);
    visits++;
    tern_callback_begin();
    tern_status status = visit(object, visitor);
    tern_callback_end();
    visits--;
    if (status && !tern_error_pending())
        return tern_error_raise(status, "%s: the visit failed and did not say why", function);
    return status;
}

// ---- saving -------------------------------------------------------------------------------------

tern_state *tern_state_of_as(const char *function, tern_visit_fn *visit, void *object)
{
    tern_scope scope = check_visit(function, visit) ? 0 : tern_scope_open();
    tern_state *state = scope ? tern_state_new() : NULL;
    tern_status status = TERN_ERR_NOMEM;
    if (state)
        status = run(function, visit, object,
                     &(tern_state_visitor){.mode = TERN_VISIT_SAVE, .into = state});
    if (scope)
        tern_scope_close(scope);
    if (!status)
        return state;
    tern_state_free(state);
    return NULL;
}

tern_state *tern_state_of(tern_visit_fn *visit, void *object)
{
    return tern_state_of_as("state_of", visit, object);
}

// ---- loading ------------------------------------------------------------------------------------

static tern_status begin_loading(tern_loading *loading)
{
    const tern_state_load_options *options = loading->options;
    const tern_state *state = options->state;
    TERN_TRY(tern_key_map_make(&loading->keys, loading->function, options, state));
    TERN_TRY(tern_key_map_make(&loading->versions, loading->function, options, state->versions));
    if (state->count == 0)
        return TERN_OK;
    loading->marks = tern_mem_alloc((size_t)state->count * sizeof *loading->marks);
    return loading->marks ? TERN_OK : TERN_ERR_NOMEM;
}

static void end_loading(tern_loading *loading)
{
    tern_key_map_free(&loading->keys);
    tern_key_map_free(&loading->versions);
    for (int64_t i = 0; i < loading->count; i++) {
        tern_tensor_release(loading->items[i].to);
        tern_tensor_release(loading->items[i].staged);
        tern_tensor_release(loading->items[i].before);
    }
    tern_mem_free(loading->draws, (size_t)loading->draw_capacity * sizeof *loading->draws);
    tern_mem_free(loading->items, (size_t)loading->capacity * sizeof *loading->items);
    tern_mem_free(loading->marks, (size_t)loading->options->state->count * sizeof *loading->marks);
    tern_load_lists_free(&loading->lists);
}

static tern_status list_unexpected(tern_loading *loading)
{
    for (int64_t i = 0; i < loading->keys.count; i++) {
        const char *name = loading->keys.keys[i].name;
        if (name && loading->marks[i] == TERN_LOAD_UNVISITED)
            TERN_TRY(tern_key_list_add(&loading->lists.unexpected, name));
    }
    return TERN_OK;
}

// Names on both sides and none in common: a prefix, or the state of something else. That is no
// load, strict or not.
static bool nothing_fits(const tern_loading *loading)
{
    for (int64_t i = 0; i < loading->options->state->count; i++)
        if (loading->marks[i] != TERN_LOAD_UNVISITED)
            return false;
    return loading->lists.missing.count > 0 && loading->lists.unexpected.count > 0;
}

// Lists what does not fit.
static tern_status compare(tern_loading *loading)
{
    const tern_state_load_options *options = loading->options;
    tern_state_visitor visitor = {.mode = TERN_VISIT_CHECK, .loading = loading};
    TERN_TRY(begin_loading(loading));
    TERN_TRY(run(loading->function, options->visit, options->object, &visitor));
    return list_unexpected(loading);
}

static bool fits(const tern_loading *loading)
{
    const tern_load_lists *lists = &loading->lists;
    const bool names_differ = lists->missing.count + lists->unexpected.count > 0;
    return lists->mismatched.count == 0 && !nothing_fits(loading) &&
           !(loading->options->strict && names_differ);
}

// A proposal: what it raises is nobody's error.
static tern_status attempt(const tern_load_caller *caller, const tern_state_load_options *options,
                           bool *loads)
{
    tern_loading loading = {.function = caller->function, .options = options};
    tern_error_delay();
    tern_status status = compare(&loading);
    *loads = !status && fits(&loading);
    end_loading(&loading);
    if (status && status != TERN_ERR_NOMEM) {
        tern_error_clear();
        status = TERN_OK;
    }
    tern_error_report();
    return status;
}

static tern_status check(const tern_load_caller *caller, tern_loading *loading)
{
    TERN_TRY(compare(loading));
    if (!fits(loading))
        return tern_load_raise(caller, &loading->keys, &loading->lists, nothing_fits(loading),
                               attempt);
    return tern_visit_stage(loading);
}

static tern_status take(const char *function, tern_loading *loading)
{
    tern_state_visitor visitor = {.mode = TERN_VISIT_TAKE, .loading = loading};
    return run(function, loading->options->visit, loading->options->object, &visitor);
}

static tern_status load(const tern_load_caller *caller, const tern_state_load_options *options)
{
    tern_loading loading = {.function = caller->function, .options = options};
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_status status = check(caller, &loading);
    tern_status reported =
        options->report ? tern_load_report_fill(options->report, &loading.lists) : TERN_OK;
    status = status ? status : reported;
    if (!status)
        status = tern_visit_write(&loading);
    if (!status)
        status = take(caller->function, &loading);
    end_loading(&loading);
    tern_scope_close(scope);
    return status;
}

static tern_status check_component(const char *function, const char *component)
{
    TERN_CHECK(
        !component || (*component && !strchr(component, '.')), TERN_ERR_ARG,
        "%s: .strip_component is \"%.64s\"; a component of a name has no dot and is not empty",
        function, component);
    return TERN_OK;
}

tern_status tern_state_load_as(const tern_load_caller *caller,
                               const tern_state_load_options *options)
{
    const char *function = caller->function;
    if (options->report)
        *options->report = (tern_load_report){0};
    TERN_TRY(tern_check_state(function, options->state));
    TERN_TRY(check_visit(function, options->visit));
    TERN_TRY(check_component(function, options->strip_component));
    TERN_TRY(tern_capture_refuse(function, "replays would not load"));
    tern_state *state = (tern_state *)(uintptr_t)options->state; // several may load it at once
    atomic_fetch_add(&state->loads, 1);
    tern_status status = load(caller, options);
    atomic_fetch_sub(&state->loads, 1);
    return status;
}

tern_status tern_state_load_with(const tern_state_load_options *options)
{
    if (!options)
        return tern_null_error("state_load", "options");
    return tern_state_load_as(
        &(tern_load_caller){.function = "state_load", .options = TERN_LOAD_ALL}, options);
}
