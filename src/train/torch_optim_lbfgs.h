// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_TRAIN_TORCH_OPTIM_LBFGS_H
#define TERN_SRC_TRAIN_TORCH_OPTIM_LBFGS_H

#include "train/torch_optim_value.h"

// LBFGS's, which the first parameter has for all: `id` is the file's, `name` the own form's.
tern_status tern_torch_load_lbfgs(tern_torch_loading *l, const char *name, int64_t id);
// Whether LBFGS's state has such a value.
bool tern_torch_is_lbfgs_key(const char *key);

#endif
