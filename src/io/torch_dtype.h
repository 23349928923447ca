// SPDX-License-Identifier: Apache-2.0
// PyTorch's element types, by the names that its files have for them.
#ifndef TERN_SRC_IO_TORCH_DTYPE_H
#define TERN_SRC_IO_TORCH_DTYPE_H

#include <stddef.h>
#include <stdint.h>
#include <tern/dtype.h>

typedef struct tern_torch_dtype {
    const char *name;    // "float32"; NULL: bytes without a type
    const char *storage; // the class of its storages; NULL: one without a type
    int64_t size;
    tern_dtype dtype; // TERN_DTYPE_UNSPECIFIED: one that tern does not have
} tern_torch_dtype;

extern const tern_torch_dtype tern_torch_dtypes[];
extern const int tern_torch_dtype_count;

// That of one of tern's dtypes.
const tern_torch_dtype *tern_torch_dtype_of(tern_dtype dtype);

#endif
