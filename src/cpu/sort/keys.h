// SPDX-License-Identifier: Apache-2.0
// Elements of any dtype as keys, and back. Strides are in elements.
#ifndef TERN_SRC_CPU_SORT_KEYS_H
#define TERN_SRC_CPU_SORT_KEYS_H

#include <string.h>

#include "cpu/sort/order.h"
#include "device/sort_key.h"

// Calls DO(type, sign, infinity) for the C type of a dtype's bits; DO_BOOL for bool.
#if REAL_IS_FLOAT
#define KEY_DTYPES(dtype, DO, DO_BOOL)                                                             \
    switch (dtype) {                                                                               \
    case TERN_FLOAT32:                                                                             \
        DO(uint32_t, 0x80000000u, 0x7f800000u);                                                    \
        break;                                                                                     \
    case TERN_FLOAT16:                                                                             \
        DO(uint16_t, 0x8000u, 0x7c00u);                                                            \
        break;                                                                                     \
    case TERN_BFLOAT16:                                                                            \
        DO(uint16_t, 0x8000u, 0x7f80u);                                                            \
        break;                                                                                     \
    case TERN_INT32:                                                                               \
        DO(uint32_t, 0x80000000u, 0);                                                              \
        break;                                                                                     \
    case TERN_UINT8:                                                                               \
        DO(uint8_t, 0, 0);                                                                         \
        break;                                                                                     \
    case TERN_BOOL:                                                                                \
        DO_BOOL(uint8_t, 0, 0);                                                                    \
        break;                                                                                     \
    case TERN_FLOAT64: /* of the other build */                                                    \
    case TERN_INT64:                                                                               \
    case TERN_DTYPE_UNSPECIFIED:                                                                   \
        break;                                                                                     \
    }
#else
#define KEY_DTYPES(dtype, DO, DO_BOOL)                                                             \
    if (dtype == TERN_FLOAT64)                                                                     \
        DO(uint64_t, (uint64_t)1 << 63, (uint64_t)0x7ff << 52);                                    \
    else                                                                                           \
        DO(uint64_t, (uint64_t)1 << 63, 0);
#endif

// ---- elements to keys ---------------------------------------------------------------------------

#define LOAD_KEYS_AS(type, convert, sign, infinity)                                                \
    do {                                                                                           \
        const type *in = x;                                                                        \
        if (stride == 1)                                                                           \
            for (int64_t i = 0; i < n; i++)                                                        \
                keys[i] = KEY_WORD(sort_key)(convert in[i], sign, infinity) ^ flip;                \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                keys[i] = KEY_WORD(sort_key)(convert in[i * stride], sign, infinity) ^ flip;       \
    } while (0)
#define LOAD_KEYS(type, sign, infinity)  LOAD_KEYS_AS(type, , sign, infinity)
#define LOAD_TRUTH(type, sign, infinity) LOAD_KEYS_AS(type, 0 !=, sign, infinity)

// flip: all bits for descending order, or none.
static void load_keys(sort_key *keys, const void *x, tern_dtype dtype, int64_t stride, int64_t n,
                      sort_key flip)
{
    KEY_DTYPES(dtype, LOAD_KEYS, LOAD_TRUTH)
}

#define LOAD_COLUMNS_AS(type, convert, sign, infinity)                                             \
    do {                                                                                           \
        const type *in = x;                                                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int64_t c = 0; c < cols; c++)                                                     \
                keys[c * n + i] =                                                                  \
                    KEY_WORD(sort_key)(convert in[i * stride + c * next], sign, infinity) ^ flip;  \
    } while (0)
#define LOAD_COLUMNS(type, sign, infinity)       LOAD_COLUMNS_AS(type, , sign, infinity)
#define LOAD_TRUTH_COLUMNS(type, sign, infinity) LOAD_COLUMNS_AS(type, 0 !=, sign, infinity)

// (cols, n) keys of lines that are `next` apart.
static void load_columns(sort_key *keys, const void *x, tern_dtype dtype, int64_t stride,
                         int64_t next, int64_t n, int64_t cols, sort_key flip)
{
    KEY_DTYPES(dtype, LOAD_COLUMNS, LOAD_TRUTH_COLUMNS)
}

// ---- keys to elements ---------------------------------------------------------------------------

#define STORE_KEYS(type, sign, infinity)                                                           \
    do {                                                                                           \
        type *out = y;                                                                             \
        if (cols == 1 && stride == 1)                                                              \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = (type)KEY_WORD(sort_key_bits)(keys[i] ^ flip, sign, infinity);            \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                for (int64_t c = 0; c < cols; c++)                                                 \
                    out[i * stride + c * next] =                                                   \
                        (type)KEY_WORD(sort_key_bits)(keys[c * n + i] ^ flip, sign, infinity);     \
    } while (0)

// From (cols, n) keys.
static void store_columns(void *y, tern_dtype dtype, int64_t stride, int64_t next,
                          const sort_key *keys, int64_t n, int64_t cols, sort_key flip)
{
    KEY_DTYPES(dtype, STORE_KEYS, STORE_KEYS)
}

// The first of n ascending keys that is not below `key`.
static int64_t first_not_below(const sort_key *keys, int64_t n, sort_key key)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// A line of y and of x.
typedef struct line_pair {
    char *y;
    const char *x;
    int64_t y_stride, x_stride;
} line_pair;

// Several elements have the key `key`: those of y are copied.
static void copy_elements(const line_pair *line, tern_dtype dtype, const sort_key *keys,
                          const int64_t *positions, int64_t n, sort_key key)
{
    const int64_t size = (int64_t)tern_dtype_size(dtype);
    for (int64_t i = first_not_below(keys, n, key); i < n && keys[i] == key; i++)
        memcpy(line->y + i * line->y_stride * size, line->x + positions[i] * line->x_stride * size,
               (size_t)size);
}

#define ANY_ZERO_OR_NAN(type, sign, infinity)                                                      \
    do {                                                                                           \
        const sort_key zero = (sort_key)(sign) ^ flip, nan = KEY_WORD(sort_key_nan)(sign) ^ flip;  \
        for (int64_t i = 0; infinity != 0 && i < n; i++)                                           \
            any |= (keys[i] == zero) | (keys[i] == nan);                                           \
    } while (0)

static bool any_zero_or_nan(const sort_key *keys, tern_dtype dtype, int64_t n, sort_key flip)
{
    sort_key any = 0;
    KEY_DTYPES(dtype, ANY_ZERO_OR_NAN, ANY_ZERO_OR_NAN)
    return any != 0;
}

#define COPY_ZEROS_AND_NAN(type, sign, infinity)                                                   \
    do {                                                                                           \
        if (infinity != 0) {                                                                       \
            copy_elements(line, dtype, keys, positions, n, (sort_key)(sign) ^ flip);               \
            copy_elements(line, dtype, keys, positions, n, KEY_WORD(sort_key_nan)(sign) ^ flip);   \
        }                                                                                          \
    } while (0)

// -0 and 0 have one key, and so have all NaN.
static void copy_zeros_and_nan(const line_pair *line, tern_dtype dtype, const sort_key *keys,
                               const int64_t *positions, int64_t n, sort_key flip)
{
    KEY_DTYPES(dtype, COPY_ZEROS_AND_NAN, COPY_ZEROS_AND_NAN)
}

#endif
