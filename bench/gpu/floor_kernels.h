// SPDX-License-Identifier: Apache-2.0
// The kernels that gpu_floor times. All are queued on the stream; what a launch answers,
// cudaGetLastError tells, but for those that return it.
#ifndef TERN_BENCH_GPU_FLOOR_KERNELS_H
#define TERN_BENCH_GPU_FLOOR_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CHAIN_THREADS = 128, WIDE_THREADS = 256 };

// The least that is not nothing: x[block] += 1, by one thread of each block.
void queue_link(cudaStream_t stream, float *x, int blocks);
// The same, launched so that it may begin before the one in front of it has ended, for whose end it
// waits itself: a programmatic dependent launch. cudaErrorNotSupported where there is none.
cudaError_t queue_early_link(cudaStream_t stream, float *x, int blocks);

// All blocks, at most as many as can be there at once, meet `rounds` times at one counter, which
// begins at 0. Each leaves the round in marks[block]; `late` counts neighbours that had not.
cudaError_t queue_meetings(cudaStream_t stream, unsigned *counter, unsigned *marks, unsigned *late,
                           int blocks, int rounds);

// Reads `count` float4 `passes` times, past the L1 caches; sums (blocks) so that it is not in vain.
void queue_reads(cudaStream_t stream, const void *x, int64_t count, int passes, float *sums,
                 int blocks);
// y = x, `count` float4.
void queue_wide_copy(cudaStream_t stream, void *y, const void *x, int64_t count, int blocks);

#ifdef __cplusplus
}
#endif

#endif
