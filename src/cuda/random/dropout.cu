// SPDX-License-Identifier: Apache-2.0
// Dropout. A thread draws the four words of one Philox counter, for four elements. The backward
// draws them again: it needs nothing but the id of the call.
#include "base/philox.h"
#include "cuda/walk.cuh"

#define GROUP 4

struct dropout_job {
    const tern_draw_state *draws;
    uint64_t *id;
    uint64_t offset, threshold;
    int64_t numel;
    bool replay, aligned;
};

template <class T>
__device__ __forceinline__ T drop(T x, uint32_t word, uint64_t threshold, computed_t<T> scale)
{
    return narrow<T>(word >= threshold ? widen(x) * scale : 0);
}

template <class T>
__global__ void __launch_bounds__(WALK_THREADS)
    dropout(dropout_job job, computed_t<T> scale, T *y, const T *x)
{
    const int64_t group = walk_thread(), first = group * GROUP;
    if (first >= job.numel)
        return;
    const uint64_t call = job.replay ? *job.id : job.draws->base + job.offset;
    if (group == 0 && !job.replay)
        *job.id = call;
    const tern_philox_block block = tern_philox(job.draws->seed, call, (uint64_t)group);
    if (job.aligned && first + GROUP <= job.numel) {
        pack<T, GROUP> values = pack_load<GROUP>(x + first);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            values.at[k] = drop(values.at[k], block.word[k], job.threshold, scale);
        pack_store(y + first, values);
        return;
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        if (first + k < job.numel)
            y[first + k] = drop(x[first + k], block.word[k], job.threshold, scale);
}

template <class T>
static tern_status run(const tern_exec *exec, dropout_job job, double scale, const tern_strided *y,
                       const tern_strided *x)
{
    const uintptr_t both = (uintptr_t)y->data | (uintptr_t)x->data;
    job.aligned = both % sizeof(pack<T, GROUP>) == 0;
    TERN_LAUNCH(dropout<T>, walk_blocks((job.numel + GROUP - 1) / GROUP), WALK_THREADS, 0,
                exec->stream, job, (computed_t<T>)scale, (T *)y->data, (const T *)x->data);
    return tern_cuda_launched("dropout");
}

extern "C" tern_status tern_cuda_dropout(const tern_exec *exec, const tern_dropout_args *args,
                                         const tern_strided *y, const tern_strided *x)
{
    dropout_job job = {};
    job.draws = exec->draws;
    job.id = args->id;
    job.offset = args->offset;
    job.threshold = tern_philox_threshold(args->p);
    job.numel = tern_strided_numel(y);
    job.replay = args->replay;
    if (job.numel == 0)
        return TERN_OK;
    const double scale = args->p < 1 ? 1 / (1 - args->p) : 0;
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, run<T>(exec, job, scale, y, x))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("dropout", y->dtype);
}
