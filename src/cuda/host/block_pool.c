// SPDX-License-Identifier: Apache-2.0
// The data structures of the caching allocator: sets of free blocks, and segments.
#include "cuda/host/block_pool.h"

#include <stdlib.h>
#include "cuda/host/current.h"

// ---- free sets ----------------------------------------------------------------------------------

// Free blocks in order: a treap. R. Seidel, C. Aragon, "Randomized search trees", 1996.
static uint64_t priority(const tern_cuda_block *block)
{
    uint64_t mixed = (uint64_t)(uintptr_t)block->data * 0x9E3779B97F4A7C15u;
    return mixed ^ mixed >> 32;
}

static bool comes_before(const tern_cuda_block *a, const tern_cuda_block *b)
{
    return a->nbytes != b->nbytes ? a->nbytes < b->nbytes : a->data < b->data;
}

// Cuts a tree into what comes before the block and what comes after it.
static void cut(tern_cuda_block *tree, const tern_cuda_block *block, tern_cuda_block **before,
                tern_cuda_block **after)
{
    while (tree) {
        if (comes_before(tree, block)) {
            *before = tree;
            before = &tree->right;
            tree = tree->right;
        } else {
            *after = tree;
            after = &tree->left;
            tree = tree->left;
        }
    }
    *before = *after = NULL;
}

void tern_cuda_free_set_add(tern_cuda_free_set *set, tern_cuda_block *block)
{
    tern_cuda_block **link = &set->root;
    while (*link && priority(*link) >= priority(block))
        link = comes_before(*link, block) ? &(*link)->right : &(*link)->left;
    cut(*link, block, &block->left, &block->right);
    *link = block;
}

// Everything in `before` comes before everything in `after`.
static void join(tern_cuda_block **link, tern_cuda_block *before, tern_cuda_block *after)
{
    while (before && after) {
        if (priority(before) >= priority(after)) {
            *link = before;
            link = &before->right;
            before = before->right;
        } else {
            *link = after;
            link = &after->left;
            after = after->left;
        }
    }
    *link = before ? before : after;
}

void tern_cuda_free_set_remove(tern_cuda_free_set *set, tern_cuda_block *block)
{
    tern_cuda_block **link = &set->root;
    while (*link != block)
        link = comes_before(*link, block) ? &(*link)->right : &(*link)->left;
    join(link, block->left, block->right);
    block->left = block->right = NULL;
}

tern_cuda_block *tern_cuda_free_set_fit(const tern_cuda_free_set *set, int64_t nbytes)
{
    tern_cuda_block *found = NULL;
    for (tern_cuda_block *block = set->root; block;) {
        bool fits = block->nbytes >= nbytes;
        if (fits)
            found = block;
        block = fits ? block->left : block->right;
    }
    return found;
}

// ---- structs ------------------------------------------------------------------------------------

static int count_unused(const tern_cuda_allocator *allocator)
{
    int count = 0;
    for (const tern_cuda_block *block = allocator->unused_blocks; block && count < 2;
         block = block->after)
        count++;
    return count;
}

cudaError_t tern_cuda_allocator_reserve_structs(tern_cuda_allocator *allocator)
{
    if (!allocator->unused_segments)
        allocator->unused_segments = calloc(1, sizeof *allocator->unused_segments);
    for (int have = count_unused(allocator); have < 2; have++) {
        tern_cuda_block *block = calloc(1, sizeof *block);
        if (!block)
            return cudaErrorMemoryAllocation;
        tern_cuda_block_struct_give(allocator, block);
    }
    return allocator->unused_segments ? cudaSuccess : cudaErrorMemoryAllocation;
}

void tern_cuda_allocator_free_structs(tern_cuda_allocator *allocator)
{
    while (allocator->unused_blocks)
        free(tern_cuda_block_struct_take(allocator));
    while (allocator->unused_segments) {
        tern_cuda_segment *segment = allocator->unused_segments;
        allocator->unused_segments = segment->next;
        free(segment);
    }
}

tern_cuda_block *tern_cuda_block_struct_take(tern_cuda_allocator *allocator)
{
    tern_cuda_block *block = allocator->unused_blocks;
    allocator->unused_blocks = block->after;
    return block;
}

void tern_cuda_block_struct_give(tern_cuda_allocator *allocator, tern_cuda_block *block)
{
    block->after = allocator->unused_blocks;
    allocator->unused_blocks = block;
}

// ---- memory of the device -----------------------------------------------------------------------

static void count_reserved(tern_cuda_allocator *allocator, int64_t nbytes)
{
    allocator->reserved += nbytes;
    if (allocator->reserved > allocator->reserved_peak)
        allocator->reserved_peak = allocator->reserved;
}

cudaError_t tern_cuda_device_alloc(tern_cuda_device *device, int64_t nbytes, void **data)
{
    tern_cuda_capture_mode_relaxed_begin();
    cudaError_t error = cudaMalloc(data, (size_t)nbytes);
    tern_cuda_capture_mode_relaxed_end();
    if (error != cudaSuccess) {
        cudaGetLastError(); // see tern_cuda_clear_error
        return error;
    }
    device->allocator.device_allocs++;
    count_reserved(&device->allocator, nbytes);
    return cudaSuccess;
}

void tern_cuda_device_free(tern_cuda_device *device, int64_t nbytes, void *data)
{
    tern_cuda_capture_mode_relaxed_begin();
    if (cudaFree(data) != cudaSuccess)
        cudaGetLastError(); // a sticky error meets the next call as well
    tern_cuda_capture_mode_relaxed_end();
    device->allocator.reserved -= nbytes;
}

// ---- segments -----------------------------------------------------------------------------------

cudaError_t tern_cuda_segment_new(tern_cuda_device *device, int64_t nbytes, bool small,
                                  tern_cuda_block **block)
{
    void *data = NULL;
    cudaError_t error = tern_cuda_device_alloc(device, nbytes, &data);
    if (error != cudaSuccess)
        return error;
    tern_cuda_allocator *allocator = &device->allocator;
    tern_cuda_segment *segment = allocator->unused_segments;
    allocator->unused_segments = segment->next;
    *block = tern_cuda_block_struct_take(allocator);
    **block = (tern_cuda_block){.data = data, .nbytes = nbytes, .segment = segment};
    *segment = (tern_cuda_segment){.data = data,
                                   .nbytes = nbytes,
                                   .small = small,
                                   .first = *block,
                                   .next = allocator->segments};
    allocator->segments = segment;
    return cudaSuccess;
}

void tern_cuda_segment_free(tern_cuda_device *device, tern_cuda_segment *segment)
{
    tern_cuda_allocator *allocator = &device->allocator;
    tern_cuda_device_free(device, segment->nbytes, segment->data);
    tern_cuda_segment **link = &allocator->segments;
    while (*link != segment)
        link = &(*link)->next;
    *link = segment->next;
    tern_cuda_block_struct_give(allocator, segment->first);
    segment->next = allocator->unused_segments;
    allocator->unused_segments = segment;
}

bool tern_cuda_segment_is_free(const tern_cuda_segment *segment)
{
    return segment->first->free && !segment->first->after;
}
