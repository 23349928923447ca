// SPDX-License-Identifier: Apache-2.0
// Reducing runs of one element type into accumulators. A template: ELEM is the type read, ACC the
// 8-byte type of the accumulators, REDUCE(name) the names, ACC_LOW and ACC_HIGH what every maximum
// and minimum starts from, ACC_IS_NAN(x) is x != x, for one and for a vector, ACC_SUMS the type
// that sums are added in: unsigned for integers, whose sums wrap. The order of the additions
// depends on the lengths alone.

typedef ACC REDUCE(vec) __attribute__((vector_size(VEC_BYTES)));
typedef ACC_SUMS REDUCE(sums) __attribute__((vector_size(VEC_BYTES)));
typedef int64_t REDUCE(mask) __attribute__((vector_size(VEC_BYTES)));
typedef ELEM REDUCE(part) __attribute__((vector_size(VEC_BYTES / sizeof(ACC) * sizeof(ELEM)),
                                         aligned(sizeof(ELEM)), may_alias));

VEC_INLINE ACC REDUCE(identity)(reduce_op op)
{
    if (op == REDUCE_MAX || op == REDUCE_MAX_ABS)
        return ACC_LOW;
    return op == REDUCE_MIN || op == REDUCE_MIN_ABS ? ACC_HIGH : 0;
}

VEC_INLINE ACC REDUCE(map)(reduce_op op, ACC x, const reduce_param *param)
{
    if (op == REDUCE_ABS || op == REDUCE_MAX_ABS || op == REDUCE_MIN_ABS)
        return x < 0 ? -x : x;
    if (op == REDUCE_SQUARE_WIDE)
        return x * x;
    if (op == REDUCE_POWER)
        return (ACC)pow(fabs((double)x), param->power);
    if (op == REDUCE_NONZERO)
        return x != 0;
    if (op == REDUCE_DEVIATION)
        return (x - (ACC)param->shift) * (x - (ACC)param->shift);
    return x;
}

VEC_INLINE ACC REDUCE(combine)(reduce_op op, ACC a, ACC x)
{
    if (reduce_op_adds(op))
        return (ACC)((ACC_SUMS)a + (ACC_SUMS)x);
    const bool better = op == REDUCE_MAX || op == REDUCE_MAX_ABS ? x > a : x < a;
    return (better | ACC_IS_NAN(x)) ? x : a;
}

VEC_INLINE REDUCE(vec) REDUCE(vec_select)(REDUCE(mask) mask, REDUCE(vec) x, REDUCE(vec) y)
{
    return (REDUCE(vec))(((REDUCE(mask))x & mask) | ((REDUCE(mask))y & ~mask));
}

VEC_INLINE REDUCE(vec) REDUCE(vec_map)(reduce_op op, REDUCE(vec) x, const reduce_param *param)
{
    if (op == REDUCE_ABS || op == REDUCE_MAX_ABS || op == REDUCE_MIN_ABS)
        return REDUCE(vec_select)(x < (REDUCE(vec)){0}, -x, x);
    if (op == REDUCE_SQUARE_WIDE)
        return x * x;
    if (op == REDUCE_NONZERO)
        return __builtin_convertvector((REDUCE(mask))(x != (REDUCE(vec)){0}) & 1, REDUCE(vec));
    if (op == REDUCE_DEVIATION) {
        const REDUCE(vec) d = x - (ACC)param->shift;
        return d * d;
    }
    return x;
}

VEC_INLINE REDUCE(vec) REDUCE(vec_combine)(reduce_op op, REDUCE(vec) a, REDUCE(vec) x)
{
    if (reduce_op_adds(op))
        return (REDUCE(vec))((REDUCE(sums))a + (REDUCE(sums))x);
    const REDUCE(mask) better = op == REDUCE_MAX || op == REDUCE_MAX_ABS ? x > a : x < a;
    return REDUCE(vec_select)(better | ACC_IS_NAN(x), x, a);
}

// a combined with what x is mapped to. The square of a float is exact in double, so that one
// rounding of square and sum changes nothing.
VEC_INLINE REDUCE(vec)
    REDUCE(vec_step)(reduce_op op, REDUCE(vec) a, REDUCE(vec) x, const reduce_param *param)
{
#if REDUCE_IN_ELEM
    if (op == REDUCE_SQUARE_WIDE)
        return vec_double_fma(x, x, a);
#endif
    return REDUCE(vec_combine)(op, a, REDUCE(vec_map)(op, x, param));
}

