// SPDX-License-Identifier: Apache-2.0
// Reading regular files, with errors that name the file.
#ifndef TERN_SRC_IO_FILE_H
#define TERN_SRC_IO_FILE_H

#include <time.h>
#include "base/error.h"

// A file open for reading. `op` names what reads it; both strings are borrowed.
typedef struct tern_file {
    const char *op;
    const char *path; // cut on the left where it is too long for a message
    int fd;           // -1 when it is closed
    int64_t size;     // once it was noted, as the next
    struct timespec changed;
} tern_file;

// A path for messages: its end, where it is too long for one.
const char *tern_file_shown(const char *path);

// Opens a regular file; pipes, devices and directories are TERN_ERR_IO and never waited for.
tern_status tern_file_open(tern_file *file, const char *op, const char *path);

// Reads up to `nbytes`; *got is less only at the end of the file.
tern_status tern_file_read(tern_file *file, void *data, size_t nbytes, size_t *got);

// Reads exactly `nbytes` from byte `at`: TERN_ERR_FORMAT where the file ends before.
tern_status tern_file_read_at(tern_file *file, int64_t at, void *data, size_t nbytes);

// Records the file's size and when it was changed.
tern_status tern_file_stat(tern_file *file);
// TERN_ERR_IO when somebody has written to it since.
tern_status tern_file_check_same(const tern_file *file);

// A closed file is fine.
void tern_file_close(tern_file *file);

#endif
