// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/random/philox_vec.h"
#include "cpu/span.h"
#include "device/kernel_dtype.h"

#define CHUNK 16384 // a multiple of PHILOX_WORDS

typedef struct draw_job {
    const tern_strided *y;
    uint64_t seed, call;
    double low, high;
    int64_t numel;
} draw_job;

#define DRAW(name, real)                                                                           \
    static void name(const draw_job *job, real *y, const uint32_t *word, int64_t n)                \
    {                                                                                              \
        const real low = (real)job->low, range = (real)(job->high - job->low);                     \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = low + range * ((real)word[i] * (real)0x1p-32);                                  \
    }
DRAW(draw_float, float)
DRAW(draw_double, double)

static void run_chunk(void *context, int64_t index)
{
    const draw_job *job = context;
    const int64_t begin = index * CHUNK, left = job->numel - begin;
    const int64_t count = left < CHUNK ? left : CHUNK;
    const tern_dtype dtype = job->y->dtype;
    char *to = (char *)job->y->data + begin * (int64_t)tern_dtype_size(dtype);
    for (int64_t i = 0; i < count; i += PHILOX_WORDS) {
        uint32_t word[PHILOX_WORDS];
        float narrow[PHILOX_WORDS];
        const int64_t n = count - i < PHILOX_WORDS ? count - i : PHILOX_WORDS;
        philox_words(job->seed, job->call, (uint64_t)(begin + i) / 4, word);
        if (dtype == TERN_FLOAT64) {
            draw_double(job, (double *)to + i, word, n);
        } else {
            draw_float(job, narrow, word, n);
            span_store_float(to + i * (int64_t)tern_dtype_size(dtype), narrow, dtype, 1, n);
        }
    }
}

tern_status TERN_ISA_NAME(draw_uniform)(const tern_exec *exec, const tern_draw_args *args,
                                        const tern_strided *y)
{
    TERN_TRY(tern_kernel_floating("draw_uniform", y->dtype));
    const uint64_t base = __atomic_load_n(&exec->draws->base, __ATOMIC_RELAXED);
    draw_job job = {.y = y,
                    .seed = __atomic_load_n(&exec->draws->seed, __ATOMIC_RELAXED),
                    .call = base + args->offset,
                    .low = args->low,
                    .high = args->high,
                    .numel = tern_strided_numel(y)};
    tern_pool_run((job.numel + CHUNK - 1) / CHUNK, run_chunk, &job);
    return TERN_OK;
}
