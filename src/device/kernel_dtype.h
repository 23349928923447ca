// SPDX-License-Identifier: Apache-2.0
// The error of a kernel that does not exist for a dtype. Fronts refuse such tensors, so this is
// seen where a front and a kernel differ.
#ifndef TERN_SRC_DEVICE_KERNEL_DTYPE_H
#define TERN_SRC_DEVICE_KERNEL_DTYPE_H

#include "base/error.h"
#include "device/dtype.h"
#include "device/kernels.h"

// Raises TERN_ERR_DTYPE: "softmax: no kernel for int64".
static inline tern_status tern_kernel_lacks(const char *kernel, tern_dtype dtype)
{
    return tern_error_raise(TERN_ERR_DTYPE, "%s: no kernel for %s", kernel, tern_dtype_name(dtype));
}

// For kernels of floating dtypes, before they write: refuses all others.
static inline tern_status tern_kernel_floating(const char *kernel, tern_dtype dtype)
{
    return tern_is_floating(dtype) ? TERN_OK : tern_kernel_lacks(kernel, dtype);
}

static inline tern_status tern_kernel_floating_list(const char *kernel, const tern_strided *list,
                                                    int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        TERN_TRY(tern_kernel_floating(kernel, list[i].dtype));
    return TERN_OK;
}

static inline tern_status tern_kernel_floating_step(const char *kernel,
                                                    const tern_step_tensor *tensors, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        TERN_TRY(tern_kernel_floating(kernel, tensors[i].dtype));
    return TERN_OK;
}

#endif
