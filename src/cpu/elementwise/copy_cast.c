// SPDX-License-Identifier: Apache-2.0
// y = x for different dtypes. A cast goes from the type that x's dtype computes in to the one of
// y's: float, double or int64_t.
//
// Floating to integer cuts the fraction; NaN gives 0; int64 and int32 take their nearest value for
// what is out of range, uint8 the low byte. To bool: what is not 0 is true. float64 reaches float16
// and bfloat16 by way of float32.
#include "cpu/elementwise/copy.h"
#include "cpu/span.h"
#include "cpu/loop.h"

#define BLOCK 512

typedef union buffer {
    float f[BLOCK];
    double d[BLOCK];
    int64_t i[BLOCK];
} buffer;

typedef struct cast {
    tern_dtype from, to;
    compute_type from_type, to_type;
    int64_t from_size, to_size;
} cast;

static void load(const cast *c, buffer *b, const char *from, int64_t step, int64_t n)
{
    switch (c->from_type) {
    case COMPUTE_FLOAT:
        span_load_float(b->f, from, c->from, step, n);
        break;
    case COMPUTE_DOUBLE:
        span_load_double(b->d, from, c->from, step, n);
        break;
    case COMPUTE_INT64:
        span_load_int64(b->i, from, c->from, step, n);
        break;
    case COMPUTE_COUNT:
        break;
    }
}

static void store(const cast *c, char *to, const buffer *b, int64_t step, int64_t n)
{
    switch (c->to_type) {
    case COMPUTE_FLOAT:
        span_store_float(to, b->f, c->to, step, n);
        break;
    case COMPUTE_DOUBLE:
        span_store_double(to, b->d, c->to, step, n);
        break;
    case COMPUTE_INT64:
        span_store_int64(to, b->i, c->to, step, n);
        break;
    case COMPUTE_COUNT:
        break;
    }
}

static void doubles_to_integers(tern_dtype to, int64_t *y, const double *x, int64_t n)
{
    if (to == TERN_BOOL) {
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] != 0;
    } else if (to == TERN_INT32) {
        for (int64_t i = 0; i < n; i++) {
            const double high = x[i] > INT32_MAX ? INT32_MAX : x[i];
            const double low = high < INT32_MIN ? INT32_MIN : high;
            y[i] = (int32_t)(low == low ? low : 0);
        }
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i] = truncate_to_int64(x[i]);
    }
}

// Every step leaves the values as the next one takes them; from and to differ in type.
static void convert(const cast *c, buffer *y, const buffer *x, int64_t n)
{
    buffer wide;
    if (c->from_type == COMPUTE_INT64 && c->to_type == COMPUTE_FLOAT) {
        for (int64_t i = 0; i < n; i++)
            y->f[i] = (float)x->i[i];
    } else if (c->from_type == COMPUTE_INT64) {
        for (int64_t i = 0; i < n; i++)
            y->d[i] = (double)x->i[i];
    } else if (c->from_type == COMPUTE_DOUBLE && c->to_type == COMPUTE_FLOAT) {
        for (int64_t i = 0; i < n; i++)
            y->f[i] = (float)x->d[i];
    } else if (c->from_type == COMPUTE_DOUBLE) {
        doubles_to_integers(c->to, y->i, x->d, n);
    } else {
        double *d = c->to_type == COMPUTE_DOUBLE ? y->d : wide.d;
        for (int64_t i = 0; i < n; i++)
            d[i] = x->f[i];
        if (c->to_type == COMPUTE_INT64)
            doubles_to_integers(c->to, y->i, d, n);
    }
}

// ---- rows without gaps --------------------------------------------------------------------------

// One conversion in C is the cast, and a loop over it becomes vector code.
typedef void direct_fn(void *y, const void *x, int64_t n);

#define DIRECT(name, in, out, convert)                                                             \
    static void name(void *y, const void *x, int64_t n)                                            \
    {                                                                                              \
        const in *restrict from = x;                                                               \
        out *restrict to = y;                                                                      \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = (out)(convert from[i]);                                                        \
    }
DIRECT(float_to_double, float, double, )
DIRECT(double_to_float, double, float, )
DIRECT(int64_to_float, int64_t, float, )
DIRECT(int64_to_double, int64_t, double, )
DIRECT(int32_to_float, int32_t, float, )
DIRECT(int32_to_double, int32_t, double, )
DIRECT(byte_to_float, uint8_t, float, )
DIRECT(byte_to_double, uint8_t, double, )
DIRECT(bool_to_float, uint8_t, float, 0 !=)
DIRECT(bool_to_double, uint8_t, double, 0 !=)

static direct_fn *const to_float[] = {
    [TERN_FLOAT64] = double_to_float, [TERN_INT64] = int64_to_float, [TERN_INT32] = int32_to_float,
    [TERN_UINT8] = byte_to_float,     [TERN_BOOL] = bool_to_float,
};

static direct_fn *const to_double[] = {
    [TERN_FLOAT32] = float_to_double, [TERN_INT64] = int64_to_double,
    [TERN_INT32] = int32_to_double,   [TERN_UINT8] = byte_to_double,
    [TERN_BOOL] = bool_to_double,
};

// Whether it could be done without buffers.
static bool cast_directly(const cast *c, int64_t n, char *const *data)
{
    direct_fn *direct = NULL;
    if (c->to == TERN_FLOAT32)
        direct = to_float[c->from];
    else if (c->to == TERN_FLOAT64)
        direct = to_double[c->from];
    if (direct)
        direct(data[0], data[1], n);
    else if (c->to == TERN_FLOAT32)
        span_load_float((float *)(void *)data[0], data[1], c->from, 1, n);
    else if (c->from == TERN_FLOAT32 && c->to_type == COMPUTE_FLOAT)
        span_store_float(data[0], (const float *)(const void *)data[1], c->to, 1, n);
    else
        return false;
    return true;
}

// ---- any rows -----------------------------------------------------------------------------------

static void cast_run(const void *context, int64_t n, char *const *data, const int64_t *step)
{
    const cast *c = context;
    buffer from, to;
    if (step[0] == 1 && step[1] == 1 && cast_directly(c, n, data))
        return;
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t count = n - i < BLOCK ? n - i : BLOCK;
        load(c, &from, data[1] + i * step[1] * c->from_size, step[1], count);
        const bool same = c->from_type == c->to_type;
        if (!same)
            convert(c, &to, &from, count);
        store(c, data[0] + i * step[0] * c->to_size, same ? &from : &to, step[0], count);
    }
}

void TERN_ISA_NAME(copy_cast)(const tern_strided *y, const tern_strided *x)
{
    const cast c = {
        .from = x->dtype,
        .to = y->dtype,
        .from_type = compute_type_of(x->dtype),
        .to_type = compute_type_of(y->dtype),
        .from_size = (int64_t)tern_dtype_size(x->dtype),
        .to_size = (int64_t)tern_dtype_size(y->dtype),
    };
    tern_loop((const tern_strided *const[]){y, x}, 2, cast_run, &c, TERN_LOOP_ALONE);
}
