// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/caching_allocator.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/host/current.h"
#include "cuda/host/event.h"
#include "cuda/host/block_pool.h"

#define SMALL_UNIT ((int64_t)512)
#define LARGE_UNIT ((int64_t)2 << 20)
#define LARGE_FROM ((int64_t)1 << 20)

static pthread_once_t caching_once = PTHREAD_ONCE_INIT;
static bool caching;

static void read_caching(void)
{
    const char *setting = secure_getenv("TERN_CACHE");
    caching = !setting || strcmp(setting, "0") != 0;
}

bool tern_cuda_allocator_caches(void)
{
    pthread_once(&caching_once, read_caching);
    return caching;
}

int64_t tern_cuda_allocator_round_up(int64_t nbytes)
{
    if (!tern_cuda_allocator_caches())
        return nbytes > 0 ? nbytes : 1;
    int64_t unit = nbytes < LARGE_FROM ? SMALL_UNIT : LARGE_UNIT;
    if (nbytes > INT64_MAX - unit)
        return -1;
    return nbytes > 0 ? (nbytes + unit - 1) / unit * unit : unit;
}

static bool is_small(int64_t nbytes)
{
    return nbytes < LARGE_FROM;
}

// ---- free sets ----------------------------------------------------------------------------------

static tern_cuda_free_set *free_set(tern_cuda_block_pool *pool, bool small)
{
    return small ? &pool->small : &pool->large;
}

static void remove_free(tern_cuda_block *block)
{
    tern_cuda_free_set_remove(free_set(block->pool, block->segment->small), block);
    block->free = false;
}

static void add_free(tern_cuda_block *block)
{
    tern_cuda_free_set_add(free_set(block->pool, block->segment->small), block);
    block->free = true;
}

// Merges the block with its neighbour behind it.
static void merge(tern_cuda_device *device, tern_cuda_block *block)
{
    tern_cuda_block *merged = block->after;
    block->nbytes += merged->nbytes;
    block->after = merged->after;
    if (block->after)
        block->after->before = block;
    tern_cuda_block_struct_give(&device->allocator, merged);
}

static bool can_merge(const tern_cuda_block *block, const tern_cuda_block *neighbour)
{
    return neighbour && neighbour->free && neighbour->pool == block->pool;
}

void tern_cuda_allocator_free(tern_cuda_device *device, tern_cuda_block *block)
{
    if (can_merge(block, block->after)) {
        remove_free(block->after);
        merge(device, block);
    }
    if (can_merge(block, block->before)) {
        block = block->before;
        remove_free(block);
        merge(device, block);
    }
    if (tern_cuda_allocator_caches() || block->pool->graph) {
        add_free(block);
        return;
    }
    tern_cuda_streams_synchronize_to_free(device); // CUDA does not promise that cudaFree waits
    tern_cuda_segment_free(device, block->segment);
}

// Splits the block after nbytes; the rest becomes a free block. A struct was reserved for it.
static void split(tern_cuda_device *device, tern_cuda_block *block, int64_t nbytes)
{
    tern_cuda_block *rest = tern_cuda_block_struct_take(&device->allocator);
    *rest = (tern_cuda_block){
        .data = block->data + nbytes,
        .nbytes = block->nbytes - nbytes,
        .segment = block->segment,
        .before = block,
        .after = block->after,
        .pool = block->pool,
        .stream = block->stream,
    };
    if (rest->after)
        rest->after->before = rest;
    block->after = rest;
    block->nbytes = nbytes;
    add_free(rest);
}

// ---- pending blocks -----------------------------------------------------------------------------

void tern_cuda_allocator_free_later(tern_cuda_device *device, tern_cuda_block *block)
{
    block->next_pending = device->allocator.pending;
    device->allocator.pending = block;
}

static void free_completed(tern_cuda_device *device)
{
    for (tern_cuda_block **link = &device->allocator.pending; *link;) {
        tern_cuda_block *block = *link;
        if (tern_cuda_events_query(&block->events)) {
            *link = block->next_pending;
            tern_cuda_allocator_free(device, block);
        } else {
            link = &block->next_pending;
        }
    }
}

static tern_cuda_block **best_pending(tern_cuda_device *device, const tern_cuda_block_pool *pool,
                                      int64_t nbytes)
{
    tern_cuda_block **best = NULL;
    for (tern_cuda_block **link = &device->allocator.pending; *link;
         link = &(*link)->next_pending) {
        const tern_cuda_block *block = *link;
        bool fits = block->pool == pool && block->nbytes >= nbytes &&
                    block->segment->small == is_small(nbytes);
        if (fits && (!best || block->nbytes < (*best)->nbytes))
            best = link;
    }
    return best;
}

// A pending block: the stream that it is allocated for waits for the others, on the device. So
// steps that repeat do not allocate more and more memory when the host is ahead of the device.
static tern_cuda_block *take_pending(tern_cuda_device *device, tern_cuda_stream *stream,
                                     const tern_cuda_block_pool *pool, int64_t nbytes)
{
    tern_cuda_block **link = best_pending(device, pool, nbytes);
    if (!link || tern_cuda_stream_wait_events(stream, &(*link)->events) != cudaSuccess)
        return NULL;
    tern_cuda_block *block = *link;
    *link = block->next_pending;
    return block;
}

// ---- allocation ---------------------------------------------------------------------------------

static tern_cuda_block *take_free(tern_cuda_block_pool *pool, int64_t nbytes)
{
    tern_cuda_block *block = tern_cuda_free_set_fit(free_set(pool, is_small(nbytes)), nbytes);
    if (block)
        remove_free(block);
    return block;
}

