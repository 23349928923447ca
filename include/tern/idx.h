// SPDX-License-Identifier: Apache-2.0
/// @file
/// IDX files: arrays of numbers as the MNIST family of data sets ships them, plain or gzipped.
///
///     tern_tensor *images = tern_idx_read("train-images-idx3-ubyte.gz");
///     if (!images)
///         return tern_error_print(stderr);
///
/// A file is 0, 0, a type byte, the number of dimensions, one big-endian 32-bit size each, then the
/// elements, big-endian and row-major, and nothing more. Threads: any; nothing is shared.
#ifndef TERN_IDX_H
#define TERN_IDX_H

#include <tern/base.h>
#include <tern/scope.h>

TERN_BEGIN_DECLS

/// Reads a whole file into a tensor on the CPU, a temporary of the innermost scope. Whether it is
/// gzipped is seen from its first bytes, not from its name.
///
/// Type 0x08 gives uint8, 0x0C int32, 0x0D float32, 0x0E float64; 0x09 (int8) and 0x0B (int16)
/// give int32, with the same values. NULL on failure: TERN_ERR_IO when `path` cannot be opened or
/// read or is no regular file, TERN_ERR_FORMAT for everything that is not exactly as above (1 to 8
/// dimensions, none of them 0; no byte short or long; every checksum of a gzip file right),
/// TERN_ERR_NOMEM. Memory grows with what was really read, whatever a header says.
TERN_API tern_tensor *tern_idx_read(const char *path);

TERN_END_DECLS

#endif
