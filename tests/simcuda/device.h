// SPDX-License-Identifier: Apache-2.0
// The devices: which is current, how much memory each has, who reaches whose memory.
#ifndef TERN_SIM_DEVICE_H
#define TERN_SIM_DEVICE_H

#include <cstddef>

#include "core.h"

namespace sim
{

struct Device {
    size_t total, used; // bytes
    unsigned peers;     // one bit for each device whose memory its kernels may use
};

Device &device_at(int device);
bool is_device(int device);
constexpr size_t granule = 512; // in which device memory is given out

} // namespace sim

#endif
