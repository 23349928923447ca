// SPDX-License-Identifier: Apache-2.0
// The dtype of what is made without one.
#include <tern/tensor.h>
#include "base/error.h"

static _Thread_local tern_dtype default_dtype = TERN_FLOAT32;

tern_dtype tern_default_dtype(void)
{
    return default_dtype;
}

tern_status tern_set_default_dtype(tern_dtype dtype)
{
    TERN_CHECK(tern_dtype_is_floating(dtype), TERN_ERR_DTYPE,
               "set_default_dtype: %s is not floating", tern_dtype_name(dtype));
    default_dtype = dtype;
    return TERN_OK;
}
