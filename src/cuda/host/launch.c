// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/launch.h"

#include "cuda/host/allocator.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"

tern_status tern_cuda_scratch_take(const tern_exec *exec, int64_t nbytes,
                                   tern_cuda_scratch *scratch)
{
    scratch->data = tern_plugin_alloc(exec->device.index, nbytes, &scratch->block);
    scratch->nbytes = nbytes;
    return scratch->data ? TERN_OK : TERN_ERR_NOMEM;
}

void tern_cuda_scratch_free(const tern_exec *exec, tern_cuda_scratch *scratch)
{
    tern_plugin_free(exec->device.index, scratch->data, scratch->nbytes, scratch->block);
    *scratch = (tern_cuda_scratch){0};
}

tern_status tern_cuda_launched(const char *op)
{
    return tern_cuda_check(op, cudaGetLastError());
}

int tern_cuda_multiprocessors(int index)
{
    return tern_cuda_device_of(index)->multiprocessors;
}

int tern_cuda_capability(int index)
{
    return tern_cuda_device_of(index)->capability;
}
