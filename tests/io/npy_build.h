// SPDX-License-Identifier: Apache-2.0
// Builds npy files byte by byte, and looks at files that are refused. Include <cmocka.h> before.
#ifndef TERN_TESTS_NPY_BUILD_H
#define TERN_TESTS_NPY_BUILD_H

#include "data/data_fixture.h"

#include <tern/io.h>

// A file of version `version`.0 with a header and then elements; returns its bytes.
static inline size_t build_npy(unsigned char *to, size_t room, int version, const char *header,
                               const void *elements, size_t nbytes)
{
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    assert_true(start + length + nbytes <= room);
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (size_t i = 8; i < start; i++)
        to[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(to + start, header, length);
    memcpy(to + start + length, elements, nbytes);
    return start + length + nbytes;
}

// Refused with this code, in a sentence that begins with the call, has the file's name and these
// words; without more memory than is allowed for a file of so many bytes.
static inline void assert_file_refused(const char *path, size_t nbytes, tern_status code,
                                       const char *words)
{
    const int64_t before = memory.bytes;
    memory.peak = before;
    tern_state *state = tern_state_read(path);
    const int64_t taken = memory.peak - before;
    if (state)
        fail_msg("it was read, and should have been refused with \"%s\"", words);
    assert_non_null(strstr(tern_error_message(), strrchr(path, '/')));
    assert_int_equal(strncmp(tern_error_message(), "state_read: ", 12), 0);
    assert_error(code, words);
    if (taken > (64 << 10) + 4 * (int64_t)nbytes)
        fail_msg("\"%s\" took %lld bytes for a file of %zu", words, (long long)taken, nbytes);
}

static inline void assert_bytes_refused(const void *bytes, size_t nbytes, tern_status code,
                                        const char *words)
{
    assert_file_refused(write_file("bad", bytes, nbytes), nbytes, code, words);
}

#endif
