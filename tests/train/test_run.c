// SPDX-License-Identifier: Apache-2.0
// What a run's log says: curves, and how the run stands.
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "run_test.h"

// ---- curves -------------------------------------------------------------------------------------

static void a_curve_has_the_numbers_of_its_lines(void **state)
{
    (void)state;
    tern_run *run = read_log(RUN_LINE SCALAR_LINE(1, "train/loss", 0.1) SCALAR_LINE(2, "lr", 1e-3)
                                 SCALAR_LINE(3, "train/loss", -1.7976931348623157e308)
                                     SCALAR_LINE(4, "train/loss", 123456789012345678901)
                                         SCALAR_LINE(5, "train/loss", 4.9406564584124654e-324));
    const tern_run_points p = curve_of(run, "train/loss");
    const int64_t steps[] = {1, 3, 4, 5};
    const double times[] = {101, 103, 104, 105};
    const double values[] = {0.1, -1.7976931348623157e308, 123456789012345678901.0,
                             4.9406564584124654e-324};
    assert_int_equal(p.count, 4);
    assert_memory_equal(p.steps, steps, sizeof steps);
    assert_memory_equal(p.times, times, sizeof times);
    assert_memory_equal(p.values, values, sizeof values);
    assert_int_equal(tern_run_tags(run, TERN_RUN_SCALAR), 2);
    assert_string_equal(tern_run_tag(run, TERN_RUN_SCALAR, 1), "lr");
    assert_int_equal(info_of(run).last_step, 5);
    tern_run_free(run);
}

static void numbers_that_json_has_no_word_for_come_back(void **state)
{
    (void)state;
    static const char *const words[] = {"nan", "inf", "-inf"};
    char text[1024] = RUN_LINE;
    for (int i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "{\"kind\":\"scalar\",\"step\":%d,\"time\":1,\"tag\":\"x\",\"value\":null,"
                 "\"text\":\"%s\"}\n",
                 i, words[i]);
    tern_run *run = read_log(text);
    const tern_run_points p = curve_of(run, "x");
    assert_int_equal(p.count, 3);
    assert_true(isnan(p.values[0]));
    assert_true(p.values[1] == INFINITY && p.values[2] == -INFINITY);
    tern_run_free(run);
}

static void of_a_step_that_was_logged_twice_the_last_line_counts(void **state)
{
    (void)state;
    tern_run *run = read_log(SCALAR_LINE(1, "x", 1) SCALAR_LINE(2, "x", 2) SCALAR_LINE(2, "x", 3));
    tern_run_points p = curve_of(run, "x");
    assert_int_equal(p.count, 2);
    assert_true(p.values[1] == 3);
    write_log("a", SCALAR_LINE(1, "x", 7) SCALAR_LINE(1, "x", 8));
    assert_int_equal(tern_run_update(run), 1);
    p = curve_of(run, "x");
    assert_int_equal(p.count, 2);
    assert_true(p.values[0] == 8 && p.values[1] == 3);
    tern_run_free(run);
}

static void steps_that_go_back_are_put_in_order(void **state)
{
    (void)state;
    tern_run *run = read_log(SCALAR_LINE(5, "x", 50) SCALAR_LINE(3, "x", 30) SCALAR_LINE(4, "x", 40)
                                 SCALAR_LINE(5, "x", 51));
    const tern_run_points p = curve_of(run, "x");
    const int64_t steps[] = {3, 4, 5};
    const double values[] = {30, 40, 51};
    assert_int_equal(p.count, 3);
    assert_memory_equal(p.steps, steps, sizeof steps);
    assert_memory_equal(p.values, values, sizeof values);
    tern_run_free(run);
}

static void a_resumed_process_takes_later_steps_back(void **state)
{
    (void)state;
    tern_run *run = read_log(RUN_LINE SCALAR_LINE(1, "x", 1) SCALAR_LINE(2, "x", 2) SCALAR_LINE(
        3, "x", 3) "{\"kind\":\"run\",\"time\":500,\"resume_step\":1}\n" SCALAR_LINE(2, "y", 4));
    const tern_run_points p = curve_of(run, "x");
    assert_int_equal(p.count, 1);
    assert_int_equal(info_of(run).processes, 2);
    assert_int_equal(info_of(run).last_step, 2);
    assert_string_equal(info_of(run).name, "a");
    tern_run_free(run);
}

static void one_tag_may_have_two_kinds(void **state)
{
    (void)state;
    tern_run *run = read_log(SCALAR_LINE(1, "x", 1) "{\"kind\":\"text\",\"step\":2,\"time\":1,"
                                                    "\"tag\":\"x\",\"text\":\"<b>\\u00e9\"}\n");
    assert_int_equal(curve_of(run, "x").count, 1);
    assert_string_equal(tern_run_text(run, "x"), "<b>\xC3\xA9");
    tern_run_free(run);
}

