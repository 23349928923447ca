// SPDX-License-Identifier: Apache-2.0
// What goes wrong while a file is read: short reads, interrupted ones, errors of the disk, a file
// that somebody changes or replaces, and memory that is not there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>

#include "data/data_fixture.h"
#include "support/state_check.h"

// ---- reads that fail ----------------------------------------------------------------------------

ssize_t __real_pread64(int fd, void *data, size_t nbytes, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t nbytes, off_t at);

static struct {
    int call; // since start_faults
    int at;   // the call that something happens to; 0: none, -1: all
    enum { SHORT = 1, INTERRUPTED, BROKEN, ENDED } fault;
    void (*meanwhile)(void); // called before that one
} reads;

static void start_faults(int at, int fault)
{
    reads.call = 0;
    reads.at = at;
    reads.fault = fault;
    reads.meanwhile = NULL;
}

ssize_t __wrap_pread64(int fd, void *data, size_t nbytes, off_t at)
{
    static bool interrupted;
    const bool now = ++reads.call == reads.at || reads.at < 0;
    if (!now)
        return __real_pread64(fd, data, nbytes, at);
    if (reads.meanwhile)
        reads.meanwhile();
    switch (reads.fault) {
    case SHORT:
        return __real_pread64(fd, data, nbytes < 7 ? nbytes : 7, at);
    case INTERRUPTED:
        interrupted = !interrupted;
        return interrupted ? (errno = EINTR, -1) : __real_pread64(fd, data, nbytes, at);
    case BROKEN:
        return errno = EIO, -1;
    case ENDED:
        return 0;
    }
    return __real_pread64(fd, data, nbytes, at);
}

// ---- files --------------------------------------------------------------------------------------

static const char *const files[] = {
    "safetensors_dtypes.safetensors",
    "torch_dtypes.pt",
    "torch_deflated.pt",
    "torch_legacy.pt",
    "torch_checkpoint.pt",
    "numpy_f4.npy",
    "numpy_big_f8.npy",
    "numpy_savez.npz",
    "numpy_savez_compressed.npz",
};

#define FILES (sizeof files / sizeof *files)

static const char *file_at(size_t i)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", TERN_IO_DATA, files[i]);
    return path;
}

static tern_state *read_file(const char *path)
{
    return tern_state_read(path, .map_location = "cpu");
}

static tern_state *read_well(const char *path)
{
    start_faults(0, 0);
    tern_state *state = read_file(path);
    if (!state)
        fail_msg("%s", tern_error_message());
    return state;
}

static void check_same_with(int fault)
{
    for (size_t i = 0; i < FILES; i++) {
        tern_state *expected = read_well(file_at(i));
        start_faults(-1, fault);
        tern_state *read = read_file(file_at(i));
        start_faults(0, 0);
        if (!read)
            fail_msg("%s", tern_error_message());
        check_states(expected, read, true);
        tern_state_free(read);
        tern_state_free(expected);
    }
}

static void short_reads_give_the_same(void **state)
{
    (void)state;
    check_same_with(SHORT);
}

static void interrupted_reads_give_the_same(void **state)
{
    (void)state;
    check_same_with(INTERRUPTED);
}

// At each read in turn, until none is left.
static void check_refused_with(int fault, tern_status code, const char *words)
{
    for (size_t i = 0; i < FILES; i++) {
        for (int at = 1;; at++) {
            start_faults(at, fault);
            tern_state *read = read_file(file_at(i));
            const bool happened = reads.call >= at;
            start_faults(0, 0);
            if (!happened) {
                assert_non_null(read);
                assert_true(at > 1);
                tern_state_free(read);
                break;
            }
            assert_null(read);
            assert_non_null(strstr(tern_error_message(), files[i]));
            assert_error(code, words);
        }
    }
}

static void each_error_of_the_disk_is_reported(void **state)
{
    (void)state;
    check_refused_with(BROKEN, TERN_ERR_IO, "Input/output error");
}

static void a_file_that_ends_while_it_is_read_is_refused(void **state)
{
    (void)state;
    check_refused_with(ENDED, TERN_ERR_FORMAT, "ends at byte");
}

// ---- changes meanwhile --------------------------------------------------------------------------

static tern_tensor *numbers(double value)
{
    return tern_full(tern_dims(1 << 20), value);
}

