// SPDX-License-Identifier: Apache-2.0
// Guard mode: protected ranges, and the handler that names who touched them.
#include "guard.h"

#include <csignal>
#include <cstdint>
#include <set>
#include <sys/mman.h>

#include "core.h"
#include "device.h"
#include "kernel.h"
#include "memory.h"

namespace sim
{

static constexpr size_t page = 4096, range_size = (size_t)1 << 36;

struct Pages {
    uintptr_t begin;
    size_t nbytes;
    bool operator<(const Pages &other) const
    {
        return begin < other.begin;
    }
};

struct Range {
    char *begin; // NULL until it is used
    size_t used;
    std::set<Pages> *live; // of blocks
    unsigned open;         // how many have it open
};

static Range ranges[max_devices];

static Pages pages_of(void *data, size_t nbytes)
{
    uintptr_t begin = (uintptr_t)data & ~(page - 1);
    return {begin, ((uintptr_t)data + nbytes - begin + page - 1) & ~(page - 1)};
}

static void protect(const Pages &pages, int protection)
{
    if (mprotect((void *)pages.begin, pages.nbytes, protection))
        broken_rule("guard mode: the system has no more mappings for this many blocks");
}

static int device_of_address(uintptr_t address)
{
    for (int device = 0; device < max_devices; device++)
        if (ranges[device].begin && address - (uintptr_t)ranges[device].begin < range_size)
            return device;
    return -1;
}

static void report(int device, const void *address)
{
    const Block *block = block_at(address);
    long offset = block ? (long)((uintptr_t)address - block->begin) : 0;
    if (!kernel_runs())
        broken_rule("the host touches memory of device %d, offset %ld of %s block", device, offset,
                    !block         ? "no"
                    : block->freed ? "a freed"
                                   : "a live");
    if (!block)
        broken_rule("an access out of bounds to memory of device %d", device);
    broken_rule("an access to %s of device %d, offset %ld of %zu bytes",
                block->freed ? "freed memory" : "memory out of reach,", device, offset,
                block->nbytes);
}

static void on_fault(int, siginfo_t *info, void *)
{
    int device = device_of_address((uintptr_t)info->si_addr);
    if (device >= 0)
        report(device, info->si_addr);
    if (kernel_runs())
        broken_rule("an access to %p, which is no memory", info->si_addr);
    signal(SIGSEGV, SIG_DFL); // not ours: again, without this handler
}

static bool open_range(Range &range)
{
    void *begin =
        mmap(nullptr, range_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED)
        return false;
    range.begin = (char *)begin;
    range.live = new std::set<Pages>;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return sigaction(SIGSEGV, &action, nullptr) == 0;
}

void *guarded_allocate(int device, size_t nbytes)
{
    Range &range = ranges[device];
    if (!range.begin && !open_range(range))
        return nullptr;
    size_t size = (nbytes + page - 1) & ~(page - 1);
    if (range.used + size + page > range_size)
        return nullptr;
    char *begin = range.begin + range.used + page; // a page stays closed before each block
    range.used += size + page;
    Pages pages = {(uintptr_t)begin, size};
    protect(pages, PROT_READ | PROT_WRITE);
    if (settings().poison)
        fill_with_nan(begin, size);
    if (!range.open)
        protect(pages, PROT_NONE);
    range.live->insert(pages);
    return begin + size - ((nbytes + 255) & ~(size_t)255); // 256-byte aligned, as near to the end
}

void guarded_free(int device, void *data, size_t nbytes)
{
    Pages pages = pages_of(data, nbytes);
    ranges[device].live->erase(pages);
    protect(pages, PROT_NONE);
    madvise((void *)pages.begin, pages.nbytes, MADV_DONTNEED);
}

static void open(int device, bool wanted)
{
    Range &range = ranges[device];
    if (!range.begin || (wanted ? range.open++ : --range.open))
        return;
    for (const Pages &pages : *range.live)
        protect(pages, wanted ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static void open_all(unsigned devices, bool wanted)
{
    for (int device = 0; device < max_devices; device++)
        if (devices >> device & 1)
            open(device, wanted);
}

// A range that is not there yet stays out: the destructor must not close what was not opened.
static unsigned those_with_memory(unsigned devices)
{
    unsigned there = 0;
    for (int device = 0; device < max_devices; device++)
        if (ranges[device].begin)
            there |= devices & 1u << device;
    return there;
}

Reach::Reach(int device) : opened(those_with_memory(1u << device | device_at(device).peers))
{
    open_all(opened, true);
}

Reach::Reach(int device, int other) : opened(those_with_memory(1u << device | 1u << other))
{
    open_all(opened, true);
}

Reach::~Reach()
{
    open_all(opened, false);
}

} // namespace sim
