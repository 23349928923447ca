// SPDX-License-Identifier: Apache-2.0
// What the tests of checkpoints share: a folder of their own, its files, and the log.
#ifndef TERN_TESTS_TRAIN_TEST_H
#define TERN_TESTS_TRAIN_TEST_H

#include <dirent.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/small_run.h"
#include "support/state_check.h"
#include "support/tensor_check.h"

// ---- a folder -----------------------------------------------------------------------------------

static char folder[64];

static inline int remove_one(const char *path, const struct stat *facts, int type, struct FTW *at)
{
    (void)facts, (void)type, (void)at;
    return remove(path);
}

static inline int folder_open(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/tern-test-XXXXXX");
    return mkdtemp(folder) ? check_open(state) : -1;
}

static inline int folder_close(void **state)
{
    tern_set_log(NULL, NULL);
    const int failed = nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return check_close(state) || failed;
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, folder_open, folder_close)

// Of a file in the folder; valid for three more calls.
static inline const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline const char *path_of_step(int64_t step)
{
    char name[64];
    snprintf(name, sizeof name, "step-%08lld.safetensors", (long long)step);
    return path_of(name);
}

static inline bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static inline bool step_exists(int64_t step)
{
    return exists(path_of_step(step));
}

// Files in the folder, hidden ones included.
static inline int count_files(void)
{
    int count = -2; // "." and ".."
    DIR *list = opendir(folder);
    while (list && readdir(list))
        count++;
    assert_non_null(list);
    closedir(list);
    return count;
}

static inline char *read_bytes(const char *path, size_t *size)
{
    struct stat facts;
    FILE *file = fopen(path, "rb");
    assert_true(file && !fstat(fileno(file), &facts));
    *size = (size_t)facts.st_size;
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    (void)remove(path); // some file systems take long to truncate one
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// ---- the log ------------------------------------------------------------------------------------

static struct {
    int warnings, errors;
    char last[600]; // warning
} logged;

static inline void log_line(tern_log_level level, const char *line, void *user)
{
    (void)user;
    logged.errors += level == TERN_LOG_ERROR;
    if (level != TERN_LOG_WARN)
        return;
    logged.warnings++;
    snprintf(logged.last, sizeof logged.last, "%s", line);
}

static inline void watch_log(void)
{
    memset(&logged, 0, sizeof logged);
    tern_set_log(log_line, NULL);
}

// ---- runs ---------------------------------------------------------------------------------------

static inline void add_run(tern_checkpoint *ck, run *r)
{
    assert_int_equal(tern_checkpoint_module(ck, "model", r->net), TERN_OK);
    assert_int_equal(tern_checkpoint_optim(ck, "optim", r->optim), TERN_OK);
    assert_int_equal(tern_checkpoint_sched(ck, "sched", r->sched), TERN_OK);
    assert_int_equal(tern_checkpoint_loader(ck, "train", r->loader), TERN_OK);
}

// A checkpoint in the folder that has all of a run.
static inline tern_checkpoint *checkpoint_of(run *r)
{
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_non_null(ck);
    add_run(ck, r);
    return ck;
}

#endif