// A graph also gets free blocks of its stream; they stay in its pool.
static tern_cuda_block *take_captured(tern_cuda_stream *stream, tern_cuda_block_pool *pool,
                                      int64_t nbytes)
{
    tern_cuda_block *block = take_free(pool, nbytes);
    if (block && block->stream != stream &&
        tern_cuda_stream_wait_stream(stream, block->stream) != cudaSuccess) {
        add_free(block);
        block = NULL;
    }
    return block ? block : take_free(&stream->pool, nbytes);
}

static tern_cuda_block *take_cached(tern_cuda_device *device, tern_cuda_stream *stream,
                                    tern_cuda_block_pool *pool, int64_t nbytes)
{
    if (pool->graph)
        return take_captured(stream, pool, nbytes);
    tern_cuda_block *block = take_free(pool, nbytes);
    if (block || !device->allocator.pending)
        return block;
    free_completed(device);
    block = take_free(pool, nbytes);
    if (block || tern_cuda_current_capture()) // the wait would be captured
        return block;
    return take_pending(device, stream, pool, nbytes);
}

static int64_t segment_nbytes(int64_t nbytes)
{
    bool shared = tern_cuda_allocator_caches() && is_small(nbytes);
    return shared ? LARGE_UNIT : nbytes;
}

static bool worth_splitting(const tern_cuda_block *block, int64_t nbytes)
{
    return block->nbytes - nbytes >= (block->segment->small ? SMALL_UNIT : LARGE_UNIT) &&
           tern_cuda_allocator_caches();
}

cudaError_t tern_cuda_allocator_alloc(tern_cuda_device *device, tern_cuda_stream *stream,
                                      tern_cuda_block_pool *pool, int64_t nbytes,
                                      tern_cuda_block **block)
{
    cudaError_t error = tern_cuda_allocator_reserve_structs(&device->allocator);
    if (error != cudaSuccess)
        return error;
    tern_cuda_block *found = take_cached(device, stream, pool, nbytes);
    if (!found) {
        error = tern_cuda_segment_new(device, segment_nbytes(nbytes), is_small(nbytes), &found);
        if (error != cudaSuccess)
            return error;
        found->pool = pool; // the rest of a split goes there too
        found->stream = stream;
    }
    if (worth_splitting(found, nbytes))
        split(device, found, nbytes);
    found->pool = pool;
    found->stream = stream;
    found->users = (uint64_t)1 << stream->slot;
    found->last = stream;
    *block = found;
    return cudaSuccess;
}

// ---- pools that are given up --------------------------------------------------------------------

static void move(tern_cuda_block *block, tern_cuda_block_pool *pool)
{
    bool was_free = block->free;
    if (was_free)
        remove_free(block);
    block->pool = pool;
    if (was_free)
        add_free(block);
}

static void merge_neighbours(tern_cuda_device *device, tern_cuda_segment *segment)
{
    for (tern_cuda_block *block = segment->first; block && block->after;) {
        if (block->free && can_merge(block, block->after)) {
            remove_free(block);
            remove_free(block->after);
            merge(device, block);
            add_free(block);
        } else {
            block = block->after;
        }
    }
}

static void merge_all(tern_cuda_device *device)
{
    for (tern_cuda_segment *s = device->allocator.segments; s; s = s->next)
        merge_neighbours(device, s);
}

void tern_cuda_allocator_forget_last(tern_cuda_device *device, const tern_cuda_block_pool *pool)
{
    for (tern_cuda_segment *s = device->allocator.segments; s; s = s->next)
        for (tern_cuda_block *block = s->first; block; block = block->after)
            if (block->pool == pool)
                block->last = NULL;
}

void tern_cuda_allocator_release_pool(tern_cuda_device *device, const tern_cuda_block_pool *pool)
{
    for (tern_cuda_segment *s = device->allocator.segments; s; s = s->next) {
        for (tern_cuda_block *block = s->first; block; block = block->after) {
            if (block->pool != pool)
                continue;
            move(block, &block->stream->pool);
            block->last = block->stream;
        }
    }
    merge_all(device);
    if (!tern_cuda_allocator_caches())
        tern_cuda_allocator_trim(device);
}

static void replace_stream(tern_cuda_block *block, tern_cuda_stream *stream,
                           tern_cuda_stream *replacement)
{
    block->users &= ~((uint64_t)1 << stream->slot);
    if (block->last == stream)
        block->last = replacement;
    if (block->stream == stream) {
        block->stream = replacement;
        block->users |= (uint64_t)1 << replacement->slot;
    }
    if (block->pool == &stream->pool)
        move(block, &replacement->pool);
}

void tern_cuda_allocator_release_stream(tern_cuda_device *device, tern_cuda_stream *stream)
{
    for (tern_cuda_segment *s = device->allocator.segments; s; s = s->next)
        for (tern_cuda_block *block = s->first; block; block = block->after)
            replace_stream(block, stream, &device->first);
    merge_all(device);
}

void tern_cuda_allocator_trim(tern_cuda_device *device)
{
    while (device->allocator.pending) {
        tern_cuda_block *block = device->allocator.pending;
        device->allocator.pending = block->next_pending;
        tern_cuda_events_synchronize(&block->events);
        tern_cuda_allocator_free(device, block);
    }
    tern_cuda_streams_synchronize_to_free(device); // other threads may have freed more meanwhile
    for (tern_cuda_segment *s = device->allocator.segments, *next; s; s = next) {
        next = s->next;
        if (!tern_cuda_segment_is_free(s) || s->first->pool->graph)
            continue;
        remove_free(s->first);
        tern_cuda_segment_free(device, s);
    }
    tern_cuda_allocator_free_structs(&device->allocator);
}
