// SPDX-License-Identifier: Apache-2.0
// One chunk of a reduction, for one element type: a template over reduction.h's parameters,
// included after it. REDUCE_LOAD(to, from, dtype, stride, n) reads a run, REDUCE_DTYPE is the dtype
// that needs no reading, REDUCE_IN_ELEM says that sums and the largest and smallest have loops of
// their own.

#if REDUCE_IN_ELEM
// Chunks with squares too large or too small for float are added in double.
static double REDUCE(squares)(const reduce_param *param, const ELEM *x, int64_t n)
{
    const int64_t whole = n - n % (4 * VEC_WIDTH);
    double total = 0;
    for (int64_t i = 0; i < whole; i += REDUCE_CHUNK) {
        const int64_t count = whole - i < REDUCE_CHUNK ? whole - i : REDUCE_CHUNK;
        const double part = reduce_square_chunk(x + i, count);
        const bool kept = part > 0x1p-80 && part < 0x1p120;
        total += kept ? part : REDUCE(row)(REDUCE_SQUARE_WIDE, param, x + i, count);
    }
    return total + REDUCE(row)(REDUCE_SQUARE_WIDE, param, x + whole, n - whole);
}
#endif

// Reduces each of `rows` rows of n elements.
static void REDUCE(reduce_runs)(reduce_op op, const reduce_param *param, ACC *acc, const ELEM *x,
                                int64_t row_stride, int64_t rows, int64_t n)
{
#define REDUCE_ROWS_BY(result)                                                                     \
    for (int64_t r = 0; r < rows; r++, x += row_stride)                                            \
    acc[r] = (ACC)(result)
#if REDUCE_IN_ELEM
    if (op == REDUCE_SUM)
        REDUCE_ROWS_BY(reduce_sum_row(x, n));
    else if (op == REDUCE_SQUARE)
        REDUCE_ROWS_BY(REDUCE(squares)(param, x, n));
    else if (op == REDUCE_MAX)
        REDUCE_ROWS_BY(reduce_best_row(REDUCE_MAX, x, n));
    else if (op == REDUCE_MIN)
        REDUCE_ROWS_BY(reduce_best_row(REDUCE_MIN, x, n));
    else if (op == REDUCE_MAX_ABS)
        REDUCE_ROWS_BY(reduce_best_row(REDUCE_MAX_ABS, x, n));
    else if (op == REDUCE_MIN_ABS)
        REDUCE_ROWS_BY(reduce_best_row(REDUCE_MIN_ABS, x, n));
    else
#endif
        REDUCE_ROWS_BY(REDUCE(row)(op, param, x, n));
#undef REDUCE_ROWS_BY
}

static ACC REDUCE(reduce_one_run)(reduce_op op, const reduce_param *param, const ELEM *x, int64_t n)
{
    ACC total;
    REDUCE(reduce_runs)(op, param, &total, x, 0, 1, n);
    return total;
}

// n elements along the innermost reduced dimension.
static ACC REDUCE(reduce_inner)(const reduce_plan *plan, reduce_op op, const reduce_param *param,
                                const char *x, int64_t n)
{
    const int64_t stride = plan->reduce[plan->reduce_count - 1].x_stride;
    if (plan->dtype == REDUCE_DTYPE && stride == 1)
        return REDUCE(reduce_one_run)(op, param, (const ELEM *)(const void *)x, n);
    ACC total = REDUCE(identity)(op);
    ELEM run[REDUCE_CHUNK];
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK) {
        const int64_t count = n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK;
        REDUCE_LOAD(run, x + i * stride * plan->element, plan->dtype, stride, count);
        total = REDUCE(combine)(op, total, REDUCE(reduce_one_run)(op, param, run, count));
    }
    return total;
}

// Terms [first, last) of one output.
static ACC REDUCE(reduce_output)(const reduce_plan *plan, reduce_op op, const reduce_param *param,
                                 int64_t output, int64_t first, int64_t last)
{
    const char *x = plan->x + position(plan->keep, plan->keep_count, output) * plan->element;
    const int64_t inner = plan->reduce[plan->reduce_count - 1].size;
    ACC total = REDUCE(identity)(op);
    while (first < last) {
        const int64_t left = inner - first % inner;
        const int64_t n = last - first < left ? last - first : left;
        const int64_t at = position(plan->reduce, plan->reduce_count, first);
        const ACC part = REDUCE(reduce_inner)(plan, op, param, x + at * plan->element, n);
        total = REDUCE(combine)(op, total, part);
        first += n;
    }
    return total;
}

