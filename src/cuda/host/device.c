// SPDX-License-Identifier: Apache-2.0
// Which devices there are, and how a failure of CUDA becomes an error of tern.
#include "cuda/host/device.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "cuda/host/launch.h"
#include "cuda/host/table.h"

static tern_cuda_device devices[TERN_MAX_DEVICES];

tern_cuda_device *tern_cuda_device_get(int index)
{
    return &devices[index];
}

int tern_cuda_multiprocessors(int index)
{
    return tern_cuda_device_get(index)->multiprocessors;
}

int tern_cuda_capability(int index)
{
    return tern_cuda_device_get(index)->capability;
}

// ---- errors -------------------------------------------------------------------------------------

cudaError_t tern_cuda_clear_error(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

// What to do, where CUDA's own words do not say it.
static const char *advice(cudaError_t error)
{
    return error == cudaErrorNoKernelImageForDevice
               ? ": tern was built for other GPUs, its option gpu_archs says for which"
               : "";
}

tern_status tern_cuda_check(const char *op, cudaError_t error)
{
    if (tern_cuda_clear_error(error) == cudaSuccess)
        return TERN_OK;
    return tern_error_raise(error == cudaErrorMemoryAllocation ? TERN_ERR_NOMEM : TERN_ERR_DEVICE,
                            "%s: CUDA: %s (%s)%s", op, cudaGetErrorString(error),
                            cudaGetErrorName(error), advice(error));
}

tern_status tern_cuda_launched(const char *op)
{
    return tern_cuda_check(op, cudaGetLastError());
}

// ---- which devices there are --------------------------------------------------------------------

static pthread_once_t count_once = PTHREAD_ONCE_INIT;
static int device_count;
static char count_reason[256] = "no CUDA device was found";

static void query_count(void)
{
    int count = 0; // the call leaves it alone when it fails
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        cudaGetLastError();
        snprintf(count_reason, sizeof count_reason, "no CUDA device: %s (%s)",
                 cudaGetErrorString(error), cudaGetErrorName(error));
        return;
    }
    device_count = count < TERN_MAX_DEVICES ? count : TERN_MAX_DEVICES;
}

int tern_plugin_count(void)
{
    pthread_once(&count_once, query_count);
    return device_count;
}

const char *tern_plugin_reason(void)
{
    return tern_plugin_count() > 0 ? "" : count_reason;
}

void tern_cuda_write_uuid(char text[UUID_CAPACITY], const char *kind, const char uuid[16])
{
    int used = snprintf(text, UUID_CAPACITY, "%s", kind);
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, (size_t)(UUID_CAPACITY - used), "%s%02x",
                         i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                         (unsigned char)uuid[i]);
}

tern_status tern_plugin_properties(int index, tern_cuda_properties *out)
{
    struct cudaDeviceProp given;
    TERN_TRY(tern_cuda_check("cuda_get_properties", cudaGetDeviceProperties(&given, index)));
    tern_cuda_properties properties = {
        .major = given.major,
        .minor = given.minor,
        .multiprocessors = given.multiProcessorCount,
        .total_memory = (int64_t)given.totalGlobalMem,
    };
    snprintf(properties.name, sizeof properties.name, "%s", given.name);
    snprintf(properties.pci_bus_id, sizeof properties.pci_bus_id, "%04x:%02x:%02x.0",
             (unsigned)given.pciDomainID, (unsigned)given.pciBusID & 0xff,
             (unsigned)given.pciDeviceID & 0xff);
    _Static_assert(sizeof properties.uuid == UUID_CAPACITY, "write_uuid fills it");
    tern_cuda_write_uuid(properties.uuid, strstr(given.name, " MIG ") ? "MIG" : "GPU",
                         given.uuid.bytes);
    *out = properties;
    return TERN_OK;
}
