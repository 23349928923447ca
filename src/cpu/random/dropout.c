// SPDX-License-Identifier: Apache-2.0
#include "base/philox.h"
#include "base/pool.h"
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

#define REAL          float
#define DROPOUT(name) name##_float
#include "cpu/random/dropout_real.h"
#undef REAL
#undef DROPOUT

#define REAL          double
#define DROPOUT(name) name##_double
#include "cpu/random/dropout_real.h"

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
        block_float(job, begin + done, wide, wide, n);
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
        block_float(job, begin, y, x, n);
    else if (job->y->dtype == TERN_FLOAT64)
        block_double(job, begin, y, x, n);
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