// ---- lines --------------------------------------------------------------------------------------

static void a_line_that_is_being_written_waits_for_its_end(void **state)
{
    (void)state;
    tern_run *run = read_log(SCALAR_LINE(1, "x", 1) "{\"kind\":\"scalar\",\"step\":2,\"time\":1");
    assert_int_equal(curve_of(run, "x").count, 1);
    assert_int_equal(info_of(run).damaged, 0);
    assert_int_equal(tern_run_update(run), 0);
    write_log("a", "02,\"tag\":\"x\",\"value\":7}");
    assert_int_equal(tern_run_update(run), 0);
    write_log("a", "\n");
    assert_int_equal(tern_run_update(run), 1);
    assert_int_equal(curve_of(run, "x").count, 2);
    assert_true(curve_of(run, "x").values[1] == 7);
    tern_run_free(run);
}

static void a_log_that_was_replaced_is_read_from_its_beginning(void **state)
{
    (void)state;
    tern_run *run = read_log(SCALAR_LINE(1, "x", 1) SCALAR_LINE(2, "x", 2));
    write_log("w", SCALAR_LINE(1, "x", 5) SCALAR_LINE(2, "x", 6) SCALAR_LINE(3, "y", 7));
    assert_int_equal(tern_run_update(run), 1);
    assert_true(curve_of(run, "x").values[0] == 5);
    assert_int_equal(curve_of(run, "y").count, 1);
    assert_int_equal(info_of(run).lines, 3);
    tern_run_free(run);
}

static void lines_that_are_damaged_are_counted_and_passed_over(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "{",
        "[]",
        "nonsense",
        "{\"kind\":\"scalar\"}",
        "{\"kind\":\"scalar\",\"step\":1.5,\"time\":1,\"tag\":\"x\",\"value\":1}",
        "{\"kind\":\"scalar\",\"step\":1,\"tag\":\"x\",\"value\":1}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":1e300,\"tag\":\"x\",\"value\":1}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":-1,\"tag\":\"x\",\"value\":1}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"value\":1}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"tag\":\"x\",\"value\":\"1\"}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"tag\":\"x\",\"value\":01}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"tag\":\"x\",\"value\":1}}",
        "{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"tag\":\"\xFF\",\"value\":1}",
        "{\"kind\":\"histogram\",\"step\":1,\"time\":1,\"tag\":\"x\",\"min\":0,\"max\":1,"
        "\"count\":2,\"limits\":[1,0],\"counts\":[1,1]}",
        "{\"kind\":\"histogram\",\"step\":1,\"time\":1,\"tag\":\"x\",\"min\":0,\"max\":1,"
        "\"count\":2,\"limits\":[0,1],\"counts\":[1]}",
        "{\"kind\":\"image\",\"step\":1,\"time\":1,\"tag\":\"x\",\"height\":1,\"width\":1,"
        "\"png\":\"iVBORw0KGgo\\\"><script>\"}",
        "{\"kind\":\"matrix\",\"step\":1,\"time\":1,\"tag\":\"x\",\"rows\":2,\"columns\":2,"
        "\"values\":[1,2,3]}",
        "{\"kind\":\"matrix\",\"step\":1,\"time\":1,\"tag\":\"x\",\"rows\":1,\"columns\":1,"
        "\"values\":[1],\"names\":[]}",
        "{\"kind\":\"end\",\"time\":1,\"status\":\"done\"}",
        "{\"kind\":\"dropped\",\"time\":1,\"count\":-1}",
    };
    const int count = (int)(sizeof damaged / sizeof *damaged);
    for (int i = 0; i < count; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s\n%s\n\n{\"kind\":\"new\",\"time\":1}\n", RUN_LINE,
                 damaged[i], SCALAR_LINE(2, "x", 2));
        tern_run *run = read_log(text);
        if (info_of(run).damaged != 1 || info_of(run).lines != 4)
            fail_msg("%s: %d damaged of %d", damaged[i], (int)info_of(run).damaged,
                     (int)info_of(run).lines);
        assert_int_equal(curve_of(run, "x").count, 1);
        tern_run_free(run);
    }
}

// ---- how the run stands -------------------------------------------------------------------------

