// SPDX-License-Identifier: Apache-2.0
#include "cuda/tern_cu.h"
#include "floor_kernels.h"

__global__ void link(float *x)
{
    if (threadIdx.x == 0)
        x[blockIdx.x] += 1;
}

void queue_link(cudaStream_t stream, float *x, int blocks)
{
    TERN_LAUNCH(link, blocks, CHAIN_THREADS, 0, stream, x);
}

__global__ void read_wide(const float4 *x, int64_t count, int passes, float *sums)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    float sum = 0;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
            const float4 v = __ldcg(x + i);
            sum += v.x + v.y + v.z + v.w;
        }
    if (sum == 0.5f) // never: x holds whole numbers
        sums[blockIdx.x] = sum;
}

void queue_reads(cudaStream_t stream, const void *x, int64_t count, int passes, float *sums,
                 int blocks)
{
    TERN_LAUNCH(read_wide, blocks, WIDE_THREADS, 0, stream, static_cast<const float4 *>(x), count,
                passes, sums);
}

__global__ void copy_wide(float4 *y, const float4 *x, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        y[i] = x[i];
}

void queue_wide_copy(cudaStream_t stream, void *y, const void *x, int64_t count, int blocks)
{
    TERN_LAUNCH(copy_wide, blocks, WIDE_THREADS, 0, stream, static_cast<float4 *>(y),
                static_cast<const float4 *>(x), count);
}

#ifdef TERN_CUDA_SIM // where blocks run one after another
cudaError_t queue_early_link(cudaStream_t, float *, int)
{
    return cudaErrorNotSupported;
}

cudaError_t queue_meetings(cudaStream_t, unsigned *, unsigned *, unsigned *, int, int)
{
    return cudaErrorNotSupported;
}
#else
__global__ void early_link(float *x)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    if (threadIdx.x == 0)
        x[blockIdx.x] += 1;
}

cudaError_t queue_early_link(cudaStream_t stream, float *x, int blocks)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(CHAIN_THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, early_link, x);
}

__device__ static void meet(unsigned *counter, unsigned target)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1u);
        while (*(volatile unsigned *)counter < target) {
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void meetings(unsigned *counter, unsigned *marks, unsigned *late, int rounds)
{
    const unsigned neighbour = (blockIdx.x + 1) % gridDim.x;
    for (unsigned round = 1; round <= (unsigned)rounds; round++) {
        if (threadIdx.x == 0)
            *(volatile unsigned *)&marks[blockIdx.x] = round;
        meet(counter, round * gridDim.x);
        if (threadIdx.x == 0 && *(volatile unsigned *)&marks[neighbour] < round)
            atomicAdd(late, 1u);
    }
}

cudaError_t queue_meetings(cudaStream_t stream, unsigned *counter, unsigned *marks, unsigned *late,
                           int blocks, int rounds)
{
    void *arguments[] = {&counter, &marks, &late, &rounds};
    return cudaLaunchCooperativeKernel((const void *)meetings, dim3((unsigned)blocks),
                                       dim3(WIDE_THREADS), arguments, 0, stream);
}
#endif
