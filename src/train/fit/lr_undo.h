// SPDX-License-Identifier: Apache-2.0
// All that training changes, kept so that it can be undone.
#ifndef TERN_SRC_TRAIN_FIT_LR_UNDO_H
#define TERN_SRC_TRAIN_FIT_LR_UNDO_H

#include <tern/fit.h>

typedef struct tern_lr_mode {
    tern_module *module; // retained
    bool training;
} tern_lr_mode;

typedef struct tern_lr_undo {
    const tern_lr_find_options *o;
    tern_state *state, *random; // copies
    bool has_stepped;           // the optimizer; no state has it
    tern_lr_mode *modes;
    int64_t mode_count, mode_capacity;
} tern_lr_undo;

// Keeps everything; what it has on failure tern_lr_undo_free frees.
tern_status tern_lr_undo_keep(tern_lr_undo *undo, const tern_lr_find_options *options);
// Brings it back, also while an error is pending, which stays.
tern_status tern_lr_undo_run(tern_lr_undo *undo);
void tern_lr_undo_free(tern_lr_undo *undo);

#endif
