// SPDX-License-Identifier: Apache-2.0
// How a file takes its name: whole, with the permissions it had, and nothing left beside it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "data/data_fixture.h"

// Writes {"n": value}.
static tern_status write_number(const char *path, int64_t value)
{
    tern_state *s = tern_state_new();
    assert_int_equal(tern_state_set_int(s, "n", value), TERN_OK);
    tern_status status = tern_state_write(s, path, .format = TERN_FILE_SAFETENSORS);
    tern_state_free(s);
    return status;
}

static int64_t read_number(const char *path)
{
    int64_t value = -1;
    tern_state *s = tern_state_read(path);
    if (!s || tern_state_get_int(s, "n", &value))
        fail_msg("%s", tern_error_message());
    tern_state_free(s);
    return value;
}

static mode_t mode_of(const char *path)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return facts.st_mode & 07777;
}

static void a_file_is_replaced_as_a_whole(void **state)
{
    (void)state;
    assert_int_equal(write_number(path_of("a"), 1), TERN_OK);
    int fd = open(path_of("a"), O_RDONLY); // whoever has it open still reads the old one
    assert_int_equal(write_number(path_of("a"), 2), TERN_OK);
    char old[4096];
    const ssize_t nbytes = read(fd, old, sizeof old);
    close(fd);
    assert_int_equal(read_number(write_file("old", old, (size_t)nbytes)), 1);
    assert_int_equal(read_number(path_of("a")), 2);
    assert_int_equal(files_in_directory(), 2);
}

static void permissions_are_those_of_the_file_or_of_the_umask(void **state)
{
    (void)state;
    const mode_t before = umask(027);
    assert_int_equal(write_number(path_of("new"), 1), TERN_OK);
    assert_int_equal(mode_of(path_of("new")), 0640);
    assert_int_equal(chmod(path_of("new"), 0604), 0);
    assert_int_equal(write_number(path_of("new"), 2), TERN_OK);
    assert_int_equal(mode_of(path_of("new")), 0604);
    umask(before);
}

