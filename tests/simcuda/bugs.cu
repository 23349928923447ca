// SPDX-License-Identifier: Apache-2.0
// Planted bugs in kernels, one each. `bugs NAME` ends with 1, or dies, when the simulated device
// finds NAME and says what it found; with 0 when not. The table in meson.build lists what finds
// what.
#include <cuda_runtime.h>
#include <mma.h>

#include "bugs.h"

struct holder {
    float *data;
};

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

__global__ void set_ones(float *x)
{
    x[threadIdx.x] = 1;
}

__global__ void set_held(holder h)
{
    h.data[threadIdx.x] = 1;
}

__global__ void global_past_the_end(float *x)
{
    x[threadIdx.x + 1] = 1;
}

__global__ void shared_past_the_end(float *x)
{
    TERN_SHARED(float, s, [32]);
    s[threadIdx.x] = 1;
    __syncthreads();
    const float *beside = s + 1; // a pointer: no compiler knows the bounds
    x[threadIdx.x] = beside[threadIdx.x];
}

__global__ void dynamic_past_the_end(float *x)
{
    TERN_DYN_SHARED(float, s);
    s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}

__global__ void no_barrier(float *x)
{
    TERN_SHARED(float, s, [64]);
    s[threadIdx.x] = 1;
    x[threadIdx.x] = s[threadIdx.x ^ 32];
}

