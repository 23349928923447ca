// SPDX-License-Identifier: Apache-2.0
// One piece of a reduction, for one element type: a template over fold.h's parameters, included
// after it. FOLD_LOAD(to, from, dtype, stride, n) reads a run, FOLD_DTYPE is the dtype that needs
// no reading, FOLD_IN_ELEM says that sums and the largest and smallest have loops of their own.

#if FOLD_IN_ELEM
// Chunks with squares too large or too small for float are added in double.
static double FOLD(squares)(const fold_param *param, const ELEM *x, int64_t n)
{
    const int64_t whole = n - n % (4 * FOLD_WIDTH);
    double total = 0;
    for (int64_t i = 0; i < whole; i += REDUCE_CHUNK) {
        const int64_t count = whole - i < REDUCE_CHUNK ? whole - i : REDUCE_CHUNK;
        const double part = fold_square_chunk(x + i, count);
        const bool kept = part > 0x1p-80 && part < 0x1p120;
        total += kept ? part : FOLD(row)(FOLD_SQUARE_WIDE, param, x + i, count);
    }
    return total + FOLD(row)(FOLD_SQUARE_WIDE, param, x + whole, n - whole);
}
#endif

// Folds each of `rows` rows of n elements.
static void FOLD(fold_runs)(fold_op op, const fold_param *param, ACC *acc, const ELEM *x,
                            int64_t row_stride, int64_t rows, int64_t n)
{
#define FOLD_ROWS_BY(result)                                                                       \
    for (int64_t r = 0; r < rows; r++, x += row_stride)                                            \
    acc[r] = (ACC)(result)
#if FOLD_IN_ELEM
    if (op == FOLD_SUM)
        FOLD_ROWS_BY(fold_sum_row(x, n));
    else if (op == FOLD_SQUARE)
        FOLD_ROWS_BY(FOLD(squares)(param, x, n));
    else if (op == FOLD_MAX)
        FOLD_ROWS_BY(fold_best_row(FOLD_MAX, x, n));
    else if (op == FOLD_MIN)
        FOLD_ROWS_BY(fold_best_row(FOLD_MIN, x, n));
    else if (op == FOLD_MAX_ABS)
        FOLD_ROWS_BY(fold_best_row(FOLD_MAX_ABS, x, n));
    else if (op == FOLD_MIN_ABS)
        FOLD_ROWS_BY(fold_best_row(FOLD_MIN_ABS, x, n));
    else
#endif
        FOLD_ROWS_BY(FOLD(row)(op, param, x, n));
#undef FOLD_ROWS_BY
}

static ACC FOLD(fold_run)(fold_op op, const fold_param *param, const ELEM *x, int64_t n)
{
    ACC total;
    FOLD(fold_runs)(op, param, &total, x, 0, 1, n);
    return total;
}

// n elements along the innermost folded dimension.
static ACC FOLD(fold_inner)(const reduce_plan *plan, fold_op op, const fold_param *param,
                            const char *x, int64_t n)
{
    const int64_t stride = plan->fold[plan->fold_count - 1].x_stride;
    if (plan->dtype == FOLD_DTYPE && stride == 1)
        return FOLD(fold_run)(op, param, (const ELEM *)(const void *)x, n);
    ACC total = FOLD(identity)(op);
    ELEM run[REDUCE_CHUNK];
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK) {
        const int64_t count = n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK;
        FOLD_LOAD(run, x + i * stride * plan->element, plan->dtype, stride, count);
        total = FOLD(combine)(op, total, FOLD(fold_run)(op, param, run, count));
    }
    return total;
}

// Terms [first, last) of one output.
static ACC FOLD(fold_output)(const reduce_plan *plan, fold_op op, const fold_param *param,
                             int64_t output, int64_t first, int64_t last)
{
    const char *x = plan->x + place(plan->keep, plan->keep_count, output) * plan->element;
    const int64_t inner = plan->fold[plan->fold_count - 1].size;
    ACC total = FOLD(identity)(op);
    while (first < last) {
        const int64_t left = inner - first % inner;
        const int64_t n = last - first < left ? last - first : left;
        const int64_t at = place(plan->fold, plan->fold_count, first);
        const ACC part = FOLD(fold_inner)(plan, op, param, x + at * plan->element, n);
        total = FOLD(combine)(op, total, part);
        first += n;
    }
    return total;
}

