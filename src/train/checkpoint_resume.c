// SPDX-License-Identifier: Apache-2.0
// Resuming: the newest file that can be read.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tern/io.h>
#include "base/cancel.h"
#include "train/checkpoint.h"
#include "train/folder.h"

static const char op[] = "checkpoint_resume";

#define MAX_TRIES 100

// The file itself is what is wrong.
static bool is_damage(tern_status code)
{
    return code == TERN_ERR_FORMAT || code == TERN_ERR_IO;
}

// The first failure, of the newest file, says how it ends when no file can be read.
typedef struct search {
    tern_checkpoint *checkpoint;
    bool vanished; // a file that was listed
    tern_status newest;
    tern_state *found;
    char name[TERN_STEP_NAME_SIZE]; // of that file
} search;

// Which file has the name: one without links where there is none.
static struct stat look_at(const char *path)
{
    struct stat facts = {0};
    if (lstat(path, &facts) != 0 && errno != ENOENT)
        facts.st_nlink = 1; // it cannot be looked at, before and after
    return facts;
}

// Another process that saves here has taken it away, and perhaps put another one there.
static bool is_gone(const char *path, const struct stat *before)
{
    const struct stat now = look_at(path);
    return now.st_nlink == 0 || now.st_ino != before->st_ino ||
           now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

// The file is the one found, or is noted as passed over; any other failure stays pending.
static tern_status examine(search *s, const char *name)
{
    char path[PATH_MAX], why[512];
    tern_folder_path(s->checkpoint->folder, name, path);
    const struct stat before = look_at(path);
    tern_error_delay();
    s->found = tern_state_read(path, .map_location = "cpu");
    tern_status status = s->found ? TERN_OK : tern_error_code();
    const bool damaged = is_damage(status);
    if (damaged)
        tern_error_take(why, sizeof why);
    tern_error_report();
    snprintf(s->name, sizeof s->name, "%s", name);
    if (!damaged)
        return status;
    if (is_gone(path, &before))
        return s->vanished = true, TERN_OK;
    s->newest = s->newest ? s->newest : status;
    tern_log_send(TERN_LOG_WARN, "%s: %s was passed over: %s", op, name, why);
    return tern_key_list_add(&s->checkpoint->passed_over, why);
}

static tern_status examine_best(search *s)
{
    char path[PATH_MAX];
    tern_folder_path(s->checkpoint->folder, TERN_BEST_NAME, path);
    return access(path, F_OK) == 0 ? examine(s, TERN_BEST_NAME) : TERN_OK;
}

static tern_status examine_all(search *s)
{
    tern_steps steps = {0};
    tern_status status = tern_folder_steps(op, s->checkpoint->folder, &steps);
    for (int64_t i = 0; !status && !s->found && i < steps.count; i++) {
        char name[TERN_STEP_NAME_SIZE];
        tern_folder_step_name(steps.at[i], name);
        status = examine(s, name);
    }
    tern_steps_free(&steps);
    if (!status && !s->found)
        status = examine_best(s);
    return status;
}

static tern_status load(const search *s)
{
    char function[sizeof op + sizeof s->name + 2];
    snprintf(function, sizeof function, "%s: %s", op, s->name);
    return tern_state_load_as(
        &(tern_load_caller){.function = function, .options = TERN_LOAD_NO_OPTIONS},
        &(tern_state_load_options){.strict = true,
                                   .state = s->found,
                                   .visit = tern_checkpoint_visit,
                                   .object = s->checkpoint});
}

// A process that was killed may have left the newest file without the name of the best one. A
// folder that refuses it ends nothing.
static tern_status keep_best(const search *s)
{
    tern_error_delay();
    if (strcmp(s->name, TERN_BEST_NAME) != 0 &&
        tern_checkpoint_keep_best(s->checkpoint, s->found, s->name) &&
        tern_error_code() != TERN_ERR_NOMEM) {
        tern_log_send(TERN_LOG_WARN, "%s: %s cannot be kept as the best one: %s", op, s->name,
                      tern_error_message());
        tern_error_clear();
    }
    tern_error_report();
    return tern_error_code();
}

static tern_status none_can_be_read(const search *s)
{
    const tern_key_list *list = &s->checkpoint->passed_over;
    return tern_error_raise(s->newest, "%s: none of %lld checkpoints can be read; the newest: %s",
                            op, (long long)list->count, list->at[0]);
}

static int resume(tern_checkpoint *checkpoint, int64_t *step)
{
    search s;
    tern_status status;
    int tries = 0;
    tern_folder_sweep(checkpoint->folder);
    do { // where a file is taken away there is a newer one
        s = (search){.checkpoint = checkpoint};
        tern_key_list_free(&checkpoint->passed_over);
        status = examine_all(&s);
    } while (!status && !s.found && s.vanished && ++tries < MAX_TRIES);
    if (!status && s.found)
        status = keep_best(&s) ? tern_error_code() : load(&s);
    else if (!status && s.newest)
        status = none_can_be_read(&s);
    if (!status && s.found)
        *step = checkpoint->facts.step;
    const int result = status ? -1 : s.found != NULL;
    tern_state_free(s.found);
    return result;
}

int tern_checkpoint_resume(tern_checkpoint *checkpoint, int64_t *step)
{
    if (tern_check_checkpoint(op, checkpoint))
        return -1;
    if (!step)
        return tern_null_error(op, "step"), -1;
    if (tern_check_checkpoint_work(op, checkpoint, "replays would not load"))
        return -1;
    const int saved = errno, cancel_state = tern_cancel_disable();
    checkpoint->busy = true;
    const int result = resume(checkpoint, step);
    checkpoint->busy = false;
    tern_cancel_restore(cancel_state);
    errno = saved;
    return result;
}

int64_t tern_checkpoint_passed_over(const tern_checkpoint *checkpoint)
{
    return tern_check_checkpoint("checkpoint_passed_over", checkpoint)
               ? -1
               : checkpoint->passed_over.count;
}

const char *tern_checkpoint_passed_over_at(const tern_checkpoint *checkpoint, int64_t index)
{
    static const char function[] = "checkpoint_passed_over_at";
    if (tern_check_checkpoint(function, checkpoint))
        return NULL;
    const tern_key_list *list = &checkpoint->passed_over;
    TERN_CHECK_PTR(index >= 0 && index < list->count, TERN_ERR_INDEX,
                   "%s: there is no file %lld of %lld that were passed over", function,
                   (long long)index, (long long)list->count);
    return list->at[index];
}
