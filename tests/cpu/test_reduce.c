// SPDX-License-Identifier: Apache-2.0
// Reductions, variance and the place of the largest value, on every instruction set.
#include "kernel_check.h"

#define ROWS 70
#define COLS 1300

static float x[ROWS * COLS];

static void fill(double scale, double shift)
{
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(random_value() * scale + shift);
}

// The sum over rows [r0, r1) and columns [c0, c1), and of the absolute values.
static double sum_of(int r0, int r1, int c0, int c1, double *absolute)
{
    double sum = 0;
    *absolute = 0;
    for (int r = r0; r < r1; r++) {
        for (int c = c0; c < c1; c++) {
            sum += (double)x[r * COLS + c];
            *absolute += fabs((double)x[r * COLS + c]);
        }
    }
    return sum;
}

// A small multiple of the rounding of one addition, whatever the length.
#define SUM_TOLERANCE (32 * 0x1p-24)

static void sums_over_rows_columns_and_everything_agree_with_double(void **state)
{
    (void)state;
    float y[COLS];
    double absolute;
    fill(100, 0);
    const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, COLS);
    const tern_strided over_columns = VIEW(y, TERN_FLOAT32, ROWS, 1);
    const tern_strided over_rows = VIEW(y, TERN_FLOAT32, 1, COLS);
    const tern_strided over_all = VIEW(y, TERN_FLOAT32, 1, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &over_columns, &in), 0);
        for (int r = 0; r < ROWS; r++) {
            const double sum = sum_of(r, r + 1, 0, COLS, &absolute);
            assert_within(y[r], sum, SUM_TOLERANCE * absolute, kernels);
        }
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &over_rows, &in), 0);
        for (int c = 0; c < COLS; c++) {
            const double sum = sum_of(0, ROWS, c, c + 1, &absolute);
            assert_within(y[c], sum, SUM_TOLERANCE * absolute, kernels);
        }
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_MEAN, 0, &over_all, &in), 0);
        const double n = ROWS * COLS, mean = sum_of(0, ROWS, 0, COLS, &absolute) / n;
        assert_within(y[0], mean, SUM_TOLERANCE * absolute / n, kernels);
    }
}

// 2^24 + 1 ones: adding them one by one in float32 stops at 2^24.
static void a_long_sum_does_not_stall(void **state)
{
    (void)state;
    float one = 1, y = 0;
    tern_strided in = VIEW(&one, TERN_FLOAT32, (1 << 24) + 64);
    in.stride[0] = 0;
    const tern_strided out = VIEW(&y, TERN_FLOAT32, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &in), 0);
        assert_within(y, (1 << 24) + 64, 0, kernels);
    }
}

static void views_of_any_strides_give_the_sums_of_their_elements(void **state)
{
    (void)state;
    fill(1, 0);
    // (3, 5, 7, 4) in a permuted order, with gaps, one dimension backwards.
    tern_strided in = VIEW(x + 40000, TERN_FLOAT32, 3, 5, 7, 4);
    const int64_t stride[] = {2, 900, -7, 130};
    memcpy(in.stride, stride, sizeof stride);
    for (int mask = 0; mask < 16; mask++) {
        int64_t size[4];
        for (int d = 0; d < 4; d++)
            size[d] = mask >> d & 1 ? 1 : in.size[d];
        float all[3 * 5 * 7 * 4];
        const tern_strided out = VIEW(all, TERN_FLOAT32, size[0], size[1], size[2], size[3]);
        double expected[3 * 5 * 7 * 4] = {0};
        for (int64_t i = 0; i < 3 * 5 * 7 * 4; i++) {
            const int64_t at[] = {i / 140, i / 28 % 5, i / 4 % 7, i % 4};
            int64_t from = 0, to = 0;
            for (int d = 0; d < 4; d++) {
                from += at[d] * stride[d];
                to += (size[d] == 1 ? 0 : at[d]) * out.stride[d];
            }
            expected[to] += (double)x[40000 + from];
        }
        FOR_EACH_TABLE(kernels)
        {
            assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &in), 0);
            for (int64_t i = 0; i < size[0] * size[1] * size[2] * size[3]; i++)
                assert_within(all[i], expected[i], 1e-4, kernels);
        }
    }
}

static void the_largest_and_smallest_are_found_and_nan_wins(void **state)
{
    (void)state;
    float y[ROWS];
    fill(1, 0);
    x[3 * COLS + 77] = 5;
    x[4 * COLS + COLS - 1] = -6;
    x[5 * COLS + 900] = NAN;
    const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, COLS);
    const tern_strided out = VIEW(y, TERN_FLOAT32, ROWS, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_AMAX, 0, &out, &in), 0);
        assert_within(y[3], 5, 0, kernels);
        assert_true(isnan(y[5]));
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_AMIN, 0, &out, &in), 0);
        assert_within(y[4], -6, 0, kernels);
        assert_true(isnan(y[5]));
        assert_true(y[3] >= -1 && y[3] < 0);
    }
}

