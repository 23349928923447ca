// SPDX-License-Identifier: Apache-2.0
// Sorting items within a block, and merging two sorted runs of memory by blocks: each thread finds
// where its part of the result begins in both by a binary search along a diagonal (O. Green, R.
// McColl and D. A. Bader, "GPU merge path: a GPU merging algorithm", ICS 2012).
//
// An item is a key with the index of its element, so that no two are the same and their order is
// that of a stable sort.
#ifndef TERN_SRC_CUDA_SORT_MERGE_CUH
#define TERN_SRC_CUDA_SORT_MERGE_CUH

#include "cuda/block.cuh"

// A key of 32 bits above an index of 32 bits.
struct packed_item {
    uint64_t word;
};
struct wide_item {
    uint64_t key;
    int64_t index;
};

__device__ __forceinline__ bool comes_before(const packed_item &a, const packed_item &b)
{
    return a.word < b.word;
}
__device__ __forceinline__ bool comes_before(const wide_item &a, const wide_item &b)
{
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}

template <class Item> struct item_parts;
template <> struct item_parts<packed_item> {
    static __device__ __forceinline__ packed_item make(uint64_t key, int64_t index)
    {
        return packed_item{key << 32 | (uint64_t)index};
    }
    static __device__ __forceinline__ packed_item last()
    {
        return packed_item{UINT64_MAX};
    }
    static __device__ __forceinline__ uint64_t key(const packed_item &item)
    {
        return item.word >> 32;
    }
    static __device__ __forceinline__ int64_t index(const packed_item &item)
    {
        return (int64_t)(item.word & UINT32_MAX);
    }
};
template <> struct item_parts<wide_item> {
    static __device__ __forceinline__ wide_item make(uint64_t key, int64_t index)
    {
        return wide_item{key, index};
    }
    static __device__ __forceinline__ wide_item last()
    {
        return wide_item{UINT64_MAX, INT64_MAX};
    }
    static __device__ __forceinline__ uint64_t key(const wide_item &item)
    {
        return item.key;
    }
    static __device__ __forceinline__ int64_t index(const wide_item &item)
    {
        return item.index;
    }
};

// Two sorted runs.
template <class Item, class Index> struct run_pair {
    const Item *a, *b;
    Index a_count, b_count;
};

// How many of the first `diagonal` items of the merged run come from a.
template <class Item, class Index>
__device__ __forceinline__ Index merge_path(const run_pair<Item, Index> &runs, Index diagonal)
{
    Index low = max((Index)0, diagonal - runs.b_count), high = min(diagonal, runs.a_count);
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (comes_before(runs.a[middle], runs.b[diagonal - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The same by all lanes of a warp, which look at 32 items at once.
template <class Item>
__device__ __forceinline__ int64_t warp_merge_path(const run_pair<Item, int64_t> &runs,
                                                   int64_t diagonal)
{
    const int lane = (int)threadIdx.x % WARP_SIZE;
    int64_t low = max((int64_t)0, diagonal - runs.b_count), high = min(diagonal, runs.a_count);
    while (low < high) {
        const int64_t step = (high - low + WARP_SIZE - 1) / WARP_SIZE;
        const int64_t at = low + (lane + 1) * step - 1;
        const bool from_a = at < high && comes_before(runs.a[at], runs.b[diagonal - 1 - at]);
        const int steps = __popc(__ballot_sync(WARP_ALL, from_a));
        high = min(high, low + (steps + 1) * step - 1);
        low += steps * step;
    }
    return low;
}

// Items diagonal .. diagonal + EACH - 1 of the merged run, as far as there are so many.
template <int EACH, class Item>
__device__ __forceinline__ void merge_part(const run_pair<Item, int> &runs, int diagonal,
                                           Item (&own)[EACH])
{
    int a = merge_path(runs, min(diagonal, runs.a_count + runs.b_count)), b = diagonal - a;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const bool have_a = a < runs.a_count, have_b = b < runs.b_count;
        if (!have_a && !have_b)
            continue;
        const bool from_a = !have_b || (have_a && comes_before(runs.a[a], runs.b[b]));
        own[k] = from_a ? runs.a[a] : runs.b[b];
        a += from_a;
        b += !from_a;
    }
}

// By odd-even transposition.
template <int EACH, class Item> __device__ __forceinline__ void sort_own(Item (&own)[EACH])
{
#pragma unroll
    for (int step = 0; step < EACH; step++) {
#pragma unroll
        for (int k = step % 2; k + 1 < EACH; k += 2) {
            const Item low = own[k], high = own[k + 1];
            const bool exchange = comes_before(high, low);
            own[k] = exchange ? high : low;
            own[k + 1] = exchange ? low : high;
        }
    }
}

// Thread t's items follow each other at EACH t.
template <int EACH, class Item>
__device__ __forceinline__ void store_own(const Item (&own)[EACH], Item *shared)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        shared[(int)threadIdx.x * EACH + k] = own[k];
}

// Sorts the items of all threads into `shared`; ends with a barrier.
template <int THREADS, int EACH, class Item>
__device__ __forceinline__ void sort_in_block(Item (&own)[EACH], Item *shared)
{
    const int first = (int)threadIdx.x * EACH;
    sort_own(own);
    store_own(own, shared);
    for (int run = EACH; run < THREADS * EACH; run *= 2) {
        const int begin = first / (2 * run) * (2 * run);
        const run_pair<Item, int> runs = {shared + begin, shared + begin + run, run, run};
        __syncthreads();
        merge_part<EACH>(runs, first - begin, own);
        __syncthreads();
        store_own(own, shared);
    }
    __syncthreads();
}

#endif
