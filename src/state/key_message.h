// SPDX-License-Identifier: Apache-2.0
// The one message that says what keeps a state from being loaded, and what was probably meant.
#ifndef TERN_SRC_STATE_KEY_MESSAGE_H
#define TERN_SRC_STATE_KEY_MESSAGE_H

#include "state/key_map.h"
#include "state/key_report.h"

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

// Raises one error that says it all; with `nothing` also that the two have no name in common. An
// option is proposed where `attempt` says that with it the state loads.
tern_status tern_load_raise(const tern_load_caller *caller, const tern_key_map *keys,
                            const tern_load_lists *lists, bool nothing, tern_load_try *attempt);

#endif
