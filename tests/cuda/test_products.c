// SPDX-License-Identifier: Apache-2.0
// Products by cuBLAS's interface against sums in double: layouts, batches, dtypes, edges.
#include "elements.h"
#include "plugin_check.h"

typedef struct operand {
    piece memory;
    tern_strided view;
    double *values; // (B, rows, cols), row after row
} operand;

typedef struct product {
    int64_t batch, m, n, k;
    tern_dtype dtype;
    bool a_by_columns, b_by_columns, a_shared, b_shared, accumulate;
} product;

static int64_t at(const tern_strided *view, int64_t b, int64_t i, int64_t j)
{
    return b * view->stride[0] + i * view->stride[1] + j * view->stride[2];
}

// Rows lie `gap` elements further apart than they have to.
static operand make(int64_t batch, int64_t rows, int64_t cols, tern_dtype dtype, bool by_columns,
                    bool shared, int64_t gap)
{
    const int64_t line = (by_columns ? rows : cols) + gap;
    const int64_t one = line * (by_columns ? cols : rows);
    operand x = {
        .memory = take(0, (shared ? 1 : batch) * one * (int64_t)tern_dtype_size(dtype)),
        .view = {.dtype = dtype,
                 .rank = 3,
                 .size = {batch, rows, cols},
                 .stride = {shared ? 0 : one, by_columns ? 1 : line, by_columns ? line : 1}},
        .values = test_calloc((size_t)(batch * rows * cols) + 1, sizeof(double)),
    };
    x.view.data = x.memory.data;
    char *host = test_calloc((size_t)x.memory.nbytes + 1, 1);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < cols; j++) {
                const double value = exact_value(at(&x.view, b, i, j));
                x.values[(b * rows + i) * cols + j] = value;
                store_element(host, dtype, at(&x.view, b, i, j), value);
            }
    assert_int_equal(plugin.device->to_device(0, x.memory.data, host, x.memory.nbytes), TERN_OK);
    test_free(host);
    return x;
}

static void drop(operand *x)
{
    give(&x->memory);
    test_free(x->values);
}

static double expected(const product *p, const operand *a, const operand *b, const operand *y,
                       int64_t batch, int64_t i, int64_t j)
{
    double sum = p->accumulate ? y->values[(batch * p->m + i) * p->n + j] : 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += a->values[(batch * p->m + i) * p->k + k] * b->values[(batch * p->k + k) * p->n + j];
    return sum;
}

static void assert_product(product p)
{
    operand a = make(p.batch, p.m, p.k, p.dtype, p.a_by_columns, p.a_shared, 3);
    operand b = make(p.batch, p.k, p.n, p.dtype, p.b_by_columns, p.b_shared, 2);
    operand y = make(p.batch, p.m, p.n, p.dtype, false, false, 0);
    const tern_matmul_args args = {
        .y = y.view, .a = a.view, .b = b.view, .accumulate = p.accumulate};
    const tern_exec exec = exec_of(0);
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_OK);
    char *host = test_calloc((size_t)y.memory.nbytes + 1, 1);
    assert_int_equal(plugin.device->to_host(0, host, y.memory.data, y.memory.nbytes), TERN_OK);
    // Sums of these values are exact in float32; 16-bit results are rounded once.
    const double rounding = rounding_of(p.dtype);
    for (int64_t batch = 0; batch < p.batch; batch++)
        for (int64_t i = 0; i < p.m; i++)
            for (int64_t j = 0; j < p.n; j++)
                assert_near(load_element(host, p.dtype, at(&y.view, batch, i, j)),
                            expected(&p, &a, &b, &y, batch, i, j), rounding, 0);
    test_free(host);
    drop(&a);
    drop(&b);
    drop(&y);
}

static const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16};

static void every_layout_and_dtype_gives_the_sums(void **state)
{
    (void)state;
    for (int layout = 0; layout < 8; layout++)
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
            assert_product((product){.batch = 1,
                                     .m = 5,
                                     .n = 7,
                                     .k = 9,
                                     .dtype = dtypes[i],
                                     .a_by_columns = layout & 1,
                                     .b_by_columns = layout & 2,
                                     .accumulate = layout & 4});
}

static void batches_may_share_an_operand(void **state)
{
    (void)state;
    for (int shared = 0; shared < 4; shared++)
        for (int layout = 0; layout < 4; layout++)
            assert_product((product){.batch = 3,
                                     .m = 4,
                                     .n = 2,
                                     .k = 6,
                                     .dtype = TERN_FLOAT32,
                                     .a_by_columns = layout & 1,
                                     .b_by_columns = layout & 2,
                                     .a_shared = shared & 1,
                                     .b_shared = shared & 2});
}

