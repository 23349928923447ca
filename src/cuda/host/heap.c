// SPDX-License-Identifier: Apache-2.0
// Best fit, with blocks cut to size and freed neighbours made one again.
#include "cuda/host/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/host/capture.h"
#include "cuda/host/fence.h"
#include "cuda/host/free_set.h"
#include "cuda/host/segment.h"
#include "cuda/host/wait.h"

#define SMALL_UNIT ((int64_t)512)
#define LARGE_UNIT ((int64_t)2 << 20)
#define LARGE_FROM ((int64_t)1 << 20)

static pthread_once_t keeps_once = PTHREAD_ONCE_INIT;
static bool keeps;

static void read_keeps(void)
{
    const char *setting = secure_getenv("TERN_CACHE");
    keeps = !setting || strcmp(setting, "0") != 0;
}

bool tern_cuda_heap_keeps(void)
{
    pthread_once(&keeps_once, read_keeps);
    return keeps;
}

int64_t tern_cuda_heap_rounded(int64_t nbytes)
{
    if (!tern_cuda_heap_keeps())
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

// ---- what is free -------------------------------------------------------------------------------

static tern_cuda_free_set *set_of(tern_cuda_pool *pool, bool small)
{
    return small ? &pool->small : &pool->large;
}

static void take_out(tern_cuda_block *block)
{
    tern_cuda_free_set_remove(set_of(block->pool, block->segment->small), block);
    block->free = false;
}

static void put_in(tern_cuda_block *block)
{
    tern_cuda_free_set_add(set_of(block->pool, block->segment->small), block);
    block->free = true;
}

// `block` takes in its neighbour behind it.
static void merge(tern_cuda_device *device, tern_cuda_block *block)
{
    tern_cuda_block *gone = block->after;
    block->nbytes += gone->nbytes;
    block->after = gone->after;
    if (block->after)
        block->after->before = block;
    tern_cuda_block_give(&device->heap, gone);
}

static bool joins(const tern_cuda_block *block, const tern_cuda_block *neighbour)
{
    return neighbour && neighbour->free && neighbour->pool == block->pool;
}

void tern_cuda_heap_put(tern_cuda_device *device, tern_cuda_block *block)
{
    if (joins(block, block->after)) {
        take_out(block->after);
        merge(device, block);
    }
    if (joins(block, block->before)) {
        block = block->before;
        take_out(block);
        merge(device, block);
    }
    if (tern_cuda_heap_keeps() || block->pool->graph) {
        put_in(block);
        return;
    }
    (void)tern_cuda_streams_wait(device); // that cudaFree waits is not promised
    tern_cuda_segment_free(device, block->segment);
}

// Leaves nbytes to `block`; what is behind becomes a free block. There is a spare one.
static void split(tern_cuda_device *device, tern_cuda_block *block, int64_t nbytes)
{
    tern_cuda_block *rest = tern_cuda_block_take(&device->heap);
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
    put_in(rest);
}

// ---- what waits ---------------------------------------------------------------------------------

void tern_cuda_heap_put_later(tern_cuda_device *device, tern_cuda_block *block)
{
    block->next_waiting = device->heap.waiting;
    device->heap.waiting = block;
}

static void collect(tern_cuda_device *device)
{
    for (tern_cuda_block **link = &device->heap.waiting; *link;) {
        tern_cuda_block *block = *link;
        if (tern_cuda_fence_reached(&block->fences)) {
            *link = block->next_waiting;
            tern_cuda_heap_put(device, block);
        } else {
            link = &block->next_waiting;
        }
    }
}

static tern_cuda_block **best_waiting(tern_cuda_device *device, const tern_cuda_pool *pool,
                                      int64_t nbytes)
{
    tern_cuda_block **best = NULL;
    for (tern_cuda_block **link = &device->heap.waiting; *link; link = &(*link)->next_waiting) {
        const tern_cuda_block *block = *link;
        bool fits = block->pool == pool && block->nbytes >= nbytes &&
                    block->segment->small == is_small(nbytes);
        if (fits && (!best || block->nbytes < (*best)->nbytes))
            best = link;
    }
    return best;
}

// A block that other streams still use: the stream that takes it waits for them, on the device. So
// steps that repeat do not take more and more memory when the host is ahead of the device.
static tern_cuda_block *take_waiting(tern_cuda_device *device, tern_cuda_stream *stream,
                                     const tern_cuda_pool *pool, int64_t nbytes)
{
    tern_cuda_block **link = best_waiting(device, pool, nbytes);
    if (!link || tern_cuda_fence_order(&(*link)->fences, stream) != cudaSuccess)
        return NULL;
    tern_cuda_block *block = *link;
    *link = block->next_waiting;
    return block;
}

// ---- taking -------------------------------------------------------------------------------------

static tern_cuda_block *take_free(tern_cuda_pool *pool, int64_t nbytes)
{
    tern_cuda_block *block = tern_cuda_free_set_fit(set_of(pool, is_small(nbytes)), nbytes);
    if (block)
        take_out(block);
    return block;
}

// A graph is also given what its stream has free; it keeps that.
static tern_cuda_block *take_captured(tern_cuda_stream *stream, tern_cuda_pool *pool,
                                      int64_t nbytes)
{
    tern_cuda_block *block = take_free(pool, nbytes);
    if (block && block->stream != stream)
        (void)tern_cuda_stream_order(block->stream, stream);
    return block ? block : take_free(&stream->pool, nbytes);
}

static tern_cuda_block *take_kept(tern_cuda_device *device, tern_cuda_stream *stream,
                                  tern_cuda_pool *pool, int64_t nbytes)
{
    if (pool->graph)
        return take_captured(stream, pool, nbytes);
    tern_cuda_block *block = take_free(pool, nbytes);
    if (block || !device->heap.waiting)
        return block;
    collect(device);
    block = take_free(pool, nbytes);
    if (block || tern_cuda_capture_of_thread()) // whose waiting would be captured
        return block;
    return take_waiting(device, stream, pool, nbytes);
}

static int64_t segment_size(int64_t nbytes)
{
    bool shared = tern_cuda_heap_keeps() && is_small(nbytes);
    return shared ? LARGE_UNIT : nbytes;
}

static bool worth_splitting(const tern_cuda_block *block, int64_t nbytes)
{
    return block->nbytes - nbytes >= (block->segment->small ? SMALL_UNIT : LARGE_UNIT) &&
           tern_cuda_heap_keeps();
}

cudaError_t tern_cuda_heap_take(tern_cuda_device *device, tern_cuda_stream *stream,
                                tern_cuda_pool *pool, int64_t nbytes, tern_cuda_block **block)
{
    cudaError_t error = tern_cuda_heap_spares(&device->heap);
    if (error != cudaSuccess)
        return error;
    tern_cuda_block *found = take_kept(device, stream, pool, nbytes);
    if (!found) {
        error = tern_cuda_segment_new(device, segment_size(nbytes), is_small(nbytes), &found);
        if (error != cudaSuccess)
            return error;
        found->pool = pool; // where what is split off goes as well
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

// ---- pools that end -----------------------------------------------------------------------------

static void move(tern_cuda_block *block, tern_cuda_pool *pool)
{
    bool was_free = block->free;
    if (was_free)
        take_out(block);
    block->pool = pool;
    if (was_free)
        put_in(block);
}

static void merge_neighbours(tern_cuda_device *device, tern_cuda_segment *segment)
{
    for (tern_cuda_block *block = segment->first; block && block->after;) {
        if (block->free && joins(block, block->after)) {
            take_out(block);
            take_out(block->after);
            merge(device, block);
            put_in(block);
        } else {
            block = block->after;
        }
    }
}

static void merge_all(tern_cuda_device *device)
{
    for (tern_cuda_segment *s = device->heap.segments; s; s = s->next)
        merge_neighbours(device, s);
}

void tern_cuda_heap_forget_last(tern_cuda_device *device, const tern_cuda_pool *pool)
{
    for (tern_cuda_segment *s = device->heap.segments; s; s = s->next)
        for (tern_cuda_block *block = s->first; block; block = block->after)
            if (block->pool == pool)
                block->last = NULL;
}

void tern_cuda_heap_release(tern_cuda_device *device, const tern_cuda_pool *pool)
{
    for (tern_cuda_segment *s = device->heap.segments; s; s = s->next) {
        for (tern_cuda_block *block = s->first; block; block = block->after) {
            if (block->pool != pool)
                continue;
            move(block, &block->stream->pool);
            block->last = block->stream;
        }
    }
    merge_all(device);
    if (!tern_cuda_heap_keeps())
        tern_cuda_heap_trim(device);
}

static void adopt(tern_cuda_block *block, tern_cuda_stream *stream, tern_cuda_stream *heir)
{
    block->users &= ~((uint64_t)1 << stream->slot);
    if (block->last == stream)
        block->last = heir;
    if (block->stream == stream) {
        block->stream = heir;
        block->users |= (uint64_t)1 << heir->slot;
    }
    if (block->pool == &stream->pool)
        move(block, &heir->pool);
}

void tern_cuda_heap_adopt(tern_cuda_device *device, tern_cuda_stream *stream)
{
    for (tern_cuda_segment *s = device->heap.segments; s; s = s->next)
        for (tern_cuda_block *block = s->first; block; block = block->after)
            adopt(block, stream, &device->first);
    merge_all(device);
}

void tern_cuda_heap_trim(tern_cuda_device *device)
{
    while (device->heap.waiting) {
        tern_cuda_block *block = device->heap.waiting;
        device->heap.waiting = block->next_waiting;
        tern_cuda_fence_wait(&block->fences);
        tern_cuda_heap_put(device, block);
    }
    (void)tern_cuda_streams_wait(device); // other threads may have freed more meanwhile
    for (tern_cuda_segment *s = device->heap.segments, *next; s; s = next) {
        next = s->next;
        if (!tern_cuda_segment_idle(s) || s->first->pool->graph)
            continue;
        take_out(s->first);
        tern_cuda_segment_free(device, s);
    }
    tern_cuda_heap_drop_spares(&device->heap);
}
