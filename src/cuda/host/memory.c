// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/caching_allocator.h"
#include "cuda/host/block_pool.h"
#include "cuda/host/table.h"

// ---- NVML ---------------------------------------------------------------------------------------

// NVML comes with the driver and is opened at run time. CUDA and NVML number devices differently:
// a UUID names the same one to both.

// As nvml.h declares them; 0 is success.
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;
typedef struct nvml_device nvml_device;
typedef int plain_fn(void);
typedef int find_fn(const char *uuid, nvml_device **device);
typedef int memory_fn(nvml_device *device, nvml_memory *memory);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
    plain_fn *init, *shutdown;
    find_fn *find;
    memory_fn *memory;
} nvml;

static bool find_symbol(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol;
}

static void load(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    const bool found = library && find_symbol(library, "nvmlShutdown", &nvml.shutdown) &&
                       find_symbol(library, "nvmlDeviceGetHandleByUUID", &nvml.find) &&
                       find_symbol(library, "nvmlDeviceGetMemoryInfo", &nvml.memory) &&
                       find_symbol(library, "nvmlInit_v2", &nvml.init);
    if (!found)
        nvml.init = NULL;
    if (!found && library)
        dlclose(library);
}

static bool nvml_query(const char *kind, const char uuid[16], int64_t *nbytes)
{
    char text[UUID_CAPACITY];
    nvml_device *device = NULL;
    nvml_memory memory;
    tern_cuda_write_uuid(text, kind, uuid);
    if (nvml.find(text, &device) || nvml.memory(device, &memory))
        return false;
    *nbytes = (int64_t)memory.free;
    return true;
}

// Free bytes of the device or MIG instance of this UUID; false where there is no NVML, or it does
// not know the UUID.
static bool nvml_free_memory(const char uuid[16], int64_t *nbytes)
{
    pthread_once(&once, load);
    if (!nvml.init || nvml.init())
        return false;
    const bool known = nvml_query("GPU", uuid, nbytes) || nvml_query("MIG", uuid, nbytes);
    nvml.shutdown();
    return known;
}

// ---- statistics ---------------------------------------------------------------------------------

#define BIGGEST       3
#define TEXT_CAPACITY 24

void tern_plugin_reset_peak(int index)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    pthread_mutex_lock(&device->lock);
    device->allocator.allocated_peak = device->allocator.allocated;
    device->allocator.reserved_peak = device->allocator.reserved;
    pthread_mutex_unlock(&device->lock);
}

static tern_cuda_memory statistics(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    const tern_cuda_allocator *allocator = &device->allocator;
    tern_cuda_memory memory = {
        .allocated = allocator->allocated,
        .allocated_peak = allocator->allocated_peak,
        .reserved = allocator->reserved,
        .reserved_peak = allocator->reserved_peak,
        .device_allocs = allocator->device_allocs,
    };
    pthread_mutex_unlock(&device->lock);
    return memory;
}

static cudaError_t query_memory(int index, tern_cuda_memory *memory)
{
    size_t available = 0, total = 0;
    cudaError_t error = tern_cuda_set_current_device(index);
    if (error == cudaSuccess)
        error = cudaMemGetInfo(&available, &total);
    memory->free = (int64_t)available;
    memory->total = (int64_t)total;
    return error;
}

tern_status tern_plugin_memory(int index, tern_cuda_memory *out)
{
    tern_cuda_memory memory = statistics(tern_cuda_device_get(index));
    TERN_TRY(tern_cuda_check("cuda_get_memory", query_memory(index, &memory)));
    *out = memory;
    return TERN_OK;
}

// By NVML, because CUDA would create a context for it; where there is no NVML, CUDA does.
tern_status tern_plugin_memory_unopened(int index, tern_cuda_memory *out)
{
    struct cudaDeviceProp properties;
    TERN_TRY(tern_cuda_check("cuda_get_memory", cudaGetDeviceProperties(&properties, index)));
    tern_cuda_memory memory = {.total = (int64_t)properties.totalGlobalMem};
    if (!nvml_free_memory(properties.uuid.bytes, &memory.free))
        TERN_TRY(tern_cuda_check("cuda_get_memory", query_memory(index, &memory)));
    *out = memory;
    return TERN_OK;
}

// Keeps the `capacity` biggest in descending order; returns the new count.
static int insert(int64_t *nbytes, int count, int capacity, int64_t value)
{
    int position = count;
    while (position > 0 && nbytes[position - 1] < value)
        position--;
    if (position == capacity)
        return count;
    int last = count < capacity ? count : capacity - 1;
    for (int i = last; i > position; i--)
        nbytes[i] = nbytes[i - 1];
    nbytes[position] = value;
    return last + 1;
}