// (rows, cols) along the innermost folded and the innermost kept dimension.
static void FOLD(fold_rows)(const reduce_plan *plan, fold_op op, const fold_param *param,
                            const double *shift, ACC *acc, const char *x, int64_t rows,
                            int64_t cols)
{
    const int64_t row_stride = plan->fold[plan->fold_count - 1].x_stride;
    const int64_t stride = plan->keep[plan->keep_count - 1].x_stride;
    if (plan->dtype == FOLD_DTYPE && stride == 1) {
#if FOLD_IN_ELEM
        if (op == FOLD_SUM) {
            fold_sum_columns(acc, (const ELEM *)(const void *)x, row_stride, rows, cols);
            return;
        }
        if (op >= FOLD_MAX && rows > 0 && cols >= FOLD_WIDTH) {
            fold_best_columns(op, acc, (const ELEM *)(const void *)x, row_stride, rows, cols);
            return;
        }
#endif
        FOLD(columns)(op, param, shift, acc, (const ELEM *)(const void *)x, row_stride, rows, cols);
        return;
    }
    ELEM row[REDUCE_MAX_COLUMNS];
    for (int64_t r = 0; r < rows; r++, x += row_stride * plan->element) {
        FOLD_LOAD(row, x, plan->dtype, stride, cols);
        FOLD(columns)(op, param, shift, acc, row, 0, 1, cols);
    }
}

// Terms [first, last) of a block of columns.
static void FOLD(fold_block)(const reduce_plan *plan, fold_op op, fold_param *param,
                             const double *shift, ACC *acc, int64_t unit, int64_t first,
                             int64_t last)
{
    const int64_t inner = plan->keep[plan->keep_count - 1].size;
    const int64_t column = unit % plan->blocks * plan->block;
    const int64_t output = unit / plan->blocks * inner + column;
    const int64_t cols = inner - column < plan->block ? inner - column : plan->block;
    const char *x = plan->x + place(plan->keep, plan->keep_count, output) * plan->element;
    const int64_t fold_inner = plan->fold[plan->fold_count - 1].size;
    for (int64_t c = 0; c < cols; c++)
        acc[output + c] = FOLD(identity)(op);
    while (first < last) {
        const int64_t left = fold_inner - first % fold_inner;
        const int64_t n = last - first < left ? last - first : left;
        const int64_t at = place(plan->fold, plan->fold_count, first);
        FOLD(fold_rows)
        (plan, op, param, shift ? shift + output : NULL, acc + output, x + at * plan->element, n,
         cols);
        first += n;
    }
}

static void FOLD(task)(const reduce_work *work, int64_t task)
{
    const reduce_plan *plan = work->plan;
    const int64_t segment = task / plan->units, unit = task % plan->units;
    const int64_t first = segment * plan->segment_terms;
    const int64_t last =
        plan->terms - first < plan->segment_terms ? plan->terms : first + plan->segment_terms;
    ACC *acc = (ACC *)work->acc + segment * plan->outputs;
    fold_param param = {.power = work->power};
    if (plan->columns) {
        FOLD(fold_block)(plan, work->op, &param, work->shift, acc, unit, first, last);
        return;
    }
    param.shift = work->shift ? work->shift[unit] : 0;
    acc[unit] = FOLD(fold_output)(plan, work->op, &param, unit, first, last);
}

// Whether outputs are contiguous rows of FOLD_DTYPE at one distance.
static bool FOLD(plain_rows)(const reduce_work *work)
{
    const reduce_plan *plan = work->plan;
    return !plan->columns && plan->segments == 1 && plan->keep_count == 1 &&
           plan->fold_count == 1 && plan->fold[0].x_stride == 1 && plan->dtype == FOLD_DTYPE &&
           !work->shift;
}

static void FOLD(tasks)(const reduce_work *work, int64_t first, int64_t end)
{
    const reduce_plan *plan = work->plan;
    if (FOLD(plain_rows)(work)) {
        const fold_param param = {.power = work->power};
        const int64_t stride = plan->keep[0].x_stride;
        const ELEM *x = (const ELEM *)(const void *)plan->x + first * stride;
        FOLD(fold_runs)
        (work->op, &param, (ACC *)work->acc + first, x, stride, end - first, plan->terms);
        return;
    }
    for (int64_t task = first; task < end; task++)
        FOLD(task)(work, task);
}

// The segments of outputs [first, last), in their order.
static void FOLD(join)(const reduce_work *work, int64_t first, int64_t last)
{
    const reduce_plan *plan = work->plan;
    ACC *acc = work->acc;
    for (int64_t s = 1; s < plan->segments; s++)
        for (int64_t i = first; i < last; i++)
            acc[i] = FOLD(combine)(work->op, acc[i], acc[s * plan->outputs + i]);
}
