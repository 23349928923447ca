// SPDX-License-Identifier: Apache-2.0
// Loading an optimizer's state from PyTorch's files: what is loaded, and single values of it.
#ifndef TERN_SRC_TRAIN_TORCH_OPTIM_VALUE_H
#define TERN_SRC_TRAIN_TORCH_OPTIM_VALUE_H

#include "optim/optim.h"
#include "state/state.h"

#define TERN_TORCH_NAME_SIZE (2 * TERN_STATE_NAME_SIZE)

typedef struct tern_torch_loading {
    const tern_optim *optim;
    const char *path, *prefix;
    bool numbers;
    tern_state *file; // what it holds, by PyTorch's names
    tern_state *own;  // what is made of it
    bool named;       // the file and the optimizer have names of parameters
    bool in_order;    // their ids are 0, 1, 2, ...
    int64_t *ids;     // of the file's parameters, by their index over all groups
    int *groups;      // theirs
    int64_t count;
    int64_t taken; // values of "state" so far
} tern_torch_loading;

extern const char tern_torch_load_op[];

// TERN_ERR_FORMAT, with what is wrong with the file.
tern_status tern_torch_wrong(const tern_torch_loading *l, const char *format, ...)
    TERN_PRINTF_(2, 3);
// A value of the file, below the prefix; NULL: there is none.
const tern_state_value *tern_torch_look(const tern_torch_loading *l, const char *format, ...)
    TERN_PRINTF_(2, 3);
// Sets a value of the own form, which is copied.
tern_status tern_torch_put(const tern_torch_loading *l, const char *parameter, const char *key,
                           const tern_state_value *value);
tern_status tern_torch_put_int(const tern_torch_loading *l, const char *parameter, const char *key,
                               int64_t value);
tern_status tern_torch_put_double(const tern_torch_loading *l, const char *parameter,
                                  const char *key, double value);
// A number, an integer, a bool or a tensor of one element.
bool tern_torch_to_double(const tern_state_value *value, double *number);

#endif
