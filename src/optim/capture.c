// SPDX-License-Identifier: Apache-2.0
// A step in a captured graph: the update reads its numbers from a plan on the device, which is
// written anew, with the learning rate and the step counts of the moment, before each replay.
#include <string.h>
#include "base/mem.h"
#include "device/backend.h"
#include "optim/optim.h"
#include "tensor/capture.h"
#include "tensor/header.h"

// An entry as the graph knows it, and as it was before the replay in progress.
typedef struct captured_entry {
    bool active;
    unsigned states; // that its kernel is given, one bit each
    int64_t step;
    unsigned fresh;
    float scalar[TERN_OPTIM_SCALARS];
    tern_optim_made made;                 // held
    tern_tensor *state[TERN_STEP_STATES]; // that operations of a direction read; held
} captured_entry;

// A group as it was at the capture, and before the replay in progress.
typedef struct captured_group {
    tern_optim_group then, before;
} captured_group;

typedef struct captured_step {
    tern_optim *optim; // held
    tern_optim_device on;
    int64_t count;
    captured_entry *entries;
    int64_t group_count;
    captured_group *groups;
} captured_step;

static captured_entry entry_now(const tern_optim *optim, const tern_optim_entry *entry)
{
    return (captured_entry){.active = entry->active,
                            .states = tern_optim_update_of(optim, entry).slots,
                            .step = entry->step,
                            .fresh = entry->fresh,
                            .scalar = {entry->scalar[0], entry->scalar[1]}};
}

// Operations of a direction were captured with the numbers and the state of then.
static tern_status check_direction(const captured_step *step, int64_t index)
{
    const tern_optim *optim = step->optim;
    const tern_optim_entry *entry = &optim->entries[index];
    const tern_optim_direction *how = tern_optim_direction_of(optim, entry);
    for (int i = 0; how && i < optim->klass->slot_count; i++)
        TERN_CHECK(entry->state[i] == step->entries[index].state[i], TERN_ERR_STATE,
                   "cuda_graph_replay: the %s of %s was replaced since the capture; capture the "
                   "step again",
                   optim->klass->slots[i].name, entry->name);
    const double *then = step->groups[entry->group].then.number;
    const double *now = optim->groups[entry->group].number;
    for (int i = 0; how && i < optim->klass->number_count; i++)
        TERN_CHECK(!(how->numbers & 1u << i) || then[i] == now[i], TERN_ERR_STATE,
                   "cuda_graph_replay: %s of the optimizer is %g, but was %g at the capture; "
                   "capture the step again",
                   optim->klass->numbers[i].name, now[i], then[i]);
    return TERN_OK;
}

static tern_status check_states(const tern_optim *optim, const tern_optim_entry *entry,
                                unsigned states)
{
    for (int i = 0; i < optim->klass->slot_count; i++)
        TERN_CHECK(!(states & 1u << i) || entry->state[i], TERN_ERR_STATE,
                   "cuda_graph_replay: the %s of %s, which was there at the capture, is not; run a "
                   "step before the replay",
                   optim->klass->slots[i].name, entry->name);
    return TERN_OK;
}

// Which kernel runs is captured; what it reads from the plan is not.
static tern_status check_structure(const captured_step *step)
{
    const tern_optim *optim = step->optim;
    TERN_CHECK(optim->entry_count == step->count, TERN_ERR_STATE,
               "cuda_graph_replay: parameters were added to the optimizer since the capture; "
               "capture the step again");
    TERN_CHECK(optim->group_count == step->group_count, TERN_ERR_STATE,
               "cuda_graph_replay: groups were made of the optimizer's parameters since the "
               "capture; capture the step again");
    for (int64_t i = 0; i < step->count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        const unsigned then = step->entries[i].states, states = entry_now(optim, entry).states;
        TERN_CHECK(
            !step->entries[i].active || states == then, TERN_ERR_STATE,
            "cuda_graph_replay: the update of %s %s %s; capture the step again", entry->name,
            states & ~then ? "needs, as it did not at the capture, a"
                           : "no longer needs, as it did at the capture, a",
            optim->klass->slots[__builtin_ctz(states & ~then ? states & ~then : then & ~states)]
                .name);
        if (step->entries[i].active)
            TERN_TRY(check_states(optim, entry, then));
        if (step->entries[i].active)
            TERN_TRY(check_direction(step, i));
    }
    return TERN_OK;
}

