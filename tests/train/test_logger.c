// SPDX-License-Identifier: Apache-2.0
// Loggers: what each call writes, and what is refused.
#include <pthread.h>

#include "logger_test.h"

// ---- numbers ------------------------------------------------------------------------------------

static void a_scalar_is_a_line_of_each_file(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .csv = true);
    assert_non_null(log);
    assert_int_equal(tern_logger_add_scalar(log, "train/loss", 0.1, 7), TERN_OK);
    tern_logger_free(log);
    assert_no_error();
    const lines *l = lines_of("log.jsonl");
    assert_int_equal(l->count, 3);
    assert_true(strncmp(l->at[0], "{\"kind\":\"run\",", 14) == 0);
    assert_true(strncmp(l->at[1], "{\"kind\":\"scalar\",\"step\":7,\"time\":", 33) == 0);
    assert_string_equal(behind_time(l->at[1]), ",\"tag\":\"train/loss\",\"value\":0.1}");
    assert_true(strncmp(l->at[2], "{\"kind\":\"end\",", 14) == 0);
    assert_string_equal(behind_time(l->at[2]), ",\"status\":\"finished\"}");
    l = lines_of("log.csv");
    assert_int_equal(l->count, 2);
    assert_string_equal(l->at[0], "time,step,tag,value");
    assert_string_equal(strchr(l->at[1], ','), ",7,train/loss,0.1");
    assert_int_equal(count_event_files(), 1);
    assert_int_equal(count_files(), 3); // the lock is gone
}

static void numbers_are_read_back_with_the_same_bits(void **state)
{
    (void)state;
    static const double values[] = {
        0,      -0.0, 1, -3, 0.1, 1.0 / 3, 1e300, 5e-324, 1e15, 123456789012345678.0, (double)0.1f,
        2.5e-8, -1e-7};
    const int count = (int)(sizeof values / sizeof *values);
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    for (int i = 0; i < count; i++)
        assert_int_equal(tern_logger_add_scalar(log, "a", values[i], i), TERN_OK);
    tern_logger_free(log);
    const lines *l = lines_of("log.jsonl");
    for (int i = 0; i < count; i++) {
        const double read = strtod(strstr(l->at[i + 1], "\"value\":") + 8, NULL);
        assert_memory_equal(&read, &values[i], sizeof read);
    }
}

static void numbers_that_are_none_are_told_as_texts(void **state)
{
    (void)state;
    static const double values[] = {NAN, INFINITY, -INFINITY};
    static const char *const texts[] = {"nan", "inf", "-inf"};
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .csv = true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tern_logger_add_scalar(log, "a", values[i], i), TERN_OK);
    tern_logger_free(log);
    for (int i = 0; i < 3; i++) {
        char due[100];
        snprintf(due, sizeof due, ",\"tag\":\"a\",\"value\":null,\"text\":\"%s\"}", texts[i]);
        assert_string_equal(behind_time(lines_of("log.jsonl")->at[i + 1]), due);
        snprintf(due, sizeof due, ",%d,a,%s", i, texts[i]);
        assert_string_equal(strchr(lines_of("log.csv")->at[i + 1], ','), due);
    }
}

static void a_tensor_of_one_element_is_a_scalar(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *x = tern_full(tern_dims(1, 1), 2.5);
    assert_int_equal(tern_logger_add_tensor_scalar(log, "a", x, 3), TERN_OK);
    assert_int_equal(tern_status_of_(tern_fill_(x, 9) ? TERN_OK : TERN_ERR_ARG), TERN_OK);
    assert_int_equal(
        tern_logger_add_tensor_scalar(log, "a", tern_full(tern_dims(), 7, .dtype = TERN_INT64), 4),
        TERN_OK);
    tern_logger_free(log);
    assert_string_equal(behind_time(line_with("\"step\":3,")), ",\"tag\":\"a\",\"value\":2.5}");
    assert_string_equal(behind_time(line_with("\"step\":4,")), ",\"tag\":\"a\",\"value\":7}");
}

// ---- names --------------------------------------------------------------------------------------

