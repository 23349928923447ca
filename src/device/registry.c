// SPDX-License-Identifier: Apache-2.0
// The backends of the types of devices.
#include "device/backend.h"
#include "device/plugin.h"

const tern_backend *tern_backend_of(tern_device_type type)
{
    switch (type) {
    case TERN_CPU:
        return tern_cpu_backend();
    case TERN_CUDA:
        return tern_cuda_backend();
    case TERN_DEVICE_UNSPECIFIED:
        break;
    }
    return NULL;
}

const tern_kernels *tern_kernels_of(tern_device device)
{
    return tern_backend_of(device.type)->kernels;
}

int tern_device_count(tern_device_type type)
{
    const tern_backend *backend = tern_backend_of(type);
    return backend ? backend->device->count() : 0;
}
