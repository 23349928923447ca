// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_LOADER_COLLATE_H
#define TERN_SRC_DATA_LOADER_COLLATE_H

#include "data/loader/recipe.h"

// A batch of what the recipe's function makes of single samples; recording is off. Its tensors are
// temporaries of the innermost scope.
tern_status tern_batch_collate(const tern_batch_recipe *recipe, const tern_sample_context *context,
                               const int64_t *index, int64_t size, tern_batch *out);

#endif