static void a_link_stays_and_its_file_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(write_number(path_of("file"), 1), TERN_OK);
    assert_int_equal(symlink("file", path_of("link")), 0);
    assert_int_equal(write_number(path_of("link"), 2), TERN_OK);
    struct stat facts;
    assert_int_equal(lstat(path_of("link"), &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_int_equal(read_number(path_of("file")), 2);
    assert_int_equal(symlink("nowhere", path_of("dangling")), 0);
    assert_int_equal(write_number(path_of("dangling"), 3), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "cannot follow");
    assert_int_equal(symlink("loop", path_of("loop")), 0);
    assert_int_equal(write_number(path_of("loop"), 3), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "cannot follow");
}

static void what_is_no_regular_file_is_not_replaced(void **state)
{
    (void)state;
    assert_int_equal(write_number(directory, 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "is a directory, not a file");
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    alarm(20); // waiting for a reader would take for ever
    assert_int_equal(write_number(path_of("pipe"), 1), TERN_ERR_IO);
    alarm(0);
    assert_error(TERN_ERR_IO, "is a pipe or a device");
    assert_int_equal(write_number("/dev/null", 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "is a pipe or a device");
    struct stat facts;
    assert_true(stat("/dev/null", &facts) == 0 && S_ISCHR(facts.st_mode));
    assert_int_equal(write_number(path_of("nowhere/a"), 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "No such file or directory");
    assert_int_equal(write_number("", 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "cannot");
}

static void a_name_of_255_bytes_is_written(void **state)
{
    (void)state;
    char name[257];
    memset(name, 'n', sizeof name);
    name[255] = 0;
    assert_int_equal(write_number(path_of(name), 1), TERN_OK);
    assert_int_equal(write_number(path_of(name), 2), TERN_OK);
    assert_int_equal(read_number(path_of(name)), 2);
    name[255] = 'n';
    name[256] = 0;
    assert_int_equal(write_number(path_of(name), 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "File name too long");
    char path[5000];
    memset(path, '/', sizeof path);
    path[sizeof path - 1] = 0;
    path[sizeof path - 2] = 'a';
    assert_int_equal(write_number(path, 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "File name too long");
}

// A child that was killed has left its temporary file; a live one holds the lock of its.
static void only_what_nobody_writes_is_cleared_away(void **state)
{
    (void)state;
    (void)write_file(".a.tmp.999999.0", "x", 1);
    (void)write_file(".b.tmp.999999.0", "x", 1);   // another file's
    (void)write_file(".a.tmp.999999.0.x", "x", 1); // no name of ours
    (void)write_file(".a.tmp..0", "x", 1);
    (void)write_file("a.tmp.999999.0", "x", 1);
    (void)write_file(".a.tmp.999998.1", "x", 1);
    const int writer = open(path_of(".a.tmp.999998.1"), O_RDONLY);
    assert_int_equal(flock(writer, LOCK_EX), 0);
    assert_int_equal(write_number(path_of("a"), 1), TERN_OK);
    assert_int_equal(access(path_of(".a.tmp.999999.0"), F_OK), -1);
    assert_int_equal(access(path_of(".b.tmp.999999.0"), F_OK), 0);
    assert_int_equal(access(path_of(".a.tmp.999999.0.x"), F_OK), 0);
    assert_int_equal(access(path_of(".a.tmp..0"), F_OK), 0);
    assert_int_equal(access(path_of("a.tmp.999999.0"), F_OK), 0);
    assert_int_equal(access(path_of(".a.tmp.999998.1"), F_OK), 0);
    close(writer);
    assert_int_equal(write_number(path_of("a"), 1), TERN_OK);
    assert_int_equal(access(path_of(".a.tmp.999998.1"), F_OK), -1);
}

// Patterns are not meant: brackets in a name are brackets.
static void a_name_with_brackets_clears_its_own(void **state)
{
    (void)state;
    (void)write_file(".[ab].tmp.999999.0", "x", 1);
    (void)write_file(".a.tmp.999999.0", "x", 1);
    assert_int_equal(write_number(path_of("[ab]"), 1), TERN_OK);
    assert_int_equal(access(path_of(".[ab].tmp.999999.0"), F_OK), -1);
    assert_int_equal(access(path_of(".a.tmp.999999.0"), F_OK), 0);
}

static void a_file_in_the_working_directory_needs_no_folder_in_its_name(void **state)
{
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(directory), 0);
    (void)write_file(".plain.tmp.999999.0", "x", 1);
    const tern_status status = write_number("plain", 5);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, TERN_OK);
    assert_int_equal(read_number(path_of("plain")), 5);
    assert_int_equal(files_in_directory(), 1);
}

// As another user, where this one may do everything.
static void a_folder_that_may_not_be_written_to_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(write_number(path_of("a"), 1), TERN_OK);
    assert_int_equal(chmod(directory, 0555), 0);
    const uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    const tern_status status = write_number(path_of("a"), 2);
    if (user == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(status, TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "Permission denied");
    assert_int_equal(read_number(path_of("a")), 1);
    assert_int_equal(files_in_directory(), 1);
}

static void the_ending_says_the_format(void **state)
{
    (void)state;
    tern_state *s = tern_state_new();
    assert_int_equal(tern_state_set_tensor(s, "array", tern_ones(tern_dims(2))), TERN_OK);
    static const char *const none[] = {"a.safetensor", "a.txt",    "a",
                                       "safetensors",  "a.pt.txt", "folder.pt/a"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(tern_state_write(s, path_of(none[i])), TERN_ERR_ARG);
        assert_error(TERN_ERR_ARG, ".safetensors, .pt, .pth, .pkl, .bin, .tar, .ckpt (PyTorch's), "
                                   ".npy and .npz");
    }
    static const char *const endings[] = {"safetensors", "SafeTensors", "npy", "npz", "pt",
                                          "pth",         "pkl",         "bin", "tar", "ckpt"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.%s", endings[i]);
        assert_int_equal(tern_state_write(s, path_of(name)), TERN_OK);
        tern_state *read = tern_state_read(path_of(name));
        assert_non_null(read);
        assert_true(tern_item(tern_sum_all(tern_state_tensor(read, "array"))) == 2);
        tern_state_free(read);
    }
    tern_state_free(s);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_file_is_replaced_as_a_whole),
        DATA_TEST(permissions_are_those_of_the_file_or_of_the_umask),
        DATA_TEST(a_link_stays_and_its_file_is_replaced),
        DATA_TEST(what_is_no_regular_file_is_not_replaced),
        DATA_TEST(a_name_of_255_bytes_is_written),
        DATA_TEST(only_what_nobody_writes_is_cleared_away),
        DATA_TEST(a_name_with_brackets_clears_its_own),
        DATA_TEST(a_file_in_the_working_directory_needs_no_folder_in_its_name),
        DATA_TEST(a_folder_that_may_not_be_written_to_is_an_error),
        DATA_TEST(the_ending_says_the_format),
    };
    return cmocka_run_group_tests_name("save", tests, start_group, end_group);
}
