// SPDX-License-Identifier: Apache-2.0
// Histograms of a log. Expected counts are numpy's, or counted by hand.
#include "logger_test.h"

static void add_values(tern_logger *log, const char *tag, int64_t count, const float *values)
{
    assert_int_equal(
        tern_logger_add_histogram(log, tag, tern_from_data(tern_dims(count), values), 1), TERN_OK);
}

// numpy.histogram([0, 1, 1.5, 2, 4, 3.999], bins=4) is [1, 2, 1, 2]: an edge belongs to the bin on
// its right, but for the last.
static void a_histogram_counts_as_numpy_does(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 4);
    add_values(log, "a", 6, (float[]){0, 1, 1.5, 2, 4, 3.5});
    add_values(log, "b", 6, (float[]){NAN, -1, INFINITY, 1, NAN, -INFINITY});
    tern_logger_free(log);
    assert_string_equal(
        behind_time(line_with("\"tag\":\"a\"")),
        ",\"tag\":\"a\",\"min\":0,\"max\":4,\"count\":6,\"sum\":12,\"sum_squares\":35.5,\"nan\":0,"
        "\"inf\":0,\"limits\":[1,2,3,4],\"counts\":[1,2,1,2]}");
    assert_string_equal(
        behind_time(line_with("\"tag\":\"b\"")),
        ",\"tag\":\"b\",\"min\":-1,\"max\":1,\"count\":2,\"sum\":0,\"sum_squares\":2,\"nan\":2,"
        "\"inf\":2,\"limits\":[-0.5,0,0.5,1],\"counts\":[1,0,0,1]}");
}

// numpy 2.4: np.histogram([0, .3, .6, .7, 1], 10) and np.histogram([0, .29, .57, .58, 1], 100). 0.3
// is less than 3 * 0.1, and 100 * 0.29 less than 29, though it is an edge.
static void an_edge_decides_where_a_quotient_is_rounded(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 10);
    tern_tensor *x = tern_from_data(tern_dims(5), (double[]){0, 0.3, 0.6, 0.7, 1});
    assert_int_equal(tern_logger_add_histogram(log, "a", x, 1), TERN_OK);
    tern_logger_free(log);
    assert_true(line_has(line_with("histogram"), "\"counts\":[1,0,1,0,0,1,1,0,0,1]"));
    log = tern_logger_new(path_of("b"), LINES_ALONE, .bins = 100);
    x = tern_from_data(tern_dims(5), (double[]){0, 0.29, 0.57, 0.58, 1});
    assert_int_equal(tern_logger_add_histogram(log, "a", x, 1), TERN_OK);
    tern_logger_free(log);
    const char *line = lines_of("b/log.jsonl")->at[1];
    const char *at = strstr(line, "\"counts\":[");
    assert_non_null(at);
    at += 10;
    for (int i = 0; i < 100; i++)
        assert_int_equal(strtol(at + 2 * i, NULL, 10),
                         i == 0 || i == 29 || i == 56 || i == 58 || i == 99);
}

static void a_histogram_of_nothing_or_of_one_value_is_written(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .bins = 2);
    add_values(log, "a", 0, NULL);
    add_values(log, "b", 2, (float[]){NAN, NAN});
    add_values(log, "c", 3, (float[]){2, 2, 2});
    tern_logger_free(log);
    assert_string_equal(behind_time(line_with("\"tag\":\"a\"")),
                        ",\"tag\":\"a\",\"min\":null,\"max\":null,\"count\":0,\"sum\":0,\"sum_"
                        "squares\":0,\"nan\":0,"
                        "\"inf\":0,\"limits\":[],\"counts\":[]}");
    assert_true(line_has(line_with("\"tag\":\"b\""), "\"count\":0,\"sum\":0,\"sum_squares\":0,"
                                                     "\"nan\":2,\"inf\":0,\"limits\":[]"));
    assert_true(line_has(line_with("\"tag\":\"c\""), "\"limits\":[2,2.5],\"counts\":[0,3]"));
}

static void a_histogram_takes_any_dtype_and_strides(void **state)
{
    (void)state;
    static const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16,
                                        TERN_INT64,   TERN_INT32,   TERN_UINT8,   TERN_BOOL};
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 2);
    for (int i = 0; i < 8; i++) {
        tern_tensor *x = tern_from_data(tern_dims(2, 2), (float[]){0, 5, 1, 5});
        x = tern_to_dtype(tern_select(x, 1, 0), dtypes[i]); // 0, 1
        assert_int_equal(tern_logger_add_histogram(log, "a", x, i), TERN_OK);
    }
    tern_logger_free(log);
    assert_int_equal(count_lines("log.jsonl", "\"sum\":1,\"sum_squares\":1,\"nan\":0,\"inf\":0,"
                                              "\"limits\":[0.5,1],\"counts\":[1,1]"),
                     8);
}

