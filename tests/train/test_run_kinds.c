// SPDX-License-Identifier: Apache-2.0
// Histograms, images, texts and matrices of a run, what is refused, and that nothing is lost or
// left when memory is short.
#include "run_test.h"

#include "support/memory_hook.h"

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

static void add_histogram(char *text, size_t size, int step)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length,
             "{\"kind\":\"histogram\",\"step\":%d,\"time\":%d,\"tag\":\"weights/w\",\"min\":-1,"
             "\"max\":%d,\"count\":6,\"sum\":0,\"sum_squares\":1,\"nan\":2,\"inf\":1,"
             "\"limits\":[0,1e3,1.7976931348623157e308],\"counts\":[1,2,3]}\n",
             step, step, step);
}

static tern_run_buckets histogram_at(const tern_run *run, int64_t index)
{
    tern_run_buckets h;
    assert_int_equal(tern_run_histogram(run, "weights/w", index, &h), TERN_OK);
    return h;
}

static void a_histogram_has_the_numbers_of_its_line(void **state)
{
    (void)state;
    char text[1024] = "";
    add_histogram(text, sizeof text, 4);
    tern_run *run = read_log(text);
    const tern_run_buckets h = histogram_at(run, 0);
    assert_true(h.step == 4 && h.min == -1 && h.max == 4 && h.count == 6);
    assert_true(h.nan == 2 && h.inf == 1 && h.buckets == 3);
    assert_true(h.limits[1] == 1e3 && h.counts[2] == 3);
    tern_run_free(run);
}

static void histograms_are_kept_evenly_over_a_run(void **state)
{
    (void)state;
    char *text = calloc(1, 1 << 20);
    for (int step = 1; step <= 1000; step++)
        add_histogram(text + strlen(text), 1 << 10, step);
    tern_run *run = read_log(text);
    const int64_t count = tern_run_histograms(run, "weights/w");
    assert_in_range(count, 16, 32);
    assert_int_equal(histogram_at(run, 0).step, 1);
    assert_int_equal(histogram_at(run, count - 1).step, 1000);
    const int64_t apart = histogram_at(run, 1).step - 1;
    for (int64_t i = 1; i < count - 1; i++)
        assert_int_equal(histogram_at(run, i).step - histogram_at(run, i - 1).step, apart);
    tern_run_free(run);
    free(text);
}

static const char all_kinds[] = RUN_LINE SCALAR_LINE(1, "x", 1) SCALAR_LINE(2, "x", 2) SCALAR_LINE(
    1, "x",
    3) "{\"kind\":\"image\",\"step\":1,\"time\":1,\"tag\":\"i\",\"height\":1,\"width\":1,\"png\":"
       "\"" PNG "\",\"text\":\"a caption\"}\n"
       "{\"kind\":\"text\",\"step\":1,\"time\":1,\"tag\":\"t\",\"text\":\"old\"}\n"
       "{\"kind\":\"text\",\"step\":2,\"time\":1,\"tag\":\"t\",\"text\":\"new\"}\n"
       "{\"kind\":\"matrix\",\"step\":1,\"time\":1,\"tag\":\"m\",\"rows\":2,\"columns\":2,"
       "\"values\":[5,1,0,7],\"names\":[\"cat\",\"d\\u00f6g\"]}\n"
       "{\"kind\":\"pr_curve\",\"step\":1,\"time\":1,\"tag\":\"p\",\"thresholds\":[0,1],"
       "\"precision\":[0.5,1],\"recall\":[1,0]}\n"
       "{\"kind\":\"settings\",\"time\":1,\"settings\":{\"lr\":0.1}}\n"
       "{\"kind\":\"histogram\",\"step\":1,\"time\":1,\"tag\":\"h\",\"min\":0,\"max\":0,\"count\":"
       "1,"
       "\"limits\":[0],\"counts\":[1]}\n"
       "{\"kind\":\"run\",\"time\":9,\"resume_step\":2}\n";

static void the_last_image_text_and_matrix_are_kept(void **state)
{
    (void)state;
    tern_run_picture picture;
    tern_run_cells cells;
    tern_run_pr pr;
    tern_run *run = read_log(all_kinds);
    assert_int_equal(info_of(run).damaged, 0);
    assert_int_equal(tern_run_image(run, "i", &picture), TERN_OK);
    assert_string_equal(picture.png, PNG);
    assert_string_equal(picture.text, "a caption");
    assert_string_equal(tern_run_text(run, "t"), "new");
    assert_int_equal(tern_run_matrix(run, "m", &cells), TERN_OK);
    assert_true(cells.rows == 2 && cells.values[0] == 5 && cells.values[3] == 7);
    assert_string_equal(cells.names[1], "d\xC3\xB6g");
    assert_int_equal(tern_run_pr_curve(run, "p", &pr), TERN_OK);
    assert_true(pr.count == 2 && pr.precision[0] == 0.5 && pr.recall[0] == 1);
    tern_run_free(run);
}

