// SPDX-License-Identifier: Apache-2.0
// Carrying out the plan of a reduction.
#include "base/thread_pool.h"
#include "cpu/reduce/reduce_plan.h"
#include "cpu/reduce/reduce_rows.h"
#include "cpu/span.h"
#if REAL_IS_FLOAT
#include "cpu/reduce/reduce_best.h"
#include "cpu/reduce/reduce_sum.h"
#endif

// Outputs whose segments are joined by one chunk.
#define JOIN_CHUNK 4096

typedef struct reduce_work {
    const reduce_plan *plan;
    reduce_op op;
    double power;
    const double *shift; /* (outputs) or NULL */
    void *acc;           /* (segments, outputs) */
} reduce_work;

// Of tasks, or of outputs whose segments are joined: first ... end - 1.
typedef void reduce_fn(const reduce_work *work, int64_t first, int64_t end);
NUMBER_DECLARE(reduce_fn, reduce_tasks);
NUMBER_DECLARE(reduce_fn, reduce_join);

// Where element `index` of the dimensions lies in x.
static int64_t position(const reduce_dim *dims, int count, int64_t index)
{
    int64_t at = 0;
    for (int d = count - 1; d > 0; d--) {
        at += index % dims[d].size * dims[d].x_stride;
        index /= dims[d].size;
    }
    return at + index * dims[0].x_stride;
}

#if REAL_IS_FLOAT
// Chunks with squares too large or too small for float are added in double.
static double reduce_squares(const reduce_param *param, const real *x, int64_t n)
{
    const int64_t whole = n - n % (4 * VEC_WIDTH);
    double total = 0;
    for (int64_t i = 0; i < whole; i += REDUCE_CHUNK) {
        const int64_t count = whole - i < REDUCE_CHUNK ? whole - i : REDUCE_CHUNK;
        const double part = reduce_square_chunk(x + i, count);
        const bool kept = part > 0x1p-80 && part < 0x1p120;
        total += kept ? part : reduce_row(REDUCE_SQUARE_WIDE, param, x + i, count);
    }
    return total + reduce_row(REDUCE_SQUARE_WIDE, param, x + whole, n - whole);
}
#endif

// Reduces each of `rows` rows of n elements.
static void reduce_runs(reduce_op op, const reduce_param *param, acc_type *acc, const real *x,
                        int64_t row_stride, int64_t rows, int64_t n)
{
#define REDUCE_ROWS_BY(result)                                                                     \
    for (int64_t r = 0; r < rows; r++, x += row_stride)                                            \
    acc[r] = (acc_type)(result)
#if REAL_IS_FLOAT
    if (op == REDUCE_SUM)
        REDUCE_ROWS_BY(reduce_sum_row(x, n));
    else if (op == REDUCE_SQUARE)
        REDUCE_ROWS_BY(reduce_squares(param, x, n));
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
        REDUCE_ROWS_BY(reduce_row(op, param, x, n));
#undef REDUCE_ROWS_BY
}

static acc_type reduce_one_run(reduce_op op, const reduce_param *param, const real *x, int64_t n)
{
    acc_type total;
    reduce_runs(op, param, &total, x, 0, 1, n);
    return total;
}

// n elements along the innermost reduced dimension.
static acc_type reduce_inner(const reduce_plan *plan, reduce_op op, const reduce_param *param,
                             const char *x, int64_t n)
{
    const int64_t stride = plan->reduce[plan->reduce_count - 1].x_stride;
    if (plan->dtype == REAL_DTYPE && stride == 1)
        return reduce_one_run(op, param, (const real *)(const void *)x, n);
    acc_type total = reduce_identity(op);
    real run[REDUCE_CHUNK];
    for (int64_t i = 0; i < n; i += REDUCE_CHUNK) {
        const int64_t count = n - i < REDUCE_CHUNK ? n - i : REDUCE_CHUNK;
        REAL_SUFFIX(span_load)(run, x + i * stride * plan->element, plan->dtype, stride, count);
        total = reduce_combine(op, total, reduce_one_run(op, param, run, count));
    }
    return total;
}

// Terms [first, last) of one output.
static acc_type reduce_output(const reduce_plan *plan, reduce_op op, const reduce_param *param,
                              int64_t output, int64_t first, int64_t last)
{
    const char *x = plan->x + position(plan->keep, plan->keep_count, output) * plan->element;
    const int64_t inner = plan->reduce[plan->reduce_count - 1].size;
    acc_type total = reduce_identity(op);
    while (first < last) {
        const int64_t left = inner - first % inner;
        const int64_t n = last - first < left ? last - first : left;
        const int64_t at = position(plan->reduce, plan->reduce_count, first);
        const acc_type part = reduce_inner(plan, op, param, x + at * plan->element, n);
        total = reduce_combine(op, total, part);
        first += n;
    }
    return total;
}

