// SPDX-License-Identifier: Apache-2.0
// Fills from a generator's stream, in PyTorch's order: one draw after the other, on one thread.
#include <math.h>
#include "base/mt19937.h"
#include "cpu/elementwise.h"
#include "cpu/span.h"
#include "tensor/generator.h"

#define CHUNK   256
#define BLOCK   16
#define TWO_PIF 6.28318530717958647692f

// Elements from..from + n - 1 of a contiguous view.
static void *at(const tern_strided *y, int64_t from)
{
    return (char *)y->data + from * (int64_t)tern_dtype_size(y->dtype);
}

static bool is_half(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16 || dtype == TERN_BFLOAT16;
}

// The value as the 16-bit dtype holds it.
static float rounded(float value, tern_dtype dtype)
{
    uint32_t bits; // room for any dtype that the compiler thinks of
    float back;
    span_store_float(&bits, &value, dtype, 1, 1);
    span_load_float(&back, &bits, dtype, 1, 1);
    return back;
}

// ---- 16-bit dtypes -----------------------------------------------------------------------------

// As many random bits as the dtype's significand has, in [0, 1).
static void draw_halves(tern_mt19937 *mt, tern_dtype dtype, float *out, int64_t n)
{
    const int bits = dtype == TERN_FLOAT16 ? 11 : 8;
    const uint32_t mask = (1u << bits) - 1;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)(tern_mt19937_u32(mt) & mask) / (float)(mask + 1);
}

static void uniform_halves(tern_mt19937 *mt, const tern_strided *y, double low, double high)
{
    const float from = rounded((float)low, y->dtype);
    const float range = rounded(rounded((float)high, y->dtype) - from, y->dtype);
    float chunk[CHUNK];
    const int64_t numel = tern_strided_numel(y);
    for (int64_t done = 0; done < numel; done += CHUNK) {
        const int64_t n = numel - done < CHUNK ? numel - done : CHUNK;
        draw_halves(mt, y->dtype, chunk, n);
        for (int64_t i = 0; i < n; i++)
            chunk[i] = chunk[i] * range + from;
        span_store_float(at(y, done), chunk, y->dtype, 1, n);
    }
}

// One block of Box and Muller's method from 16 uniform draws.
static void normal_block(tern_mt19937 *mt, const tern_strided *y, int64_t from, float mean,
                         float std)
{
    float x[BLOCK];
    draw_halves(mt, y->dtype, x, BLOCK);
    for (int i = 0; i < BLOCK / 2; i++) {
        const float radius = sqrtf(-2.0f * logf(1.0f - x[i])) * std;
        const float theta = TWO_PIF * x[i + BLOCK / 2];
        x[i] = radius * cosf(theta) + mean;
        x[i + BLOCK / 2] = radius * sinf(theta) + mean;
    }
    span_store_float(at(y, from), x, y->dtype, 1, BLOCK);
}

// The last block is drawn again when the others do not end where y does.
static void normal_halves(tern_mt19937 *mt, const tern_strided *y, double mean, double std)
{
    const int64_t numel = tern_strided_numel(y);
    if (numel < BLOCK) {
        double few[BLOCK];
        tern_mt19937_normal_f64(mt, few, numel, mean, std);
        span_store_double(y->data, few, y->dtype, 1, numel);
        return;
    }
    for (int64_t i = 0; i + BLOCK <= numel; i += BLOCK)
        normal_block(mt, y, i, (float)mean, (float)std);
    if (numel % BLOCK == 0)
        return;
    float unused[BLOCK]; // the fill draws for the rest too
    draw_halves(mt, y->dtype, unused, numel % BLOCK);
    normal_block(mt, y, numel - BLOCK, (float)mean, (float)std);
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
        tern_mt19937_normal_f32(mt, y->data, tern_strided_numel(y), mean, std);
    else
        tern_mt19937_normal_f64(mt, y->data, tern_strided_numel(y), mean, std);
}

tern_status TERN_ISA_NAME(random)(const tern_exec *exec, tern_random_kind kind, double a, double b,
                                  int64_t low, int64_t high, tern_generator *generator,
                                  const tern_strided *y)
{
    (void)exec;
    switch (kind) {
    case TERN_RANDOM_UNIFORM:
        uniform(&generator->mt, y, a, b);
        break;
    case TERN_RANDOM_NORMAL:
        normal(&generator->mt, y, a, b);
        break;
    case TERN_RANDOM_BERNOULLI:
        bernoulli(&generator->mt, y, a);
        break;
    case TERN_RANDOM_INTEGER:
        integers(&generator->mt, y, low, high);
        break;
    }
    return TERN_OK;
}
