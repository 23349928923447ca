// SPDX-License-Identifier: Apache-2.0
// Rows of every length up to some vectors, on every instruction set: their ends are done apart.
#include "kernel_check.h"

#define ROWS    3
#define LONGEST 140
#define LINES   260

static float x[ROWS * LONGEST], y[ROWS * LONGEST];

// Squares of four elements are added in float where they are in its range.
static void norms_are_right_in_rows_of_any_length_and_size(void **state)
{
    (void)state;
    enum { N = 2100 };
    static const double scales[] = {1, 0, 1e-44, 1e-30, 1e-12, 1e18, 1e19, 1e30, INFINITY, NAN};
    static float long_row[N];
    for (int n = 1; n <= N; n += n < LONGEST ? 1 : 61)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            float norm;
            double squares = 0;
            for (int i = 0; i < n; i++) { // a part is of another size than the rest
                long_row[i] = (float)(random_value() * (i % 700 < 300 ? scales[s] : 1e-3));
                squares += (double)long_row[i] * (double)long_row[i];
            }
            const tern_strided in = VIEW(long_row, TERN_FLOAT32, 1, n);
            const tern_strided out = VIEW(&norm, TERN_FLOAT32, 1, 1);
            FOR_EACH_TABLE(kernels)
            {
                assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_NORM, 2, &out, &in), 0);
                assert_within(norm, sqrt(squares), 0x1p-23 * sqrt(squares) + 0x1p-149, kernels);
            }
        }
}

// Row 1 has a NaN, row 2 only equal values but for its largest, at `place`.
static void fill(int n, int place)
{
    for (int i = 0; i < ROWS * n; i++)
        x[i] = (float)(random_value() + (i < n ? 0 : 3));
    for (int i = 0; i < n; i++)
        x[2 * n + i] = i < place ? -2 : -1;
    x[n + place] = NAN;
}

static void check_reductions(const tern_kernels *kernels, int n, int place)
{
    float sums[ROWS], largest[ROWS], smallest[ROWS];
    const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, n);
    const tern_strided sum = VIEW(sums, TERN_FLOAT32, ROWS, 1);
    const tern_strided high = VIEW(largest, TERN_FLOAT32, ROWS, 1);
    const tern_strided low = VIEW(smallest, TERN_FLOAT32, ROWS, 1);
    double expected = 0, top = -INFINITY, bottom = INFINITY;
    for (int i = 0; i < n; i++) {
        expected += (double)x[i];
        top = fmax(top, (double)x[i]);
        bottom = fmin(bottom, (double)x[i]);
    }
    assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &sum, &in), 0);
    assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_AMAX, 0, &high, &in), 0);
    assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_AMIN, 0, &low, &in), 0);
    assert_within(sums[0], expected, n * 0x1p-22, kernels);
    assert_within(sums[2], -n - place, 0, kernels);
    assert_within(largest[0], top, 0, kernels);
    assert_within(smallest[0], bottom, 0, kernels);
    assert_true(isnan(sums[1]) && isnan(largest[1]) && isnan(smallest[1]));
    assert_within(largest[2], -1, 0, kernels);
    assert_within(smallest[2], place > 0 ? -2 : -1, 0, kernels);
}

static void reductions_take_every_element_of_rows_of_any_length(void **state)
{
    (void)state;
    for (int n = 1; n <= LONGEST; n++) {
        const int place = (int)random_below((uint32_t)n);
        fill(n, place);
        FOR_EACH_TABLE(kernels)
        check_reductions(kernels, n, place);
    }
}

static void the_first_place_is_found_in_rows_of_any_length(void **state)
{
    (void)state;
    int64_t places[ROWS];
    const tern_strided indices = VIEW(places, TERN_INT64, ROWS, 1);
    for (int n = 1; n <= LONGEST; n++) {
        const int place = n - 1 - (int)random_below((uint32_t)(n < 20 ? n : 20));
        fill(n, place);
        const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, n);
        FOR_EACH_TABLE(kernels)
        {
            assert_int_equal(kernels->arg_reduce(&kernel_exec, true, NULL, &indices, &in, 1), 0);
            assert_int_equal(places[1], place);
            assert_int_equal(places[2], place);
            for (int i = 0; i < n; i++)
                assert_true(x[places[0]] > x[i] || (x[places[0]] == x[i] && places[0] <= i));
            assert_int_equal(kernels->arg_reduce(&kernel_exec, false, NULL, &indices, &in, 1), 0);
            assert_int_equal(places[1], place);
            assert_int_equal(places[2], 0);
        }
    }
}

