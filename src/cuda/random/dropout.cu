// SPDX-License-Identifier: Apache-2.0
// Dropout. A thread does four elements. Where each has a draw of its own they have the four words
// of one Philox counter; where channels share one, the thread draws the word of each channel that
// it meets. The backward draws them again: it needs nothing but the id of the call.
#include "base/philox.h"
#include "cuda/loop.cuh"

#define GROUP 4

struct dropout_job {
    const tern_draw_state *draws;
    uint64_t *id;
    uint64_t offset, threshold;
    int64_t numel;
    int64_divisor inner;
    bool replay, aligned;
};

template <class C> struct change {
    C scale, shift, dropped;
};

template <class T>
__device__ __forceinline__ T apply_dropout(T x, uint32_t word, uint64_t threshold,
                                           const change<opmath_t<T>> &to)
{
    return downcast<T>(word >= threshold ? upcast(x) * to.scale + to.shift : to.dropped);
}

// The id of the call; the first thread writes it down.
__device__ __forceinline__ uint64_t find_call(const dropout_job &job, int64_t group)
{
    const uint64_t call = job.replay ? *job.id : job.draws->base + job.offset;
    if (group == 0 && !job.replay)
        *job.id = call;
    return call;
}

template <class T>
__global__ void __launch_bounds__(LOOP_THREADS)
    dropout(dropout_job job, change<opmath_t<T>> to, T *y, const T *x)
{
    const int64_t group = loop_thread(), first = group * GROUP;
    if (first >= job.numel)
        return;
    const uint64_t call = find_call(job, group);
    const tern_philox_block block = tern_philox(job.draws->seed, call, (uint64_t)group);
    if (job.aligned && first + GROUP <= job.numel) {
        vec<T, GROUP> values = vec_load<GROUP>(x + first);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            values.at[k] = apply_dropout(values.at[k], block.word[k], job.threshold, to);
        vec_store(y + first, values);
        return;
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        if (first + k < job.numel)
            y[first + k] = apply_dropout(x[first + k], block.word[k], job.threshold, to);
}

__device__ __forceinline__ uint32_t philox_word(uint64_t seed, uint64_t call, int64_t draw)
{
    const tern_philox_block block = tern_philox(seed, call, (uint64_t)draw / 4);
    const uint32_t low = draw & 1 ? block.word[1] : block.word[0];
    const uint32_t high = draw & 1 ? block.word[3] : block.word[2];
    return draw & 2 ? high : low;
}

// Where four elements share their draw they are one vector.
template <class T>
__global__ void __launch_bounds__(LOOP_THREADS)
    dropout_channels(dropout_job job, change<opmath_t<T>> to, T *y, const T *x)
{
    const int64_t group = loop_thread(), first = group * GROUP;
    if (first >= job.numel)
        return;
    const uint64_t call = find_call(job, group), seed = job.draws->seed;
    int64_t along = first, draw = fast_divmod(&along, job.inner);
    uint32_t word = philox_word(seed, call, draw);
    if (job.aligned && job.inner.size % GROUP == 0) {
        vec<T, GROUP> values = vec_load<GROUP>(x + first);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            values.at[k] = apply_dropout(values.at[k], word, job.threshold, to);
        vec_store(y + first, values);
        return;
    }
    const int64_t last = first + GROUP < job.numel ? first + GROUP : job.numel;
#pragma unroll 1
    for (int64_t i = first; i < last; i++) {
        y[i] = apply_dropout(x[i], word, job.threshold, to);
        if (++along == (int64_t)job.inner.size) {
            along = 0;
            word = philox_word(seed, call, ++draw);
        }
    }
}

template <class T>
static tern_status run(const tern_exec *exec, dropout_job job, const tern_dropout_args *args,
                       const tern_strided *y, const tern_strided *x)
{
    typedef opmath_t<T> C;
    const change<C> to = {(C)args->scale, (C)args->shift, (C)args->dropped};
    const uintptr_t both = (uintptr_t)y->data | (uintptr_t)x->data;
    const unsigned blocks = loop_blocks(ceil_div(job.numel, GROUP));
    job.aligned = both % sizeof(vec<T, GROUP>) == 0;
    if (args->inner > 1)
        return LAUNCH("dropout", dropout_channels<T>, blocks, LOOP_THREADS, exec->stream, job, to,
                      (T *)y->data, (const T *)x->data);
    return LAUNCH("dropout", dropout<T>, blocks, LOOP_THREADS, exec->stream, job, to, (T *)y->data,
                  (const T *)x->data);
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
    job.inner = make_int64_divisor(args->inner);
    job.replay = args->replay;
    if (job.numel == 0)
        return TERN_OK;
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, run<T>(exec, job, args, y, x))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("dropout", y->dtype);
}
