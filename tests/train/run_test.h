// SPDX-License-Identifier: Apache-2.0
// Logs of runs in a folder of the test's own.
#ifndef TERN_TESTS_TRAIN_RUN_TEST_H
#define TERN_TESTS_TRAIN_RUN_TEST_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

static char folder[64];

static inline const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tern-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    unlink(path_of("log.jsonl"));
    unlink(path_of("run.html"));
    return rmdir(folder) || tern_error_pending();
}

#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

static inline void write_log(const char *mode, const char *text)
{
    FILE *file = fopen(path_of("log.jsonl"), mode);
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

#define RUN_LINE                                                                                   \
    "{\"kind\":\"run\",\"schema\":1,\"time\":100,\"name\":\"a\",\"tern\":\"0.1.0\","               \
    "\"host\":\"elsewhere\",\"pid\":7,\"seed\":42,\"machine\":{\"cpu\":\"x\",\"cpus\":2,"          \
    "\"devices\":[\"cpu\",\"cuda:0\"]},\"resume_step\":null}\n"
#define SCALAR_LINE(step, tag, value)                                                              \
    "{\"kind\":\"scalar\",\"step\":" #step ",\"time\":10" #step ",\"tag\":\"" tag                  \
    "\",\"value\":" #value "}\n"

static inline tern_run *read_log(const char *text)
{
    write_log("w", text);
    tern_run *run = tern_run_read(folder);
    assert_no_error();
    assert_non_null(run);
    return run;
}

static inline tern_run_info info_of(const tern_run *run)
{
    tern_run_info info;
    assert_int_equal(tern_run_describe(run, &info), TERN_OK);
    return info;
}

static inline tern_run_points curve_of(const tern_run *run, const char *tag)
{
    tern_run_points points;
    assert_int_equal(tern_run_curve(run, tag, &points), TERN_OK);
    return points;
}

#endif
