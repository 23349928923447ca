// SPDX-License-Identifier: Apache-2.0
// Memory of the devices in use, as tern's allocators count it.
#include <tern/cuda.h>
#include <tern/memory.h>
#include "base/error.h"
#include "device/backend.h"
#include "train/resources/reading.h"

static void read_host(tern_device_memory *m)
{
    *m = (tern_device_memory){.device = tern_cpu(0)};
    m->allocated = tern_reading_of((double)tern_memory_live_bytes());
    m->cached = tern_reading_of((double)tern_memory_cached_bytes());
}

// A device that fails says so where it is used.
static void read_cuda(tern_device_memory *m, int index)
{
    tern_cuda_memory memory;
    *m = (tern_device_memory){.device = {TERN_CUDA, index}};
    if (tern_error_pending())
        return;
    tern_error_delay();
    if (tern_cuda_get_memory(index, &memory)) {
        tern_error_clear();
    } else {
        m->allocated = tern_reading_of((double)memory.allocated);
        m->cached = tern_reading_of((double)(memory.reserved - memory.allocated));
        m->free = tern_reading_of((double)memory.free);
        m->total = tern_reading_of((double)memory.total);
    }
    tern_error_report();
}

void tern_device_memory_read(tern_resources *r)
{
    read_host(&r->devices[0]);
    r->device_count = 1;
    for (int i = 0; i < TERN_MAX_DEVICES && r->device_count < TERN_RESOURCES_DEVICES; i++)
        if (tern_device_is_open((tern_device){TERN_CUDA, i}))
            read_cuda(&r->devices[r->device_count++], i);
}
