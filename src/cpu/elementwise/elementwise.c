// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include "cpu/elementwise/elementwise.h"

#include "base/pool.h"
#include "cpu/span.h"
#include "cpu/walk.h"

// Elements per pass through the buffers, which stay in the first cache.
#define BLOCK 512

// The same where one value is spread over a buffer.
#define SPREAD 128

// Rows of so few elements are done several at a time.
#define SHORT 64

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

// The operand that is one value for all elements where that has a block of its own, or -1.
static int find_one(const elementwise *op, const int64_t *step)
{
    for (int k = 0; k < op->inputs; k++)
        if (step[k + 1] == 0 && op->one[k] && step[2 - k] != 0)
            return k;
    return -1;
}

// Some operand or the result goes through a buffer.
static void run_blocks(const job *j, int64_t n, char *const *data, const int64_t *step)
{
    const elementwise *op = j->op;
    buffer in[2], out;
    const bool in_place = j->out_plain && step[0] == 1;
    const int one = find_one(op, step);
    const bool spreads = one < 0 && (step[1] == 0 || step[op->inputs] == 0);
    const int64_t block = spreads ? SPREAD : BLOCK;
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
                load_one(j, &in[k], from, k == one ? 1 : count);
        }
        char *y = data[0] + i * step[0] * j->out_size;
        (one < 0 ? op->block : op->one[one])(in_place ? (void *)y : &out, x, count, &op->params);
        if (!in_place)
            store(j, y, &out, step[0], count);
    }
}

static void run(const void *context, int64_t n, char *const *data, const int64_t *step)
{
    const job *j = context;
    const void *x[2];
    const int one = find_one(j->op, step);
    bool plain = j->in_plain && j->out_plain && step[0] == 1;
    for (int k = 0; k < j->op->inputs; k++) {
        x[k] = data[k + 1];
        plain = plain && (k == one || step[k + 1] == 1);
    }
    if (plain)
        (one < 0 ? j->op->block : j->op->one[one])(data[0], x, n, &j->op->params);
    else
        run_blocks(j, n, data, step);
}

// ---- short rows ---------------------------------------------------------------------------------
// The last two dimensions are rows of a few elements. So many of them as a buffer holds are brought
// into one block.

typedef struct short_rows {
    const job *j;
    const tern_strided *const *views;
    int64_t cols, rows, rows_per_block, rows_per_piece, pieces; // of one matrix
} short_rows;

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

static void short_piece(void *context, int64_t index)
{
    const short_rows *s = context;
    const job *j = s->j;
    const elementwise *op = j->op;
    const int64_t cols = s->cols, first = index % s->pieces * s->rows_per_piece;
    const int64_t end = s->rows - first < s->rows_per_piece ? s->rows : first + s->rows_per_piece;
    rows_view v[3];
    buffer in[2], out;
    for (int k = 0; k <= op->inputs; k++) {
        v[k] = matrix_at(s->views[k], index / s->pieces);
        v[k].data += first * v[k].row * (k > 0 ? j->in_size : j->out_size);
    }
    const bool in_place = j->out_plain && has_no_gaps(v[0], cols);
    for (int64_t row = first; row < end; row += s->rows_per_block) {
        const int64_t rows = end - row < s->rows_per_block ? end - row : s->rows_per_block;
        const void *x[2];
        for (int k = 0; k < op->inputs; k++) {
            const rows_view *from = &v[k + 1];
            const bool plain = j->in_plain && has_no_gaps(*from, cols);
            x[k] = plain ? (const void *)from->data : &in[k];
            if (!plain && (from->row != 0 || row == first)) // the same rows stay
                load_rows(j, &in[k], *from, rows, cols);
            v[k + 1].data += rows * from->row * j->in_size;
        }
        op->block(in_place ? (void *)v[0].data : &out, x, rows * cols, &op->params);
        if (!in_place)
            store_rows(j, v[0], &out, rows, cols);
        v[0].data += rows * v[0].row * j->out_size;
    }
}

static bool rows_are_short(const tern_strided *y)
{
    const int rank = y->rank;
    return rank >= 2 && y->size[rank - 1] <= SHORT && y->size[rank - 2] > 3;
}

static void run_short_rows(const job *j, const tern_strided *const *views)
{
    const tern_strided *y = views[0];
    const int64_t numel = tern_strided_numel(y);
    if (numel == 0)
        return;
    short_rows s = {.j = j, .views = views};
    s.cols = y->size[y->rank - 1];
    s.rows = y->size[y->rank - 2];
    s.rows_per_block = BLOCK / s.cols;
    s.rows_per_piece = s.rows_per_block * (TERN_WALK_PIECE / BLOCK);
    s.pieces = (s.rows + s.rows_per_piece - 1) / s.rows_per_piece;
    const int64_t all = numel / (s.rows * s.cols) * s.pieces;
    const int saved = errno; // functions of the mathematical library set it
    if (numel > j->alone)
        tern_pool_run(all, short_piece, &s);
    else
        for (int64_t i = 0; i < all; i++)
            short_piece(&s, i);
    errno = saved;
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
        .alone = op->costly ? TERN_WALK_ALONE_COSTLY : TERN_WALK_ALONE,
    };
    if (rows_are_short(views[0]))
        run_short_rows(&j, views);
    else
        tern_walk(views, op->inputs + 1, run, &j, j.alone);
}
