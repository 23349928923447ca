// SPDX-License-Identifier: Apache-2.0
// Lines that are no scalars.
#ifndef TERN_SRC_TRAIN_RUN_BLOCK_H
#define TERN_SRC_TRAIN_RUN_BLOCK_H

#include "train/run/member.h"
#include "train/run/run.h"

// What a line of a kind adds: TERN_ERR_FORMAT, not raised, where it is damaged.
tern_status tern_run_take_histogram(tern_run *run, const tern_run_record *record);
tern_status tern_run_take_image(tern_run *run, const tern_run_record *record);
tern_status tern_run_take_text(tern_run *run, const tern_run_record *record);
tern_status tern_run_take_matrix(tern_run *run, const tern_run_record *record);
tern_status tern_run_take_pr_curve(tern_run *run, const tern_run_record *record);

#endif
