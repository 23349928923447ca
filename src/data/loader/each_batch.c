// SPDX-License-Identifier: Apache-2.0
// tern_each_batch: a loop with an epoch of its own; one that it finds in progress is set aside.
#include "base/mem.h"
#include "data/dataset.h"
#include "data/loader/loader.h"

// Puts the epoch in progress aside, its batch with it.
static tern_status suspend(tern_loader *loader)
{
    tern_loader *outer = tern_mem_alloc(sizeof *outer);
    if (!outer)
        return TERN_ERR_NOMEM;
    *outer = *loader;
    loader->outer = outer;
    loader->depth++;
    loader->scope = 0;
    loader->batch = (tern_batch){0};
    loader->order = loader->sizes = NULL;
    loader->capacity = loader->sizes_capacity = 0;
    loader->workers = NULL;
    loader->running = false;
    return TERN_OK;
}

tern_epoch_guard_ tern_epoch_guard_open_(tern_loader *loader)
{
    tern_epoch_guard_ guard = {0};
    if (tern_check_loader_change("each_batch", loader))
        return guard;
    guard.outer = loader->depth;
    if (!loader->running)
        tern_loader_end_batch(loader);
    if (loader->running && !loader->resumed && tern_loader_streams(loader)) {
        (void)tern_error_raise(
            TERN_ERR_STATE,
            "each_batch: %s is a stream, and a loop over it is in progress: end it "
            "or reset the loader first",
            tern_dataset_name(loader->dataset));
        return guard;
    }
    const bool resumes = loader->running && loader->resumed;
    loader->resumed = false;
    if (!tern_loader_may_go_on(loader) || (loader->running && !resumes && suspend(loader)))
        return guard;
    if (!resumes && tern_loader_begin(loader)) {
        tern_loader_go_back(loader, guard.outer);
        return guard;
    }
    guard.own = loader->depth;
    guard.loader = loader;
    guard.open = true;
    return guard;
}

// Begins no epoch: a loop inside may have been left by longjmp, and the epoch may have been reset,
// or run to its end by tern_loader_next.
bool tern_epoch_guard_next_(tern_epoch_guard_ *guard, tern_batch *batch)
{
    tern_loader *loader = guard->loader;
    *batch = (tern_batch){0};
    if (tern_check_loader_change("each_batch", loader))
        return false;
    tern_loader_go_back(loader, guard->own);
    tern_loader_end_batch(loader);
    return tern_loader_may_go_on(loader) && loader->running && tern_loader_hand_out(loader, batch);
}

void tern_epoch_guard_close_(tern_epoch_guard_ *guard)
{
    tern_loader *loader = guard->loader;
    if (!loader || !loader->dataset) // did not open, or was freed in the loop
        return;
    tern_loader_go_back(loader, guard->own);
    tern_loader_end_batch(loader);
    tern_loader_leave(loader);
    tern_loader_go_back(loader, guard->outer);
}