__device__ float block_sum(float v)
{
    TERN_SHARED(float, s, [32]);
    int lane = threadIdx.x % 32;
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    if (lane == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = lane < (int)blockDim.x / 32 ? s[lane] : 0.0f;
    for (int o = 16; o; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v; // no barrier: the next call writes s while others may still read it
}

__global__ void no_barrier_before_reuse(float *x)
{
    x[threadIdx.x] = block_sum(1) + block_sum(2);
}

__global__ void no_syncwarp(float *x)
{
    TERN_SHARED(float, s, [32]);
    s[threadIdx.x] = 1;
    x[threadIdx.x] = s[threadIdx.x ^ 1];
}

__global__ void two_threads_write(float *x)
{
    x[0] = (float)threadIdx.x;
}

__global__ void blocks_race(float *x)
{
    if (threadIdx.x == 0)
        x[0] += 1;
}

__global__ void blocks_add_atomically(float *x)
{
    if (threadIdx.x == 0)
        atomicAdd(x, 1);
}

__global__ void barrier_for_some(float *x)
{
    if (threadIdx.x < 16)
        __syncthreads();
    x[threadIdx.x] = 1;
}

__global__ void two_barriers(float *x)
{
    if (threadIdx.x < 16) {
        x[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
    }
}

__global__ void return_before_barrier(float *x, int n)
{
    if ((int)threadIdx.x >= n)
        return;
    __syncthreads();
    x[threadIdx.x] = 1;
}

__global__ void warp_barrier_for_some(float *x)
{
    if (threadIdx.x < 16)
        __syncwarp();
    else
        __syncthreads();
    x[threadIdx.x] = 1;
}

__global__ void shuffle_with_returned(float *x, int n)
{
    if ((int)threadIdx.x >= n)
        return;
    x[threadIdx.x] += __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 16);
}

__global__ void shuffle_outside_mask(float *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] += __shfl_down_sync(0x0000ffffu, x[threadIdx.x], 1);
}

__global__ void lane_not_in_mask(float *x)
{
    x[threadIdx.x] += __shfl_xor_sync(0x0000ffffu, x[threadIdx.x], 1);
}

__global__ void misaligned(float *x)
{
    reinterpret_cast<float4 *>(x + 1)[threadIdx.x] = make_float4(1, 2, 3, 4);
}

__global__ void int_overflow(float *x, int n)
{
    int i = n * 4 + (int)threadIdx.x;
    x[threadIdx.x] = i < 0 ? 1 : 2;
}

__global__ void shared_not_written(float *x)
{
    TERN_SHARED(float, s, [64]);
    if (threadIdx.x < 32)
        s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}

// The second block finds nothing of what the first one left.
__global__ void shared_of_last_block(float *x)
{
    TERN_SHARED(float, s, [64]);
    if (blockIdx.x == 0)
        s[threadIdx.x] = 1;
    __syncthreads();
    x[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

__global__ void too_much_shared(float *x)
{
    TERN_SHARED(float, s, [12289]);
    s[threadIdx.x] = x[threadIdx.x];
}

typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 8, nvcuda::wmma::precision::tf32,
                               nvcuda::wmma::row_major>
    tf32_a;
typedef nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 8, nvcuda::wmma::precision::tf32,
                               nvcuda::wmma::row_major>
    tf32_b;
typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 8, float> tf32_sums;

__global__ void matrix_for_some(float *x)
{
    if (threadIdx.x >= 16)
        return;
    tf32_a a;
    nvcuda::wmma::load_matrix_sync(a, x, 8);
}

__global__ void matrix_misaligned(float *x)
{
    tf32_a a;
    nvcuda::wmma::load_matrix_sync(a, x + 4, 8);
}

__global__ void matrix_lines_misaligned(float *x)
{
    tf32_a a;
    nvcuda::wmma::load_matrix_sync(a, x, 9);
}

__global__ void matrix_lines_overlap(float *x)
{
    tf32_a a;
    nvcuda::wmma::load_matrix_sync(a, x, 4);
}

__global__ void matrices_differ(float *x)
{
    tf32_a a;
    nvcuda::wmma::load_matrix_sync(a, x + threadIdx.x / 16 * 8, 8);
}

__global__ void matrix_not_filled(float *x)
{
    TERN_SHARED(float, s, [16][16]);
    tf32_sums sum;
    nvcuda::wmma::store_matrix_sync(&s[0][0], sum, 16, nvcuda::wmma::mem_row_major);
    x[threadIdx.x] = s[0][0];
}

__global__ void matrix_not_rounded(float *x)
{
    tf32_a a;
    tf32_b b;
    tf32_sums sum;
    nvcuda::wmma::fill_fragment(a, 0.1f);
    nvcuda::wmma::fill_fragment(b, 1.0f);
    nvcuda::wmma::fill_fragment(sum, 0.0f);
    nvcuda::wmma::mma_sync(sum, a, b, sum);
    x[threadIdx.x] = sum.x[0];
}

// One launch on 64 zeros, and what came of it.
#define BUG(kernel, grid, block, shared_bytes, ...)                                                \
    static const char *bug_##kernel()                                                              \
    {                                                                                              \
        float *x = new_floats(0);                                                                  \
        TERN_LAUNCH(kernel, grid, block, shared_bytes, stream, x, ##__VA_ARGS__);                  \
        return outcome(x);                                                                         \
    }

BUG(global_past_the_end, 1, 64, 0)
BUG(shared_past_the_end, 1, 32, 0)
BUG(dynamic_past_the_end, 1, 64, 63 * sizeof(float))
BUG(no_barrier, 1, 64, 0)
BUG(no_barrier_before_reuse, 1, 64, 0)
BUG(no_syncwarp, 1, 32, 0)
BUG(two_threads_write, 1, 32, 0)
BUG(blocks_race, 16, 32, 0)
BUG(blocks_add_atomically, 16, 32, 0)
BUG(barrier_for_some, 1, 32, 0)
BUG(two_barriers, 1, 32, 0)
BUG(return_before_barrier, 1, 64, 0, 40)
BUG(warp_barrier_for_some, 1, 32, 0)
BUG(shuffle_with_returned, 1, 64, 0, 40)
BUG(shuffle_outside_mask, 1, 32, 0)
BUG(lane_not_in_mask, 1, 32, 0)
BUG(misaligned, 1, 8, 0)
BUG(int_overflow, 1, 32, 0, 0x20000001)
BUG(shared_not_written, 1, 64, 0)
BUG(shared_of_last_block, 2, 32, 0)
BUG(too_much_shared, 1, 64, 0)
BUG(matrix_for_some, 1, 32, 0)
BUG(matrix_misaligned, 1, 32, 0)
BUG(matrix_lines_misaligned, 1, 32, 0)
BUG(matrix_lines_overlap, 1, 32, 0)
BUG(matrices_differ, 1, 32, 0)
BUG(matrix_not_filled, 1, 32, 0)
BUG(matrix_not_rounded, 1, 32, 0)

const struct bug kernel_bugs[] = {
#define NAMED(kernel)                                                                              \
    {                                                                                              \
#kernel, bug_##kernel                                                                      \
    }
    NAMED(global_past_the_end),
    NAMED(shared_past_the_end),
    NAMED(dynamic_past_the_end),
    NAMED(no_barrier),
    NAMED(no_barrier_before_reuse),
    NAMED(no_syncwarp),
    NAMED(two_threads_write),
    NAMED(blocks_race),
    NAMED(blocks_add_atomically),
    NAMED(barrier_for_some),
    NAMED(two_barriers),
    NAMED(return_before_barrier),
    NAMED(warp_barrier_for_some),
    NAMED(shuffle_with_returned),
    NAMED(shuffle_outside_mask),
    NAMED(lane_not_in_mask),
    NAMED(misaligned),
    NAMED(int_overflow),
    NAMED(shared_not_written),
    NAMED(shared_of_last_block),
    NAMED(too_much_shared),
    NAMED(matrix_for_some),
    NAMED(matrix_misaligned),
    NAMED(matrix_lines_misaligned),
    NAMED(matrix_lines_overlap),
    NAMED(matrices_differ),
    NAMED(matrix_not_filled),
    NAMED(matrix_not_rounded),
    {nullptr, nullptr},
};

void launch_twice(cudaStream_t on, float *x, unsigned grid, unsigned block)
{
    TERN_LAUNCH(twice, grid, block, 0, on, x);
}

void launch_set_ones(cudaStream_t on, float *x)
{
    TERN_LAUNCH(set_ones, 1, 32, 0, on, x);
}

void launch_set_held(cudaStream_t on, float *x)
{
    TERN_LAUNCH(set_held, 1, 32, 0, on, holder{x});
}
