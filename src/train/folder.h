// SPDX-License-Identifier: Apache-2.0
// A folder of checkpoints: its files are named by their steps.
#ifndef TERN_SRC_TRAIN_FOLDER_H
#define TERN_SRC_TRAIN_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <tern/error.h>

#define TERN_BEST_NAME "best.safetensors"

// Bytes of "step-9223372036854775807.safetensors" and more.
#define TERN_STEP_NAME_SIZE 64

typedef struct tern_steps {
    int64_t *at; // the greatest first
    int64_t count, capacity;
} tern_steps;

// Makes the folder and those above it where they are not there; `real` is its absolute path.
tern_status tern_folder_make(const char *op, const char *folder, char real[PATH_MAX]);
// The path of a file in a folder that tern_folder_make made.
void tern_folder_path(const char *folder, const char *name, char path[PATH_MAX]);
// The name of a step's file.
void tern_folder_step_name(int64_t step, char name[TERN_STEP_NAME_SIZE]);
// The steps that there are files of. A zeroed list is filled, and freed by the next.
tern_status tern_folder_steps(const char *op, const char *folder, tern_steps *steps);
void tern_steps_free(tern_steps *steps);

// Gives the file of a step the name of the best one as well, over what has it. False where there
// are no links, or the file is gone.
bool tern_folder_link_best(const char *folder, const char *name);
// Removes the temporary files of checkpoints that nobody writes any more.
void tern_folder_sweep(const char *folder);

#endif
