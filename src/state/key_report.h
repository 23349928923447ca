// SPDX-License-Identifier: Apache-2.0
// What keeps a state from being loaded: lists of names that differ and of values that do not fit.
#ifndef TERN_SRC_STATE_KEY_REPORT_H
#define TERN_SRC_STATE_KEY_REPORT_H

#include "state/state.h"

typedef struct tern_key_list {
    char **at;
    int64_t count, capacity;
} tern_key_list;

typedef struct tern_load_lists {
    tern_key_list missing, unexpected, mismatched;
    tern_status code; // of the first that is mismatched
    int64_t kind; // its place + 1 that says that the state is of another kind of object; 0: none
} tern_load_lists;

tern_status tern_key_list_add(tern_key_list *list, const char *name);
void tern_key_list_free(tern_key_list *list);
void tern_load_lists_free(tern_load_lists *lists);

// Hands the lists to the report, which is not NULL; they are empty then.
tern_status tern_load_report_fill(tern_load_report *report, tern_load_lists *lists);

#endif
