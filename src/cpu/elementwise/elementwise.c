// SPDX-License-Identifier: Apache-2.0
#include "cpu/elementwise/elementwise.h"
#include <errno.h>

#include "base/thread_pool.h"
#include "cpu/span.h"
#include "cpu/loop.h"

// Elements per pass through the buffers, which stay in the first cache.
#define BLOCK 512

// The same where one value is spread over a buffer.
#define SPREAD 128

// Rows of so few elements are done several at a time.
#define SHORT 64

// Rows of so few elements, which need no buffer, are done one after the other without a loop.
#define MEDIUM 2048

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
    block_fn *block;
    compute_type type;
    tern_dtype in, out;
    int64_t in_size, out_size; // bytes
    bool in_plain, out_plain;
    int one;       // the operand that is one value for all elements of a block, or -1
    int64_t alone; // elements that one thread does
} job;

static bool stored_as_computed(tern_dtype dtype)
{
    return dtype == TERN_FLOAT32 || dtype == TERN_FLOAT64 || dtype == TERN_INT64;
}

// `to` is a buffer, or a place in it.
static void load(const job *j, void *to, const char *from, int64_t step, int64_t n)
{
    switch (j->type) {
    case COMPUTE_FLOAT:
        span_load_float(to, from, j->in, step, n);
        break;
    case COMPUTE_DOUBLE:
        span_load_double(to, from, j->in, step, n);
        break;
    case COMPUTE_INT64:
        span_load_int64(to, from, j->in, step, n);
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

static void store(const job *j, char *to, const void *from, int64_t step, int64_t n)
{
    if (j->op->predicate) {
        store_bytes((uint8_t *)to, from, step, n);
        return;
    }
    switch (j->type) {
    case COMPUTE_FLOAT:
        span_store_float(to, from, j->out, step, n);
        break;
    case COMPUTE_DOUBLE:
        span_store_double(to, from, j->out, step, n);
        break;
    case COMPUTE_INT64:
        span_store_int64(to, from, j->out, step, n);
        break;
    case COMPUTE_COUNT:
        break;
    }
}

// Elements per pass, where a value that has no block of its own may be spread.
static int64_t block_size(const job *j, const int64_t *step)
{
    for (int k = 0; k < j->op->inputs; k++)
        if (k != j->one && step[j->op->outputs + k] == 0)
            return SPREAD;
    return BLOCK;
}

// Some operand or result goes through a buffer.
static void run_blocks(const void *context, int64_t n, char *const *data, const int64_t *step)
{
    const job *j = context;
    const int outputs = j->op->outputs, inputs = j->op->inputs;
    buffer in[MAX_INPUTS], out[MAX_OUTPUTS];
    const int64_t block = block_size(j, step);
    for (int64_t i = 0; i < n; i += block) {
        const int64_t count = n - i < block ? n - i : block;
        const void *x[MAX_INPUTS];
        void *y[MAX_OUTPUTS];
        for (int k = 0; k < inputs; k++) {
            const int64_t stride = step[outputs + k];
            const char *from = data[outputs + k] + i * stride * j->in_size;
            x[k] = &in[k];
            if (j->in_plain && stride == 1)
                x[k] = from;
            else if (stride != 0)
                load(j, &in[k], from, stride, count);
            else if (i == 0)
                load_one(j, &in[k], from, k == j->one ? 1 : count);
        }
        for (int k = 0; k < outputs; k++)
            y[k] = j->out_plain && step[k] == 1 ? data[k] + i * j->out_size : (char *)&out[k];
        j->block(y, x, count, &j->op->params);
        for (int k = 0; k < outputs; k++)
            if (y[k] == &out[k])
                store(j, data[k] + i * step[k] * j->out_size, y[k], step[k], count);
    }
}

// Blocks work in place.
static void run_plain(const void *context, int64_t n, char *const *data, const int64_t *step)
{
    (void)step;
    const job *j = context;
    const int outputs = j->op->outputs;
    const void *x[MAX_INPUTS];
    void *y[MAX_OUTPUTS];
    for (int k = 0; k < outputs; k++)
        y[k] = data[k];
    for (int k = 0; k < j->op->inputs; k++)
        x[k] = data[outputs + k];
    j->block(y, x, n, &j->op->params);
}

static int64_t step_of(const tern_strided *view)
{
    return view->rank > 0 ? view->stride[view->rank - 1] : 1;
}

static int find_one(const elementwise *op, const tern_strided *const *views)
{
    for (int k = 0; k < 2; k++)
        if (op->one[k] && step_of(views[1 + k]) == 0 && step_of(views[2 - k]) != 0)
            return k;
    return -1;
}

static bool is_plain(const job *j, const tern_strided *const *views)
{
    bool plain = j->in_plain && j->out_plain;
    for (int v = 0; v < j->op->outputs + j->op->inputs; v++)
        plain = plain && (step_of(views[v]) == 1 || (j->one >= 0 && v == 1 + j->one));
    return plain;
}

// ---- rows ---------------------------------------------------------------------------------------
// The last two dimensions are a matrix. Of short rows so many as a buffer holds are brought into
// one block; blocks work in place on medium ones.

typedef struct row_job {
    const job *j;
    const tern_strided *const *views;
    int64_t cols, rows, rows_per_block, rows_per_chunk, chunks; // of one matrix
} row_job;

// The strides of a view in the last two dimensions, and where one row begins.
typedef struct rows_view {
    char *data;
    int64_t row, col;
} rows_view;

static rows_view matrix_at(const tern_strided *view, int64_t matrix)
{
    const int rank = view->rank;
    int64_t at = 0;
    for (int d = rank - 3; d >= 0; d--) {
        at += matrix % view->size[d] * view->stride[d];
        matrix /= view->size[d];
    }
    return (rows_view){(char *)view->data + at * (int64_t)tern_dtype_size(view->dtype),
                       view->stride[rank - 2], view->stride[rank - 1]};
}

// The rows of a chunk: the first of each view, and how many they are.
static int64_t find_rows(const row_job *r, int64_t index, rows_view *to, rows_view *from)
{
    const job *j = r->j;
    const int outputs = j->op->outputs;
    const int64_t matrix = index / r->chunks, first = index % r->chunks * r->rows_per_chunk;
    for (int k = 0; k < outputs; k++) {
        to[k] = matrix_at(r->views[k], matrix);
        to[k].data += first * to[k].row * j->out_size;
    }
    for (int k = 0; k < j->op->inputs; k++) {
        from[k] = matrix_at(r->views[outputs + k], matrix);
        from[k].data += first * from[k].row * j->in_size;
    }
    return r->rows - first < r->rows_per_chunk ? r->rows - first : r->rows_per_chunk;
}

static bool has_no_gaps(rows_view v, int64_t cols)
{
    return v.row == cols && v.col == 1;
}

// Each value `cols` times. Whole groups are written: what is too much is written over.
#define SPREAD_EACH(to, values, type)                                                              \
    do {                                                                                           \
        type *out = to;                                                                            \
        for (int64_t r = 0; r < rows; r++, out += cols)                                            \
            for (int64_t i = 0; i < cols; i += 8)                                                  \
                for (int k = 0; k < 8; k++)                                                        \
                    out[i + k] = (values)[r];                                                      \
    } while (0)

static void spread_each(const job *j, buffer *to, const buffer *values, int64_t rows, int64_t cols)
{
    if (j->type == COMPUTE_FLOAT)
        SPREAD_EACH(to->f, values->f, float);
    else
        SPREAD_EACH(to->i, values->i, int64_t);
}

static void load_rows(const job *j, buffer *to, rows_view v, int64_t rows, int64_t cols)
{
    if (has_no_gaps(v, cols)) {
        load(j, to, v.data, 1, rows * cols);
        return;
    }
    if (v.col == 0) {
        buffer values;
        load(j, &values, v.data, v.row, rows);
        spread_each(j, to, &values, rows, cols);
        return;
    }
    const int64_t size = j->type == COMPUTE_FLOAT ? sizeof(float) : sizeof(int64_t);
    for (int64_t r = 0; r < rows; r++)
        load(j, (char *)to + r * cols * size, v.data + r * v.row * j->in_size, v.col, cols);
}

static void store_rows(const job *j, rows_view v, const buffer *from, int64_t rows, int64_t cols)
{
    const int64_t size = j->op->predicate           ? sizeof(uint8_t)
                         : j->type == COMPUTE_FLOAT ? sizeof(float)
                                                    : sizeof(int64_t);
    if (has_no_gaps(v, cols)) {
        store(j, v.data, from, 1, rows * cols);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        store(j, v.data + r * v.row * j->out_size, (const char *)from + r * cols * size, v.col,
              cols);
}

static void short_chunk(void *context, int64_t index)
{
    const row_job *r = context;
    const job *j = r->j;
    const elementwise *op = j->op;
    const int outputs = op->outputs, inputs = op->inputs;
    rows_view from[MAX_INPUTS], to[MAX_OUTPUTS];
    buffer in[MAX_INPUTS], out[MAX_OUTPUTS];
    const int64_t cols = r->cols, count = find_rows(r, index, to, from);
    for (int64_t row = 0; row < count; row += r->rows_per_block) {
        const int64_t rows = count - row < r->rows_per_block ? count - row : r->rows_per_block;
        const void *x[MAX_INPUTS];
        void *y[MAX_OUTPUTS];
        for (int k = 0; k < inputs; k++) {
            const bool plain = j->in_plain && has_no_gaps(from[k], cols);
            x[k] = plain ? (const void *)from[k].data : &in[k];
            if (!plain && (from[k].row != 0 || row == 0)) // the same rows stay
                load_rows(j, &in[k], from[k], rows, cols);
            from[k].data += rows * from[k].row * j->in_size;
        }
        for (int k = 0; k < outputs; k++)
            y[k] = j->out_plain && has_no_gaps(to[k], cols) ? to[k].data : (char *)&out[k];
        op->block(y, x, rows * cols, &op->params);
        for (int k = 0; k < outputs; k++) {
            if (y[k] == &out[k])
                store_rows(j, to[k], &out[k], rows, cols);
            to[k].data += rows * to[k].row * j->out_size;
        }
    }
}

static void medium_chunk(void *context, int64_t index)
{
    const row_job *r = context;
    const job *j = r->j;
    const int outputs = j->op->outputs, inputs = j->op->inputs;
    rows_view from[MAX_INPUTS], to[MAX_OUTPUTS];
    const void *x[MAX_INPUTS];
    void *y[MAX_OUTPUTS];
    const int64_t count = find_rows(r, index, to, from);
    for (int64_t row = 0; row < count; row++) {
        for (int k = 0; k < outputs; k++)
            y[k] = to[k].data + row * to[k].row * j->out_size;
        for (int k = 0; k < inputs; k++)
            x[k] = from[k].data + row * from[k].row * j->in_size;
        j->block(y, x, r->cols, &j->op->params);
    }
}

static bool has_rows_up_to(const tern_strided *y, int64_t cols)
{
    const int rank = y->rank;
    return rank >= 2 && y->size[rank - 1] <= cols && y->size[rank - 2] > 3;
}

static void run_rows(const job *j, const tern_strided *const *views)
{
    const tern_strided *y = views[0];
    const int64_t numel = tern_strided_numel(y);
    if (numel == 0)
        return;
    row_job r = {.j = j, .views = views};
    r.cols = y->size[y->rank - 1];
    r.rows = y->size[y->rank - 2];
    r.rows_per_block = r.cols <= SHORT ? BLOCK / r.cols : 1;
    r.rows_per_chunk = TERN_LOOP_CHUNK / (r.rows_per_block * r.cols) * r.rows_per_block;
    r.chunks = (r.rows + r.rows_per_chunk - 1) / r.rows_per_chunk;
    void (*chunk)(void *, int64_t) = r.cols <= SHORT ? short_chunk : medium_chunk;
    const int64_t all = numel / (r.rows * r.cols) * r.chunks;
    const int saved = errno; // functions of the mathematical library set it
    if (numel > j->alone)
        tern_pool_run(all, chunk, &r);
    else
        for (int64_t i = 0; i < all; i++)
            chunk(&r, i);
    errno = saved;
}

void TERN_ISA_NAME(elementwise)(const elementwise *op, const tern_strided *const *views)
{
    const tern_dtype in = views[op->outputs]->dtype, out = views[0]->dtype;
    const int one = find_one(op, views);
    const job j = {
        .op = op,
        .block = one < 0 ? op->block : op->one[one],
        .type = compute_type_of(in),
        .in = in,
        .out = out,
        .in_size = (int64_t)tern_dtype_size(in),
        .out_size = (int64_t)tern_dtype_size(out),
        .in_plain = stored_as_computed(in),
        .out_plain = op->predicate || stored_as_computed(out),
        .one = one,
        .alone = op->costly ? TERN_LOOP_ALONE_COSTLY : TERN_LOOP_ALONE,
    };
    const bool plain = is_plain(&j, views);
    if (has_rows_up_to(views[0], SHORT) || (plain && has_rows_up_to(views[0], MEDIUM)))
        run_rows(&j, views);
    else
        tern_loop(views, op->outputs + op->inputs, plain ? run_plain : run_blocks, &j, j.alone);
}