// In blocks and behind them, with what is not finite in one of them.
static void a_histogram_of_many_elements_has_them_all(void **state)
{
    (void)state;
    enum { COUNT = 100003 };
    static float values[COUNT];
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += values[i] = (float)(i % 1000) / 8;
    values[70000] = NAN;
    values[COUNT - 1] = INFINITY;
    sum -= 0 + 2. / 8;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 3);
    add_values(log, "a", COUNT, values);
    tern_logger_free(log);
    char due[200];
    snprintf(due, sizeof due, "\"max\":124.875,\"count\":100001,\"sum\":%.3f,", sum);
    assert_true(line_has(line_with("histogram"), due));
    // 0 to 332 lie in the first third of 0 to 999, 333 on its edge
    assert_true(line_has(line_with("histogram"), "\"nan\":1,\"inf\":1,"));
    assert_true(line_has(line_with("histogram"), "\"counts\":[33301,33300,33400]"));
}

static void extreme_ranges_have_histograms(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 2);
    tern_tensor *wide = tern_from_data(tern_dims(4), (double[]){-1.7e308, -1, 1, 1.7e308});
    tern_tensor *tiny = tern_from_data(tern_dims(2), (double[]){0, 5e-324});
    tern_tensor *large =
        tern_from_data(tern_dims(2), (double[]){1.7976931348623157e308, 1.7976931348623157e308});
    assert_int_equal(tern_logger_add_histogram(log, "a", wide, 0), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "b", tiny, 0), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "c", large, 0), TERN_OK);
    tern_logger_free(log);
    assert_true(line_has(line_with("\"tag\":\"a\""), "\"counts\":[2,2]"));
    assert_true(line_has(line_with("\"tag\":\"b\""), "\"counts\":[0,2]"));
    assert_true(line_has(line_with("\"tag\":\"c\""), "\"count\":2,\"sum\":null"));
}

static void every_edge_of_the_widest_range_is_a_number(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *wide = tern_from_data(tern_dims(3), (double[]){-1.7e308, 0, 1.7e308});
    assert_int_equal(tern_logger_add_histogram(log, "a", wide, 0), TERN_OK);
    tern_logger_free(log);
    assert_true(line_has(line_with("histogram"), "\"limits\":[-1."));
    assert_null(strstr(strstr(line_with("histogram"), "\"limits\":"), "null"));
    assert_true(line_has(line_with("histogram"), ",1.7e+308],\"counts\":[1,0,"));
}

static void a_module_s_parameters_and_gradients_are_histograms(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 2));
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_module_histograms(log, net, 1), TERN_OK);
    tern_tensor *y = tern_forward(net, tern_ones(tern_dims(4, 3)));
    assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
    assert_int_equal(tern_logger_add_module_histograms(log, net, 2), TERN_OK);
    tern_logger_free(log);
    tern_module_free(net);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"histogram\""), 6);
    assert_int_equal(count_lines("log.jsonl", "\"tag\":\"weights/0.weight\""), 2);
    assert_int_equal(count_lines("log.jsonl", "\"tag\":\"gradients/0.bias\""), 1);
    // the gradient of each of 6 weights is the sum of 4 ones
    assert_true(line_has(line_with("gradients/0.weight"), "\"count\":6,\"sum\":24,"));
}

static void what_is_logged_is_what_it_was(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 1);
    for (int i = 0; i < 20; i++) {
        tern_with_scope {
            tern_tensor *x = tern_full(tern_dims(1000), i);
            assert_int_equal(tern_logger_add_histogram(log, "a", x, i), TERN_OK);
            assert_non_null(tern_fill_(x, -1));
        }
    }
    tern_logger_free(log);
    for (int i = 0; i < 20; i++) {
        char part[100];
        snprintf(part, sizeof part, "\"min\":%d,\"max\":%d,", i, i);
        assert_true(line_has(lines_of("log.jsonl")->at[i + 1], part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOGGER_TEST(a_histogram_counts_as_numpy_does),
        LOGGER_TEST(an_edge_decides_where_a_quotient_is_rounded),
        LOGGER_TEST(a_histogram_of_nothing_or_of_one_value_is_written),
        LOGGER_TEST(a_histogram_takes_any_dtype_and_strides),
        LOGGER_TEST(a_histogram_of_many_elements_has_them_all),
        LOGGER_TEST(extreme_ranges_have_histograms),
        LOGGER_TEST(every_edge_of_the_widest_range_is_a_number),
        LOGGER_TEST(a_module_s_parameters_and_gradients_are_histograms),
        LOGGER_TEST(what_is_logged_is_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
