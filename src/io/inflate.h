// SPDX-License-Identifier: Apache-2.0
// Unpacks deflated data that lies in a range of a file, never further than it is asked to.
#ifndef TERN_SRC_IO_INFLATE_H
#define TERN_SRC_IO_INFLATE_H

#include "io/file.h"
#include "io/zlib_memory.h"

#define TERN_INFLATE_BUFFER 4096

typedef struct tern_inflate {
    tern_file *file;
    const char *what; // "entry \"x\"", for errors
    int64_t at, left; // what was not read yet
    bool ended;
    z_stream z;
    unsigned char buffer[TERN_INFLATE_BUFFER];
} tern_inflate;

// `packed` bytes from `at` on. After success tern_inflate_end is due.
tern_status tern_inflate_begin(tern_inflate *stream, tern_file *file, const char *what, int64_t at,
                               int64_t packed);
// The next `nbytes` unpacked bytes; TERN_ERR_FORMAT where there are fewer.
tern_status tern_inflate_read(tern_inflate *stream, void *data, int64_t nbytes);
// TERN_ERR_FORMAT unless the data ends here, and with it the range.
tern_status tern_inflate_finish(tern_inflate *stream);
void tern_inflate_end(tern_inflate *stream);

#endif