// (rows, cols) along the innermost reduced and the innermost kept dimension.
static void reduce_rows(const reduce_plan *plan, reduce_op op, const reduce_param *param,
                        const double *shift, acc_type *acc, const char *x, int64_t rows,
                        int64_t cols)
{
    const int64_t row_stride = plan->reduce[plan->reduce_count - 1].x_stride;
    const int64_t stride = plan->keep[plan->keep_count - 1].x_stride;
    if (plan->dtype == REAL_DTYPE && stride == 1) {
#if REAL_IS_FLOAT
        if (op == REDUCE_SUM) {
            reduce_sum_columns(acc, (const real *)(const void *)x, row_stride, rows, cols);
            return;
        }
        if (op >= REDUCE_MAX && rows > 0 && cols >= VEC_WIDTH) {
            reduce_best_columns(op, acc, (const real *)(const void *)x, row_stride, rows, cols);
            return;
        }
#endif
        reduce_columns(op, param, shift, acc, (const real *)(const void *)x, row_stride, rows,
                       cols);
        return;
    }
    real row[REDUCE_MAX_COLUMNS];
    for (int64_t r = 0; r < rows; r++, x += row_stride * plan->element) {
        REAL_SUFFIX(span_load)(row, x, plan->dtype, stride, cols);
        reduce_columns(op, param, shift, acc, row, 0, 1, cols);
    }
}

// Terms [first, last) of a block of columns.
static void reduce_block(const reduce_plan *plan, reduce_op op, reduce_param *param,
                         const double *shift, acc_type *acc, int64_t unit, int64_t first,
                         int64_t last)
{
    const int64_t inner = plan->keep[plan->keep_count - 1].size;
    const int64_t column = unit % plan->blocks * plan->block;
    const int64_t output = unit / plan->blocks * inner + column;
    const int64_t cols = inner - column < plan->block ? inner - column : plan->block;
    const char *x = plan->x + position(plan->keep, plan->keep_count, output) * plan->element;
    const int64_t run = plan->reduce[plan->reduce_count - 1].size;
    for (int64_t c = 0; c < cols; c++)
        acc[output + c] = reduce_identity(op);
    while (first < last) {
        const int64_t left = run - first % run;
        const int64_t n = last - first < left ? last - first : left;
        const int64_t at = position(plan->reduce, plan->reduce_count, first);
        reduce_rows(plan, op, param, shift ? shift + output : NULL, acc + output,
                    x + at * plan->element, n, cols);
        first += n;
    }
}

static void run_task(const reduce_work *work, int64_t task)
{
    const reduce_plan *plan = work->plan;
    const int64_t segment = task / plan->units, unit = task % plan->units;
    const int64_t first = segment * plan->segment_terms;
    const int64_t last =
        plan->terms - first < plan->segment_terms ? plan->terms : first + plan->segment_terms;
    acc_type *acc = (acc_type *)work->acc + segment * plan->outputs;
    reduce_param param = {.power = work->power};
    if (plan->columns) {
        reduce_block(plan, work->op, &param, work->shift, acc, unit, first, last);
        return;
    }
    param.shift = work->shift ? work->shift[unit] : 0;
    acc[unit] = reduce_output(plan, work->op, &param, unit, first, last);
}

// Whether outputs are contiguous rows of REAL_DTYPE at one distance.
static bool has_plain_rows(const reduce_work *work)
{
    const reduce_plan *plan = work->plan;
    return !plan->columns && plan->segments == 1 && plan->keep_count == 1 &&
           plan->reduce_count == 1 && plan->reduce[0].x_stride == 1 && plan->dtype == REAL_DTYPE &&
           !work->shift;
}

void REAL_NAME(reduce_tasks)(const reduce_work *work, int64_t first, int64_t end)
{
    const reduce_plan *plan = work->plan;
    if (has_plain_rows(work)) {
        const reduce_param param = {.power = work->power};
        const int64_t stride = plan->keep[0].x_stride;
        const real *x = (const real *)(const void *)plan->x + first * stride;
        reduce_runs(work->op, &param, (acc_type *)work->acc + first, x, stride, end - first,
                    plan->terms);
        return;
    }
    for (int64_t task = first; task < end; task++)
        run_task(work, task);
}

// The segments of outputs [first, last), in their order.
void REAL_NAME(reduce_join)(const reduce_work *work, int64_t first, int64_t last)
{
    const reduce_plan *plan = work->plan;
    acc_type *acc = work->acc;
    for (int64_t s = 1; s < plan->segments; s++)
        for (int64_t i = first; i < last; i++)
            acc[i] = reduce_combine(work->op, acc[i], acc[s * plan->outputs + i]);
}

#if REAL_IS_FLOAT
static void run_tasks(void *context, int64_t chunk)
{
    const reduce_work *work = context;
    const reduce_plan *plan = work->plan;
    const int64_t first = chunk * plan->tasks_per_chunk;
    const int64_t left = plan->tasks - first;
    const int64_t end = first + (left < plan->tasks_per_chunk ? left : plan->tasks_per_chunk);
    NUMBER_SELECT(plan->dtype, reduce_tasks)(work, first, end);
}

static void run_join(void *context, int64_t chunk)
{
    const reduce_work *work = context;
    const int64_t first = chunk * JOIN_CHUNK, outputs = work->plan->outputs;
    const int64_t last = outputs - first < JOIN_CHUNK ? outputs : first + JOIN_CHUNK;
    NUMBER_SELECT(work->plan->dtype, reduce_join)(work, first, last);
}

void reduce_run(const reduce_plan *plan, reduce_op op, double power, const double *shift, void *acc)
{
    reduce_work work = {.plan = plan, .op = op, .power = power, .shift = shift, .acc = acc};
    if (plan->tasks == 0)
        return;
    tern_pool_run((plan->tasks + plan->tasks_per_chunk - 1) / plan->tasks_per_chunk, run_tasks,
                  &work);
    if (plan->segments > 1)
        tern_pool_run((plan->outputs + JOIN_CHUNK - 1) / JOIN_CHUNK, run_join, &work);
}
#endif