// The largest (or smallest) of the first `rows` elements of column c; a NaN among them wins.
static float best_of_column(tern_reduce_op op, double p, int rows, int c)
{
    float best = p > 0 ? fabsf(x[c]) : x[c];
    for (int r = 1; r < rows; r++) {
        const float value = p > 0 ? fabsf(x[r * COLS + c]) : x[r * COLS + c];
        const bool better = op == TERN_REDUCE_AMIN ? value < best : value > best;
        if (!isnan(best) && (better || isnan(value)))
            best = value;
    }
    return best;
}

// Widths around the vectors and blocks of each instruction set, with a NaN and both infinities
// somewhere.
static void the_best_of_columns_is_found_for_every_width(void **state)
{
    (void)state;
    static const struct {
        tern_reduce_op op;
        double p;
    } kinds[] = {{TERN_REDUCE_AMAX, 0}, {TERN_REDUCE_AMIN, 0}, {TERN_REDUCE_NORM, INFINITY}};
    static const int widths[] = {1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 511, 513, COLS};
    float y[COLS];
    FOR_EACH_TABLE(kernels)
    {
        for (size_t i = 0; i < 3 * sizeof widths / sizeof *widths; i++) {
            const int cols = widths[i / 3], rows = 1 + (int)(i * 7) % ROWS;
            fill(100, 0);
            x[rows / 2 * COLS + cols / 2] = NAN;
            x[(rows - 1) * COLS + cols - 1] = INFINITY;
            x[rows / 3 * COLS] = -INFINITY;
            const tern_strided in = {x, TERN_FLOAT32, 2, {rows, cols}, {COLS, 1}};
            const tern_strided out = {y, TERN_FLOAT32, 2, {1, cols}, {cols, 1}};
            const tern_reduce_op op = kinds[i % 3].op;
            assert_int_equal(kernels->reduce(&kernel_exec, op, kinds[i % 3].p, &out, &in), 0);
            for (int c = 0; c < cols; c++) {
                const float best = best_of_column(op, kinds[i % 3].p, rows, c);
                assert_true(y[c] == best || (isnan(y[c]) && isnan(best)));
            }
        }
    }
}

static void norms_of_every_order_are_those_of_double(void **state)
{
    (void)state;
    const double orders[] = {0, 1, 2, 3.5, INFINITY, -INFINITY};
    float y;
    fill(2, 0.25);
    x[10] = x[200] = 0;
    const tern_strided in = VIEW(x, TERN_FLOAT32, 1000), out = VIEW(&y, TERN_FLOAT32, 1);
    for (int k = 0; k < 6; k++) {
        const double p = orders[k];
        double sum = 0, high = 0, low = INFINITY;
        for (int i = 0; i < 1000; i++) {
            const double a = fabs((double)x[i]);
            sum += p == 0 ? a != 0 : isinf(p) ? 0 : pow(a, p);
            high = a > high ? a : high;
            low = a < low ? a : low;
        }
        const double expected = p == 0 ? sum : isinf(p) ? (p > 0 ? high : low) : pow(sum, 1 / p);
        FOR_EACH_TABLE(kernels)
        {
            assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_NORM, p, &out, &in), 0);
            assert_within(y, expected, expected * 0x1p-23, kernels);
        }
    }
}

static void integers_are_summed_exactly_in_int64(void **state)
{
    (void)state;
    static uint8_t bytes[COLS];
    int32_t words[COLS];
    int64_t y, expected_bytes = 0, expected_words = 0;
    for (int i = 0; i < COLS; i++) {
        bytes[i] = (uint8_t)random_below(256);
        words[i] = INT32_MAX - (int32_t)random_below(1000);
        expected_bytes += bytes[i];
        expected_words += words[i];
    }
    const tern_strided out = VIEW(&y, TERN_INT64, 1);
    const tern_strided narrow = VIEW(bytes, TERN_UINT8, COLS), wide = VIEW(words, TERN_INT32, COLS);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &narrow), 0);
        assert_true(y == expected_bytes);
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &wide), 0);
        assert_true(y == expected_words);
    }
}

static void a_sum_out_of_the_range_of_int64_wraps(void **state)
{
    (void)state;
    static int64_t large[4 * COLS], columns[COLS]; // long enough for vectors
    int64_t y;
    for (int i = 0; i < 4 * COLS; i++)
        large[i] = INT64_MAX;
    const tern_strided few = VIEW(large, TERN_INT64, 3), out = VIEW(&y, TERN_INT64, 1);
    const tern_strided many = VIEW(large, TERN_INT64, 4 * COLS);
    const tern_strided rows = VIEW(large, TERN_INT64, 4, COLS);
    const tern_strided of_columns = VIEW(columns, TERN_INT64, 1, COLS);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &few), 0);
        assert_true(y == INT64_MAX - 2); // n (2^63 - 1) modulo 2^64: n 2^63 - n
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &many), 0);
        assert_true(y == -4 * COLS);
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &of_columns, &rows), 0);
        for (int c = 0; c < COLS; c++)
            assert_true(columns[c] == -4);
    }
}