// exp of the result, or the result of softmax itself; some elements are -infinity.
static void check_softmax(const tern_kernels *kernels, bool log, int n)
{
    const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, n, 1);
    const tern_strided out = VIEW(y, TERN_FLOAT32, ROWS, n, 1);
    assert_int_equal(kernels->softmax(&kernel_exec, log, &out, &in), 0);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += exp((double)x[r * n + i]);
        for (int i = 0; i < n; i++) {
            const double share = exp((double)x[r * n + i]) / sum, got = (double)y[r * n + i];
            assert_within(log ? exp(got) : got, share, 1e-5 * share + 1e-40, kernels);
        }
    }
}

static void softmax_is_right_in_rows_of_any_length(void **state)
{
    (void)state;
    for (int n = 1; n <= LONGEST; n++) {
        for (int i = 0; i < ROWS * n; i++)
            x[i] = i % n > 0 && random_below(8) == 0 ? -INFINITY : (float)(30 * random_value());
        FOR_EACH_TABLE(kernels)
        {
            check_softmax(kernels, false, n);
            check_softmax(kernels, true, n);
        }
    }
}

// Sums of multiples of 2^-20 are exact in double.
static void running_sums_of_lines_side_by_side_are_those_of_each(void **state)
{
    (void)state;
    enum { OUTER = 2, N = 5 };
    static float lines[OUTER * N * LINES], sums[OUTER * N * LINES];
    for (int i = 0; i < OUTER * N * LINES; i++)
        lines[i] = (float)random_value();
    for (int cols = 1; cols <= LINES; cols += cols < 3 ? 1 : 42) {
        const tern_strided in = VIEW(lines, TERN_FLOAT32, OUTER, N, cols);
        const tern_strided out = VIEW(sums, TERN_FLOAT32, OUTER, N, cols);
        for (int reverse = 0; reverse < 2; reverse++)
            FOR_EACH_TABLE(kernels)
            {
                assert_int_equal(kernels->cumsum(&kernel_exec, &out, &in, 1, reverse), 0);
                for (int line = 0; line < OUTER * cols; line++) {
                    const int at = line / cols * N * cols + line % cols;
                    double sum = 0;
                    for (int i = 0; i < N; i++) {
                        const int place = at + (reverse ? N - 1 - i : i) * cols;
                        sum += (double)lines[place];
                        assert_within(sums[place], (float)sum, 0, kernels);
                    }
                }
            }
    }
}

static void running_sums_along_rows_are_those_of_each(void **state)
{
    (void)state;
    enum { N = 7 };
    for (int rows = 1; rows <= LONGEST * ROWS / N; rows += 5) {
        for (int i = 0; i < rows * N; i++)
            x[i] = (float)random_value();
        const tern_strided in = VIEW(x, TERN_FLOAT32, rows, N);
        const tern_strided out = VIEW(y, TERN_FLOAT32, rows, N);
        FOR_EACH_TABLE(kernels)
        {
            double sum = 0;
            assert_int_equal(kernels->cumsum(&kernel_exec, &out, &in, 1, false), 0);
            for (int i = 0; i < rows * N; i++) {
                sum = (i % N > 0 ? sum : 0) + (double)x[i];
                assert_within(y[i], (float)sum, 0, kernels);
            }
        }
    }
}