static void sizes_of_one_and_none_are_products_too(void **state)
{
    (void)state;
    for (int sizes = 0; sizes < 81; sizes++) {
        const int of[] = {sizes % 3, sizes / 3 % 3, sizes / 9 % 3, sizes / 27};
        const int64_t pick[] = {0, 1, 4};
        for (int accumulate = 0; accumulate < 2; accumulate++)
            assert_product((product){.batch = pick[of[0]],
                                     .m = pick[of[1]],
                                     .n = pick[of[2]],
                                     .k = pick[of[3]],
                                     .dtype = TERN_FLOAT32,
                                     .accumulate = accumulate});
    }
}

static void bias_and_relu_come_after_the_sums(void **state)
{
    (void)state;
    const float a[] = {1, 2, -3, 4}, b[] = {1, 0, 0, 1}, bias[] = {-2, 3};
    float y[4];
    piece pa = take(0, sizeof a), pb = take(0, sizeof b), py = take(0, sizeof y),
          pbias = take(0, sizeof bias);
    assert_int_equal(plugin.device->to_device(0, pa.data, a, sizeof a), TERN_OK);
    assert_int_equal(plugin.device->to_device(0, pb.data, b, sizeof b), TERN_OK);
    assert_int_equal(plugin.device->to_device(0, pbias.data, bias, sizeof bias), TERN_OK);
    const tern_strided shape = {NULL, TERN_FLOAT32, 3, {1, 2, 2}, {4, 2, 1}};
    const tern_strided bias_view = {pbias.data, TERN_FLOAT32, 1, {2}, {1}};
    tern_matmul_args args = {.y = shape, .a = shape, .b = shape, .bias = &bias_view, .relu = true};
    args.y.data = py.data;
    args.a.data = pa.data;
    args.b.data = pb.data;
    const tern_exec exec = exec_of(0);
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_OK);
    assert_int_equal(plugin.device->to_host(0, y, py.data, sizeof y), TERN_OK);
    const float expected_y[] = {0, 5, 0, 7};
    assert_memory_equal(y, expected_y, sizeof y);
    give(&pa);
    give(&pb);
    give(&py);
    give(&pbias);
}

static void a_captured_product_allocates_nothing_when_replayed(void **state)
{
    (void)state;
    operand a = make(1, 4, 4, TERN_FLOAT32, false, false, 0);
    operand y = make(1, 4, 4, TERN_FLOAT32, false, false, 0);
    const tern_matmul_args args = {.y = y.view, .a = a.view, .b = a.view};
    const long unprepared = counts().products_unprepared;
    assert_int_equal(plugin.cuda->capture_begin(0), TERN_OK);
    const tern_exec exec = exec_of(0);
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_OK);
    void *graph = plugin.cuda->capture_end(0, false);
    assert_non_null(graph);
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_OK); // by its own workspace again
    assert_int_equal(plugin.cuda->graph_launch(graph), TERN_OK);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    assert_int_equal(counts().products_unprepared, unprepared);
    plugin.cuda->graph_free(graph);
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_OK); // the graph's is gone
    drop(&a);
    drop(&y);
}

static void a_product_that_fails_is_an_error_and_the_next_one_works(void **state)
{
    (void)state;
    const enum tern_sim_call calls[] = {TERN_SIM_MALLOC, TERN_SIM_BLAS_CREATE, TERN_SIM_BLAS};
    const int codes[] = {cudaErrorMemoryAllocation, 3, 13}; // ALLOC_FAILED, EXECUTION_FAILED
    const tern_status statuses[] = {TERN_ERR_NOMEM, TERN_ERR_NOMEM, TERN_ERR_DEVICE};
    const product p = {.batch = 1, .m = 2, .n = 3, .k = 4, .dtype = TERN_FLOAT32};
    tern_cuda_stream *fresh[3]; // none ends before the last one, which would inherit its handle
    for (int i = 0; i < 3; i++) {
        fresh[i] = plugin.cuda->stream_new(0);
        operand a = make(1, 2, 2, TERN_FLOAT32, false, false, 0);
        (void)plugin.cuda->stream_set(0, fresh[i]);
        const tern_matmul_args args = {.y = a.view, .a = a.view, .b = a.view};
        const tern_exec exec = exec_of(0);
        assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
        const int64_t reserved = memory_of(0).reserved;
        plugin.fail_from(calls[i], 1, codes[i]);
        assert_int_equal(plugin.kernels->matmul(&exec, &args), statuses[i]);
        plugin.fail_none();
        assert_error(statuses[i], i == 0 ? "no memory for 32.00 MiB" : "matmul: cuBLAS: ");
        assert_true(i == 2 || memory_of(0).reserved == reserved);
        assert_product(p);
        (void)plugin.cuda->stream_set(0, NULL);
        drop(&a);
    }
    for (int i = 0; i < 3; i++)
        plugin.cuda->stream_free(fresh[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_and_dtype_gives_the_sums),
        cmocka_unit_test(batches_may_share_an_operand),
        cmocka_unit_test(sizes_of_one_and_none_are_products_too),
        cmocka_unit_test(bias_and_relu_come_after_the_sums),
        cmocka_unit_test(a_captured_product_allocates_nothing_when_replayed),
        cmocka_unit_test(a_product_that_fails_is_an_error_and_the_next_one_works),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