// (rows, cols) along the innermost reduced and the innermost kept dimension.
static void REDUCE(reduce_rows)(const reduce_plan *plan, reduce_op op, const reduce_param *param,
                                const double *shift, ACC *acc, const char *x, int64_t rows,
                                int64_t cols)
{
    const int64_t row_stride = plan->reduce[plan->reduce_count - 1].x_stride;
    const int64_t stride = plan->keep[plan->keep_count - 1].x_stride;
    if (plan->dtype == REDUCE_DTYPE && stride == 1) {
#if REDUCE_IN_ELEM
        if (op == REDUCE_SUM) {
            reduce_sum_columns(acc, (const ELEM *)(const void *)x, row_stride, rows, cols);
            return;
        }
        if (op >= REDUCE_MAX && rows > 0 && cols >= VEC_WIDTH) {
            reduce_best_columns(op, acc, (const ELEM *)(const void *)x, row_stride, rows, cols);
            return;
        }
#endif
        REDUCE(columns)
        (op, param, shift, acc, (const ELEM *)(const void *)x, row_stride, rows, cols);
        return;
    }
    ELEM row[REDUCE_MAX_COLUMNS];
    for (int64_t r = 0; r < rows; r++, x += row_stride * plan->element) {
        REDUCE_LOAD(row, x, plan->dtype, stride, cols);
        REDUCE(columns)(op, param, shift, acc, row, 0, 1, cols);
    }
}

// Terms [first, last) of a block of columns.
static void REDUCE(reduce_block)(const reduce_plan *plan, reduce_op op, reduce_param *param,
                                 const double *shift, ACC *acc, int64_t unit, int64_t first,
                                 int64_t last)
{
    const int64_t inner = plan->keep[plan->keep_count - 1].size;
    const int64_t column = unit % plan->blocks * plan->block;
    const int64_t output = unit / plan->blocks * inner + column;
    const int64_t cols = inner - column < plan->block ? inner - column : plan->block;
    const char *x = plan->x + position(plan->keep, plan->keep_count, output) * plan->element;
    const int64_t reduce_inner = plan->reduce[plan->reduce_count - 1].size;
    for (int64_t c = 0; c < cols; c++)
        acc[output + c] = REDUCE(identity)(op);
    while (first < last) {
        const int64_t left = reduce_inner - first % reduce_inner;
        const int64_t n = last - first < left ? last - first : left;
        const int64_t at = position(plan->reduce, plan->reduce_count, first);
        REDUCE(reduce_rows)
        (plan, op, param, shift ? shift + output : NULL, acc + output, x + at * plan->element, n,
         cols);
        first += n;
    }
}

static void REDUCE(task)(const reduce_work *work, int64_t task)
{
    const reduce_plan *plan = work->plan;
    const int64_t segment = task / plan->units, unit = task % plan->units;
    const int64_t first = segment * plan->segment_terms;
    const int64_t last =
        plan->terms - first < plan->segment_terms ? plan->terms : first + plan->segment_terms;
    ACC *acc = (ACC *)work->acc + segment * plan->outputs;
    reduce_param param = {.power = work->power};
    if (plan->columns) {
        REDUCE(reduce_block)(plan, work->op, &param, work->shift, acc, unit, first, last);
        return;
    }
    param.shift = work->shift ? work->shift[unit] : 0;
    acc[unit] = REDUCE(reduce_output)(plan, work->op, &param, unit, first, last);
}

// Whether outputs are contiguous rows of REDUCE_DTYPE at one distance.
static bool REDUCE(plain_rows)(const reduce_work *work)
{
    const reduce_plan *plan = work->plan;
    return !plan->columns && plan->segments == 1 && plan->keep_count == 1 &&
           plan->reduce_count == 1 && plan->reduce[0].x_stride == 1 &&
           plan->dtype == REDUCE_DTYPE && !work->shift;
}

static void REDUCE(tasks)(const reduce_work *work, int64_t first, int64_t end)
{
    const reduce_plan *plan = work->plan;
    if (REDUCE(plain_rows)(work)) {
        const reduce_param param = {.power = work->power};
        const int64_t stride = plan->keep[0].x_stride;
        const ELEM *x = (const ELEM *)(const void *)plan->x + first * stride;
        REDUCE(reduce_runs)
        (work->op, &param, (ACC *)work->acc + first, x, stride, end - first, plan->terms);
        return;
    }
    for (int64_t task = first; task < end; task++)
        REDUCE(task)(work, task);
}

// The segments of outputs [first, last), in their order.
static void REDUCE(join)(const reduce_work *work, int64_t first, int64_t last)
{
    const reduce_plan *plan = work->plan;
    ACC *acc = work->acc;
    for (int64_t s = 1; s < plan->segments; s++)
        for (int64_t i = first; i < last; i++)
            acc[i] = REDUCE(combine)(work->op, acc[i], acc[s * plan->outputs + i]);
}
