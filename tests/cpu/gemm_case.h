// SPDX-License-Identifier: Apache-2.0
// One matrix product on random operands against a plain triple loop in wider arithmetic. The
// includer defines `real` (the type under test), `wide` (of the loop), CASE(name), GEMM_ARGS,
// GEMM_FN and ROUNDING, half a unit in the last place of 1. Operands end where readable memory
// ends.

typedef struct CASE(data) {
    GEMM_ARGS args;
    real *a, *b, *bias;
    real *start; // what c holds before, padding included
    real *c;
    wide *expected, *bound; /* (batch, m, n) */
    int64_t a_count, b_count, c_count;
} CASE(data);

static real CASE(draw)(void)
{
    return (real)(next_random() % 2001) / 1000 - 1;
}

static real *CASE(random)(int64_t count)
{
    real *values = edge_alloc(count * (int64_t)sizeof(real));
    for (int64_t i = 0; i < count; i++)
        values[i] = CASE(draw)();
    return values;
}

// An operand of `rows` x `cols` with a unit stride along columns, or rows when turned.
static int64_t CASE(lay)(int64_t rows, int64_t cols, bool turned, int64_t pad, int64_t *row,
                         int64_t *col)
{
    *row = turned ? 1 : cols + pad;
    *col = turned ? rows + pad : 1;
    return rows > 0 && cols > 0 ? (rows - 1) * *row + (cols - 1) * *col + 1 : 0;
}

static void CASE(expect)(CASE(data) * d)
{
    const GEMM_ARGS *g = &d->args;
    const int64_t batch = g->batch ? g->batch : 1;
    for (int64_t s = 0; s < batch * g->m * g->n; s++) {
        const int64_t item = s / (g->m * g->n), i = s / g->n % g->m, j = s % g->n;
        const real *a = d->a + item * g->a_batch + i * g->a_row;
        const real *b = d->b + item * g->b_batch + j * g->b_col;
        wide sum = 0, size = 0;
        for (int64_t k = 0; k < g->k; k++) {
            const wide product = (wide)a[k * g->a_col] * b[k * g->b_row];
            sum += product;
            size += product < 0 ? -product : product;
        }
        if (g->bias)
            sum += g->bias[j], size += g->bias[j] < 0 ? -g->bias[j] : g->bias[j];
        const real before = d->start[item * g->c_batch + i * g->c_row + j];
        if (g->accumulate)
            sum += before, size += before < 0 ? -before : before;
        d->expected[s] = g->relu && sum < 0 ? 0 : sum;
        d->bound[s] = 2 * (wide)(g->k + 2) * (wide)ROUNDING * size;
    }
}

static CASE(data) CASE(make)(const gemm_case *c)
{
    CASE(data)
    d = {.args = {.m = c->m, .n = c->n, .k = c->k, .relu = c->relu, .accumulate = c->accumulate}};
    GEMM_ARGS *g = &d.args;
    const int64_t batch = c->batch ? c->batch : 1;
    const int64_t a_size = CASE(lay)(c->m, c->k, c->a_turned, c->pad, &g->a_row, &g->a_col);
    const int64_t b_size = CASE(lay)(c->k, c->n, c->b_turned, c->pad, &g->b_row, &g->b_col);
    g->batch = c->batch;
    g->a_batch = c->share_a ? 0 : a_size + c->pad;
    g->b_batch = c->share_b ? 0 : b_size + c->pad;
    g->c_row = c->n + c->pad;
    g->c_batch = c->m * g->c_row + c->pad;
    d.a_count = a_size ? (batch - 1) * g->a_batch + a_size : 0;
    d.b_count = b_size ? (batch - 1) * g->b_batch + b_size : 0;
    d.c_count = batch * g->c_batch;
    g->a = d.a = CASE(random)(d.a_count);
    g->b = d.b = CASE(random)(d.b_count);
    d.bias = CASE(random)(c->n);
    g->bias = c->bias ? d.bias : NULL;
    d.start = CASE(random)(d.c_count);
    d.c = CASE(random)(d.c_count);
    g->c = d.c;
    d.expected = edge_alloc(batch * c->m * c->n * (int64_t)sizeof(wide));
    d.bound = edge_alloc(batch * c->m * c->n * (int64_t)sizeof(wide));
    return d;
}

