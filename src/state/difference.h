// SPDX-License-Identifier: Apache-2.0
// What keeps a state from being loaded: lists of names, and the sentence made of them.
#ifndef TERN_SRC_STATE_DIFFERENCE_H
#define TERN_SRC_STATE_DIFFERENCE_H

#include <stdarg.h>
#include "state/state.h"

typedef struct tern_name_list {
    char **at;
    int64_t count, capacity;
} tern_name_list;

typedef struct tern_load_lists {
    tern_name_list missing, unexpected, mismatched;
    tern_status code; // of the first that is mismatched
} tern_load_lists;

tern_status tern_name_list_add(tern_name_list *list, const char *name);
void tern_name_list_free(tern_name_list *list);
void tern_load_lists_free(tern_load_lists *lists);

// The name that an entry has for the object: without .prefix and .strip. NULL where it does not
// count.
const char *tern_load_name(const tern_state_load_options *options, const char *name);
// The entry of an object's name.
tern_state_entry *tern_load_find(const tern_state_load_options *options, const char *name);

// Raises one error that says it all; with `nothing` also that the two have no name in common.
tern_status tern_load_raise(const char *function, const tern_state_load_options *options,
                            const tern_load_lists *lists, bool nothing);

// Hands the lists to the report, which is not NULL; they are empty then.
tern_status tern_load_report_fill(tern_load_report *report, tern_load_lists *lists);

#endif
