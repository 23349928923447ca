// SPDX-License-Identifier: Apache-2.0
// Devices: count, current one, properties, peers.
#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "memory.h"
#include "stream.h"

namespace sim
{

static thread_local int current;

static Device *make_devices()
{
    Device *made = new Device[max_devices]();
    const Settings &set = settings();
    for (size_t i = 0; i < set.visible.size(); i++)
        made[i].total = set.memory[std::min((size_t)set.visible[i], set.memory.size() - 1)];
    return made;
}

Device &device_at(int device)
{
    static Device *devices = make_devices();
    return devices[device];
}

bool is_device(int device)
{
    return device >= 0 && device < device_count();
}

int current_device()
{
    return current;
}

bool reaches(int device, int peer)
{
    return device == peer || (device_at(device).peers >> peer & 1);
}

static int attribute_of(enum cudaDeviceAttr attribute)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
        return 1024;
    case cudaDevAttrMaxBlockDimZ:
        return 64;
    case cudaDevAttrMaxGridDimX:
        return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return 48 << 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return 227 << 10;
    case cudaDevAttrWarpSize:
        return 32;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
        return 1000000; // kHz
    case cudaDevAttrMultiProcessorCount:
        return 4;
    case cudaDevAttrGlobalMemoryBusWidth:
        return 512;
    case cudaDevAttrL2CacheSize:
        return 1 << 20;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return 2048;
    case cudaDevAttrComputeCapabilityMajor:
        return 9;
    case cudaDevAttrComputeCapabilityMinor:
        return 0;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return 32;
    case cudaDevAttrUnifiedAddressing:
        return 1;
    case cudaDevAttrMemoryPoolsSupported:
        return 0;
    }
    return -1;
}

static void describe(cudaDeviceProp *prop, int device)
{
    *prop = {};
    snprintf(prop->name, sizeof prop->name, "tern simulated device");
    int physical = settings().visible[(size_t)device];
    prop->uuid.bytes[15] = (char)(physical + 1);
    prop->pciBusID = physical + 1;
    prop->totalGlobalMem = device_at(device).total;
    prop->sharedMemPerBlock = 48 << 10;
    prop->sharedMemPerBlockOptin = 227 << 10;
    prop->sharedMemPerMultiprocessor = 228 << 10;
    prop->regsPerBlock = prop->regsPerMultiprocessor = 65536;
    prop->warpSize = 32;
    prop->maxThreadsPerBlock = 1024;
    prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = 1024;
    prop->maxThreadsDim[2] = 64;
    prop->maxGridSize[0] = 0x7fffffff;
    prop->maxGridSize[1] = prop->maxGridSize[2] = 65535;
    prop->totalConstMem = 64 << 10;
    prop->major = 9;
    prop->multiProcessorCount = attribute_of(cudaDevAttrMultiProcessorCount);
    prop->canMapHostMemory = prop->concurrentKernels = prop->unifiedAddressing = 1;
    prop->asyncEngineCount = 2;
    prop->memoryBusWidth = attribute_of(cudaDevAttrGlobalMemoryBusWidth);
    prop->l2CacheSize = attribute_of(cudaDevAttrL2CacheSize);
    prop->maxThreadsPerMultiProcessor = 2048;
    prop->maxBlocksPerMultiProcessor = 32;
}

} // namespace sim

using namespace sim;

cudaError_t cudaGetDeviceCount(int *count)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!device_count())
        return remember(cudaErrorNoDevice);
    *count = device_count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!is_device(device))
        return remember(device_count() ? cudaErrorInvalidDevice : cudaErrorNoDevice);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!device_count())
        return remember(cudaErrorNoDevice);
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!is_device(device))
        return remember(cudaErrorInvalidDevice);
    describe(prop, device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!is_device(device))
        return remember(cudaErrorInvalidDevice);
    int found = attribute_of(attribute);
    if (found < 0)
        return remember(cudaErrorInvalidValue);
    *value = found;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!is_device(device))
        return remember(cudaErrorInvalidDevice);
    snprintf(id, (size_t)length, "0000:%02x:00.0", settings().visible[(size_t)device] + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    Call call;
    TERN_SIM_TRY(call.error);
    if (!is_device(device) || !is_device(peer))
        return remember(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    Call call(current);
    TERN_SIM_TRY(call.error);
    if (!is_device(peer) || peer == current)
        return remember(cudaErrorInvalidDevice);
    if (flags)
        return remember(cudaErrorInvalidValue);
    if (reaches(current, peer))
        return remember(cudaErrorPeerAccessAlreadyEnabled);
    device_at(current).peers |= 1u << peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    Call call(current);
    TERN_SIM_TRY(call.error);
    if (!is_device(peer))
        return remember(cudaErrorInvalidDevice);
    if (peer == current || !reaches(current, peer))
        return remember(cudaErrorPeerAccessNotEnabled);
    device_at(current).peers &= ~(1u << peer);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = device_count() ? CUDART_VERSION : 0;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

void tern_sim_meddle(int device, int error)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    current = device;
    remember((cudaError_t)error);
}

void tern_sim_set_memory(int device, size_t bytes)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    device_at(device).total = bytes;
}