static void CASE(drop)(CASE(data) * d)
{
    const int64_t unit = (int64_t)sizeof(real), batch = d->args.batch ? d->args.batch : 1;
    const int64_t count = batch * d->args.m * d->args.n;
    edge_free(d->a, d->a_count * unit);
    edge_free(d->b, d->b_count * unit);
    edge_free(d->bias, d->args.n * unit);
    edge_free(d->start, d->c_count * unit);
    edge_free(d->c, d->c_count * unit);
    edge_free(d->expected, count * (int64_t)sizeof(wide));
    edge_free(d->bound, count * (int64_t)sizeof(wide));
}

static void CASE(compare)(const CASE(data) * d, const char *isa)
{
    const GEMM_ARGS *g = &d->args;
    const int64_t size = g->m * g->n;
    for (int64_t at = 0; at < d->c_count; at++) {
        const int64_t item = at / g->c_batch, i = at % g->c_batch / g->c_row;
        const int64_t j = at % g->c_batch % g->c_row;
        if (i >= g->m || j >= g->n) {
            if (memcmp(&d->c[at], &d->start[at], sizeof(real)) != 0)
                fail_msg("%s m=%" PRId64 " n=%" PRId64 " k=%" PRId64 ": padding at %" PRId64
                         " was written",
                         isa, g->m, g->n, g->k, at);
            continue;
        }
        const wide expected = d->expected[item * size + i * g->n + j];
        const wide bound = d->bound[item * size + i * g->n + j];
        const wide error = d->c[at] < expected ? expected - d->c[at] : d->c[at] - expected;
        const bool same = expected == d->c[at] || (expected != expected && d->c[at] != d->c[at]);
        if (!same && !(error <= bound))
            fail_msg("%s m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " strides %" PRId64 ",%" PRId64
                     " %" PRId64 ",%" PRId64 ": c[%" PRId64 "][%" PRId64 "][%" PRId64
                     "] is %.9g, not %.9g",
                     isa, g->m, g->n, g->k, g->a_row, g->a_col, g->b_row, g->b_col, item, i, j,
                     (double)d->c[at], (double)expected);
    }
}

static void CASE(run)(CASE(data) * d, GEMM_FN *fn)
{
    if (d->c_count > 0)
        memcpy(d->c, d->start, (size_t)d->c_count * sizeof(real));
    assert_int_equal(fn(&d->args), TERN_OK);
}

static void CASE(check)(const gemm_case *c, GEMM_FN *const *fns)
{
    CASE(data) d = CASE(make)(c);
    CASE(expect)(&d);
    for (int isa = 0; isa < ISAS; isa++) {
        if (!machine_has(isa))
            continue;
        CASE(run)(&d, fns[isa]);
        CASE(compare)(&d, isa_names[isa]);
    }
    CASE(drop)(&d);
}

// The result with one thread is the yardstick of the others.
static void CASE(check_threads)(const gemm_case *c, GEMM_FN *const *fns)
{
    static const int threads[] = {1, 2, 3, 8};
    CASE(data) d = CASE(make)(c);
    const size_t nbytes = (size_t)d.c_count * sizeof(real);
    real *first = edge_alloc((int64_t)nbytes);
    for (int isa = 0; isa < ISAS; isa++) {
        for (int t = 0; t < 4 && machine_has(isa); t++) {
            assert_int_equal(tern_set_num_threads(threads[t]), TERN_OK);
            CASE(run)(&d, fns[isa]);
            if (t == 0)
                memcpy(first, d.c, nbytes);
            else
                assert_memory_equal(d.c, first, nbytes);
        }
    }
    edge_free(first, (int64_t)nbytes);
    CASE(drop)(&d);
}