static void tags_are_plain_data(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .csv = true, .name = "\"é\"");
    assert_int_equal(tern_logger_add_scalar(log, "<script>a,\"b\\", 1, 0), TERN_OK);
    assert_int_equal(tern_logger_add_scalar(log, "\xf0\x9f\x90\xa6", 1, 1), TERN_OK);
    tern_logger_free(log);
    assert_true(line_has(lines_of("log.jsonl")->at[0], "\"name\":\"\\\"é\\\"\","));
    assert_string_equal(behind_time(line_with("\"step\":0,")),
                        ",\"tag\":\"<script>a,\\\"b\\\\\",\"value\":1}");
    assert_string_equal(behind_time(line_with("\"step\":1,")),
                        ",\"tag\":\"\xf0\x9f\x90\xa6\",\"value\":1}");
    assert_string_equal(strchr(lines_of("log.csv")->at[1], ','), ",0,\"<script>a,\"\"b\\\",1");
}

static void what_is_no_tag_is_refused(void **state)
{
    (void)state;
    static char longest[1100];
    memset(longest, 'a', sizeof longest - 1);
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_scalar(log, "", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "logger_add_scalar: the tag is empty");
    assert_int_equal(tern_logger_add_scalar(log, "a\nb", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "has a control character");
    assert_int_equal(tern_logger_add_scalar(log, "a\x7f", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "has a control character");
    assert_int_equal(tern_logger_add_scalar(log, "a\xc2\x9b", 1, 0), TERN_ERR_ARG); // U+009B
    assert_error(TERN_ERR_ARG, "has a control character");
    assert_int_equal(tern_logger_add_scalar(log, "a\xff", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "is not UTF-8");
    assert_int_equal(tern_logger_add_scalar(log, "\xed\xa0\x80", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "is not UTF-8");
    assert_int_equal(tern_logger_add_scalar(log, longest, 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "has 1099 bytes, more than 1023");
    assert_int_equal(tern_logger_add_scalar(log, "_hparams_/a", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "is one of TensorBoard's own");
    assert_int_equal(tern_logger_add_scalar(log, "a/text_summary", 1, 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "is one of TensorBoard's own");
    longest[1023] = 0;
    assert_int_equal(tern_logger_add_scalar(log, longest, 1, 0), TERN_OK);
    tern_logger_free(log);
    assert_int_equal(lines_of("log.jsonl")->count, 3);
}

static void a_tag_keeps_its_kind(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_scalar(log, "a", 1, 0), TERN_OK);
    assert_int_equal(tern_logger_add_text(log, "a", "words", 0), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "logger_add_text: \"a\" is a tag of scalars already");
    tern_logger_free(log);
    log = tern_logger_new(folder, LINES_ALONE, .resume_step = 5);
    assert_int_equal(tern_logger_add_text(log, "a", "words", 6), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "\"a\" is a tag of scalars already");
    tern_logger_free(log);
}

static void a_call_that_is_refused_leaves_no_tag(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *x = tern_zeros(tern_dims(5, 2, 2));
    assert_int_equal(tern_logger_add_image(log, "a", x, 1), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "logger_add_image");
    assert_int_equal(tern_logger_add_histogram(log, "a", x, 1), TERN_OK);
    tern_logger_free(log);
    assert_no_error();
}

static void steps_may_go_back_but_not_below_zero(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_scalar(log, "a", 1, 9), TERN_OK);
    assert_int_equal(tern_logger_add_scalar(log, "a", 2, 3), TERN_OK);
    assert_int_equal(tern_logger_add_scalar(log, "a", 2, -1), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "logger_add_scalar: step is -1, not 0 or more");
    tern_logger_free(log);
    assert_true(line_has(lines_of("log.jsonl")->at[1], "\"step\":9,"));
    assert_true(line_has(lines_of("log.jsonl")->at[2], "\"step\":3,"));
}

// ---- images, texts, classifiers -----------------------------------------------------------------

static void an_image_is_a_png(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *x = tern_zeros(tern_dims(3, 2, 5));
    assert_int_equal(tern_logger_add_image(log, "a", x, 1), TERN_OK);
    assert_int_equal(tern_logger_add_image(log, "a", tern_zeros(tern_dims(5, 2, 2)), 1),
                     TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "logger_add_image: the image is (5, 2, 2)");
    tern_logger_free(log);
    // the first bytes of every PNG, and of this size
    assert_true(line_has(line_with("image"),
                         "\"height\":2,\"width\":5,\"png\":\"iVBORw0KGgoAAAANSUhEUg"
                         "AAAAUAAAAC"));
}

static void an_image_with_nan_is_left_out(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *x = tern_full(tern_dims(1, 2, 2), NAN);
    assert_int_equal(tern_logger_add_image(log, "a", x, 1), TERN_OK);
    assert_int_equal(tern_logger_add_image(log, "a", x, 2), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_int_equal(tern_logger_dropped(log), 2);
    tern_logger_free(log);
    assert_no_error();
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "\"a\" at step 1 is left out"));
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"image\""), 0);
    assert_string_equal(behind_time(line_with("dropped")), ",\"count\":2}");
}

static void a_text_may_have_several_lines(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_text(log, "a", "# b\n\t\x1f\x7f\"é", 1), TERN_OK);
    assert_int_equal(tern_logger_add_text(log, "a", "\xc0", 1), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "the text of \"a\" is not UTF-8");
    tern_logger_free(log);
    assert_string_equal(behind_time(line_with("text")),
                        ",\"tag\":\"a\",\"text\":\"# b\\n\\t\\u001f\\u007f\\\"é\"}");
}

static void a_confusion_matrix_has_no_negative_counts(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *m = tern_from_data(tern_dims(2, 2), (float[]){3, -1, 0, 2});
    tern_tensor *nearly = tern_from_data(tern_dims(2, 2), (float[]){3, -0.1f, 0, 2});
    assert_int_equal(tern_logger_add_confusion_matrix(log, "a", m, NULL, 1), TERN_OK);
    assert_int_equal(tern_logger_add_confusion_matrix(log, "a", nearly, NULL, 2), TERN_OK);
    tern_logger_free(log);
    assert_no_error();
    assert_non_null(strstr(logged.last, "element 1 of the confusion matrix is -1, no count"));
    assert_true(line_has(line_with("\"kind\":\"matrix\""), "\"step\":2,"));
    assert_true(line_has(line_with("\"kind\":\"matrix\""), "\"values\":[3,0,0,2]"));
    assert_string_equal(behind_time(line_with("dropped")), ",\"count\":1}");
}

static void a_confusion_matrix_has_its_names(void **state)
{
    (void)state;
    static const char *const names[] = {"T-shirt", "<b>"};
    tern_logger *log = tern_logger_new(folder);
    tern_tensor *m = tern_from_data(tern_dims(2, 2), (int64_t[]){5, 1, 0, 7});
    assert_int_equal(tern_logger_add_confusion_matrix(log, "a", m, names, 1), TERN_OK);
    assert_int_equal(tern_logger_add_confusion_matrix(log, "a", m, NULL, 2), TERN_OK);
    assert_int_equal(
        tern_logger_add_confusion_matrix(log, "a", tern_zeros(tern_dims(2, 3)), NULL, 2),
        TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "the matrix is (2, 3), but must be (C, C)");
    tern_logger_free(log);
    assert_string_equal(behind_time(line_with("\"step\":1,")),
                        ",\"tag\":\"a\",\"rows\":2,\"columns\":2,\"values\":[5,1,0,7],"
                        "\"names\":[\"T-shirt\",\"<b>\"]}");
    assert_true(line_has(line_with("\"step\":2,"), "\"names\":null}"));
}

// By hand: of the predictions 0.25 (no), 0.5 (yes), 0.75 (no) and 1 (yes), those at or above each
// of the thresholds 0, 0.5 and 1 are 4, 3 and 1.
static void a_precision_recall_curve_is_that_of_summary_writer(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *labels = tern_from_data(tern_dims(4), (int64_t[]){0, 1, 0, 1});
    tern_tensor *predictions = tern_from_data(tern_dims(4), (float[]){0.25f, 0.5f, 0.75f, 1});
    assert_int_equal(
        tern_logger_add_pr_curve(log, "a", labels, predictions, 1, .num_thresholds = 3), TERN_OK);
    tern_logger_free(log);
    assert_string_equal(behind_time(line_with("pr_curve")),
                        ",\"tag\":\"a\",\"thresholds\":[0,0.5,1],\"true_positives\":[2,2,1],"
                        "\"false_positives\":[2,1,0],\"true_negatives\":[0,1,2],"
                        "\"false_negatives\":[0,0,1],"
                        "\"precision\":[0.5,0.66666666666666663,1],\"recall\":[1,1,0.5]}");
}

static void a_curve_of_what_is_no_probability_is_left_out(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *yes = tern_ones(tern_dims(1)), *two = tern_full(tern_dims(1), 2);
    assert_int_equal(tern_logger_add_pr_curve(log, "a", yes, two, 1), TERN_OK);
    assert_int_equal(tern_logger_add_pr_curve(log, "a", two, yes, 1), TERN_OK);
    assert_int_equal(tern_logger_add_pr_curve(log, "a", yes, tern_full(tern_dims(1), NAN), 1),
                     TERN_OK);
    tern_logger_free(log);
    assert_non_null(strstr(logged.last, "prediction 0 is 2, not within 0 and 1"));
    assert_int_equal(count_lines("log.jsonl", "pr_curve"), 0);
    assert_int_equal(count_lines("log.jsonl", "\"count\":3}"), 1);
}

static void settings_are_one_object(void **state)
{
    (void)state;
    const tern_setting settings[] = {
        {"lr", TERN_SETTING_DOUBLE, .number = 1e-3},
        {"optimizer", TERN_SETTING_TEXT, .text = "adam \"w\""},
        {"epochs", TERN_SETTING_INT, .integer = 9007199254740993},
        {"augment", TERN_SETTING_BOOL, .truth = true},
        {"limit", TERN_SETTING_DOUBLE, .number = INFINITY},
    };
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_settings(log, settings, 5), TERN_OK);
    assert_int_equal(tern_logger_add_settings(log, (tern_setting[]){settings[0], settings[0]}, 2),
                     TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "there are two settings \"lr\"");
    tern_logger_free(log);
    assert_string_equal(behind_time(line_with("settings")),
                        ",\"settings\":{\"lr\":0.001,\"optimizer\":\"adam \\\"w\\\"\","
                        "\"epochs\":9007199254740993,\"augment\":true,\"limit\":null}}");
}

