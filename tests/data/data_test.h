// SPDX-License-Identifier: Apache-2.0
// What the tests of files and datasets share: a directory of files, the counting allocator, and
// looks at the pending error. Include <cmocka.h> before.
#ifndef TERN_TESTS_DATA_TEST_H
#define TERN_TESTS_DATA_TEST_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <tern/tern.h>

#include "support/memory_hook.h"
#include "support/wrong_calls.h"

// ---- memory -----------------------------------------------------------------------------------

// A thread's first tensors and scopes take memory that stays: `depth` scopes within each other.
static inline int use_scopes(int depth)
{
    if (depth == 0)
        return 0;
    tern_scope scope = tern_scope_open();
    tern_tensor *t = NULL;
    for (int i = 0; i < 256; i++)
        t = tern_zeros(tern_dims(1));
    int failed = use_scopes(depth - 1);
    tern_scope_close(scope);
    return !scope || !t || failed;
}

// Caches would hide allocations from the hook.
static inline int see_all_allocations(void)
{
    setenv("TERN_CACHE", "0", 1);
    return use_memory_hook();
}

// With the fixture of data_fixture.h or loader_test.h.
#define DATA_TEST(name) cmocka_unit_test_setup_teardown(name, start, leaves_nothing)

// ---- files ------------------------------------------------------------------------------------

static char directory[64];

static inline const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline int make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/tern-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static inline void empty_directory(void)
{
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));)
        unlink(path_of(entry->d_name)); // not "." and "..", which are directories
    if (list)
        closedir(list);
}

static inline int files_in_directory(void)
{
    int count = 0;
    DIR *folder = opendir(directory);
    for (struct dirent *file; (file = readdir(folder));)
        count += strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static inline void remove_directory(void)
{
    empty_directory();
    rmdir(directory);
}

static inline const char *write_file(const char *name, const void *bytes, size_t nbytes)
{
    const char *path = path_of(name);
    (void)remove(path); // some file systems take long to truncate one
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, nbytes, file), nbytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

// Writes `count` images (2, 3) with the bytes 0, 1, 2, ... and `labels` labels 0, 1, 2, ...
static inline void write_mnist(const char *part, int count, int labels)
{
    unsigned char images[16 + 6 * 16] = {0, 0, 8, 3, 0, 0, 0, (unsigned char)count,
                                         0, 0, 0, 2, 0, 0, 0, 3};
    unsigned char numbers[8 + 16] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)labels};
    for (int i = 0; i < 6 * count; i++)
        images[16 + i] = (unsigned char)i;
    for (int i = 0; i < labels; i++)
        numbers[8 + i] = (unsigned char)i;
    char name[64];
    snprintf(name, sizeof name, "%s-images-idx3-ubyte", part);
    write_file(name, images, 16 + 6 * (size_t)count);
    snprintf(name, sizeof name, "%s-labels-idx1-ubyte", part);
    write_file(name, numbers, 8 + (size_t)labels);
}

// One gzip member by zlib's own writer; returns its bytes. `extra` adds an extra field.
static inline size_t gzip_bytes(unsigned char *out, size_t room, const void *bytes, size_t nbytes,
                                bool extra)
{
    z_stream z = {0};
    unsigned char field[4] = {'t', 'n', 0, 0};
    gz_header header = {.extra = field, .extra_len = sizeof field};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + 15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    if (extra)
        assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    unsigned char *copy = malloc(nbytes + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, nbytes);
    z.next_in = copy;
    z.avail_in = (uInt)nbytes;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    free(copy);
    return room - z.avail_out;
}

static inline int open_files(void)
{
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count;
}

// ---- errors -----------------------------------------------------------------------------------

// The pending error has this code and these words (NULL: any), and is forgotten.
static inline void assert_error(tern_status code, const char *words)
{
    char sentence[600];
    tern_status found = tern_error_take(sentence, sizeof sentence);
    if (found != code || (words && !strstr(sentence, words)))
        fail_msg("expected %s with \"%s\", got %s: %s", tern_status_name(code), words ? words : "",
                 tern_status_name(found), sentence);
}

// Whichever allocation of a constructor fails, it gives NULL and an error, and leaves nothing; it
// makes more than `min`.
static inline void assert_needs_memory(tern_dataset *(*make)(void), int64_t min)
{
    bool failed = true;
    for (int64_t n = 1; failed; n++) {
        const int64_t before = memory.bytes;
        fail_nth_allocation(n);
        tern_dataset *set = make();
        failed = memory.calls >= n;
        fail_nth_allocation(0);
        assert_int_equal(set == NULL, failed);
        if (failed)
            assert_error(TERN_ERR_NOMEM, "no memory");
        assert_true(failed || n > min);
        tern_dataset_free(set);
        assert_int_equal(memory.bytes, before);
    }
}

#endif
