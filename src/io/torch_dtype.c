// SPDX-License-Identifier: Apache-2.0
#include "io/torch_dtype.h"

const tern_torch_dtype tern_torch_dtypes[] = {
    {NULL, "UntypedStorage", 1, TERN_DTYPE_UNSPECIFIED},
    {"float32", "FloatStorage", 4, TERN_FLOAT32},
    {"float64", "DoubleStorage", 8, TERN_FLOAT64},
    {"float16", "HalfStorage", 2, TERN_FLOAT16},
    {"bfloat16", "BFloat16Storage", 2, TERN_BFLOAT16},
    {"int64", "LongStorage", 8, TERN_INT64},
    {"int32", "IntStorage", 4, TERN_INT32},
    {"uint8", "ByteStorage", 1, TERN_UINT8},
    {"bool", "BoolStorage", 1, TERN_BOOL},
    {"int16", "ShortStorage", 2, TERN_DTYPE_UNSPECIFIED},
    {"int8", "CharStorage", 1, TERN_DTYPE_UNSPECIFIED},
    {"complex64", "ComplexFloatStorage", 8, TERN_DTYPE_UNSPECIFIED},
    {"complex128", "ComplexDoubleStorage", 16, TERN_DTYPE_UNSPECIFIED},
    {"complex32", NULL, 4, TERN_DTYPE_UNSPECIFIED},
    {"uint16", NULL, 2, TERN_DTYPE_UNSPECIFIED},
    {"uint32", NULL, 4, TERN_DTYPE_UNSPECIFIED},
    {"uint64", NULL, 8, TERN_DTYPE_UNSPECIFIED},
    {"float8_e4m3fn", NULL, 1, TERN_DTYPE_UNSPECIFIED},
    {"float8_e4m3fnuz", NULL, 1, TERN_DTYPE_UNSPECIFIED},
    {"float8_e5m2", NULL, 1, TERN_DTYPE_UNSPECIFIED},
    {"float8_e5m2fnuz", NULL, 1, TERN_DTYPE_UNSPECIFIED},
    {"float8_e8m0fnu", NULL, 1, TERN_DTYPE_UNSPECIFIED},
};
const int tern_torch_dtype_count = sizeof tern_torch_dtypes / sizeof *tern_torch_dtypes;

const tern_torch_dtype *tern_torch_dtype_of(tern_dtype dtype)
{
    for (int i = 0; i < tern_torch_dtype_count; i++)
        if (tern_torch_dtypes[i].dtype == dtype && dtype)
            return &tern_torch_dtypes[i];
    return NULL;
}
