// SPDX-License-Identifier: Apache-2.0
// What launchers ask of the host half: memory for one call, how many blocks are worth launching,
// whether the launch succeeded. For C and for .cu files.
#ifndef TERN_SRC_CUDA_HOST_LAUNCH_H
#define TERN_SRC_CUDA_HOST_LAUNCH_H

#include "device/kernels.h"

TERN_BEGIN_DECLS

// Memory of the device for the kernels of one call: 256-byte aligned, contents undefined. Free it
// as soon as its last user is queued.
typedef struct tern_cuda_scratch {
    void *data;
    int64_t nbytes;
    void *block;
} tern_cuda_scratch;

tern_status tern_cuda_scratch_take(const tern_exec *exec, int64_t nbytes,
                                   tern_cuda_scratch *scratch);
void tern_cuda_scratch_free(const tern_exec *exec, tern_cuda_scratch *scratch);

// Queues a copy of host memory, which may be reused at once. Not while the calling thread captures.
tern_status tern_cuda_upload(const tern_exec *exec, void *data, const void *host, int64_t nbytes);

// Raises the error of the launch that was just made, if it failed.
tern_status tern_cuda_launched(const char *op);

// Streaming multiprocessors of a device: how many blocks a grid-stride loop is worth.
int tern_cuda_multiprocessors(int index);
// The first number of a device's compute capability: 8 and above have tensor cores for TF32,
// float16 and bfloat16.
int tern_cuda_capability(int index);

TERN_END_DECLS

#endif
