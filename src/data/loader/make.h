// SPDX-License-Identifier: Apache-2.0
// Making one batch, on the thread that asks the loader or on one of its workers.
#ifndef TERN_SRC_DATA_LOADER_MAKE_H
#define TERN_SRC_DATA_LOADER_MAKE_H

#include "data/loader/recipe.h"

// The batch of the samples `index[0]` ... `index[size - 1]`, which holds a reference to each of its
// tensors; what is made on the way dies. `*out` is zeroed on failure. Of a stream it has its next
// samples, fewer or none at its end: `out->size`.
tern_status tern_batch_make(const tern_batch_recipe *recipe, const tern_sample_context *context,
                            const int64_t *index, int64_t size, tern_batch *out);
// Lets go of its tensors and zeroes it.
void tern_batch_release(tern_batch *batch);

#endif