int tern_plugin_biggest(int index, int64_t *nbytes, int capacity)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    int count = 0;
    pthread_mutex_lock(&device->lock);
    for (const tern_cuda_segment *s = device->allocator.segments; s; s = s->next)
        for (const tern_cuda_block *block = s->first; block; block = block->after)
            if (!block->free && !block->events)
                count = insert(nbytes, count, capacity, block->nbytes);
    pthread_mutex_unlock(&device->lock);
    return count;
}

// ---- out of memory ------------------------------------------------------------------------------

static const char *format_nbytes(char text[TEXT_CAPACITY], int64_t nbytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (nbytes < 1024) {
        snprintf(text, TEXT_CAPACITY, "%d bytes", (int)nbytes);
        return text;
    }
    double size = (double)nbytes / 1024;
    int unit = 0;
    for (; size >= 1024 && unit < 3; unit++)
        size /= 1024;
    snprintf(text, TEXT_CAPACITY, "%.2f %s", size, units[unit]);
    return text;
}

// ", the biggest 10.00 GiB, 8.00 GiB, 512 bytes"
static void describe_biggest(int index, char *text, size_t capacity)
{
    int64_t biggest[BIGGEST];
    const int count = tern_plugin_biggest(index, biggest, BIGGEST);
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < count && used < capacity; i++) {
        char one[TEXT_CAPACITY];
        used += (size_t)snprintf(text + used, capacity - used, "%s%s",
                                 i == 0 ? ", the biggest " : ", ", format_nbytes(one, biggest[i]));
    }
}

tern_status tern_cuda_out_of_memory(tern_cuda_device *device, int64_t nbytes)
{
    char request[TEXT_CAPACITY], available[TEXT_CAPACITY], total[TEXT_CAPACITY],
        allocated[TEXT_CAPACITY], reserved[TEXT_CAPACITY], biggest[128];
    tern_cuda_memory memory = statistics(device);
    (void)query_memory(device->index, &memory);
    cudaGetLastError();
    describe_biggest(device->index, biggest, sizeof biggest);
    return tern_error_raise(
        TERN_ERR_NOMEM,
        "cuda:%d has no memory for %s: %s of %s are free; tensors hold %s%s; "
        "%s are reserved",
        device->index, format_nbytes(request, nbytes), format_nbytes(available, memory.free),
        format_nbytes(total, memory.total), format_nbytes(allocated, memory.allocated), biggest,
        format_nbytes(reserved, memory.reserved));
}

// ---- workspaces ---------------------------------------------------------------------------------

cudaError_t tern_cuda_workspace_alloc(tern_cuda_device *device, void **workspace)
{
    pthread_mutex_lock(&device->lock);
    cudaError_t error =
        *workspace ? cudaSuccess : tern_cuda_device_alloc(device, TERN_CUDA_WORKSPACE, workspace);
    pthread_mutex_unlock(&device->lock);
    return error;
}

void tern_cuda_workspace_free(tern_cuda_device *device, void **workspace)
{
    pthread_mutex_lock(&device->lock);
    if (*workspace)
        tern_cuda_device_free(device, TERN_CUDA_WORKSPACE, *workspace);
    *workspace = NULL;
    pthread_mutex_unlock(&device->lock);
}

void tern_cuda_workspace_trim(tern_cuda_device *device)
{
    if (atomic_load(&device->graphs) == 0)
        tern_cuda_workspace_free(device, &device->graph_workspace);
}

// ---- trim ---------------------------------------------------------------------------------------

void tern_cuda_trim(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    tern_cuda_allocator_trim(device);
    pthread_mutex_unlock(&device->lock);
    tern_cuda_workspace_trim(device);
}

// Not while the thread captures: captured work has not run yet, so waiting for the device does not
// tell that free memory is unused.
bool tern_cuda_synchronize_and_trim(tern_cuda_device *device)
{
    if (tern_cuda_current_capture_on(device->index) ||
        tern_cuda_device_synchronize(device) != cudaSuccess)
        return false;
    tern_cuda_trim(device);
    return true;
}

tern_status tern_plugin_empty_cache(int index)
{
    TERN_TRY(tern_cuda_not_capturing(index, "memory is given back"));
    tern_cuda_device *device = tern_cuda_device_get(index);
    TERN_TRY(tern_cuda_check("cuda_empty_cache", tern_cuda_set_current_device(index)));
    TERN_TRY(tern_cuda_check("cuda_empty_cache", tern_cuda_device_synchronize(device)));
    tern_cuda_trim(device);
    return TERN_OK;
}
