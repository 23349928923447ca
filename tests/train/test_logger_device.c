// SPDX-License-Identifier: Apache-2.0
// Logging tensors of devices: as they are when they are logged, copied by the writer.
#include "device/device_check.h"
#include "logger_test.h"

static tern_tensor *numbers(void)
{
    return tern_to(tern_from_data(tern_dims(2, 2), (float[]){0, 1, 2, 4}), here);
}

static void a_tensor_of_a_device_is_logged_as_it_was(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .bins = 2);
    for (int i = 0; i < 20; i++) {
        tern_with_scope {
            tern_tensor *x = tern_add_scalar(numbers(), i);
            assert_int_equal(tern_logger_add_histogram(log, "h", x, i), TERN_OK);
            assert_int_equal(
                tern_logger_add_tensor_scalar(log, "s", tern_select(tern_select(x, 0, 1), 0, 1), i),
                TERN_OK);
            assert_non_null(tern_fill_(x, -7));
        }
    }
    tern_logger_free(log);
    assert_no_error();
    for (int i = 0; i < 20; i++) {
        char part[100];
        snprintf(part, sizeof part, "\"step\":%d,", i);
        const lines *l = lines_of("log.jsonl");
        assert_true(line_has(l->at[2 * i + 1], part) && line_has(l->at[2 * i + 2], part));
        snprintf(part, sizeof part, "\"min\":%d,\"max\":%d,\"count\":4,\"sum\":%d,", i, i + 4,
                 4 * i + 7);
        assert_true(line_has(l->at[2 * i + 1], part));
        snprintf(part, sizeof part, "\"tag\":\"s\",\"value\":%d}", i + 4);
        assert_true(line_has(l->at[2 * i + 2], part));
    }
}

static void every_kind_takes_tensors_of_devices(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *yes = tern_ones(tern_dims(2), .device = here);
    tern_tensor *image = tern_full(tern_dims(1, 2, 2), 0.5, .device = here);
    tern_module *net = tern_module_to(tern_nn_linear(2, 2), here);
    assert_int_equal(tern_logger_add_image(log, "i", image, 1), TERN_OK);
    assert_int_equal(tern_logger_add_image(log, "i", tern_to_dtype(image, TERN_UINT8), 1), TERN_OK);
    assert_int_equal(tern_logger_add_confusion_matrix(log, "m", numbers(), NULL, 1), TERN_OK);
    assert_int_equal(tern_logger_add_pr_curve(log, "p", yes, yes, 1, .num_thresholds = 2), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "t", tern_transpose(numbers(), 0, 1), 1),
                     TERN_OK);
    assert_int_equal(tern_logger_add_module_histograms(log, net, 1), TERN_OK);
    tern_logger_free(log);
    tern_module_free(net);
    assert_no_error();
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"image\""), 2);
    assert_true(line_has(line_with("matrix"), "\"values\":[0,1,2,4]"));
    assert_true(line_has(line_with("pr_curve"), "\"true_positives\":[2,2]"));
    assert_true(line_has(line_with("\"tag\":\"t\""), "\"count\":4,\"sum\":7,"));
    assert_int_equal(count_lines("log.jsonl", "\"tag\":\"weights/"), 2);
    assert_int_equal(count_lines("log.jsonl", "dropped"), 0);
}

static void tensors_of_two_devices_are_logged_together(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *a = numbers(), *b = tern_to(a, there);
    assert_int_equal(tern_logger_add_histogram(log, "a", a, 1), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "b", b, 1), TERN_OK);
    assert_int_equal(tern_logger_add_pr_curve(log, "p", tern_ones_like(a), tern_ones_like(b), 1),
                     TERN_OK);
    tern_logger_free(log);
    assert_int_equal(count_lines("log.jsonl", "\"count\":4,\"sum\":7,"), 2);
    assert_int_equal(count_lines("log.jsonl", "pr_curve"), 1);
}

// The error of a bad label is the training's, whoever copies from the device meanwhile.
static void a_fault_is_not_taken_by_the_writer(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *logits = tern_zeros(tern_dims(1, 3), .device = here);
    tern_tensor *bad = tern_full(tern_dims(1), 7, .dtype = TERN_INT64, .device = here);
    (void)tern_cross_entropy(logits, bad);
    assert_int_equal(tern_logger_add_histogram(log, "a", logits, 1), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    double value = tern_item(tern_sum_all(logits));
    (void)value;
    assert_error(TERN_ERR_INDEX, "label");
    tern_zero_grad(logits);
    tern_logger_free(log);
    assert_int_equal(count_lines("log.jsonl", "\"count\":3,"), 1);
}

static void a_capture_is_refused(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *x = numbers(), *one = tern_ones(tern_dims(), .device = here);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "a", x, 1), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "logger_add_histogram: not while ");
    assert_int_equal(tern_logger_add_tensor_scalar(log, "b", one, 1), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "logger_add_tensor_scalar: not while ");
    assert_int_equal(tern_logger_add_scalar(log, "c", 1, 1), TERN_OK);
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_error_clear();
    tern_logger_free(log);
    assert_int_equal(lines_of("log.jsonl")->count, 3);
}

static void the_run_names_its_devices(void **state)
{
    (void)state;
    tern_cuda_properties facts;
    tern_tensor *x = numbers(); // opens the device
    assert_non_null(x);
    tern_logger_free(tern_logger_new(folder, LINES_ALONE));
    assert_int_equal(tern_cuda_get_properties(here.index, &facts), TERN_OK);
    assert_true(line_has(line_with("\"devices\":[\"cpu\","), facts.name));
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest everywhere[] = {
        LOGGER_TEST(a_tensor_of_a_device_is_logged_as_it_was),
        LOGGER_TEST(every_kind_takes_tensors_of_devices),
        LOGGER_TEST(tensors_of_two_devices_are_logged_together),
        LOGGER_TEST(a_fault_is_not_taken_by_the_writer),
    };
    const struct CMUnitTest on_cuda[] = {
        LOGGER_TEST(a_capture_is_refused),
        LOGGER_TEST(the_run_names_its_devices),
    };
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
