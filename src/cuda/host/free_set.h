// SPDX-License-Identifier: Apache-2.0
// Free blocks in the order of size, then address.
#ifndef TERN_SRC_CUDA_HOST_FREE_SET_H
#define TERN_SRC_CUDA_HOST_FREE_SET_H

#include "cuda/host/pool.h"

void tern_cuda_free_set_add(tern_cuda_free_set *set, tern_cuda_block *block);
void tern_cuda_free_set_remove(tern_cuda_free_set *set, tern_cuda_block *block);
// The smallest of at least nbytes, the lowest of equals; NULL without any. It stays in the set.
tern_cuda_block *tern_cuda_free_set_fit(const tern_cuda_free_set *set, int64_t nbytes);

#endif