static void what_is_of_later_steps_goes_when_a_process_resumes(void **state)
{
    (void)state;
    tern_run *run = read_log(all_kinds);
    write_log("a", "{\"kind\":\"run\",\"time\":10,\"resume_step\":1}\n");
    assert_int_equal(tern_run_update(run), 1);
    assert_null(tern_run_text(run, "t"));
    assert_error(TERN_ERR_INDEX, "run_text: the run a has no text t");
    assert_int_equal(tern_run_histograms(run, "h"), 1);
    tern_run_free(run);
}

static void without_memory_a_run_is_not_read_and_nothing_is_left(void **state)
{
    (void)state;
    int64_t failures = 0;
    write_log("w", all_kinds);
    const int64_t blocks = memory.blocks, bytes = memory.bytes;
    for (bool failed = true; failed; failures++) {
        fail_nth_allocation(failures + 1);
        tern_run *run = tern_run_read(folder);
        failed = memory.failed > 0;
        fail_nth_allocation(0);
        if (failed)
            assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(run == NULL, failed);
        tern_run_free(run);
        assert_int_equal(memory.blocks, blocks);
        assert_int_equal(memory.bytes, bytes);
    }
    assert_true(failures > 20);
}

static void an_update_without_memory_goes_on_where_it_failed(void **state)
{
    (void)state;
    int64_t failures = 0;
    for (bool failed = true; failed; failures++) {
        tern_run *run = read_log(SCALAR_LINE(0, "x", 0));
        write_log("a", all_kinds);
        fail_nth_allocation(failures + 1);
        const int changed = tern_run_update(run);
        failed = memory.failed > 0;
        fail_nth_allocation(0);
        assert_int_equal(changed, failed ? -1 : 1);
        tern_error_clear();
        assert_true(tern_run_update(run) >= 0);
        assert_int_equal(curve_of(run, "x").count, 3);
        assert_true(curve_of(run, "x").values[1] == 3);
        assert_string_equal(tern_run_text(run, "t"), "new");
        assert_int_equal(info_of(run).lines, 13);
        tern_run_free(run);
    }
    assert_true(failures > 10);
}

static void without_memory_a_page_is_not_written_and_the_old_one_stays(void **state)
{
    (void)state;
    const char *const folders[] = {folder, folder};
    char old[8] = "";
    write_log("w", all_kinds);
    FILE *file = fopen(path_of("run.html"), "w");
    assert_true(file && fputs("old", file) >= 0 && fclose(file) == 0);
    const int64_t blocks = memory.blocks;
    for (int64_t n = 1;; n++) {
        fail_nth_allocation(n);
        const tern_status status = tern_run_page_write(path_of("run.html"), 2, folders);
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        assert_int_equal(memory.blocks, blocks);
        assert_int_equal(status, failed ? TERN_ERR_NOMEM : TERN_OK);
        if (!failed)
            break;
        assert_error(TERN_ERR_NOMEM, "no memory");
        file = fopen(path_of("run.html"), "r");
        assert_true(file && fgets(old, sizeof old, file) && fclose(file) == 0);
        assert_string_equal(old, "old");
    }
}

static void what_is_not_there_is_refused_by_name(void **state)
{
    (void)state;
    tern_run_points points;
    tern_run_buckets buckets;
    tern_run *run = read_log(all_kinds);
    assert_int_equal(tern_run_curve(run, "y", &points), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "run_curve: the run a has no curve y");
    assert_int_equal(tern_run_histogram(run, "h", 1, &buckets), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "run_histogram: there is no histogram 1 of h, 1 are kept");
    assert_null(tern_run_tag(run, TERN_RUN_SCALAR, 1));
    assert_error(TERN_ERR_INDEX, "run_tag: there is no tag 1 of this kind, the run has 1");
    assert_int_equal(tern_run_tags(run, TERN_RUN_KIND_UNSPECIFIED), -1);
    assert_error(TERN_ERR_ARG, "run_tags: 0 is no kind of a run");
    assert_null(tern_run_setting(run, 1).name);
    assert_error(TERN_ERR_INDEX, "run_setting: there is no number 1, the run has 1");
    tern_run_free(run);
    assert_null(tern_run_read("/nonexistent"));
    assert_error(TERN_ERR_IO, "run_read: cannot open /nonexistent/log.jsonl: No such file");
    assert_int_equal(tern_run_page_write("x.html", 33, (const char *const[33]){""}), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "run_page_write: a page shows 1 to 32 runs, not 33");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(a_histogram_has_the_numbers_of_its_line),
        RUN_TEST(histograms_are_kept_evenly_over_a_run),
        RUN_TEST(the_last_image_text_and_matrix_are_kept),
        RUN_TEST(what_is_of_later_steps_goes_when_a_process_resumes),
        RUN_TEST(without_memory_a_run_is_not_read_and_nothing_is_left),
        RUN_TEST(an_update_without_memory_goes_on_where_it_failed),
        RUN_TEST(without_memory_a_page_is_not_written_and_the_old_one_stays),
        RUN_TEST(what_is_not_there_is_refused_by_name),
    };
    if (use_memory_hook())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed || all_given_back();
}
