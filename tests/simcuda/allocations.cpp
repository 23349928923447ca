// SPDX-License-Identifier: Apache-2.0
// Device memory and pinned host memory: the calls.
#include <cstdlib>

#include "capture.h"
#include "device.h"
#include "memory.h"

namespace sim
{

static size_t in_granules(size_t nbytes)
{
    return (nbytes + granule - 1) & ~(granule - 1);
}

static cudaError_t allocate(void **pointer, size_t nbytes)
{
    Device &device = device_at(current_device());
    size_t taken = in_granules(nbytes);
    if (taken < nbytes || taken > device.total - device.used || device.used > device.total)
        return cudaErrorMemoryAllocation;
    const Block *block = new_block(current_device(), nbytes, false);
    if (!block)
        return cudaErrorMemoryAllocation;
    device.used += taken;
    counts().mallocs++;
    counts().live_blocks++;
    counts().live_bytes += (int64_t)nbytes;
    *pointer = (void *)block->begin;
    return cudaSuccess;
}

// The block that begins there, which must be live.
static const Block *block_to_free(const char *call, const void *pointer, bool pinned)
{
    const Block *block = block_at(pointer);
    if (!block || block->pinned != pinned || block->begin != (uintptr_t)pointer)
        broken_rule("%s: %p was not allocated by %s", call, pointer,
                    pinned ? "cudaHostAlloc" : "cudaMalloc");
    if (block->freed)
        broken_rule("%s: %p is freed twice", call, pointer);
    return block;
}

static void record_wait_to_free(int device)
{
    counts().free_waits++;
    record_wait(TERN_SIM_HOST_ON_FREE, -1, nullptr, device, nullptr);
}

} // namespace sim

using namespace sim;

cudaError_t cudaMalloc(void **pointer, size_t nbytes)
{
    Call call(TERN_SIM_MALLOC, current_device());
    *pointer = nullptr;
    TERN_SIM_TRY(call.error);
    TERN_SIM_TRY(refuse_unsafe());
    if (!nbytes)
        return cudaSuccess;
    return remember(allocate(pointer, nbytes));
}

// It "may" wait for the device, says CUDA's manual. So it counts as a wait, and work that is still
// to be done finds the memory gone.
cudaError_t cudaFree(void *pointer)
{
    Call call;
    if (call.error && !call.failure)
        return call.error;
    if (!pointer)
        return call.error;
    TERN_SIM_TRY(refuse_unsafe());
    const Block *block = block_to_free("cudaFree", pointer, false);
    record_wait_to_free(block->device);
    device_at(block->device).used -= in_granules(block->nbytes);
    counts().frees++;
    counts().live_blocks--;
    counts().live_bytes -= (int64_t)block->nbytes;
    free_block(block);
    return remember(call.error ? call.error : fault_of(block->device));
}

cudaError_t cudaHostAlloc(void **pointer, size_t nbytes, unsigned int)
{
    Call call(TERN_SIM_HOST_ALLOC, current_device());
    *pointer = nullptr;
    TERN_SIM_TRY(call.error);
    TERN_SIM_TRY(refuse_unsafe());
    if (!nbytes)
        return cudaSuccess;
    const Block *block = new_block(current_device(), nbytes, true);
    if (!block)
        return remember(cudaErrorMemoryAllocation);
    counts().host_allocs++;
    *pointer = (void *)block->begin;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t nbytes)
{
    return cudaHostAlloc(pointer, nbytes, cudaHostAllocDefault);
}

// It may wait for every device: each may be copying from there or to it.
cudaError_t cudaFreeHost(void *pointer)
{
    Call call;
    if (call.error && !call.failure)
        return call.error;
    if (!pointer)
        return call.error;
    TERN_SIM_TRY(refuse_unsafe());
    const Block *block = block_to_free("cudaFreeHost", pointer, true);
    for (int device = 0; device < device_count(); device++)
        record_wait_to_free(device);
    counts().host_frees++;
    free_block(block);
    return call.error;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    const Device &device = device_at(current_device());
    *total = device.total;
    *available = device.used < device.total ? device.total - device.used : 0;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    Call call;
    TERN_SIM_TRY(call.error);
    const Block *block = block_at(pointer);
    *attributes = {};
    attributes->device = -2; // as CUDA says for what it does not know
    if (!block || block->freed) {
        attributes->hostPointer = const_cast<void *>(pointer);
        return cudaSuccess;
    }
    attributes->type = block->pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->device = block->device;
    attributes->devicePointer = const_cast<void *>(pointer);
    attributes->hostPointer = block->pinned ? const_cast<void *>(pointer) : nullptr;
    return cudaSuccess;
}

__attribute__((destructor)) static void report_leaks()
{
    if (!settings().leaks || !counts().live_blocks)
        return;
    say("%ld blocks of device memory (%lld bytes) were never freed", counts().live_blocks,
        (long long)counts().live_bytes);
    _Exit(1);
}