static void empty_reductions_have_their_neutral_values(void **state)
{
    (void)state;
    float y = 9;
    bool truth = false;
    const tern_strided in = VIEW(x, TERN_FLOAT32, 0), out = VIEW(&y, TERN_FLOAT32, 1);
    const tern_strided flag = VIEW(&truth, TERN_BOOL, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, &out, &in), 0);
        assert_within(y, 0, 0, kernels);
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_MEAN, 0, &out, &in), 0);
        assert_true(isnan(y));
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_NORM, 2, &out, &in), 0);
        assert_within(y, 0, 0, kernels);
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_ALL, 0, &flag, &in), 0);
        assert_true(truth);
        assert_int_equal(kernels->reduce(&kernel_exec, TERN_REDUCE_ANY, 0, &flag, &in), 0);
        assert_false(truth);
    }
}

// The deviations are a millionth of the mean: float32 sums of squares would lose them.
static void variance_survives_a_large_mean(void **state)
{
    (void)state;
    float var[ROWS], mean[ROWS];
    fill(0.5, 4096);
    const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, COLS);
    const tern_strided v = VIEW(var, TERN_FLOAT32, ROWS, 1), m = VIEW(mean, TERN_FLOAT32, ROWS, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->var(&kernel_exec, 1, &v, &m, &in), 0);
        for (int r = 0; r < ROWS; r++) {
            double absolute, squares = 0;
            const double average = sum_of(r, r + 1, 0, COLS, &absolute) / COLS;
            for (int c = 0; c < COLS; c++)
                squares += pow((double)x[r * COLS + c] - average, 2);
            assert_within(mean[r], average, average * 0x1p-24, kernels);
            assert_within(var[r], squares / (COLS - 1), squares / COLS * 0x1p-22, kernels);
        }
    }
}

static void one_element_has_no_unbiased_variance(void **state)
{
    (void)state;
    float var, value = 3;
    const tern_strided in = VIEW(&value, TERN_FLOAT32, 1), out = VIEW(&var, TERN_FLOAT32, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->var(&kernel_exec, 1, &out, NULL, &in), 0);
        assert_true(isnan(var));
        assert_int_equal(kernels->var(&kernel_exec, 0, &out, NULL, &in), 0);
        assert_within(var, 0, 0, kernels);
    }
}

static void the_first_of_equal_places_wins_and_nan_before_all(void **state)
{
    (void)state;
    float v[] = {1, 7, 7, 2, /**/ 3, NAN, 9, NAN};
    float values[2];
    int64_t places[2];
    const tern_strided in = VIEW(v, TERN_FLOAT32, 2, 4), out = VIEW(values, TERN_FLOAT32, 2, 1);
    const tern_strided indices = VIEW(places, TERN_INT64, 2, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->arg_reduce(&kernel_exec, true, &out, &indices, &in, 1), 0);
        assert_int_equal(places[0], 1);
        assert_int_equal(places[1], 1);
        assert_within(values[0], 7, 0, kernels);
        assert_true(isnan(values[1]));
    }
}

static void the_bits_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    static float one[COLS], four[COLS];
    const int before = tern_num_threads();
    fill(1, 0);
    const tern_strided in = VIEW(x, TERN_FLOAT32, ROWS, COLS);
    const tern_strided first = VIEW(one, TERN_FLOAT32, 1, COLS);
    const tern_strided second = VIEW(four, TERN_FLOAT32, 1, COLS);
    const tern_strided total[] = {VIEW(one, TERN_FLOAT32, 1, 1), VIEW(four, TERN_FLOAT32, 1, 1)};
    FOR_EACH_TABLE(kernels)
    {
        for (int all = 0; all < 2; all++) {
            assert_int_equal(tern_set_num_threads(1), 0);
            assert_int_equal(
                kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, all ? &total[0] : &first, &in),
                0);
            assert_int_equal(tern_set_num_threads(4), 0);
            assert_int_equal(
                kernels->reduce(&kernel_exec, TERN_REDUCE_SUM, 0, all ? &total[1] : &second, &in),
                0);
            assert_memory_equal(one, four, (all ? 1 : COLS) * sizeof *one);
        }
    }
    assert_int_equal(tern_set_num_threads(before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_rows_columns_and_everything_agree_with_double),
        cmocka_unit_test(a_long_sum_does_not_stall),
        cmocka_unit_test(views_of_any_strides_give_the_sums_of_their_elements),
        cmocka_unit_test(the_largest_and_smallest_are_found_and_nan_wins),
        cmocka_unit_test(the_best_of_columns_is_found_for_every_width),
        cmocka_unit_test(norms_of_every_order_are_those_of_double),
        cmocka_unit_test(integers_are_summed_exactly_in_int64),
        cmocka_unit_test(a_sum_out_of_the_range_of_int64_wraps),
        cmocka_unit_test(empty_reductions_have_their_neutral_values),
        cmocka_unit_test(variance_survives_a_large_mean),
        cmocka_unit_test(one_element_has_no_unbiased_variance),
        cmocka_unit_test(the_first_of_equal_places_wins_and_nan_before_all),
        cmocka_unit_test(the_bits_do_not_depend_on_the_number_of_threads),
    };
    return cmocka_run_group_tests_name("reduce", tests, kernel_setup, NULL);
}
