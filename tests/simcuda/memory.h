// SPDX-License-Identifier: Apache-2.0
// Blocks of device memory and pinned host memory: who owns an address.
#ifndef TERN_SIM_MEMORY_H
#define TERN_SIM_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace sim
{

struct Block {
    uintptr_t begin;
    size_t nbytes;
    int device; // whose memory; for pinned memory the device it was allocated under
    bool pinned, freed;
};

const Block *block_at(const void *pointer);  // NULL: nothing that the runtime knows; may be freed
const Block *pinned_at(const void *pointer); // NULL unless it is pinned host memory
const Block *new_block(int device, size_t nbytes, bool pinned); // NULL: no memory
void free_block(const Block *block);

bool reaches(int device, int peer); // peer access is enabled, or they are the same

// Breaks off unless a kernel or a library may use nbytes there on the device; `what` names who.
void check_access(const char *what, const void *pointer, size_t nbytes, int device);
void check_argument(const char *kernel, int index, const void *pointer, int device);
// Breaks off unless it is nbytes of device memory, whichever; returns the device.
int check_device_memory(const char *what, const void *pointer, size_t nbytes);

} // namespace sim

#endif
