// SPDX-License-Identifier: Apache-2.0
// Freed blocks, kept by size class for the next request. A block in the cache is its own list link,
// so the cache allocates nothing for itself.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "base/poison.h"

// Classes 0 to 3 are 64, 128, 192, 256 bytes; then four steps an octave, up to what a ptrdiff_t can
// count.
#define SMALL_CLASSES 4
#define FIRST_OCTAVE  8
#define CLASSES       (SMALL_CLASSES + (63 - FIRST_OCTAVE) * 4)

// From here on a block starts on a page.
#define PAGED_BYTES (64 * 1024)
#define PAGE_BYTES  4096

typedef struct free_block {
    struct free_block *next;
} free_block;

static tern_mutex lock = TERN_MUTEX_INITIALIZER;
static free_block *free_lists[CLASSES];
static _Atomic int64_t cached; // changed under `lock`

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool enabled; // false also until the setting was read

// The last objects that users freed, the oldest at next_deferred.
#define DEFERRED_BLOCKS 256
#define DEFERRED_BYTES  4096 // larger ones do not wait

typedef struct deferred_block {
    void *memory;
    size_t nbytes;
} deferred_block;

static deferred_block deferred[DEFERRED_BLOCKS];
static int next_deferred;

typedef struct size_class {
    int index;
    size_t nbytes;
} size_class;

static size_class class_of(size_t nbytes)
{
    size_t last = nbytes > 0 ? nbytes - 1 : 0;
    if (last < 256)
        return (size_class){(int)(last / 64), (last / 64 + 1) * 64};
    int octave = 63 - __builtin_clzll(last); // 2^octave < nbytes <= 2^(octave + 1)
    size_t step = (size_t)1 << (octave - 2);
    size_t steps = last / step; // 4 to 7
    return (size_class){SMALL_CLASSES + (octave - FIRST_OCTAVE) * 4 + (int)steps - 4,
                        (steps + 1) * step};
}

static size_t alignment_of(size_t nbytes)
{
    return nbytes >= PAGED_BYTES ? PAGE_BYTES : 64;
}

static void start(void)
{
    const char *setting = secure_getenv("TERN_CACHE");
    atomic_store_explicit(&enabled, !setting || strcmp(setting, "0") != 0, memory_order_relaxed);
}

// An addition that others see would be one more locked instruction for each block.
static void count_cached(int64_t nbytes)
{
    const int64_t now = atomic_load_explicit(&cached, memory_order_relaxed);
    atomic_store_explicit(&cached, now + nbytes, memory_order_relaxed);
}

static free_block *pop(size_class class)
{
    tern_mutex_lock(&lock);
    free_block *block = free_lists[class.index];
    if (block) {
        TERN_UNPOISON(block, class.nbytes);
        free_lists[class.index] = block->next;
        count_cached(-(int64_t) class.nbytes);
    }
    tern_mutex_unlock(&lock);
    return block;
}

static void push(free_block *block, size_class class)
{
    tern_mutex_lock(&lock);
    TERN_UNPOISON(block, class.nbytes);
    block->next = free_lists[class.index];
    free_lists[class.index] = block;
    TERN_POISON(block + 1, class.nbytes - sizeof *block); // leak checkers follow the links
    count_cached((int64_t) class.nbytes);
    tern_mutex_unlock(&lock);
}

bool tern_cache_reclaim(void)
{
    if (tern_memory_cached_bytes() == 0)
        return false;
    tern_memory_trim();
    return true;
}

static void *new_block(size_t nbytes, size_t requested)
{
    void *memory = tern_allocator_alloc(nbytes, alignment_of(nbytes), tern_cache_reclaim);
    TERN_CHECK_PTR(memory, TERN_ERR_NOMEM, "no memory for %zu bytes", requested);
    return memory;
}

static bool is_enabled(void)
{
    return atomic_load_explicit(&enabled, memory_order_relaxed);
}

#define MAX_BYTES (PTRDIFF_MAX / 2)