// ---- the run ------------------------------------------------------------------------------------

static void the_first_line_says_what_runs_where(void **state)
{
    (void)state;
    char due[64];
    tern_manual_seed(1234567890123);
    tern_logger_free(tern_logger_new(folder, .name = "b"));
    const char *first = line_with("\"kind\":\"run\"");
    snprintf(due, sizeof due, "\"pid\":%ld,\"seed\":1234567890123,", (long)getpid());
    assert_true(line_has(first, due));
    snprintf(due, sizeof due, ",\"schema\":1,\"name\":\"b\",\"tern\":\"%s\",", tern_version());
    assert_true(line_has(first, due));
    snprintf(due, sizeof due, "\"threads\":%d,\"isa\":\"", tern_num_threads());
    assert_true(line_has(first, due));
    assert_true(line_has(first, "\"devices\":[\"cpu\""));
    assert_true(line_has(first, ",\"resume_step\":null}"));
}

static void the_end_says_how_the_run_ended(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_set_status(log, TERN_RUN_STOPPED), TERN_OK);
    assert_int_equal(tern_logger_set_status(log, (tern_run_status)9), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "there is no status 9");
    tern_logger_free(log);
    assert_true(line_has(line_with("end"), "\"status\":\"stopped\"}"));
    log = tern_logger_new(folder, LINES_ALONE, .resume_step = 0);
    assert_int_equal(tern_error_raise(TERN_ERR_ARG, "something"), TERN_ERR_ARG);
    tern_logger_free(log);
    assert_error(TERN_ERR_ARG, "something");
    assert_int_equal(count_lines("log.jsonl", "\"status\":\"failed\"}"), 1);
}

