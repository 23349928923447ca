// SPDX-License-Identifier: Apache-2.0
// Folding runs of one element type into accumulators. A template: ELEM is the type read, ACC the
// 8-byte type of the accumulators, FOLD(name) the names, ACC_LOW and ACC_HIGH what every maximum
// and minimum starts from, ACC_IS_NAN(x) is x != x, for one and for a vector, ACC_SUMS the type
// that sums are added in: unsigned for integers, whose sums wrap. The order of the additions
// depends on the lengths alone.

typedef ACC FOLD(vec) __attribute__((vector_size(VEC_BYTES)));
typedef ACC_SUMS FOLD(sums) __attribute__((vector_size(VEC_BYTES)));
typedef int64_t FOLD(mask) __attribute__((vector_size(VEC_BYTES)));
typedef ELEM FOLD(part) __attribute__((vector_size(VEC_BYTES / sizeof(ACC) * sizeof(ELEM)),
                                       aligned(sizeof(ELEM)), may_alias));

VEC_INLINE ACC FOLD(identity)(fold_op op)
{
    if (op == FOLD_MAX || op == FOLD_MAX_ABS)
        return ACC_LOW;
    return op == FOLD_MIN || op == FOLD_MIN_ABS ? ACC_HIGH : 0;
}

VEC_INLINE ACC FOLD(map)(fold_op op, ACC x, const fold_param *param)
{
    if (op == FOLD_ABS || op == FOLD_MAX_ABS || op == FOLD_MIN_ABS)
        return x < 0 ? -x : x;
    if (op == FOLD_SQUARE_WIDE)
        return x * x;
    if (op == FOLD_POWER)
        return (ACC)pow(fabs((double)x), param->power);
    if (op == FOLD_NONZERO)
        return x != 0;
    if (op == FOLD_DEVIATION)
        return (x - (ACC)param->shift) * (x - (ACC)param->shift);
    return x;
}

VEC_INLINE ACC FOLD(combine)(fold_op op, ACC a, ACC x)
{
    if (fold_op_adds(op))
        return (ACC)((ACC_SUMS)a + (ACC_SUMS)x);
    const bool better = op == FOLD_MAX || op == FOLD_MAX_ABS ? x > a : x < a;
    return (better | ACC_IS_NAN(x)) ? x : a;
}

VEC_INLINE FOLD(vec) FOLD(vec_select)(FOLD(mask) mask, FOLD(vec) x, FOLD(vec) y)
{
    return (FOLD(vec))(((FOLD(mask))x & mask) | ((FOLD(mask))y & ~mask));
}

VEC_INLINE FOLD(vec) FOLD(vec_map)(fold_op op, FOLD(vec) x, const fold_param *param)
{
    if (op == FOLD_ABS || op == FOLD_MAX_ABS || op == FOLD_MIN_ABS)
        return FOLD(vec_select)(x < (FOLD(vec)){0}, -x, x);
    if (op == FOLD_SQUARE_WIDE)
        return x * x;
    if (op == FOLD_NONZERO)
        return __builtin_convertvector((FOLD(mask))(x != (FOLD(vec)){0}) & 1, FOLD(vec));
    if (op == FOLD_DEVIATION) {
        const FOLD(vec) d = x - (ACC)param->shift;
        return d * d;
    }
    return x;
}

VEC_INLINE FOLD(vec) FOLD(vec_combine)(fold_op op, FOLD(vec) a, FOLD(vec) x)
{
    if (fold_op_adds(op))
        return (FOLD(vec))((FOLD(sums))a + (FOLD(sums))x);
    const FOLD(mask) better = op == FOLD_MAX || op == FOLD_MAX_ABS ? x > a : x < a;
    return FOLD(vec_select)(better | ACC_IS_NAN(x), x, a);
}

// a combined with what x is mapped to. The square of a float is exact in double, so that one
// rounding of square and sum changes nothing.
VEC_INLINE FOLD(vec) FOLD(vec_step)(fold_op op, FOLD(vec) a, FOLD(vec) x, const fold_param *param)
{
#if FOLD_IN_ELEM && defined(TERN_ISA_AVX512)
    if (op == FOLD_SQUARE_WIDE)
        return (FOLD(vec))_mm512_fmadd_pd((__m512d)x, (__m512d)x, (__m512d)a);
#elif FOLD_IN_ELEM && defined(TERN_ISA_AVX2)
    if (op == FOLD_SQUARE_WIDE)
        return (FOLD(vec))_mm256_fmadd_pd((__m256d)x, (__m256d)x, (__m256d)a);
#endif
    return FOLD(vec_combine)(op, a, FOLD(vec_map)(op, x, param));
}

