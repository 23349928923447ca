// SPDX-License-Identifier: Apache-2.0
// For tests of kernels: arrays of the host that have a copy on device 0.
#ifndef TERN_TESTS_CUDA_MIRROR_H
#define TERN_TESTS_CUDA_MIRROR_H

#include "plugin_check.h"
#include "support/strided.h"

typedef struct mirror {
    void *host;
    piece device;
} mirror;

// Copies the array to the device.
static inline mirror mirror_of(void *host, int64_t nbytes)
{
    mirror m = {host, take(0, nbytes)};
    assert_int_equal(plugin.device->to_device(0, m.device.data, host, nbytes), TERN_OK);
    return m;
}
#define MIRROR(array) mirror_of(array, sizeof(array))

// Copies it back, and gives the device's memory up.
static inline void mirror_end(mirror *m)
{
    assert_int_equal(plugin.device->to_host(0, m->host, m->device.data, m->device.nbytes), TERN_OK);
    give(&m->device);
}

// A view of the array as one of its copy.
static inline tern_strided there(const mirror *m, tern_strided view)
{
    view.data = (char *)m->device.data + ((char *)view.data - (char *)m->host);
    return view;
}

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

#endif
