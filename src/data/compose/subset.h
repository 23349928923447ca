// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_COMPOSE_SUBSET_H
#define TERN_SRC_DATA_COMPOSE_SUBSET_H

#include <tern/data.h>

// tern_data_subset of numbers that are in range.
tern_dataset *tern_subset_new(tern_dataset *inner, const int64_t *index, int64_t count);
// Other numbers for it, as many, which are in range too.
void tern_subset_renumber(tern_dataset *subset, const int64_t *index);

#endif
