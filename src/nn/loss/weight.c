// SPDX-License-Identifier: Apache-2.0
#include "nn/loss/weight.h"

#include "tensor/liveness.h"

tern_status tern_loss_check_weight(const char *function, const char *name,
                                   const tern_tensor *weight)
{
    if (!weight)
        return TERN_OK;
    TERN_TRY(tern_check_tensor(function, name, weight));
    TERN_CHECK(tern_dtype_is_floating(weight->dtype), TERN_ERR_DTYPE,
               "%s: %s is %s, but must be floating", function, name, tern_tensor_string(weight));
    return TERN_OK;
}

tern_status tern_loss_check_class_weight(const char *function, const tern_tensor *weight)
{
    TERN_TRY(tern_loss_check_weight(function, "weight", weight));
    TERN_CHECK(!weight || weight->rank == 1, TERN_ERR_SHAPE,
               "%s: weight is %s, but must have one dimension, the classes", function,
               tern_tensor_string(weight));
    return TERN_OK;
}

tern_tensor *tern_loss_copy_weight(tern_tensor *weight)
{
    tern_no_grad {
        weight = weight ? tern_clone(weight) : NULL;
    }
    return weight;
}

// The classic mistake: the net was moved and the criterion was not.
tern_status tern_loss_match_weight(const char *loss, const char *name, const tern_tensor *weight,
                                   const tern_tensor *input)
{
    if (!weight)
        return TERN_OK;
    TERN_TRY(tern_check_tensor(loss, "input", input));
    tern_device here = tern_dev(weight), there = tern_dev(input);
    TERN_CHECK(tern_device_equal(here, there), TERN_ERR_DEVICE,
               "%s: the criterion's %s is on %s, input on %s: call tern_module_to(criterion, ...) "
               "with the input's device",
               loss, name, tern_device_string(here), tern_device_string(there));
    TERN_CHECK(weight->dtype == input->dtype, TERN_ERR_DTYPE,
               "%s: the criterion's %s is %s, input %s: call tern_module_to_dtype(criterion, ...) "
               "with the input's dtype",
               loss, name, tern_dtype_name(weight->dtype), tern_dtype_name(input->dtype));
    return TERN_OK;
}