static tern_status check_replay(void *user)
{
    const captured_step *step = user;
    TERN_TRY(tern_check_optim("cuda_graph_replay", step->optim));
    TERN_TRY(tern_optim_check_training("cuda_graph_replay", step->optim));
    TERN_TRY(tern_optim_poll(&step->on, 1));
    return check_structure(step);
}

static tern_status before_replay(void *user)
{
    captured_step *step = user;
    for (int64_t i = 0; i < step->count; i++) {
        tern_optim_entry *entry = &step->optim->entries[i];
        entry->active = step->entries[i].active;
        step->entries[i].step = entry->step;
        step->entries[i].fresh = entry->fresh;
        memcpy(step->entries[i].scalar, entry->scalar, sizeof entry->scalar);
        entry->made = step->entries[i].made;
    }
    for (int64_t i = 0; i < step->group_count; i++)
        step->groups[i].before = step->optim->groups[i];
    return tern_optim_launch(step->optim, TERN_OPTIM_REPLAY, &step->on, 1);
}

static void end_replay(void *user, bool replayed)
{
    captured_step *step = user;
    for (int64_t i = 0; i < step->count; i++) {
        tern_optim_entry *entry = &step->optim->entries[i];
        entry->active = false;
        entry->made = (tern_optim_made){{NULL}, {NULL}, NULL};
        if (replayed && step->entries[i].active)
            tern_tensor_touched(entry->param);
        if (replayed)
            continue;
        entry->step = step->entries[i].step;
        entry->fresh = step->entries[i].fresh;
        memcpy(entry->scalar, step->entries[i].scalar, sizeof entry->scalar);
    }
    for (int64_t i = 0; !replayed && i < step->group_count; i++)
        step->optim->groups[i] = step->groups[i].before;
}

static void free_step(captured_step *step)
{
    tern_mem_free(step->entries, (size_t)step->count * sizeof *step->entries);
    tern_mem_free(step->groups, (size_t)step->group_count * sizeof *step->groups);
    tern_mem_free(step, sizeof *step);
}

static void release_entry(captured_entry *entry)
{
    tern_optim_release_made(&entry->made);
    for (int i = 0; i < TERN_STEP_STATES; i++)
        tern_tensor_release(entry->state[i]);
}

static void drop_step(void *user)
{
    captured_step *step = user;
    tern_storage_release(step->on.plan);
    tern_optim_free(step->optim);
    for (int64_t i = 0; i < step->count; i++)
        release_entry(&step->entries[i]);
    free_step(step);
}

static captured_step *make_step(tern_optim *optim)
{
    captured_step *step = tern_mem_alloc(sizeof *step);
    if (!step)
        return NULL;
    step->count = optim->entry_count;
    step->group_count = optim->group_count;
    step->entries = tern_mem_alloc((size_t)step->count * sizeof *step->entries);
    step->groups = tern_mem_alloc((size_t)step->group_count * sizeof *step->groups);
    if (!step->entries || !step->groups) {
        free_step(step);
        return NULL;
    }
    for (int64_t i = 0; i < step->count; i++)
        step->entries[i] = entry_now(optim, &optim->entries[i]);
    for (int64_t i = 0; i < step->group_count; i++)
        step->groups[i].then = optim->groups[i];
    step->optim = tern_optim_retain(optim);
    step->on.device = optim->devices[0].device;
    return step;
}

static tern_status add_step(captured_step *step)
{
    TERN_TRY(tern_optim_make_plan(step->optim, &step->on));
    return tern_capture_hook(
        (tern_replay_hook){check_replay, before_replay, end_replay, drop_step, step});
}

// What its replays need.
static void hold_entry(captured_entry *captured, tern_optim_entry *entry)
{
    captured->made = entry->made;
    entry->made = (tern_optim_made){{NULL}, {NULL}, NULL};
    for (int i = 0; i < TERN_STEP_STATES; i++)
        captured->state[i] = tern_tensor_retain(entry->state[i]);
}

// Each captured step has a plan of its own: all of a graph's are written before it is launched.
tern_status tern_optim_capture(tern_optim *optim)
{
    captured_step *step = make_step(optim);
    if (!step)
        return TERN_ERR_NOMEM;
    tern_status status = add_step(step);
    if (status) {
        drop_step(step);
        return status;
    }
    status = tern_optim_launch(optim, TERN_OPTIM_CAPTURE, &step->on, 1);
    for (int64_t i = 0; i < step->count; i++)
        hold_entry(&step->entries[i], &optim->entries[i]);
    if (status)
        tern_capture_now()->failed = true; // the graph would count a step that is not in it
    return status;
}
