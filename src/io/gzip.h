// SPDX-License-Identifier: Apache-2.0
// The bytes of a file that may be gzipped. Strict: checksums are checked, several members are read
// as one, and whatever else follows is an error.
#ifndef TERN_SRC_IO_GZIP_H
#define TERN_SRC_IO_GZIP_H

#include <zlib.h>
#include "io/file.h"

#define TERN_GZIP_BUFFER 16384

typedef struct tern_gzip {
    tern_file file;
    bool zipped; // as its first two bytes say
    bool in_member;
    z_stream z;
    size_t at, have;                        // what is left in the buffer begins at `at`
    unsigned char buffer[TERN_GZIP_BUFFER]; // bytes of the file
} tern_gzip;

// Opens a file for reading. After success, and only then, tern_gzip_close is due.
tern_status tern_gzip_open(tern_gzip *stream, const char *op, const char *path);

// Reads up to `nbytes` unpacked bytes; *got is less only at the end.
tern_status tern_gzip_read(tern_gzip *stream, void *data, size_t nbytes, size_t *got);

void tern_gzip_close(tern_gzip *stream);

#endif
