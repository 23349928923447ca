// SPDX-License-Identifier: Apache-2.0
#include "base/philox.h"
#include "base/thread_pool.h"
#include "cpu/elementwise/copy.h"
#include "cpu/random/philox_vec.h"
#include "device/kernel_dtype.h"

#define CHUNK 16384 // a multiple of 4: a group of four draws lies in one chunk
#define BLOCK 512   // 16-bit elements that are upcast at once, likewise

typedef struct dropout_job {
    tern_dropout_args args;
    uint64_t seed, call, threshold;
    int64_t numel;
    const tern_strided *y, *x;
} dropout_job;

// Dropout of n elements from element `first` on.
typedef void dropout_fn(const dropout_job *job, int64_t first, void *y, const void *x, int64_t n);
REAL_DECLARE(dropout_fn, dropout_block);

// A draw for each element; `first` is a multiple of 4.
static void drop_each(const dropout_job *job, int64_t first, real *y, const real *x, int64_t n)
{
    const real scale = (real)job->args.scale, shift = (real)job->args.shift;
    const real dropped = (real)job->args.dropped;
    const uint32_t threshold = (uint32_t)job->threshold;
    for (int64_t i = 0; i < n; i += PHILOX_WORDS) {
        uint32_t word[PHILOX_WORDS];
        const int64_t count = n - i < PHILOX_WORDS ? n - i : PHILOX_WORDS;
        philox_words(job->seed, job->call, (uint64_t)(first + i) / 4, word);
        ELEMENTWISE_LOOP
        for (int64_t k = 0; k < count; k++) {
            const real kept = x[i + k] * scale + shift;
            y[i + k] = word[k] >= threshold ? kept : dropped;
        }
    }
}

static void drop_share(const dropout_job *job, bool keep, real *y, const real *x, int64_t n)
{
    const real scale = (real)job->args.scale, shift = (real)job->args.shift;
    const real dropped = (real)job->args.dropped;
    if (keep) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] * scale + shift;
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i] = dropped;
    }
}

// A draw for each `inner` elements.
static void drop_shares(const dropout_job *job, int64_t first, real *y, const real *x, int64_t n)
{
    const int64_t inner = job->args.inner;
    int64_t draw = first / inner, end = (draw + 1) * inner - first;
    for (int64_t i = 0; i < n; i = end, end += inner, draw++) {
        const tern_philox_block block = tern_philox(job->seed, job->call, (uint64_t)draw / 4);
        const int64_t count = (end < n ? end : n) - i;
        drop_share(job, block.word[draw % 4] >= job->threshold, y + i, x + i, count);
    }
}

void REAL_NAME(dropout_block)(const dropout_job *job, int64_t first, void *y, const void *x,
                              int64_t n)
{
    if (job->threshold > UINT32_MAX) // p is 1
        drop_share(job, false, y, x, n);
    else if (job->args.inner > 1)
        drop_shares(job, first, y, x, n);
    else
        drop_each(job, first, y, x, n);
}

#if REAL_IS_FLOAT
static tern_strided part_of(const tern_strided *view, int64_t begin, int64_t n)
{
    return (tern_strided){(char *)view->data + begin * (int64_t)tern_dtype_size(view->dtype),
                          view->dtype,
                          1,
                          {n},
                          {1}};
}

static void run_upcast(const dropout_job *job, int64_t begin, int64_t count)
{
    float wide[BLOCK];
    for (int64_t done = 0; done < count; done += BLOCK) {
        int64_t n = count - done < BLOCK ? count - done : BLOCK;
        const tern_strided buffer = {wide, TERN_FLOAT32, 1, {n}, {1}};
        const tern_strided from = part_of(job->x, begin + done, n);
        const tern_strided to = part_of(job->y, begin + done, n);
        TERN_ISA_NAME(copy_cast)(&buffer, &from);
        TERN_ISA_NAME(dropout_block_float)(job, begin + done, wide, wide, n);
        TERN_ISA_NAME(copy_cast)(&to, &buffer);
    }
}

static void run_chunk(void *context, int64_t index)
{
    const dropout_job *job = context;
    int64_t begin = index * CHUNK, left = job->numel - begin;
    int64_t n = left < CHUNK ? left : CHUNK;
    void *y = part_of(job->y, begin, n).data, *x = part_of(job->x, begin, n).data;
    if (job->y->dtype == TERN_FLOAT32)
        TERN_ISA_NAME(dropout_block_float)(job, begin, y, x, n);
    else if (job->y->dtype == TERN_FLOAT64)
        TERN_ISA_NAME(dropout_block_double)(job, begin, y, x, n);
    else
        run_upcast(job, begin, n);
}

tern_status TERN_ISA_NAME(dropout)(const tern_exec *exec, const tern_dropout_args *args,
                                   const tern_strided *y, const tern_strided *x)
{
    TERN_TRY(tern_kernel_floating("dropout", y->dtype));
    dropout_job job = {.args = *args,
                       .seed = __atomic_load_n(&exec->draws->seed, __ATOMIC_RELAXED),
                       .threshold = tern_philox_threshold(args->p),
                       .numel = tern_strided_numel(y),
                       .y = y,
                       .x = x};
    if (!args->replay)
        *args->id = __atomic_load_n(&exec->draws->base, __ATOMIC_RELAXED) + args->offset;
    job.call = *args->id;
    tern_pool_run((job.numel + CHUNK - 1) / CHUNK, run_chunk, &job);
    return TERN_OK;
}
#endif
