// SPDX-License-Identifier: Apache-2.0
// y = x. Between equal dtypes bytes are moved; the rest is copy_cast.c.
#include "cpu/elementwise/copy.h"
#include <string.h>
#include "base/thread_pool.h"
#include "cpu/loop.h"

#define COPY_RUN(size)                                                                             \
    static void copy_##size(const void *context, int64_t n, char *const *data,                     \
                            const int64_t *step)                                                   \
    {                                                                                              \
        (void)context;                                                                             \
        raw_##size *y = (raw_##size *)(void *)data[0];                                             \
        const raw_##size *x = (const raw_##size *)(void *)data[1];                                 \
        const int64_t sy = step[0], sx = step[1];                                                  \
        if (sy == 1 && sx == 1) {                                                                  \
            memmove(y, x, (size_t)n *size);                                                        \
        } else if (sy == 1 && sx == 0) {                                                           \
            const raw_##size value = x[0];                                                         \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i] = value;                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                y[i * sy] = x[i * sx];                                                             \
        }                                                                                          \
    }
COPY_RUN(1)
COPY_RUN(2)
COPY_RUN(4)
COPY_RUN(8)

// ---- transposes ---------------------------------------------------------------------------------
// y is read along its rows, x along another dimension: a run would touch a line of x for each
// element. Squares of TILE x TILE elements use every line they touch; they are made of squares that
// registers hold.

#define TILE 32

typedef struct transpose {
    const tern_strided *y, *x;
    int row;        // the dimension in which x has unit stride; the last is y's
    int64_t strips; // of TILE rows
} transpose;

#if defined(TERN_ISA_AVX512)
#define VECTOR_BYTES 64
#elif defined(TERN_ISA_AVX2)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define SQUARE_TYPE  raw_1
#define SQUARE_LANES 16
#define SQUARE(name) name##_1
#include "cpu/elementwise/square.h"

#define SQUARE_TYPE  raw_2
#define SQUARE_LANES 8
#define SQUARE(name) name##_2
#include "cpu/elementwise/square.h"

#define SQUARE_TYPE  raw_4
#define SQUARE_LANES (VECTOR_BYTES / 4)
#define SQUARE(name) name##_4
#include "cpu/elementwise/square.h"

#define SQUARE_TYPE  raw_8
#define SQUARE_LANES (VECTOR_BYTES / 8)
#define SQUARE(name) name##_8
#include "cpu/elementwise/square.h"

#define COPY_TILE(size, lanes)                                                                     \
    static void tile_##size(char *to, const char *from, int64_t rows, int64_t cols,                \
                            int64_t to_row, int64_t from_col)                                      \
    {                                                                                              \
        raw_##size *y = (raw_##size *)(void *)to;                                                  \
        const raw_##size *x = (const raw_##size *)(const void *)from;                              \
        const int64_t whole_rows = rows - rows % (lanes), whole_cols = cols - cols % (lanes);      \
        for (int64_t j = 0; j < whole_cols; j += (lanes))                                          \
            for (int64_t i = 0; i < whole_rows; i += (lanes))                                      \
                transpose_##size(y + i * to_row + j, x + j * from_col + i, to_row, from_col);      \
        for (int64_t i = 0; i < rows; i++)                                                         \
            for (int64_t j = i < whole_rows ? whole_cols : 0; j < cols; j++)                       \
                y[i * to_row + j] = x[j * from_col + i];                                           \
    }
COPY_TILE(1, 16)
COPY_TILE(2, 8)
COPY_TILE(4, VECTOR_BYTES / 4)
COPY_TILE(8, VECTOR_BYTES / 8)

static void copy_tile(int64_t size, char *to, const char *from, int64_t rows, int64_t cols,
                      int64_t to_row, int64_t from_col)
{
    if (size == 1)
        tile_1(to, from, rows, cols, to_row, from_col);
    else if (size == 2)
        tile_2(to, from, rows, cols, to_row, from_col);
    else if (size == 4)
        tile_4(to, from, rows, cols, to_row, from_col);
    else
        tile_8(to, from, rows, cols, to_row, from_col);
}

// One strip of one matrix; `chunk` counts the strips, then the dimensions outside.
static void copy_strip(void *context, int64_t chunk)
{
    const transpose *t = context;
    const tern_strided *y = t->y, *x = t->x;
    const int last = y->rank - 1;
    const int64_t size = (int64_t)tern_dtype_size(y->dtype);
    const int64_t first = chunk % t->strips * TILE;
    int64_t to = first * y->stride[t->row], from = first;
    int64_t rest = chunk / t->strips;
    for (int d = last - 1; d >= 0; d--) {
        if (d == t->row)
            continue;
        to += rest % y->size[d] * y->stride[d];
        from += rest % y->size[d] * x->stride[d];
        rest /= y->size[d];
    }
    const int64_t rows = y->size[t->row] - first < TILE ? y->size[t->row] - first : TILE;
    for (int64_t j = 0; j < y->size[last]; j += TILE) {
        const int64_t cols = y->size[last] - j < TILE ? y->size[last] - j : TILE;
        copy_tile(size, (char *)y->data + (to + j) * size,
                  (const char *)x->data + (from + j * x->stride[last]) * size, rows, cols,
                  y->stride[t->row], x->stride[last]);
    }
}

// The dimension that makes this copy a transpose, or -1.
static int transposed_dim(const tern_strided *y, const tern_strided *x)
{
    const int last = y->rank - 1;
    if (last < 1 || y->stride[last] != 1 || y->size[last] < 4)
        return -1;
    if (x->stride[last] == 1 || x->stride[last] == 0)
        return -1;
    for (int d = last - 1; d >= 0; d--) {
        if (x->stride[d] == 1 && y->size[d] >= 4)
            return d;
    }
    return -1;
}

static void copy_transposed(const tern_strided *y, const tern_strided *x, int row)
{
    transpose t = {y, x, row, (y->size[row] + TILE - 1) / TILE};
    int64_t chunks = t.strips;
    for (int d = 0; d < y->rank - 1; d++)
        chunks *= d == row ? 1 : y->size[d];
    int64_t numel = 1;
    for (int d = 0; d < y->rank; d++)
        numel *= y->size[d];
    if (numel > TERN_LOOP_ALONE) {
        tern_pool_run(chunks, copy_strip, &t);
    } else {
        for (int64_t i = 0; i < chunks; i++)
            copy_strip(&t, i);
    }
}

tern_status TERN_ISA_NAME(copy)(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    if (y->dtype != x->dtype) {
        TERN_ISA_NAME(copy_cast)(y, x);
        return TERN_OK;
    }
    const int row = transposed_dim(y, x);
    if (row >= 0) {
        copy_transposed(y, x, row);
        return TERN_OK;
    }
    const size_t size = tern_dtype_size(y->dtype);
    tern_loop_fn *run = size == 1 ? copy_1 : size == 2 ? copy_2 : size == 4 ? copy_4 : copy_8;
    tern_loop((const tern_strided *const[]){y, x}, 2, run, NULL, TERN_LOOP_ALONE);
    return TERN_OK;
}
