// SPDX-License-Identifier: Apache-2.0
#include "cpu/elementwise/elementwise.h"

#include "cpu/span.h"
#include "cpu/walk.h"

// Elements per pass through the buffers, which stay in the first cache.
#define BLOCK 512

// The same where one value is spread over a buffer.
#define SPREAD 128

// The odd part keeps the buffers from starting at the same place in a page.
typedef union buffer {
    float f[BLOCK + 16];
    double d[BLOCK + 16];
    int64_t i[BLOCK + 16];
    uint8_t b[BLOCK + 16];
} buffer;

// Where blocks can work in place: `in` and `out` are dtypes stored as they are computed.
typedef struct job {
    const elementwise *op;
    compute_type type;
    tern_dtype in, out;
    int64_t in_size, out_size; // bytes
    bool in_plain, out_plain;
} job;

static bool stored_as_computed(tern_dtype dtype)
{
    return dtype == TERN_FLOAT32 || dtype == TERN_FLOAT64 || dtype == TERN_INT64;
}

static void load(const job *j, buffer *to, const char *from, int64_t step, int64_t n)
{
    switch (j->type) {
    case COMPUTE_FLOAT:
        span_load_float(to->f, from, j->in, step, n);
        break;
    case COMPUTE_DOUBLE:
        span_load_double(to->d, from, j->in, step, n);
        break;
    case COMPUTE_INT64:
        span_load_int64(to->i, from, j->in, step, n);
        break;
    case COMPUTE_COUNT:
        break;
    }
}

#define FILL(values, type)                                                                         \
    do {                                                                                           \
        const type value = (values)[0];                                                            \
        for (int64_t i = 0; i < n; i++)                                                            \
            (values)[i] = value;                                                                   \
    } while (0)

// One value n times.
static void load_one(const job *j, buffer *to, const char *from, int64_t n)
{
    load(j, to, from, 1, 1);
    if (j->type == COMPUTE_FLOAT)
        FILL(to->f, float);
    else
        FILL(to->i, int64_t);
}

static void store_bytes(uint8_t *to, const uint8_t *from, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i * step] = from[i];
}

static void store(const job *j, char *to, const buffer *from, int64_t step, int64_t n)
{
    if (j->op->predicate) {
        store_bytes((uint8_t *)to, from->b, step, n);
        return;
    }
    switch (j->type) {
    case COMPUTE_FLOAT:
        span_store_float(to, from->f, j->out, step, n);
        break;
    case COMPUTE_DOUBLE:
        span_store_double(to, from->d, j->out, step, n);
        break;
    case COMPUTE_INT64:
        span_store_int64(to, from->i, j->out, step, n);
        break;
    case COMPUTE_COUNT:
        break;
    }
}

// Some operand or the result goes through a buffer.
static void run_blocks(const job *j, int64_t n, char *const *data, const int64_t *step)
{
    const elementwise *op = j->op;
    buffer in[2], out;
    const bool in_place = j->out_plain && step[0] == 1;
    const int64_t block = step[1] == 0 || step[op->inputs] == 0 ? SPREAD : BLOCK;
    for (int64_t i = 0; i < n; i += block) {
        const int64_t count = n - i < block ? n - i : block;
        const void *x[2];
        for (int k = 0; k < op->inputs; k++) {
            const int64_t stride = step[k + 1];
            const char *from = data[k + 1] + i * stride * j->in_size;
            x[k] = &in[k];
            if (j->in_plain && stride == 1)
                x[k] = from;
            else if (stride != 0)
                load(j, &in[k], from, stride, count);
            else if (i == 0)
                load_one(j, &in[k], from, count);
        }
        char *y = data[0] + i * step[0] * j->out_size;
        op->block(in_place ? (void *)y : &out, x, count, &op->params);
        if (!in_place)
            store(j, y, &out, step[0], count);
    }
}

static void run(const void *context, int64_t n, char *const *data, const int64_t *step)
{
    const job *j = context;
    const void *x[2];
    bool plain = j->in_plain && j->out_plain && step[0] == 1;
    for (int k = 0; k < j->op->inputs; k++) {
        x[k] = data[k + 1];
        plain = plain && step[k + 1] == 1;
    }
    if (plain)
        j->op->block(data[0], x, n, &j->op->params);
    else
        run_blocks(j, n, data, step);
}

void TERN_ISA_NAME(elementwise)(const elementwise *op, const tern_strided *const *views)
{
    const job j = {
        .op = op,
        .type = compute_type_of(views[1]->dtype),
        .in = views[1]->dtype,
        .out = views[0]->dtype,
        .in_size = (int64_t)tern_dtype_size(views[1]->dtype),
        .out_size = (int64_t)tern_dtype_size(views[0]->dtype),
        .in_plain = stored_as_computed(views[1]->dtype),
        .out_plain = op->predicate || stored_as_computed(views[0]->dtype),
    };
    tern_walk(views, op->inputs + 1, run, &j);
}
