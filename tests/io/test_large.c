// SPDX-License-Identifier: Apache-2.0
// A file of 2 GB is read straight into its tensors: memory for them and no more.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/sysinfo.h>
#include <time.h>

#include "data/data_fixture.h"
#include "bad_file.h"
#include "safetensors_bytes.h"

#define TENSORS 8
#define NBYTES  ((int64_t)256 << 20) // of each

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Zeros that take no room on the disk, behind a header as other libraries write it.
static const char *write_sparse(void)
{
    char header[2048] = "{";
    for (int i = 0; i < TENSORS; i++)
        sprintf(header + strlen(header),
                "\"%d\":{\"dtype\":\"F32\",\"shape\":[%lld],\"data_offsets\":[%lld,%lld]},", i,
                (long long)NBYTES / 4, (long long)(i * NBYTES), (long long)((i + 1) * NBYTES));
    const size_t length = strlen(header);
    header[length - 1] = '}';
    unsigned char size[8] = {(unsigned char)length, (unsigned char)(length >> 8)};
    const char *path = path_of("large.safetensors");
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(size, 1, 8, file) == 8 && fwrite(header, 1, length, file) == length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(path, (off_t)(8 + length) + TENSORS * NBYTES), 0);
    return path;
}

static double seconds_of_plain_reads(const char *path)
{
    enum { PIECE = 256 << 10 };
    char *piece = malloc(PIECE);
    const double before = now();
    const int fd = open(path, O_RDONLY);
    while (read(fd, piece, PIECE) > 0) {
    }
    close(fd);
    free(piece);
    return now() - before;
}

static void two_gigabytes_take_their_own_memory_and_no_more(void **state)
{
    (void)state;
    const char *path = write_sparse();
    struct sysinfo machine;
    assert_int_equal(sysinfo(&machine), 0);
    if ((machine.freeram + machine.bufferram) * machine.mem_unit < 3u << 30) {
        print_message("skipped: less than 3 GiB of free memory\n");
        skip();
    }
    const double plain = seconds_of_plain_reads(path);
    memory.peak = memory.bytes;
    const int64_t before = memory.bytes;
    double started = now();
    tern_state *read = tern_state_read(path);
    if (!read)
        fail_msg("%s", tern_error_message());
    print_message("read in %.2f s; read(2) alone takes %.2f s\n", now() - started, plain);
    assert_true(memory.peak - before < TENSORS * NBYTES + (1 << 20));
    assert_int_equal(tern_state_count(read), TENSORS);
    tern_state_free(read);
    memory.peak = memory.bytes;
    started = now();
    assert_int_equal(tern_state_verify(path), TERN_OK);
    print_message("verified in %.2f s\n", now() - started);
    assert_true(memory.peak - before < 1 << 20);
}

// ---- a header of 100 MB -------------------------------------------------------------------------

#define HEADER 100000000

static void check_refused(const char *name, const char *header)
{
    file_bytes f = safetensors_bytes(header, HEADER, 1);
    const char *path = write_file("hostile", f.at, f.count);
    const double started = now();
    assert_int_equal(tern_state_verify(path), TERN_ERR_FORMAT);
    print_message("%s: refused in %.2f s\n", name, now() - started);
    tern_error_clear();
    assert_file_refused(name, f.at, f.count, TERN_ERR_FORMAT, "");
    free(f.at);
}

// Repeats the piece from `at` on, up to the last `rest` bytes.
static void repeat(char *header, size_t at, const char *piece, size_t rest)
{
    const size_t length = strlen(piece);
    for (; at + length <= HEADER - rest; at += length)
        memcpy(header + at, piece, length);
}

static void hostile_headers_of_100_mb_are_refused(void **state)
{
    (void)state;
    char *header = malloc(HEADER + 64);
    static const struct {
        const char *name, *start, *piece, *end;
    } hostile[] = {
        {"spaces", "{}", " ", ""},
        {"a string", "{\"", "x", "\":1}"},
        {"escapes", "{\"", "\\u0041", "\":1}"},
        {"braces", "{", "{", ""},
        {"brackets in a shape", "{\"a\":{\"shape\":[", "[", ""},
        {"digits", "{\"a\":{\"shape\":[", "1", ""},
        {"one key of the metadata", "{\"__metadata__\":{\"a\":\"\"", ",\"a\":\"\"", "}}"},
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        memset(header, ' ', HEADER);
        memcpy(header, hostile[i].start, strlen(hostile[i].start));
        const size_t rest = strlen(hostile[i].end) + 8;
        repeat(header, strlen(hostile[i].start), hostile[i].piece, rest);
        memcpy(header + HEADER - rest, hostile[i].end, rest - 8);
        check_refused(hostile[i].name, header);
    }
    free(header);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(two_gigabytes_take_their_own_memory_and_no_more),
        DATA_TEST(hostile_headers_of_100_mb_are_refused),
    };
    return cmocka_run_group_tests_name("large", tests, start_group, end_group);
}
