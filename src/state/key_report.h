// SPDX-License-Identifier: Apache-2.0
// What keeps a state from being loaded: lists of names, and the sentence made of them.
#ifndef TERN_SRC_STATE_KEY_REPORT_H
#define TERN_SRC_STATE_KEY_REPORT_H

#include <stdarg.h>
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

// The options that a caller has, and a hint may name.
typedef enum tern_load_option {
    TERN_LOAD_STRIP = 1,
    TERN_LOAD_PREFIX = 2,
    TERN_LOAD_STRIP_COMPONENT = 4,
    TERN_LOAD_CONVERT = 8
} tern_load_option;
#define TERN_LOAD_NO_OPTIONS 0u
#define TERN_LOAD_NAMES      (TERN_LOAD_STRIP | TERN_LOAD_PREFIX | TERN_LOAD_STRIP_COMPONENT)
#define TERN_LOAD_ALL        (TERN_LOAD_NAMES | TERN_LOAD_CONVERT)

typedef struct tern_load_caller {
    const char *function;  // that errors begin with
    unsigned options;      // tern_load_option, or'd
    const char *call;      // that has them, where it is another one; else NULL
    void *without_numbers; // the object with .numbers = false, where that is an option; else NULL
} tern_load_caller;

// Whether a state loads with these options; changes nothing.
typedef tern_status tern_load_try(const tern_load_caller *caller,
                                  const tern_state_load_options *options, bool *loads);

tern_status tern_key_list_add(tern_key_list *list, const char *name);
void tern_key_list_free(tern_key_list *list);
void tern_load_lists_free(tern_load_lists *lists);

// The name that an entry has for the object: without .prefix and .strip. NULL where it does not
// count.
const char *tern_load_name(const tern_state_load_options *options, const char *name);
// The entry of an object's name.
tern_state_entry *tern_load_find(const tern_state_load_options *options, const char *name);

// Raises one error that says it all; with `nothing` also that the two have no name in common. An
// option is proposed where `attempt` says that with it the state loads.
tern_status tern_load_raise(const tern_load_caller *caller, const tern_state_load_options *options,
                            const tern_load_lists *lists, bool nothing, tern_load_try *attempt);

// Hands the lists to the report, which is not NULL; they are empty then.
tern_status tern_load_report_fill(tern_load_report *report, tern_load_lists *lists);

#endif
