// SPDX-License-Identifier: Apache-2.0
// What a dtype is; for the library and for plugins.
#include <tern/dtype.h>

typedef struct dtype_facts {
    const char *name;
    size_t size;
    bool floating;
} dtype_facts;

static const dtype_facts facts[] = {
    [TERN_DTYPE_UNSPECIFIED] = {"unspecified", 0, false},
    [TERN_FLOAT32] = {"float32", 4, true},
    [TERN_FLOAT64] = {"float64", 8, true},
    [TERN_FLOAT16] = {"float16", 2, true},
    [TERN_BFLOAT16] = {"bfloat16", 2, true},
    [TERN_INT64] = {"int64", 8, false},
    [TERN_INT32] = {"int32", 4, false},
    [TERN_UINT8] = {"uint8", 1, false},
    [TERN_BOOL] = {"bool", 1, false},
};

static bool known(tern_dtype dtype)
{
    return (unsigned)dtype < sizeof facts / sizeof *facts;
}

const char *tern_dtype_name(tern_dtype dtype)
{
    return known(dtype) ? facts[dtype].name : "unknown";
}

size_t tern_dtype_size(tern_dtype dtype)
{
    return known(dtype) ? facts[dtype].size : 0;
}

bool tern_dtype_is_floating(tern_dtype dtype)
{
    return known(dtype) && facts[dtype].floating;
}
