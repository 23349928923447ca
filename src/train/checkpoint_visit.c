// SPDX-License-Identifier: Apache-2.0
// What a checkpoint's file holds: facts about it, the parts, and the default generators at last.
#include "train/checkpoint.h"

static tern_status visit_version(tern_state_visitor *visitor)
{
    int64_t version = TERN_CHECKPOINT_VERSION, saved;
    const bool found = tern_visit_peek_int(visitor, "version", &saved);
    TERN_CHECK(
        !found || saved <= TERN_CHECKPOINT_VERSION, TERN_ERR_UNSUPPORTED,
        "checkpoint_resume: the newest checkpoint is of version %lld, and tern %s reads up to "
        "%d",
        (long long)saved, tern_version(), TERN_CHECKPOINT_VERSION);
    if (found && saved < 1)
        return tern_visit_refuse(visitor, "version", "is %lld, not 1 or more", (long long)saved);
    return tern_visit_int(visitor, "version", &version);
}

static tern_status visit_step(tern_state_visitor *visitor, int64_t *step)
{
    int64_t saved;
    if (tern_visit_peek_int(visitor, "step", &saved) && saved < 0)
        return tern_visit_refuse(visitor, "step", "is %lld, not 0 or more", (long long)saved);
    return tern_visit_int(visitor, "step", step);
}

static tern_status visit_facts(void *object, tern_state_visitor *visitor)
{
    tern_checkpoint_facts *facts = object;
    TERN_TRY(visit_version(visitor));
    TERN_TRY(visit_step(visitor, &facts->step));
    TERN_TRY(tern_visit_text(visitor, "tern", facts->tern, sizeof facts->tern));
    TERN_TRY(tern_visit_text(visitor, "saved", facts->saved, sizeof facts->saved));
    TERN_TRY(
        tern_visit_text(visitor, "metric_name", facts->metric_name, sizeof facts->metric_name));
    return tern_visit_double(visitor, "metric", &facts->metric);
}

tern_status tern_checkpoint_visit(void *object, tern_state_visitor *visitor)
{
    tern_checkpoint *checkpoint = object;
    TERN_TRY(tern_visit_part(visitor, "checkpoint", visit_facts, &checkpoint->facts));
    for (int64_t i = 0; i < checkpoint->part_count; i++) {
        tern_checkpoint_part *part = &checkpoint->parts[i];
        TERN_TRY(part->kind->visit(visitor, checkpoint->names->at[i].name, part));
    }
    return tern_visit_part(visitor, "generators", tern_visit_common_generators, NULL);
}
