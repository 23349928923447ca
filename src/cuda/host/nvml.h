// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's management library knows of a device without a context on it.
#ifndef TERN_SRC_CUDA_HOST_NVML_H
#define TERN_SRC_CUDA_HOST_NVML_H

#include <stdbool.h>
#include <stdint.h>

#define UUID_CAPACITY 48

// Writes "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"; `kind` is "GPU", or "MIG" for an instance of a
// device (Multi-Instance GPU).
void tern_cuda_write_uuid(char text[UUID_CAPACITY], const char *kind, const char uuid[16]);

// Free bytes of the device or MIG instance of this UUID; false where there is no NVML, or it does
// not know the UUID.
bool tern_cuda_nvml_free_memory(const char uuid[16], int64_t *nbytes);

#endif