VEC_INLINE REDUCE(vec) REDUCE(vec_load)(const ELEM *x)
{
    return __builtin_convertvector(*(const REDUCE(part) *)x, REDUCE(vec));
}

VEC_INLINE ACC REDUCE(row_of)(reduce_op op, const reduce_param *param, const ELEM *x, int64_t n)
{
    enum { WIDTH = VEC_BYTES / sizeof(ACC) };
    ACC total = REDUCE(identity)(op);
    int64_t i = 0;
    if (op != REDUCE_POWER && n >= 4 * WIDTH) {
        REDUCE(vec) v[4];
        for (int j = 0; j < 4; j++)
            v[j] = REDUCE(vec_map)(op, REDUCE(vec_load)(x + j * WIDTH), param);
        for (i = 4 * WIDTH; i + 4 * WIDTH <= n; i += 4 * WIDTH)
            for (int j = 0; j < 4; j++)
                v[j] = REDUCE(vec_step)(op, v[j], REDUCE(vec_load)(x + i + j * WIDTH), param);
        v[0] = REDUCE(vec_combine)(op, REDUCE(vec_combine)(op, v[0], v[1]),
                                   REDUCE(vec_combine)(op, v[2], v[3]));
        for (int j = 0; j < WIDTH; j++)
            total = REDUCE(combine)(op, total, v[0][j]);
    }
    for (; i < n; i++)
        total = REDUCE(combine)(op, total, REDUCE(map)(op, (ACC)x[i], param));
    return total;
}

// Reduces n elements.
static ACC REDUCE(row)(reduce_op op, const reduce_param *param, const ELEM *x, int64_t n)
{
    ACC total = 0;
#define REDUCE_ROW(constant) total = REDUCE(row_of)(constant, param, x, n)
    REDUCE_SWITCH(op, REDUCE_ROW)
#undef REDUCE_ROW
    return total;
}

VEC_INLINE void REDUCE(columns_of)(reduce_op op, const reduce_param *param, const double *shift,
                                   ACC *acc, const ELEM *x, int64_t row_stride, int64_t rows,
                                   int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, x += row_stride) {
        for (int64_t c = 0; c < cols; c++) {
            reduce_param own = *param;
            if (op == REDUCE_DEVIATION)
                own.shift = shift[c];
            acc[c] = REDUCE(combine)(op, acc[c], REDUCE(map)(op, (ACC)x[c], &own));
        }
    }
}

static void REDUCE(columns_run)(reduce_op op, const reduce_param *param, const double *shift,
                                ACC *acc, const ELEM *x, int64_t row_stride, int64_t rows,
                                int64_t cols)
{
#define REDUCE_COLUMNS(constant)                                                                   \
    REDUCE(columns_of)(constant, param, shift, acc, x, row_stride, rows, cols)
    REDUCE_SWITCH(op, REDUCE_COLUMNS)
#undef REDUCE_COLUMNS
}

// Reduces each column of (rows, cols) into its accumulator; `shift` (cols) stands for param->shift;
// cols <= REDUCE_MAX_COLUMNS. Many rows are added in runs, so that rounding errors stay apart.
static void REDUCE(columns)(reduce_op op, const reduce_param *param, const double *shift, ACC *acc,
                            const ELEM *x, int64_t row_stride, int64_t rows, int64_t cols)
{
    while (rows > REDUCE_ROWS) {
        ACC part[REDUCE_MAX_COLUMNS];
        for (int64_t c = 0; c < cols; c++)
            part[c] = REDUCE(identity)(op);
        REDUCE(columns_run)(op, param, shift, part, x, row_stride, REDUCE_ROWS, cols);
        for (int64_t c = 0; c < cols; c++)
            acc[c] = REDUCE(combine)(op, acc[c], part[c]);
        x += REDUCE_ROWS * row_stride;
        rows -= REDUCE_ROWS;
    }
    REDUCE(columns_run)(op, param, shift, acc, x, row_stride, rows, cols);
}