// What was not in the cache; out of line, so that what was costs little.
__attribute__((noinline)) static void *alloc_anew(size_t nbytes)
{
    if (tern_fork_check())
        return NULL;
    TERN_CHECK_PTR(nbytes <= MAX_BYTES, TERN_ERR_NOMEM, "no memory for %zu bytes", nbytes);
    pthread_once(&once, start);
    if (!is_enabled()) // exact sizes, so that tools see every byte past the end
        return new_block(nbytes > 0 ? nbytes : 64, nbytes);
    return new_block(class_of(nbytes).nbytes, nbytes);
}

void *tern_cache_alloc(size_t nbytes)
{
    const bool may_have = is_enabled() && tern_in_use() && nbytes <= MAX_BYTES;
    void *memory = may_have ? pop(class_of(nbytes)) : NULL;
    if (!memory)
        memory = alloc_anew(nbytes);
    if (memory && is_enabled())
        TERN_POISON((char *)memory + nbytes, class_of(nbytes).nbytes - nbytes);
    return memory;
}

void tern_cache_free(void *memory, size_t nbytes)
{
    if (!memory)
        return;
    if (is_enabled())
        push(memory, class_of(nbytes));
    else
        tern_allocator_free(memory, nbytes > 0 ? nbytes : 64);
}

// Replaces a block by another, and frees it.
static void exchange_deferred(int slot, deferred_block in, size_t readable)
{
    tern_mutex_lock(&lock);
    deferred_block out = deferred[slot];
    deferred[slot] = in;
    if (in.memory)
        TERN_POISON((char *)in.memory + readable, in.nbytes - readable);
    count_cached((int64_t)in.nbytes - (int64_t)out.nbytes);
    tern_mutex_unlock(&lock);
    if (!out.memory)
        return;
    TERN_UNPOISON(out.memory, out.nbytes);
    tern_allocator_free(out.memory, out.nbytes);
}

static int claim_deferred(void)
{
    tern_mutex_lock(&lock);
    int slot = next_deferred;
    next_deferred = (next_deferred + 1) % DEFERRED_BLOCKS;
    tern_mutex_unlock(&lock);
    return slot;
}

void tern_mem_free_deferred(void *memory, size_t nbytes, size_t readable)
{
    pthread_once(&once, start);
    if (is_enabled() && nbytes <= DEFERRED_BYTES && !tern_forked())
        exchange_deferred(claim_deferred(), (deferred_block){memory, nbytes}, readable);
    else
        tern_allocator_free(memory, nbytes);
}

int64_t tern_memory_cached_bytes(void)
{
    return atomic_load(&cached);
}

// Empties one list under the lock and returns what was in it.
static free_block *detach(int index, size_t nbytes)
{
    tern_mutex_lock(&lock);
    free_block *list = free_lists[index];
    free_lists[index] = NULL;
    for (const free_block *block = list; block; block = block->next)
        count_cached(-(int64_t)nbytes);
    tern_mutex_unlock(&lock);
    return list;
}

// The bytes of every block of a class: the inverse of class_of.
static size_t class_bytes(int index)
{
    if (index < SMALL_CLASSES)
        return (size_t)(index + 1) * 64;
    int octave = FIRST_OCTAVE + (index - SMALL_CLASSES) / 4;
    size_t steps = 5 + (size_t)((index - SMALL_CLASSES) % 4);
    return steps << (octave - 2);
}

void tern_memory_trim(void)
{
    if (tern_forked()) // a list may have been half changed
        return;
    for (int slot = 0; slot < DEFERRED_BLOCKS; slot++)
        exchange_deferred(slot, (deferred_block){NULL, 0}, 0);
    for (int index = 0; index < CLASSES; index++) {
        size_t nbytes = class_bytes(index);
        free_block *block = detach(index, nbytes);
        while (block) {
            TERN_UNPOISON(block, nbytes);
            free_block *next = block->next;
            tern_allocator_free(block, nbytes);
            block = next;
        }
    }
}
