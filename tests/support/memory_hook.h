// SPDX-License-Identifier: Apache-2.0
// An allocator for the library that counts, and fails the call it is told to.
#ifndef TERN_TESTS_SUPPORT_MEMORY_HOOK_H
#define TERN_TESTS_SUPPORT_MEMORY_HOOK_H

#include <stdint.h>
#include <stdlib.h>

#include <tern/memory.h>

static struct {
    _Atomic int64_t bytes, blocks, peak; // in use now; the most bytes so far
    _Atomic int64_t calls, failed;       // since fail_nth_allocation, or since set to 0
    _Atomic int64_t fail_at;             // the call that fails, counted from 1; 0: none
    _Atomic bool fail_onwards;           // and all that follow it
    // Told of every call, with the address in the library that it returns to.
    void (*watch)(bool fails, const void *caller);
} memory;

static inline bool is_to_fail(int64_t call)
{
    if (!memory.fail_at)
        return false;
    return memory.fail_onwards ? call >= memory.fail_at : call == memory.fail_at;
}

static inline void *hook_alloc(size_t nbytes, size_t align, void *user)
{
    (void)user;
    void *block = NULL;
    bool fails = is_to_fail(++memory.calls);
    if (memory.watch)
        memory.watch(fails, __builtin_return_address(0));
    memory.failed += fails;
    if (fails || posix_memalign(&block, align, nbytes) != 0)
        return NULL;
    memory.blocks++;
    memory.bytes += (int64_t)nbytes;
    if (memory.bytes > memory.peak)
        memory.peak = memory.bytes;
    return block;
}

static inline void hook_free(void *block, size_t nbytes, void *user)
{
    (void)user;
    memory.blocks--;
    memory.bytes -= (int64_t)nbytes;
    free(block);
}

// First of all in main: before anything is allocated.
static inline int use_memory_hook(void)
{
    static const tern_allocator hook = {hook_alloc, hook_free, NULL};
    return tern_set_allocator(&hook) != TERN_OK;
}

// The n-th allocation from now on fails, 0: none.
static inline void fail_nth_allocation(int64_t n)
{
    memory.calls = memory.failed = 0;
    memory.fail_onwards = false;
    memory.fail_at = n;
}

// The n-th and all later ones fail, until fail_nth_allocation(0).
static inline void fail_allocations_from(int64_t n)
{
    fail_nth_allocation(n);
    memory.fail_onwards = true;
}

// Last of all: nothing is left after tern_shutdown.
static inline int all_given_back(void)
{
    tern_shutdown();
    return memory.bytes != 0 || memory.blocks != 0;
}

#endif