static void the_last_line_says_how_a_run_ended(void **state)
{
    (void)state;
    static const tern_run_status all[] = {TERN_RUN_FINISHED, TERN_RUN_STOPPED, TERN_RUN_FAILED};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s{\"kind\":\"end\",\"time\":200,\"status\":\"%s\"}\n",
                 RUN_LINE, tern_run_status_name(all[i]));
        tern_run *run = read_log(text);
        assert_int_equal(info_of(run).status, all[i]);
        assert_true(info_of(run).started == 100 && info_of(run).written == 200);
        write_log("a", RUN_LINE);
        assert_int_equal(tern_run_update(run), 1);
        assert_int_equal(info_of(run).status, TERN_RUN_RUNNING);
        tern_run_free(run);
    }
}

static tern_run *run_of_process(long pid)
{
    char host[256] = "", text[1024];
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    snprintf(text, sizeof text, "{\"kind\":\"run\",\"time\":%lld,\"host\":\"%s\",\"pid\":%ld}\n",
             (long long)time(NULL), host, pid);
    return read_log(text);
}

static void a_run_whose_process_is_gone_was_killed(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    tern_run *run = run_of_process(child); // nobody has asked how it ended
    assert_int_equal(info_of(run).status, TERN_RUN_KILLED);
    tern_run_free(run);
    assert_int_equal(waitpid(child, NULL, 0), child);
    run = run_of_process(child);
    assert_int_equal(info_of(run).status, TERN_RUN_KILLED);
    tern_run_free(run);
    run = run_of_process(getpid());
    assert_int_equal(info_of(run).status, TERN_RUN_RUNNING);
    tern_run_free(run);
}

static void a_run_of_another_host_was_killed_when_its_log_is_old(void **state)
{
    (void)state;
    tern_run *run = read_log(RUN_LINE);
    assert_int_equal(info_of(run).status, TERN_RUN_RUNNING);
    const struct timespec old[2] = {{.tv_sec = time(NULL) - 700}, {.tv_sec = time(NULL) - 700}};
    assert_int_equal(utimensat(AT_FDCWD, path_of("log.jsonl"), old, 0), 0);
    assert_int_equal(tern_run_update(run), 1);
    assert_int_equal(info_of(run).status, TERN_RUN_KILLED);
    tern_run_free(run);
}

static void pauses_and_clocks_that_go_back_are_no_running_time(void **state)
{
    (void)state;
    tern_run *run = read_log(RUN_LINE "{\"kind\":\"dropped\",\"time\":130,\"count\":2}\n"
                                      "{\"kind\":\"run\",\"time\":900,\"resume_step\":null}\n"
                                      "{\"kind\":\"dropped\",\"time\":905,\"count\":3}\n"
                                      "{\"kind\":\"dropped\",\"time\":100,\"count\":4}\n");
    assert_true(info_of(run).seconds == 35);
    assert_int_equal(info_of(run).dropped, 9);
    tern_run_free(run);
}

static void settings_and_facts_come_as_texts(void **state)
{
    (void)state;
    tern_run *run = read_log(RUN_LINE "{\"kind\":\"settings\",\"time\":1,\"settings\":{\"lr\":1e-3,"
                                      "\"name\":\"a \\\"b\\\"\",\"on\":false}}\n");
    assert_int_equal(tern_run_settings(run), 3);
    assert_string_equal(tern_run_setting(run, 0).text, "1e-3");
    assert_false(tern_run_setting(run, 0).is_text);
    assert_string_equal(tern_run_setting(run, 1).text, "a \"b\"");
    assert_true(tern_run_setting(run, 1).is_text);
    assert_string_equal(tern_run_setting(run, 2).text, "false");
    assert_int_equal(tern_run_facts(run), 7);
    assert_string_equal(tern_run_fact_at(run, 6).name, "devices");
    assert_string_equal(tern_run_fact_at(run, 6).text, "[\"cpu\",\"cuda:0\"]");
    tern_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(a_curve_has_the_numbers_of_its_lines),
        RUN_TEST(numbers_that_json_has_no_word_for_come_back),
        RUN_TEST(of_a_step_that_was_logged_twice_the_last_line_counts),
        RUN_TEST(steps_that_go_back_are_put_in_order),
        RUN_TEST(a_resumed_process_takes_later_steps_back),
        RUN_TEST(one_tag_may_have_two_kinds),
        RUN_TEST(a_line_that_is_being_written_waits_for_its_end),
        RUN_TEST(a_log_that_was_replaced_is_read_from_its_beginning),
        RUN_TEST(lines_that_are_damaged_are_counted_and_passed_over),
        RUN_TEST(the_last_line_says_how_a_run_ended),
        RUN_TEST(a_run_whose_process_is_gone_was_killed),
        RUN_TEST(a_run_of_another_host_was_killed_when_its_log_is_old),
        RUN_TEST(pauses_and_clocks_that_go_back_are_no_running_time),
        RUN_TEST(settings_and_facts_come_as_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
