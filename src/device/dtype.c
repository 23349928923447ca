// SPDX-License-Identifier: Apache-2.0
// What a dtype is; for the library and for plugins.
#include "device/dtype.h"

static const char *const names[] = {
    [TERN_DTYPE_UNSPECIFIED] = "unspecified",
    [TERN_FLOAT32] = "float32",
    [TERN_FLOAT64] = "float64",
    [TERN_FLOAT16] = "float16",
    [TERN_BFLOAT16] = "bfloat16",
    [TERN_INT64] = "int64",
    [TERN_INT32] = "int32",
    [TERN_UINT8] = "uint8",
    [TERN_BOOL] = "bool",
};

static bool known(tern_dtype dtype)
{
    return (unsigned)dtype < sizeof names / sizeof *names;
}

const char *tern_dtype_name(tern_dtype dtype)
{
    return known(dtype) ? names[dtype] : "unknown";
}

size_t tern_dtype_size(tern_dtype dtype)
{
    return known(dtype) ? (size_t)tern_element_size(dtype) : 0;
}

bool tern_dtype_is_floating(tern_dtype dtype)
{
    return tern_is_floating(dtype);
}
