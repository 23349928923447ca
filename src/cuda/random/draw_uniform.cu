// SPDX-License-Identifier: Apache-2.0
// Uniform numbers of a draw. A thread draws the four words of one Philox counter, for four
// elements.
#include "base/philox.h"
#include "cuda/loop.cuh"

#define GROUP 4

struct draw_job {
    const tern_draw_state *draws;
    uint64_t offset;
    int64_t numel;
    bool aligned;
};

template <class T>
__device__ __forceinline__ T between(opmath_t<T> low, opmath_t<T> range, uint32_t word)
{
    typedef opmath_t<T> C;
    return downcast<T>(low + range * ((C)word * (C)2.3283064365386963e-10)); // 2^-32
}

template <class T>
__global__ void __launch_bounds__(LOOP_THREADS)
    draw_uniform(draw_job job, opmath_t<T> low, opmath_t<T> range, T *y)
{
    const int64_t group = loop_thread(), first = group * GROUP;
    if (first >= job.numel)
        return;
    const uint64_t call = job.draws->base + job.offset;
    const tern_philox_block block = tern_philox(job.draws->seed, call, (uint64_t)group);
    if (job.aligned && first + GROUP <= job.numel) {
        vec<T, GROUP> values;
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            values.at[k] = between<T>(low, range, block.word[k]);
        vec_store(y + first, values);
        return;
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        if (first + k < job.numel)
            y[first + k] = between<T>(low, range, block.word[k]);
}

template <class T>
static tern_status run(const tern_exec *exec, draw_job job, const tern_draw_args *args,
                       const tern_strided *y)
{
    typedef opmath_t<T> C;
    job.aligned = (uintptr_t)y->data % sizeof(vec<T, GROUP>) == 0;
    return LAUNCH("draw_uniform", draw_uniform<T>, loop_blocks(ceil_div(job.numel, GROUP)),
                  LOOP_THREADS, exec->stream, job, (C)args->low, (C)(args->high - args->low),
                  (T *)y->data);
}

extern "C" tern_status tern_cuda_draw_uniform(const tern_exec *exec, const tern_draw_args *args,
                                              const tern_strided *y)
{
    draw_job job = {};
    job.draws = exec->draws;
    job.offset = args->offset;
    job.numel = tern_strided_numel(y);
    if (job.numel == 0)
        return TERN_OK;
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, run<T>(exec, job, args, y))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("draw_uniform", y->dtype);
}
