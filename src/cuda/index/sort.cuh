// SPDX-License-Identifier: Apache-2.0
// Sorting pairs of destination and position by K. E. Batcher's bitonic sorting network ("Sorting
// networks and their applications", 1968): the same comparisons in every run.
#ifndef TERN_SRC_CUDA_INDEX_SORT_CUH
#define TERN_SRC_CUDA_INDEX_SORT_CUH

#include "cuda/launch.cuh"

#define SORT_BLOCK   1024 // keys that one block sorts in shared memory
#define SORT_THREADS (SORT_BLOCK / 2)

// By `destination`, then by `position`; no two are the same.
struct sort_key {
    int64_t destination, position;
};

__device__ __forceinline__ bool sorts_after(const sort_key &a, const sort_key &b)
{
    return a.destination > b.destination ||
           (a.destination == b.destination && a.position > b.position);
}

// Compare-exchange: puts two keys into ascending (`up`) or descending order.
__device__ __forceinline__ void sort_pair(sort_key *low, sort_key *high, bool up)
{
    const sort_key a = *low, b = *high;
    if (sorts_after(a, b) == up) {
        *low = b;
        *high = a;
    }
}

// The lower key of pair `pair` among keys that are `apart` (a power of two) from their partners.
__device__ __forceinline__ int64_t lower_index(int64_t pair, int64_t apart)
{
    return 2 * pair - (pair & (apart - 1));
}

// Merges runs of first / 2, first, .. last / 2 keys to twice their length, as far as that is done
// within SORT_BLOCK neighbours.
static __global__ void __launch_bounds__(SORT_THREADS)
    sort_in_block(sort_key *keys, int64_t first, int64_t last)
{
    TERN_SHARED(sort_key, shared, [SORT_BLOCK]);
    const int64_t begin = (int64_t)blockIdx.x * SORT_BLOCK;
    const int thread = (int)threadIdx.x;
    shared[thread] = keys[begin + thread];
    shared[thread + SORT_THREADS] = keys[begin + thread + SORT_THREADS];
    for (int64_t run = first; run <= last; run *= 2) {
        for (int64_t apart = min(run / 2, (int64_t)SORT_THREADS); apart > 0; apart /= 2) {
            const int64_t low = lower_index(thread, apart);
            __syncthreads();
            sort_pair(&shared[low], &shared[low + apart], ((begin + low) & run) == 0);
        }
    }
    __syncthreads();
    keys[begin + thread] = shared[thread];
    keys[begin + thread + SORT_THREADS] = shared[thread + SORT_THREADS];
}

// One step of the merge to runs of `run`.
static __global__ void __launch_bounds__(SORT_THREADS)
    sort_across_blocks(sort_key *keys, int64_t run, int64_t apart)
{
    const int64_t pair = (int64_t)blockIdx.x * SORT_THREADS + threadIdx.x;
    const int64_t low = lower_index(pair, apart);
    sort_pair(&keys[low], &keys[low + apart], (low & run) == 0);
}

// count: a power of two, at least SORT_BLOCK.
static inline tern_status sort_keys(const tern_exec *exec, const char *op, sort_key *keys,
                                    int64_t count)
{
    const unsigned blocks = (unsigned)(count / SORT_BLOCK);
    TERN_TRY(LAUNCH(op, sort_in_block, blocks, SORT_THREADS, exec->stream, keys, 2, SORT_BLOCK));
    for (int64_t run = 2 * SORT_BLOCK; run <= count; run *= 2) {
        for (int64_t apart = run / 2; apart >= SORT_BLOCK; apart /= 2) {
            TERN_TRY(LAUNCH(op, sort_across_blocks, blocks, SORT_THREADS, exec->stream, keys, run,
                            apart));
        }
        TERN_TRY(LAUNCH(op, sort_in_block, blocks, SORT_THREADS, exec->stream, keys, run, run));
    }
    return TERN_OK;
}

static inline int64_t sort_capacity(int64_t count)
{
    int64_t capacity = SORT_BLOCK;
    while (capacity < count)
        capacity *= 2;
    return capacity;
}

#endif
