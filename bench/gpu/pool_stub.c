// SPDX-License-Identifier: Apache-2.0
// Stubs of the calls of stream_ordered.c, with memory from the plugin of the simulated device.
// What CUDA's manual forbids ends the program: memory that is freed twice, or in a capture although
// it is not from there, or outside although it is; and what a graph allocates and does not free.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream_ordered.h"

enum { DEVICE = 0, MAX_ALLOCATIONS = 4096 };

typedef struct allocation {
    void *data, *block; // NULL: none
    int64_t nbytes;
    bool captured;
} allocation;

static allocation allocations[MAX_ALLOCATIONS];

static void must_be(bool right, const char *rule)
{
    if (right)
        return;
    fprintf(stderr, "broken: %s\n", rule);
    abort();
}

static allocation *find(const void *data)
{
    for (int i = 0; i < MAX_ALLOCATIONS; i++)
        if (allocations[i].data == data)
            return &allocations[i];
    return NULL;
}

cudaError_t cudaMallocAsync(void **data, size_t nbytes, cudaStream_t stream)
{
    (void)stream;
    allocation *made = find(NULL);
    must_be(made, "the stub can hold what is allocated");
    made->nbytes = (int64_t)nbytes;
    made->captured = real->cuda->capturing(DEVICE);
    made->data = real->device->alloc(DEVICE, made->nbytes, &made->block);
    *data = made->data;
    return made->data ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeAsync(void *data, cudaStream_t stream)
{
    (void)stream;
    allocation *freed = data ? find(data) : NULL;
    must_be(freed, "what is freed was allocated, and not freed before");
    must_be(freed->captured == real->cuda->capturing(DEVICE),
            "memory of a graph is freed in its capture, other memory is not");
    real->device->free(DEVICE, freed->data, freed->nbytes, freed->block);
    *freed = (allocation){0};
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = NULL;
    return device == DEVICE ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)pool;
    must_be(attribute == cudaMemPoolAttrReleaseThreshold && *(uint64_t *)value == UINT64_MAX,
            "the pool keeps everything");
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)pool;
    (void)attribute;
    *(uint64_t *)value = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    (void)device;
    (void)attribute;
    *(uint64_t *)value = 0;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

__attribute__((destructor)) static void expect_nothing_left(void)
{
    for (int i = 0; i < MAX_ALLOCATIONS; i++)
        must_be(!allocations[i].data, "everything was freed");
}
