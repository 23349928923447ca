// SPDX-License-Identifier: Apache-2.0
// Saving: the new file, then the name of the best one, then older ones go.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tern/io.h>
#include "base/cancel.h"
#include "base/text.h"
#include "train/checkpoint.h"
#include "train/folder.h"

static const char op[] = "checkpoint_save";

// ---- what is saved ------------------------------------------------------------------------------

static void record_facts(tern_checkpoint *checkpoint, const tern_checkpoint_save_options *options)
{
    tern_checkpoint_facts *facts = &checkpoint->facts;
    const time_t now = time(NULL);
    struct tm utc;
    facts->step = options->step;
    facts->metric = options->metric;
    snprintf(facts->metric_name, sizeof facts->metric_name, "%s",
             checkpoint->keep_best ? checkpoint->keep_best : "");
    snprintf(facts->tern, sizeof facts->tern, "%s", tern_version());
    facts->saved[0] = 0;
    if (gmtime_r(&now, &utc))
        strftime(facts->saved, sizeof facts->saved, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static tern_status check(const tern_checkpoint_save_options *options)
{
    const tern_checkpoint *checkpoint = options->checkpoint;
    TERN_TRY(tern_check_checkpoint_work(op, checkpoint, "replays would not save"));
    TERN_CHECK(options->step >= 0, TERN_ERR_ARG, "%s: step is %lld, not 0 or more", op,
               (long long)options->step);
    for (int64_t i = 0; i < checkpoint->part_count; i++)
        if (checkpoint->parts[i].kind->check)
            TERN_TRY(checkpoint->parts[i].kind->check(op, &checkpoint->parts[i]));
    return TERN_OK;
}

// ---- the best one -------------------------------------------------------------------------------

// NaN where it is another metric's.
static double metric_of(const tern_checkpoint *checkpoint, const tern_state *state)
{
    double metric = NAN;
    const tern_state_entry *name = tern_state_find(state, "checkpoint.metric_name");
    const tern_state_entry *value = tern_state_find(state, "checkpoint.metric");
    if (name && name->value.type == TERN_STATE_TEXT && value &&
        strcmp(name->value.bytes.data, checkpoint->keep_best) == 0)
        (void)tern_state_value_double(&value->value, &metric);
    return metric;
}

// The metric of the best file so far, NaN when there is none, or a damaged one.
static tern_status read_best(const tern_checkpoint *checkpoint, const char *path, double *metric)
{
    *metric = NAN;
    if (access(path, F_OK) != 0)
        return TERN_OK;
    tern_error_delay();
    tern_state *best = tern_state_read(path, .only = "checkpoint.*");
    if (best)
        *metric = metric_of(checkpoint, best);
    tern_state_free(best);
    if (tern_error_code() == TERN_ERR_FORMAT) {
        tern_log_send(TERN_LOG_WARN,
                      "%s: the best checkpoint cannot be read, the next one takes "
                      "its place: %s",
                      op, tern_error_message());
        tern_error_clear();
    }
    tern_error_report();
    return tern_error_code();
}

static bool is_better(const tern_checkpoint *checkpoint, double metric, double best)
{
    if (isnan(metric) || isnan(best))
        return !isnan(metric);
    return checkpoint->mode == TERN_MAX ? metric > best : metric < best;
}

// Where there are no links, or another process has taken the file away, it is written again.
tern_status tern_checkpoint_keep_best(const tern_checkpoint *checkpoint, const tern_state *state,
                                      const char *name)
{
    char best[PATH_MAX];
    const double metric = checkpoint->keep_best ? metric_of(checkpoint, state) : NAN;
    double best_metric;
    tern_folder_path(checkpoint->folder, TERN_BEST_NAME, best);
    if (isnan(metric))
        return TERN_OK;
    TERN_TRY(read_best(checkpoint, best, &best_metric));
    if (!is_better(checkpoint, metric, best_metric))
        return TERN_OK;
    return tern_folder_link_best(checkpoint->folder, name) ? TERN_OK
                                                           : tern_state_write(state, best);
}

// ---- older ones ---------------------------------------------------------------------------------

// One that another process has taken away already is fine.
static tern_status prune(const tern_checkpoint *checkpoint, const tern_steps *steps)
{
    int64_t kept = 1;
    for (int64_t i = 0; i < steps->count; i++) {
        char name[TERN_STEP_NAME_SIZE], path[PATH_MAX];
        if (steps->at[i] == checkpoint->facts.step || kept++ < checkpoint->keep_last)
            continue;
        tern_folder_step_name(steps->at[i], name);
        tern_folder_path(checkpoint->folder, name, path);
        TERN_CHECK(unlink(path) == 0 || errno == ENOENT, TERN_ERR_IO, "%s: cannot remove %s: %s",
                   op, path, tern_text_reason(errno));
    }
    return TERN_OK;
}

static tern_status keep_last(const tern_checkpoint *checkpoint)
{
    tern_steps steps = {0};
    if (checkpoint->keep_last == 0)
        return TERN_OK;
    tern_status status = tern_folder_steps(op, checkpoint->folder, &steps);
    if (!status)
        status = prune(checkpoint, &steps);
    tern_steps_free(&steps);
    return status;
}

// ---- saving -------------------------------------------------------------------------------------

static tern_status write_all(const tern_checkpoint *checkpoint, const tern_state *state)
{
    char name[TERN_STEP_NAME_SIZE], path[PATH_MAX];
    tern_folder_step_name(checkpoint->facts.step, name);
    tern_folder_path(checkpoint->folder, name, path);
    tern_folder_sweep(checkpoint->folder);
    TERN_TRY(tern_state_write(state, path));
    TERN_TRY(tern_checkpoint_keep_best(checkpoint, state, name));
    return keep_last(checkpoint);
}

static tern_status save(tern_checkpoint *checkpoint)
{
    checkpoint->busy = true;
    tern_state *state = tern_state_of_as(op, tern_checkpoint_visit, checkpoint);
    tern_status status = state ? write_all(checkpoint, state) : tern_error_code();
    tern_state_free(state);
    checkpoint->busy = false;
    return status;
}

tern_status tern_checkpoint_save_with(const tern_checkpoint_save_options *options)
{
    if (!options)
        return tern_null_error(op, "options");
    TERN_TRY(check(options));
    record_facts(options->checkpoint, options);
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = save(options->checkpoint);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return status;
}
