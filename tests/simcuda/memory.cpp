// SPDX-License-Identifier: Apache-2.0
// The map of all blocks. Freed blocks stay in it until their addresses are used again, so that a
// stale pointer can be called what it is.
#include "memory.h"

#include <cstdlib>
#include <map>

#include "core.h"
#include "device.h"
#include "guard.h"

namespace sim
{

static std::map<uintptr_t, Block> &blocks = *new std::map<uintptr_t, Block>;

const Block *block_at(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    auto after = blocks.upper_bound(address);
    if (after == blocks.begin())
        return nullptr;
    const Block &block = (--after)->second;
    return address < block.begin + block.nbytes ? &block : nullptr;
}

const Block *pinned_at(const void *pointer)
{
    const Block *block = block_at(pointer);
    return block && block->pinned && !block->freed ? block : nullptr;
}

static void forget_freed_within(uintptr_t begin, size_t nbytes)
{
    auto at = blocks.lower_bound(begin);
    while (at != blocks.begin() &&
           std::prev(at)->second.begin + std::prev(at)->second.nbytes > begin)
        --at;
    while (at != blocks.end() && at->first < begin + nbytes)
        at = at->second.freed ? blocks.erase(at) : std::next(at);
}

const Block *new_block(int device, size_t nbytes, bool pinned)
{
    void *data = nullptr;
    if (!pinned && settings().guard)
        data = guarded_allocate(device, nbytes);
    else if (posix_memalign(&data, pinned ? 4096 : 256, nbytes))
        data = nullptr;
    if (!data)
        return nullptr;
    if (!pinned && !settings().guard && settings().poison)
        fill_with_nan(data, nbytes);
    uintptr_t begin = (uintptr_t)data;
    forget_freed_within(begin, nbytes);
    return &(blocks[begin] = Block{begin, nbytes, device, pinned, false});
}

void free_block(const Block *block)
{
    Block &kept = blocks[block->begin];
    void *data = (void *)kept.begin;
    kept.freed = true;
    if (!kept.pinned && settings().guard)
        guarded_free(kept.device, data, kept.nbytes);
    else
        free(data);
}

// "memory of device 1", "pinned host memory"
static const char *kind_of(const Block &block)
{
    static const char *kinds[max_devices] = {
        "memory of device 0", "memory of device 1", "memory of device 2", "memory of device 3",
        "memory of device 4", "memory of device 5", "memory of device 6", "memory of device 7",
    };
    return block.pinned ? "pinned host memory" : kinds[block.device];
}

void check_argument(const char *kernel, int index, const void *pointer, int device)
{
    const Block *block = block_at(pointer);
    if (!block)
        broken_rule("kernel %s: pointer argument %d (%p) is no memory of a device, launched on "
                    "device %d",
                    kernel, index, pointer, device);
    if (block->freed)
        broken_rule("kernel %s: pointer argument %d is freed %s, launched on device %d", kernel,
                    index, kind_of(*block), device);
    if (!block->pinned && !reaches(device, block->device))
        broken_rule("kernel %s: pointer argument %d is %s, launched on device %d", kernel, index,
                    kind_of(*block), device);
}

static void check_extent(const char *what, const Block &block, const void *pointer, size_t nbytes)
{
    size_t offset = (uintptr_t)pointer - block.begin;
    if (nbytes > block.nbytes - offset)
        broken_rule("%s: %zu bytes from offset %zu of a block of %zu: %s", what, nbytes, offset,
                    block.nbytes, kind_of(block));
}

void check_access(const char *what, const void *pointer, size_t nbytes, int device)
{
    const Block *block = block_at(pointer);
    if (!block)
        broken_rule("%s: %p is no memory of a device, used on device %d", what, pointer, device);
    if (block->freed)
        broken_rule("%s: freed %s is used", what, kind_of(*block));
    if (!block->pinned && !reaches(device, block->device))
        broken_rule("%s: %s is used on device %d", what, kind_of(*block), device);
    check_extent(what, *block, pointer, nbytes);
}

int check_device_memory(const char *what, const void *pointer, size_t nbytes)
{
    const Block *block = block_at(pointer);
    if (!block || block->pinned)
        broken_rule("%s: %p is no memory of a device", what, pointer);
    if (block->freed)
        broken_rule("%s: freed %s is used", what, kind_of(*block));
    check_extent(what, *block, pointer, nbytes);
    return block->device;
}

} // namespace sim
