// SPDX-License-Identifier: Apache-2.0
// The path of the module that runs, per thread.
#ifndef TERN_SRC_BASE_PATH_H
#define TERN_SRC_BASE_PATH_H

#include <stddef.h>

// One module on the way from the root to the one that runs. Lives on the stack of the call that
// pushes it.
typedef struct tern_path_entry {
    const char *name;       // among its parent's children; NULL or "" for the root
    const char *class_name; // for example "Linear"
    struct tern_path_entry *parent;
} tern_path_entry;

// Makes `entry` (name and class_name filled in) the innermost module of this thread; the strings
// are borrowed until the pop. Errors raised in between end with " [in 0.fc1 (Linear)]".
void tern_path_push(tern_path_entry *entry);
void tern_path_pop(void);

// Writes "0.fc1 (Linear)" into `buffer`, "" outside every module; the root alone is shown as its
// class. What does not fit loses its beginning, the outer modules.
void tern_path_format(char *buffer, size_t size);

#endif
