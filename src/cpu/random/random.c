// SPDX-License-Identifier: Apache-2.0
// Fills from a generator's stream, in PyTorch's order: one draw after the other, on one thread.
// What is made of draws already made is shared by threads.
#include "base/mt19937.h"
#include "base/normal_block.h"
#include "base/thread_pool.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/span.h"
#include "device/generator.h"
#include "device/kernel_dtype.h"

#define CHUNK       256
#define BLOCK       NORMAL_BLOCK
#define TASK_BLOCKS 1024 // blocks

// Elements from..from + n - 1 of a contiguous view.
static void *at(const tern_strided *y, int64_t from)
{
    return (char *)y->data + from * (int64_t)tern_dtype_size(y->dtype);
}

static bool is_half(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16 || dtype == TERN_BFLOAT16;
}

// ---- 16-bit dtypes: float32's numbers, rounded --------------------------------------------------

static float rounded(double value, tern_dtype dtype)
{
    const float narrow = (float)value;
    uint32_t bits; // scratch for any dtype that the compiler thinks of
    float back;
    span_store_float(&bits, &narrow, dtype, 1, 1);
    span_load_float(&back, &bits, dtype, 1, 1);
    return back;
}

// Rounding may reach the end of the range once more, and then gives its beginning.
static void uniform_halves(tern_mt19937 *mt, const tern_strided *y, double low, double high)
{
    const float from = rounded(low, y->dtype), to = rounded(high, y->dtype);
    float chunk[CHUNK];
    const int64_t numel = tern_strided_numel(y);
    for (int64_t done = 0; done < numel; done += CHUNK) {
        const int64_t n = numel - done < CHUNK ? numel - done : CHUNK;
        tern_mt19937_uniform_f32(mt, chunk, n, low, high);
        span_store_float(at(y, done), chunk, y->dtype, 1, n);
        span_load_float(chunk, at(y, done), y->dtype, 1, n);
        for (int64_t i = 0; i < n; i++)
            chunk[i] = chunk[i] < to ? chunk[i] : from;
        span_store_float(at(y, done), chunk, y->dtype, 1, n);
    }
}

// Blocks of 16; the last one is drawn again when the others do not end where y does.
static void normal_halves(tern_mt19937 *mt, const tern_strided *y, double mean, double std)
{
    const int64_t numel = tern_strided_numel(y), n = numel < BLOCK ? numel : BLOCK;
    float block[BLOCK];
    for (int64_t done = 0; done < numel; done += n) {
        const int64_t from = done < numel - n ? done : numel - n;
        tern_mt19937_normal_f32(mt, block, n, mean, std);
        span_store_float(at(y, from), block, y->dtype, 1, n);
    }
}

// ---- normal draws -------------------------------------------------------------------------------

typedef struct normal_job {
    float *y;
    int64_t blocks;
    float mean, std;
} normal_job;

static void normal_task(void *context, int64_t chunk)
{
    const normal_job *job = context;
    const int64_t begin = chunk * TASK_BLOCKS, left = job->blocks - begin;
    normal_blocks_f32(job->y + begin * BLOCK, left < TASK_BLOCKS ? left : TASK_BLOCKS, job->mean,
                      job->std);
}

// As tern_mt19937_normal_f32 does, and the same numbers.
static void normal_floats(tern_mt19937 *mt, const tern_strided *y, double mean, double std)
{
    const int64_t numel = tern_strided_numel(y);
    normal_job job = {y->data, numel / BLOCK, (float)mean, (float)std};
    if (numel < BLOCK) {
        tern_mt19937_normal_f32(mt, y->data, numel, mean, std);
        return;
    }
    tern_mt19937_uniform_f32(mt, y->data, numel, 0, 1);
    tern_pool_run((job.blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, normal_task, &job);
    if (numel % BLOCK) // the last block is drawn again
        tern_mt19937_normal_f32(mt, job.y + numel - BLOCK, BLOCK, mean, std);
}

// ---- whole numbers, of any dtype ---------------------------------------------------------------

static void store_whole(const tern_strided *y, int64_t from, const int64_t *values, int64_t n)
{
    double wide[CHUNK];
    if (!tern_dtype_is_floating(y->dtype)) {
        span_store_int64(at(y, from), values, y->dtype, 1, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        wide[i] = (double)values[i];
    span_store_double(at(y, from), wide, y->dtype, 1, n);
}

static void bernoulli(tern_mt19937 *mt, const tern_strided *y, double p)
{
    int64_t chunk[CHUNK];
    const int64_t numel = tern_strided_numel(y);
    for (int64_t done = 0; done < numel; done += CHUNK) {
        const int64_t n = numel - done < CHUNK ? numel - done : CHUNK;
        for (int64_t i = 0; i < n; i++)
            chunk[i] = tern_mt19937_bernoulli(mt, p);
        store_whole(y, done, chunk, n);
    }
}

static void integers(tern_mt19937 *mt, const tern_strided *y, int64_t low, int64_t high)
{
    int64_t chunk[CHUNK];
    const int64_t numel = tern_strided_numel(y);
    for (int64_t done = 0; done < numel; done += CHUNK) {
        const int64_t n = numel - done < CHUNK ? numel - done : CHUNK;
        tern_mt19937_randint(mt, chunk, n, low, high);
        store_whole(y, done, chunk, n);
    }
}

// ---- the kernel --------------------------------------------------------------------------------

static void uniform(tern_mt19937 *mt, const tern_strided *y, double low, double high)
{
    if (is_half(y->dtype))
        uniform_halves(mt, y, low, high);
    else if (y->dtype == TERN_FLOAT32)
        tern_mt19937_uniform_f32(mt, y->data, tern_strided_numel(y), low, high);
    else
        tern_mt19937_uniform_f64(mt, y->data, tern_strided_numel(y), low, high);
}

static void normal(tern_mt19937 *mt, const tern_strided *y, double mean, double std)
{
    if (is_half(y->dtype))
        normal_halves(mt, y, mean, std);
    else if (y->dtype == TERN_FLOAT32)
        normal_floats(mt, y, mean, std);
    else
        tern_mt19937_normal_f64(mt, y->data, tern_strided_numel(y), mean, std);
}

tern_status TERN_ISA_NAME(random)(const tern_exec *exec, const tern_random_args *args,
                                  tern_generator *generator, const tern_strided *y)
{
    (void)exec;
    switch (args->kind) {
    case TERN_RANDOM_UNIFORM:
        TERN_TRY(tern_kernel_floating("random", y->dtype));
        uniform(&generator->mt, y, args->a, args->b);
        break;
    case TERN_RANDOM_NORMAL:
        TERN_TRY(tern_kernel_floating("random", y->dtype));
        normal(&generator->mt, y, args->a, args->b);
        break;
    case TERN_RANDOM_BERNOULLI:
        bernoulli(&generator->mt, y, args->a);
        break;
    case TERN_RANDOM_INTEGER:
        integers(&generator->mt, y, args->low, args->high);
        break;
    }
    return TERN_OK;
}
