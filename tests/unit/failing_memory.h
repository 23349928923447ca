// SPDX-License-Identifier: Apache-2.0
// An allocator that counts its calls and fails the one it is told to.
#ifndef TERN_TESTS_UNIT_FAILING_MEMORY_H
#define TERN_TESTS_UNIT_FAILING_MEMORY_H

#include <stdint.h>
#include <stdlib.h>

static struct {
    int64_t calls;
    int64_t fail_at; // 0: never
} memory;

static inline void *take(size_t nbytes, size_t align, void *user)
{
    (void)user;
    memory.calls++;
    if (memory.calls == memory.fail_at)
        return NULL;
    return aligned_alloc(align, (nbytes + align - 1) / align * align);
}

static inline void give(void *at, size_t nbytes, void *user)
{
    (void)nbytes;
    (void)user;
    free(at);
}

#endif
