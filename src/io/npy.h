// SPDX-License-Identifier: Apache-2.0
// What stands before the elements of numpy's arrays, in a .npy file and in each entry of a .npz.
#ifndef TERN_SRC_IO_NPY_H
#define TERN_SRC_IO_NPY_H

#include "io/archive.h"

// The fewest bytes that say how long all of it is.
#define TERN_NPY_FIRST_BYTES 12
// The longest header text that is read.
#define TERN_NPY_MAX_TEXT 65536

typedef struct tern_npy_header {
    const char *descr; // the dtype as the file calls it, "<f4"; in the arena
    tern_dtype dtype;  // TERN_DTYPE_UNSPECIFIED: one that tern does not have
    bool swapped, fortran_order;
    int rank;
    int64_t *shape; // in the arena
    int64_t nbytes; // of the elements; -1 where nobody knows
    int64_t size;   // of all that stands before them
} tern_npy_header;

// The bytes before the elements, of which `got` are at hand, at most TERN_NPY_FIRST_BYTES; `what`
// names the array in errors, "a.npy" or "the entry \"x.npy\" of a.npz".
tern_status tern_npy_header_size(const char *op, const char *what, const unsigned char *bytes,
                                 int64_t got, int64_t *size);
// Reads all those bytes.
tern_status tern_npy_header_read(const char *op, const char *what, const unsigned char *bytes,
                                 int64_t size, tern_arena *arena, tern_npy_header *header);
// Adds the array to the archive; `left` bytes follow its header.
tern_status tern_npy_add(tern_archive *archive, const char *what, const char *name,
                         const tern_npy_header *header, int64_t left, tern_file_storage storage);

// Header of 0 to 8 sizes up to INT64_MAX: the most bytes, a multiple of 64.
#define TERN_NPY_MAX_HEADER 320

// Writes the header of a contiguous tensor and returns its bytes; `what` names it in errors.
tern_status tern_npy_header_write(const char *op, const char *what, tern_dtype dtype,
                                  tern_shape shape, char to[TERN_NPY_MAX_HEADER], size_t *nbytes);

// An npz: a zip archive, already open, all of whose entries are .npy files.
struct tern_zip;
tern_status tern_npz_read_archive(tern_archive *archive, const struct tern_zip *zip);

#endif
