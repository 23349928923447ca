// SPDX-License-Identifier: Apache-2.0
// A file that must be refused: with which code, in a sentence with which words, and at no more
// memory than it has bytes. Include data/data_fixture.h before.
#ifndef TERN_TESTS_IO_BAD_FILE_H
#define TERN_TESTS_IO_BAD_FILE_H

// The bound of reliability goal R18.
static inline int64_t memory_for(size_t nbytes)
{
    return 64 * 1024 + 4 * (int64_t)nbytes;
}

static inline void assert_file_refused(const char *name, const void *bytes, size_t nbytes,
                                       tern_status code, const char *words)
{
    const char *path = write_file("bad", bytes, nbytes);
    (void)tern_memory_trim();
    const int64_t before = memory.bytes;
    memory.peak = before;
    tern_state *state = tern_state_read(path);
    const int64_t taken = memory.peak - before;
    if (state || tern_error_code() != code || !strstr(tern_error_message(), words) ||
        strncmp(tern_error_message(), "state_read: ", 12) != 0 ||
        !strstr(tern_error_message(), path) || taken > memory_for(nbytes))
        fail_msg("%s: %s: \"%s\", not %s: \"..%s..\"; %lld bytes of memory, %zu of the file", name,
                 tern_status_name(tern_error_code()), tern_error_message(), tern_status_name(code),
                 words, (long long)taken, nbytes);
    tern_error_clear();
}

#endif