static void without_a_logger_nothing_is_logged(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(1, 1);
    tern_tensor *x = tern_zeros(tern_dims(1, 1, 1));
    assert_int_equal(tern_logger_add_scalar(NULL, "a", 1, 0), TERN_OK);
    assert_int_equal(tern_logger_add_tensor_scalar(NULL, "a", x, 0), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(NULL, "a", x, 0), TERN_OK);
    assert_int_equal(tern_logger_add_module_histograms(NULL, net, 0), TERN_OK);
    assert_int_equal(tern_logger_add_image(NULL, "a", x, 0), TERN_OK);
    assert_int_equal(tern_logger_add_text(NULL, "a", "b", 0), TERN_OK);
    assert_int_equal(tern_logger_add_confusion_matrix(NULL, "a", x, NULL, 0), TERN_OK);
    assert_int_equal(tern_logger_add_pr_curve((tern_logger *)NULL, "a", x, x, 0), TERN_OK);
    assert_int_equal(tern_logger_add_settings(NULL, NULL, 0), TERN_OK);
    assert_int_equal(tern_logger_add_page(NULL), TERN_OK);
    assert_int_equal(tern_logger_set_status(NULL, TERN_RUN_FAILED), TERN_OK);
    assert_int_equal(tern_logger_flush(NULL), TERN_OK);
    assert_int_equal(tern_logger_dropped(NULL), 0);
    tern_logger_free(NULL);
    tern_module_free(net);
    assert_no_error();
}