VEC_INLINE FOLD(vec) FOLD(vec_load)(const ELEM *x)
{
    return __builtin_convertvector(*(const FOLD(part) *)x, FOLD(vec));
}

VEC_INLINE ACC FOLD(row_of)(fold_op op, const fold_param *param, const ELEM *x, int64_t n)
{
    enum { WIDTH = VEC_BYTES / sizeof(ACC) };
    ACC total = FOLD(identity)(op);
    int64_t i = 0;
    if (op != FOLD_POWER && n >= 4 * WIDTH) {
        FOLD(vec) v[4];
        for (int j = 0; j < 4; j++)
            v[j] = FOLD(vec_map)(op, FOLD(vec_load)(x + j * WIDTH), param);
        for (i = 4 * WIDTH; i + 4 * WIDTH <= n; i += 4 * WIDTH)
            for (int j = 0; j < 4; j++)
                v[j] = FOLD(vec_step)(op, v[j], FOLD(vec_load)(x + i + j * WIDTH), param);
        v[0] = FOLD(vec_combine)(op, FOLD(vec_combine)(op, v[0], v[1]),
                                 FOLD(vec_combine)(op, v[2], v[3]));
        for (int j = 0; j < WIDTH; j++)
            total = FOLD(combine)(op, total, v[0][j]);
    }
    for (; i < n; i++)
        total = FOLD(combine)(op, total, FOLD(map)(op, (ACC)x[i], param));
    return total;
}

// Folds n elements.
static ACC FOLD(row)(fold_op op, const fold_param *param, const ELEM *x, int64_t n)
{
    ACC total = 0;
#define FOLD_ROW(constant) total = FOLD(row_of)(constant, param, x, n)
    FOLD_SWITCH(op, FOLD_ROW)
#undef FOLD_ROW
    return total;
}

VEC_INLINE void FOLD(columns_of)(fold_op op, const fold_param *param, const double *shift, ACC *acc,
                                 const ELEM *x, int64_t row_stride, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, x += row_stride) {
        for (int64_t c = 0; c < cols; c++) {
            fold_param own = *param;
            if (op == FOLD_DEVIATION)
                own.shift = shift[c];
            acc[c] = FOLD(combine)(op, acc[c], FOLD(map)(op, (ACC)x[c], &own));
        }
    }
}

static void FOLD(columns_run)(fold_op op, const fold_param *param, const double *shift, ACC *acc,
                              const ELEM *x, int64_t row_stride, int64_t rows, int64_t cols)
{
#define FOLD_COLUMNS(constant)                                                                     \
    FOLD(columns_of)(constant, param, shift, acc, x, row_stride, rows, cols)
    FOLD_SWITCH(op, FOLD_COLUMNS)
#undef FOLD_COLUMNS
}

// Folds each column of (rows, cols) into its accumulator; `shift` (cols) stands for param->shift;
// cols <= REDUCE_MAX_COLUMNS. Many rows are added in runs, so that rounding errors stay apart.
static void FOLD(columns)(fold_op op, const fold_param *param, const double *shift, ACC *acc,
                          const ELEM *x, int64_t row_stride, int64_t rows, int64_t cols)
{
    while (rows > REDUCE_ROWS) {
        ACC part[REDUCE_MAX_COLUMNS];
        for (int64_t c = 0; c < cols; c++)
            part[c] = FOLD(identity)(op);
        FOLD(columns_run)(op, param, shift, part, x, row_stride, REDUCE_ROWS, cols);
        for (int64_t c = 0; c < cols; c++)
            acc[c] = FOLD(combine)(op, acc[c], part[c]);
        x += REDUCE_ROWS * row_stride;
        rows -= REDUCE_ROWS;
    }
    FOLD(columns_run)(op, param, shift, acc, x, row_stride, rows, cols);
}
