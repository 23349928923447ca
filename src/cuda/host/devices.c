// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/devices.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "cuda/host/check.h"
#include "cuda/host/nvml.h"
#include "device/backend.h"

static pthread_once_t count_once = PTHREAD_ONCE_INIT;
static int device_count;
static char count_reason[256] = "no CUDA device was found";

static void ask_count(void)
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
    pthread_once(&count_once, ask_count);
    return device_count;
}

const char *tern_plugin_reason(void)
{
    return tern_plugin_count() > 0 ? "" : count_reason;
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
