// SPDX-License-Identifier: Apache-2.0
// Making and freeing checkpoints.
#include "train/checkpoint.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "device/capture.h"
#include "train/folder.h"

// ---- checks -------------------------------------------------------------------------------------

static tern_status check_not_freed(const char *function, const tern_checkpoint *checkpoint)
{
    TERN_CHECK(!checkpoint->freed, TERN_ERR_STATE, "%s: this checkpoint was freed already",
               function);
    TERN_CHECK(!checkpoint->busy, TERN_ERR_STATE,
               "%s: called by a visit function of this checkpoint; call it afterwards", function);
    return TERN_OK;
}

tern_status tern_check_checkpoint(const char *function, const tern_checkpoint *checkpoint)
{
    if (!checkpoint)
        return tern_null_error(function, "checkpoint");
    TERN_TRY(check_not_freed(function, checkpoint));
    return tern_fork_check();
}

tern_status tern_check_checkpoint_work(const char *function, const tern_checkpoint *checkpoint,
                                       const char *why)
{
    TERN_TRY(tern_check_checkpoint(function, checkpoint));
    TERN_CHECK(!tern_error_pending(), TERN_ERR_STATE,
               "%s: an error is pending; look at it and clear it before", function);
    return tern_capture_refuse(function, why);
}

// ---- making and freeing -------------------------------------------------------------------------

static tern_status check_options(const tern_checkpoint_new_options *o)
{
    static const char op[] = "checkpoint_new";
    if (!o || !o->folder)
        return tern_null_error(op, o ? "folder" : "options");
    TERN_CHECK(o->keep_last >= 0, TERN_ERR_ARG, "%s: keep_last is %lld, not 0 or more", op,
               (long long)o->keep_last);
    TERN_CHECK(o->mode == TERN_MODE_UNSPECIFIED || o->mode == TERN_MIN || o->mode == TERN_MAX,
               TERN_ERR_ARG, "%s: there is no mode %d", op, (int)o->mode);
    TERN_CHECK(!o->keep_best == (o->mode == TERN_MODE_UNSPECIFIED), TERN_ERR_ARG,
               "%s: keep_best and mode go together: .keep_best = \"accuracy\", .mode = TERN_MAX",
               op);
    TERN_CHECK(!o->keep_best || strlen(o->keep_best) < TERN_STATE_NAME_SIZE, TERN_ERR_ARG,
               "%s: keep_best has %zu bytes, more than %d", op, strlen(o->keep_best),
               TERN_STATE_NAME_SIZE - 1);
    return tern_fork_check();
}

static tern_status begin(tern_checkpoint *checkpoint, const tern_checkpoint_new_options *o)
{
    char folder[PATH_MAX];
    checkpoint->keep_last = o->keep_last;
    checkpoint->mode = o->mode;
    checkpoint->names = tern_state_new();
    if (checkpoint->names && o->keep_best)
        checkpoint->keep_best = tern_mem_string(o->keep_best);
    if (!checkpoint->names || (o->keep_best && !checkpoint->keep_best))
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_folder_make("checkpoint_new", o->folder, folder));
    checkpoint->folder = tern_mem_string(folder);
    return checkpoint->folder ? TERN_OK : TERN_ERR_NOMEM;
}

tern_checkpoint *tern_checkpoint_new_with(const tern_checkpoint_new_options *options)
{
    if (check_options(options))
        return NULL;
    tern_checkpoint *checkpoint = tern_mem_alloc(sizeof *checkpoint);
    if (!checkpoint)
        return NULL;
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = begin(checkpoint, options);
    tern_cancel_restore(cancel_state);
    errno = saved;
    if (!status)
        return checkpoint;
    tern_checkpoint_free(checkpoint);
    return NULL;
}

void tern_checkpoint_free(tern_checkpoint *checkpoint)
{
    if (!checkpoint || check_not_freed("checkpoint_free", checkpoint))
        return;
    checkpoint->freed = true;
    for (int64_t i = checkpoint->part_count - 1; i >= 0; i--)
        if (checkpoint->parts[i].kind->release)
            checkpoint->parts[i].kind->release(checkpoint->parts[i].object);
    tern_mem_free(checkpoint->parts, (size_t)checkpoint->part_capacity * sizeof *checkpoint->parts);
    tern_key_list_free(&checkpoint->passed_over);
    tern_state_free(checkpoint->names);
    tern_mem_free_string(checkpoint->keep_best);
    tern_mem_free_string(checkpoint->folder);
    tern_mem_free_deferred(checkpoint, sizeof *checkpoint, offsetof(tern_checkpoint, folder));
}