static const char *write_numbers(const char *name, double value)
{
    tern_state *s = tern_state_new();
    assert_int_equal(tern_state_set_tensor(s, "numbers", numbers(value)), TERN_OK);
    assert_int_equal(tern_state_write(s, path_of(name)), TERN_OK);
    tern_state_free(s);
    return path_of(name);
}

static void replace(void)
{
    assert_int_equal(rename(path_of("new.npy"), path_of("numbers.npy")), 0);
}

static void a_file_that_is_replaced_is_read_as_it_was(void **state)
{
    (void)state;
    const char *path = write_numbers("numbers.npy", 1);
    (void)write_numbers("new.npy", 2);
    start_faults(3, 0);
    reads.meanwhile = replace;
    tern_state *read = read_file(path);
    assert_true(reads.call > 3 && access(path_of("new.npy"), F_OK) != 0);
    start_faults(0, 0);
    assert_non_null(read);
    assert_true(tern_item(tern_sum_all(tern_state_tensor(read, "array"))) == 1 << 20);
    tern_state_free(read);
}

static void overwrite(void)
{
    const float value = 5;
    const int fd = open(path_of("numbers.npy"), O_WRONLY);
    assert_int_equal(pwrite(fd, &value, sizeof value, 1 << 20), sizeof value);
    const struct timespec later[2] = {{.tv_sec = 5}, {.tv_sec = 5}}; // whatever the clock's step
    assert_int_equal(futimens(fd, later), 0);
    close(fd);
}

static void a_file_that_is_written_to_meanwhile_is_refused(void **state)
{
    (void)state;
    const char *path = write_numbers("numbers.npy", 1);
    start_faults(3, 0);
    reads.meanwhile = overwrite;
    assert_null(read_file(path));
    start_faults(0, 0);
    assert_error(TERN_ERR_IO, "was written to while it was read");
}

static void a_pipe_is_not_waited_for_and_a_link_is_followed(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of("pipe.npy"), 0600), 0);
    alarm(20); // waiting for a writer would take for ever
    assert_null(read_file(path_of("pipe.npy")));
    alarm(0);
    assert_error(TERN_ERR_IO, "is a pipe or a device");
    (void)write_numbers("numbers.npy", 1);
    assert_int_equal(symlink("numbers.npy", path_of("link.npy")), 0);
    tern_state *read = read_file(path_of("link.npy"));
    assert_non_null(read);
    tern_state_free(read);
    assert_int_equal(symlink("nowhere.npy", path_of("dangling.npy")), 0);
    assert_null(read_file(path_of("dangling.npy")));
    assert_error(TERN_ERR_IO, "No such file or directory");
}

// ---- memory -------------------------------------------------------------------------------------

// At each allocation in turn; the file is well, or has `code`.
static void check_memory(const char *path, tern_status code)
{
    for (int64_t n = 1;; n++) {
        const int64_t before = memory.bytes;
        fail_nth_allocation(n);
        tern_state *read = read_file(path);
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        if (!failed) {
            assert_int_equal(read ? TERN_OK : tern_error_take(NULL, 0), code);
            assert_true(n > 1);
            tern_state_free(read);
            return;
        }
        if (read) // a cache that could do without
            tern_state_free(read);
        else
            assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(memory.bytes, before);
    }
}

static void no_memory_is_reported_at_every_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++)
        check_memory(file_at(i), TERN_OK);
}

// Also while another error is on its way: the last byte of each file is another one.
static void no_memory_for_a_bad_file_is_an_error_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        unsigned char bytes[65536];
        FILE *file = fopen(file_at(i), "rb");
        const size_t nbytes = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_true(nbytes > 0 && nbytes < sizeof bytes);
        bytes[nbytes] = 0;
        check_memory(write_file("bad", bytes, nbytes + 1), TERN_ERR_FORMAT);
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(short_reads_give_the_same),
        DATA_TEST(interrupted_reads_give_the_same),
        DATA_TEST(each_error_of_the_disk_is_reported),
        DATA_TEST(a_file_that_ends_while_it_is_read_is_refused),
        DATA_TEST(a_file_that_is_replaced_is_read_as_it_was),
        DATA_TEST(a_file_that_is_written_to_meanwhile_is_refused),
        DATA_TEST(a_pipe_is_not_waited_for_and_a_link_is_followed),
        DATA_TEST(no_memory_is_reported_at_every_allocation),
        DATA_TEST(no_memory_for_a_bad_file_is_an_error_too),
    };
    return cmocka_run_group_tests_name("read_faults", tests, start_group, end_group);
}
