// SPDX-License-Identifier: Apache-2.0
// NVML comes with the driver and is opened at run time. CUDA and NVML number devices differently:
// a UUID names the same one to both.
#include "cuda/host/nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

void tern_cuda_write_uuid(char text[UUID_CAPACITY], const char *kind, const char uuid[16])
{
    int used = snprintf(text, UUID_CAPACITY, "%s", kind);
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, (size_t)(UUID_CAPACITY - used), "%s%02x",
                         i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         (unsigned char)uuid[i]);
}

static bool ask(const char *kind, const char uuid[16], int64_t *nbytes)
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

bool tern_cuda_nvml_free_memory(const char uuid[16], int64_t *nbytes)
{
    pthread_once(&once, load);
    if (!nvml.init || nvml.init())
        return false;
    const bool known = ask("GPU", uuid, nbytes) || ask("MIG", uuid, nbytes);
    nvml.shutdown();
    return known;
}
