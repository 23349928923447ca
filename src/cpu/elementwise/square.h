// SPDX-License-Identifier: Apache-2.0
// Transposing squares of elements in registers. A template: SQUARE_TYPE is a type of the elements'
// size, SQUARE_LANES how many of them a vector has (2, 4, 8 or 16), SQUARE(name) the names.

typedef SQUARE_TYPE SQUARE(vec) __attribute__((vector_size(SQUARE_LANES * sizeof(SQUARE_TYPE))));
typedef SQUARE_TYPE SQUARE(unaligned)
    __attribute__((vector_size(SQUARE_LANES * sizeof(SQUARE_TYPE)), aligned(sizeof(SQUARE_TYPE)),
                   may_alias));

// x0 y0 x1 y1 ... of the lower halves, and of the upper halves.
static inline SQUARE(vec) SQUARE(zip_low)(SQUARE(vec) x, SQUARE(vec) y)
{
#if SQUARE_LANES == 16
    return __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif SQUARE_LANES == 8
    return __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
#elif SQUARE_LANES == 4
    return __builtin_shufflevector(x, y, 0, 4, 1, 5);
#else
    return __builtin_shufflevector(x, y, 0, 2);
#endif
}

static inline SQUARE(vec) SQUARE(zip_high)(SQUARE(vec) x, SQUARE(vec) y)
{
#if SQUARE_LANES == 16
    return __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
#elif SQUARE_LANES == 8
    return __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
#elif SQUARE_LANES == 4
    return __builtin_shufflevector(x, y, 2, 6, 3, 7);
#else
    return __builtin_shufflevector(x, y, 1, 3);
#endif
}

// Rows, which are `to_row` and `from_row` elements apart, become columns. A perfect shuffle of the
// rows does so when made as often as SQUARE_LANES can be halved.
static inline void SQUARE(transpose)(SQUARE_TYPE *to, const SQUARE_TYPE *from, int64_t to_row,
                                     int64_t from_row)
{
    SQUARE(vec) x[SQUARE_LANES], y[SQUARE_LANES];
    for (int i = 0; i < SQUARE_LANES; i++)
        x[i] = *(const SQUARE(unaligned) *)(from + i * from_row);
    for (int left = SQUARE_LANES; left > 1; left /= 2) {
        for (int i = 0; i < SQUARE_LANES / 2; i++) {
            y[2 * i] = SQUARE(zip_low)(x[i], x[i + SQUARE_LANES / 2]);
            y[2 * i + 1] = SQUARE(zip_high)(x[i], x[i + SQUARE_LANES / 2]);
        }
        memcpy(x, y, sizeof x);
    }
    for (int i = 0; i < SQUARE_LANES; i++)
        *(SQUARE(unaligned) *)(to + i * to_row) = x[i];
}

#undef SQUARE_TYPE
#undef SQUARE_LANES
#undef SQUARE
