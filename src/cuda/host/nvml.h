// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's management library knows of a device without a context on it.
#ifndef TERN_SRC_CUDA_HOST_NVML_H
#define TERN_SRC_CUDA_HOST_NVML_H

#include <stdbool.h>
#include <stdint.h>

#define UUID_TEXT 48

// "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"; the kind of a part of a device is "MIG".
void tern_cuda_write_uuid(char text[UUID_TEXT], const char *kind, const char uuid[16]);

// Free bytes of the device, or of the part of one (MIG), that has this UUID; false where NVML is
// not there or does not know it.
bool tern_cuda_nvml_free(const char uuid[16], int64_t *nbytes);

#endif
