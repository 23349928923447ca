// SPDX-License-Identifier: Apache-2.0
// The allocator hook and the count of what was taken from it.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // posix_memalign, madvise
#endif
#include "base/allocator.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cancel.h"
#include "base/fork.h"

// From here on blocks lie on huge pages where the system has them: updates of large parameters run
// a tenth faster.
#define HUGE_BYTES      ((size_t)4 << 20)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static void *libc_alloc(size_t nbytes, size_t align, void *user)
{
    (void)user;
    bool huge = nbytes >= HUGE_BYTES;
    void *memory = NULL;
    if (posix_memalign(&memory, huge ? HUGE_PAGE_BYTES : align, nbytes) != 0)
        return NULL;
    if (huge)
        (void)madvise(memory, nbytes, MADV_HUGEPAGE); // advice: without it the block is as good
    return memory;
}

static void libc_free(void *memory, size_t nbytes, void *user)
{
    (void)nbytes;
    (void)user;
    free(memory);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tern_allocator current = {libc_alloc, libc_free, NULL};

// Bytes taken and not yet given back. It is raised under the lock, before the allocator is called,
// so that the allocator cannot be replaced in between.
static _Atomic int64_t taken;

static tern_allocator claim(int64_t nbytes)
{
    tern_lock(&lock);
    tern_allocator allocator = current;
    atomic_fetch_add(&taken, nbytes);
    tern_unlock(&lock);
    return allocator;
}

static void *take_once(size_t nbytes, size_t align)
{
    tern_allocator allocator = claim((int64_t)nbytes);
    void *memory = allocator.alloc(nbytes, align, allocator.user);
    if (!memory)
        atomic_fetch_sub(&taken, (int64_t)nbytes);
    return memory;
}

void *tern_allocator_alloc(size_t nbytes, size_t align, tern_reclaim *reclaim)
{
    if (nbytes > PTRDIFF_MAX)
        return NULL;
    int saved = errno, cancel_state = tern_cancel_disable();
    void *memory = take_once(nbytes, align);
    if (!memory && reclaim())
        memory = take_once(nbytes, align);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return memory;
}

void tern_allocator_free(void *memory, size_t nbytes)
{
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_allocator allocator = claim(0);
    if (!tern_forked() || allocator.free == libc_free) // another one may wait for a lost lock
        allocator.free(memory, nbytes, allocator.user);
    atomic_fetch_sub(&taken, (int64_t)nbytes);
    tern_cancel_restore(cancel_state);
    errno = saved;
}

int64_t tern_allocator_live_bytes(void)
{
    return atomic_load(&taken);
}

bool tern_allocator_replace(const tern_allocator *allocator)
{
    tern_lock(&lock);
    bool unused = atomic_load(&taken) == 0;
    if (unused)
        current = allocator ? *allocator : (tern_allocator){libc_alloc, libc_free, NULL};
    tern_unlock(&lock);
    return unused;
}
