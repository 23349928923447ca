// SPDX-License-Identifier: Apache-2.0
// Checks of what a tensor is made of, and its elements from and to host memory.
#ifndef TERN_SRC_TENSOR_FACTORY_H
#define TERN_SRC_TENSOR_FACTORY_H

#include "base/error.h"
#include "tensor/tensor.h"

// ---- checks ------------------------------------------------------------------------------------

// A dtype that exists.
tern_status tern_check_dtype(const char *op, tern_dtype dtype);
// At most TERN_MAX_RANK sizes, none negative, whose elements can be counted and addressed.
tern_status tern_check_shape(const char *op, tern_shape shape, tern_dtype dtype);
// `value` can be cast to `dtype`: within the range of an integer dtype.
tern_status tern_check_range(const char *op, const char *name, tern_scalar value, tern_dtype dtype);
// `value` has no fraction where `dtype` has none, and fits it.
tern_status tern_check_integral(const char *op, const char *name, tern_scalar value,
                                tern_dtype dtype);
#define tern_check_range(op, name, value, dtype)                                                   \
    tern_check_range(op, name, TERN_SCALAR_(value), dtype)
#define tern_check_integral(op, name, value, dtype)                                                \
    tern_check_integral(op, name, TERN_SCALAR_(value), dtype)
// Data whose C type says `data_type` (tern_from_data_options.reserved_) may be read as `dtype`.
tern_status tern_check_data_type(const char *op, char data_type, tern_dtype dtype);
// Data of that many bytes (0: not known) is enough for a tensor.
tern_status tern_check_data_size(const char *op, size_t nbytes, tern_dtype dtype, tern_shape shape);

// ---- making ------------------------------------------------------------------------------------

// A contiguous tensor with undefined contents after all checks; the unspecified device is the
// default one. The caller has replaced an unspecified dtype by its default.
tern_tensor *tern_create(const char *op, tern_dtype dtype, tern_device device, bool requires_grad,
                         tern_shape shape);
// `t` with every element set to `value`, or NULL on failure. Neither checked nor recorded; takes
// NULL.
tern_tensor *tern_filled(tern_tensor *t, tern_scalar value);
#define tern_filled(t, value) tern_filled(t, TERN_SCALAR_(value))
// Copies host memory into `t`, of any strides; not recorded. A bool that is not 0 or 1 is
// TERN_ERR_ARG.
tern_status tern_upload(const char *op, tern_tensor *t, const void *data);

// Host memory of `nbytes` bytes is as large as the elements of `t` are.
tern_status tern_check_buffer(const char *op, const tern_tensor *t, const void *data,
                              size_t nbytes);
// All elements in row-major order, to host memory, cast to `dtype`; waits.
tern_status tern_download_as(const tern_tensor *t, tern_dtype dtype, void *data);

#endif