static void one_value_a_row_meets_all_of_its_elements(void **state)
{
    (void)state;
    enum { N = 1100 };
    static double wide[ROWS * N], result[ROWS * N];
    static float narrow[ROWS * N], rounded[ROWS * N];
    for (int i = 0; i < ROWS * N; i++)
        wide[i] = (double)(narrow[i] = (float)random_value());
    tern_strided a = VIEW(narrow, TERN_FLOAT32, ROWS, N), b = a;
    tern_strided wide_a = VIEW(wide, TERN_FLOAT64, ROWS, N), wide_b = wide_a;
    const tern_strided out = VIEW(rounded, TERN_FLOAT32, ROWS, N);
    const tern_strided wide_y = VIEW(result, TERN_FLOAT64, ROWS, N);
    b.stride[1] = wide_b.stride[1] = 0;
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->binary(&kernel_exec, TERN_BINARY_SUB, 1, &out, &a, &b), 0);
        assert_int_equal(
            kernels->binary(&kernel_exec, TERN_BINARY_SUB, 1, &wide_y, &wide_b, &wide_a), 0);
        for (int i = 0; i < ROWS * N; i++) {
            const double off = wide[i] - wide[i / N * N];
            assert_within(rounded[i], (float)off, 0, kernels);
            assert_within(result[i], -off, 0, kernels);
        }
    }
}

// More elements than a piece of a walk, whose rows do not fill one: pieces begin inside a row.
static void pieces_that_begin_inside_a_row_take_every_element(void **state)
{
    (void)state;
    enum { COUNT = 200, N = 301, PITCH = 302 };
    static float from[COUNT * PITCH], to[COUNT * N];
    for (int i = 0; i < COUNT * PITCH; i++)
        from[i] = (float)i;
    tern_strided in = VIEW(from, TERN_FLOAT32, COUNT, N);
    const tern_strided out = VIEW(to, TERN_FLOAT32, COUNT, N);
    in.stride[0] = PITCH;
    FOR_EACH_TABLE(kernels)
    {
        memset(to, 0, sizeof to);
        assert_int_equal(kernels->copy(&kernel_exec, &out, &in), 0);
        for (int i = 0; i < COUNT * N; i++)
            assert_within(to[i], i / N * PITCH + i % N, 0, kernels);
    }
}

// Planes of 4 x 5 by windows of 2 x 2: the last column is in none of them.
static void gradients_of_pooled_pairs_end_with_their_planes(void **state)
{
    (void)state;
    enum { PLANES = 3, H = 4, W = 5, OUT = PLANES * H / 2 * (W / 2), ALL = PLANES * H * W };
    float dy[OUT], dx[ALL + 1];
    uint8_t place[OUT] = {0};
    const tern_strided at = VIEW(place, TERN_UINT8, PLANES, 1, H / 2, W / 2);
    const tern_strided dy_view = VIEW(dy, TERN_FLOAT32, PLANES, 1, H / 2, W / 2);
    const tern_strided dx_view = VIEW(dx, TERN_FLOAT32, PLANES, 1, H, W);
    const tern_max_pool_args args = {
        .dim = {{.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1},
                {.in = H, .out = H / 2, .kernel = 2, .stride = 2, .dilation = 1},
                {.in = W, .out = W / 2, .kernel = 2, .stride = 2, .dilation = 1}},
        .tap = &at};
    for (int i = 0; i < OUT; i++)
        dy[i] = (float)(i + 1);
    FOR_EACH_TABLE(kernels)
    {
        for (int i = 0; i <= ALL; i++)
            dx[i] = -1;
        assert_int_equal(kernels->max_pool_grad(&kernel_exec, &args, &dx_view, &dy_view), 0);
        for (int i = 0; i < ALL; i++) {
            const int row = i / W, col = i % W, from = row / 2 * (W / 2) + col / 2;
            const bool meets = row % 2 == 0 && col % 2 == 0 && col < W / 2 * 2;
            assert_within(dx[i], meets ? dy[from] : 0, 0, kernels);
        }
        assert_within(dx[ALL], -1, 0, kernels); // not of dx
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_take_every_element_of_rows_of_any_length),
        cmocka_unit_test(norms_are_right_in_rows_of_any_length_and_size),
        cmocka_unit_test(the_first_place_is_found_in_rows_of_any_length),
        cmocka_unit_test(softmax_is_right_in_rows_of_any_length),
        cmocka_unit_test(running_sums_of_lines_side_by_side_are_those_of_each),
        cmocka_unit_test(running_sums_along_rows_are_those_of_each),
        cmocka_unit_test(one_value_a_row_meets_all_of_its_elements),
        cmocka_unit_test(pieces_that_begin_inside_a_row_take_every_element),
        cmocka_unit_test(gradients_of_pooled_pairs_end_with_their_planes),
    };
    return cmocka_run_group_tests_name("rows", tests, kernel_setup, NULL);
}
