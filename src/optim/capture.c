// SPDX-License-Identifier: Apache-2.0
// A step in a captured graph: the update reads its numbers from a plan on the device, which is
// written anew, with the learning rate and the step counts of the moment, before each replay.
#include "base/mem.h"
#include "optim/optim.h"
#include "tensor/backend.h"
#include "tensor/capture.h"

// An entry as the graph knows it.
typedef struct captured_entry {
    bool active;
    const void *param, *grad;
} captured_entry;

typedef struct captured_step {
    tern_optim *optim; // held
    tern_optim_home home;
    int64_t count;
    captured_entry *entries;
} captured_step;

static captured_entry entry_now(const tern_optim_entry *entry, bool active)
{
    const tern_tensor *grad = entry->param->grad;
    return (captured_entry){
        .active = active,
        .param = tern_view_of(entry->param).data,
        .grad = active && grad ? tern_view_of(grad).data : NULL,
    };
}

static tern_status check_unmoved(const captured_step *step)
{
    const tern_optim *optim = step->optim;
    TERN_CHECK(optim->entry_count == step->count, TERN_ERR_STATE,
               "cuda_graph_replay: parameters were added to the optimizer since the capture; "
               "capture the step again");
    for (int64_t i = 0; i < step->count; i++) {
        const captured_entry *then = &step->entries[i];
        captured_entry now = entry_now(&optim->entries[i], then->active);
        TERN_CHECK(now.param == then->param && now.grad == then->grad, TERN_ERR_STATE,
                   "cuda_graph_replay: %s or its gradient moved since the capture; capture the "
                   "step again",
                   optim->entries[i].name);
    }
    return TERN_OK;
}

static tern_status before_replay(void *user)
{
    captured_step *step = user;
    TERN_TRY(tern_check_optim("cuda_graph_replay", step->optim));
    TERN_TRY(tern_optim_poll(&step->home, 1));
    TERN_TRY(check_unmoved(step));
    for (int64_t i = 0; i < step->count; i++)
        step->optim->entries[i].active = step->entries[i].active;
    return tern_optim_launch(step->optim, TERN_OPTIM_REPLAY, &step->home, 1);
}

static void drop_step(void *user)
{
    captured_step *step = user;
    tern_drop(step->home.plan);
    tern_optim_free(step->optim);
    tern_mem_free(step->entries, (size_t)(step->count ? step->count : 1) * sizeof *step->entries);
    tern_mem_free(step, sizeof *step);
}

static captured_step *make_step(tern_optim *optim)
{
    captured_step *step = tern_mem_alloc(sizeof *step);
    if (!step)
        return NULL;
    step->count = optim->entry_count;
    step->entries = tern_mem_alloc((size_t)(step->count ? step->count : 1) * sizeof *step->entries);
    if (!step->entries) {
        tern_mem_free(step, sizeof *step);
        return NULL;
    }
    for (int64_t i = 0; i < step->count; i++)
        step->entries[i] = entry_now(&optim->entries[i], optim->entries[i].active);
    step->optim = tern_optim_retain(optim);
    step->home = optim->homes[0];
    tern_hold(step->home.plan);
    return step;
}

tern_status tern_optim_capture(tern_optim *optim)
{
    captured_step *step = make_step(optim);
    if (!step)
        return TERN_ERR_NOMEM;
    tern_status status = tern_capture_hook((tern_replay_hook){before_replay, drop_step, step});
    if (status)
        drop_step(step);
    return status;
}
