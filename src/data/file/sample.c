// SPDX-License-Identifier: Apache-2.0
#include "data/file/sample.h"

#include "tensor/tensor.h"

tern_status tern_image_sample_check(const char *op, const tern_image_form *form)
{
    TERN_CHECK(form->channels != 0, TERN_ERR_ARG, "%s: .channels is 0, but must be 1, 3 or 4", op);
    return tern_image_form_check(op, form);
}

tern_status tern_image_sample(const char *op, tern_tensor *x, int64_t label, tern_sample *out)
{
    if (!x)
        return tern_error_code();
    tern_tensor *y = tern_tensor_new(op, TERN_INT64, tern_cpu(0), (tern_shape){.rank = 0});
    if (!y)
        return TERN_ERR_NOMEM;
    *(int64_t *)y->storage->data = label;
    out->at[out->count++] = x;
    out->at[out->count++] = y;
    return TERN_OK;
}
