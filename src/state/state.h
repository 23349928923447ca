// SPDX-License-Identifier: Apache-2.0
// What a state is inside the library: entries in order, and a hash table of their names.
#ifndef TERN_SRC_STATE_STATE_H
#define TERN_SRC_STATE_STATE_H

#include <stdatomic.h>
#include <tern/state.h>
#include "base/error.h"
#include "base/name_table.h"
#include "tensor/tensor.h"

typedef struct tern_state_value {
    tern_state_type type;
    union {
        tern_tensor *tensor; // held
        int64_t integer;
        double number;
        struct {
            char *data; // a final 0 follows
            size_t size;
        } bytes; // also a text
    };
} tern_state_value;

typedef struct tern_state_entry {
    char *name;
    tern_state_value value;
} tern_state_entry;

struct tern_state {
    bool freed;        // what comes after it is gone then
    _Atomic int loads; // in progress: nothing of it may change
    tern_state_entry *at;
    int64_t count, capacity;
    tern_name_table table; // of the entries
    tern_state *versions;  // of modules, as integers by "NAME.version", the whole's by "version"
};

// NULL follows the rule of pending errors; a freed one is refused, and a forked child may not use
// it.
tern_status tern_check_state(const char *function, const tern_state *state);
// Likewise for calls that change it: not while it is loaded.
tern_status tern_check_state_change(const char *function, const tern_state *state);
// The entry of a name; NULL when there is none.
tern_state_entry *tern_state_find(const tern_state *state, const char *name);
// Takes over what `value` holds, also on failure.
tern_status tern_state_put(const char *function, tern_state *state, const char *name,
                           tern_state_value value);
void tern_state_value_free(tern_state_value *value);

// The version of the module of a name, "" for the whole: what PyTorch's files call `_metadata`.
tern_status tern_state_set_version(tern_state *state, const char *module, int64_t version);

// A value that was copied: bytes and texts are new, a tensor is held.
tern_status tern_state_value_copy(tern_state_value *to, const tern_state_value *from);
// "a tensor", "an integer", ...
const char *tern_state_type_name(tern_state_type type);
// False for what is no number; an integer is one where it is exact.
bool tern_state_value_double(const tern_state_value *value, double *number);

// A contiguous copy on `device`, of `dtype`, without history, a temporary. Does not wait for
// `device`.
tern_tensor *tern_state_tensor_copy(const tern_tensor *t, tern_device device, tern_dtype dtype);
tern_status tern_state_wait(tern_device device);

#endif
