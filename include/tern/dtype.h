// SPDX-License-Identifier: Apache-2.0
/// @file
/// Types of elements, and how many dimensions a tensor has at most.
///
///     size_t nbytes = (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t));
///
/// Nothing here fails. Threads: any.
#ifndef TERN_DTYPE_H
#define TERN_DTYPE_H

#include <tern/base.h>

TERN_BEGIN_DECLS

/// The largest number of dimensions.
#define TERN_MAX_RANK 8

/// Types of elements. float16 and bfloat16 are stored in 16 bits and computed in float32.
typedef enum tern_dtype {
    TERN_DTYPE_UNSPECIFIED = 0, ///< the call's default, mostly tern_default_dtype
    TERN_FLOAT32,               ///< 4 bytes
    TERN_FLOAT64,               ///< 8 bytes
    TERN_FLOAT16,               ///< 2 bytes, 11 bits of precision
    TERN_BFLOAT16,              ///< 2 bytes, 8 bits of precision
    TERN_INT64,                 ///< 8 bytes, signed; labels and indices
    TERN_INT32,                 ///< 4 bytes, signed
    TERN_UINT8,                 ///< 1 byte, unsigned
    TERN_BOOL                   ///< 1 byte, 0 or 1
} tern_dtype;

/// "float32", "int64", ...; "unspecified" for 0, "unknown" for other numbers. Static storage.
TERN_API const char *tern_dtype_name(tern_dtype dtype);
/// Bytes per element, 0 for no dtype.
TERN_API size_t tern_dtype_size(tern_dtype dtype);
/// True for the four floating dtypes.
TERN_API bool tern_dtype_is_floating(tern_dtype dtype);

TERN_END_DECLS

#endif
