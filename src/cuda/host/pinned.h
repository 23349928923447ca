// SPDX-License-Identifier: Apache-2.0
// The CUDA table's functions for page-locked host memory.
#ifndef TERN_SRC_CUDA_HOST_PINNED_H
#define TERN_SRC_CUDA_HOST_PINNED_H

#include <stdint.h>
#include <tern/error.h>

// Frees what is cached.
void tern_cuda_pinned_trim(void);

void *tern_plugin_pinned_alloc(int64_t nbytes, void **block);
void tern_plugin_pinned_free(void *data, int64_t nbytes, void *block);
tern_status tern_plugin_pinned_to_device(int index, void *data, const void *host, int64_t nbytes,
                                         void *block);
tern_status tern_plugin_pinned_to_host(int index, void *host, const void *data, int64_t nbytes,
                                       void *block);

#endif