enum { THREADS = 4, OF_THREAD = 2000 };

static void *log_many(void *log)
{
    char tag[16];
    static _Atomic int next;
    snprintf(tag, sizeof tag, "t%d", next++);
    for (int i = 0; i < OF_THREAD; i++)
        (void)tern_logger_add_scalar(log, tag, i, i);
    return NULL;
}

static void several_threads_log_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, log), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(tern_logger_dropped(log), 0);
    tern_logger_free(log);
    const lines *l = lines_of("log.jsonl");
    int64_t due[THREADS] = {0};
    assert_int_equal(l->count, 2 + THREADS * OF_THREAD);
    for (int i = 1; i <= THREADS * OF_THREAD; i++) {
        const int thread = strstr(l->at[i], "\"tag\":\"t")[8] - '0';
        assert_int_equal(strtoll(strstr(l->at[i], "\"step\":") + 7, NULL, 10), due[thread]++);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOGGER_TEST(a_scalar_is_a_line_of_each_file),
        LOGGER_TEST(numbers_are_read_back_with_the_same_bits),
        LOGGER_TEST(numbers_that_are_none_are_told_as_texts),
        LOGGER_TEST(a_tensor_of_one_element_is_a_scalar),
        LOGGER_TEST(tags_are_plain_data),
        LOGGER_TEST(what_is_no_tag_is_refused),
        LOGGER_TEST(a_tag_keeps_its_kind),
        LOGGER_TEST(a_call_that_is_refused_leaves_no_tag),
        LOGGER_TEST(steps_may_go_back_but_not_below_zero),
        LOGGER_TEST(an_image_is_a_png),
        LOGGER_TEST(an_image_with_nan_is_left_out),
        LOGGER_TEST(a_text_may_have_several_lines),
        LOGGER_TEST(a_confusion_matrix_has_no_negative_counts),
        LOGGER_TEST(a_confusion_matrix_has_its_names),
        LOGGER_TEST(a_precision_recall_curve_is_that_of_summary_writer),
        LOGGER_TEST(a_curve_of_what_is_no_probability_is_left_out),
        LOGGER_TEST(settings_are_one_object),
        LOGGER_TEST(the_first_line_says_what_runs_where),
        LOGGER_TEST(the_end_says_how_the_run_ended),
        LOGGER_TEST(without_a_logger_nothing_is_logged),
        LOGGER_TEST(several_threads_log_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
