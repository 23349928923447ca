// SPDX-License-Identifier: Apache-2.0
// What users call to run backward.
#include <tern/autograd.h>
#include "autograd/engine.h"
#include "autograd/leaf.h"
#include "autograd/record.h"
#include "tensor/capture.h"
#include "tensor/liveness.h"

static tern_status check_loss(const tern_tensor *loss, const tern_tensor *gradient)
{
    TERN_TRY(tern_check_tensor("backward", "loss", loss));
    TERN_TRY(tern_capture_check_training("backward", tern_dev(loss)));
    TERN_CHECK(loss->requires_grad, TERN_ERR_STATE,
               "backward: the loss (%s, made by %s) has no history: no tensor it was made of "
               "requires a gradient, or it was made under tern_no_grad",
               tern_tensor_string(loss), loss->op);
    TERN_TRY(tern_check_history("backward", "the loss", loss));
    if (!gradient) {
        TERN_CHECK(loss->numel == 1, TERN_ERR_SHAPE,
                   "backward: the loss is %s; without .gradient it must have one element",
                   tern_tensor_string(loss));
        return TERN_OK;
    }
    TERN_TRY(tern_check_tensor("backward", "gradient", gradient));
    TERN_CHECK(tern_device_equal(tern_dev(loss), tern_dev(gradient)), TERN_ERR_DEVICE,
               "backward: the loss is %s and the gradient %s", tern_tensor_string(loss),
               tern_tensor_string(gradient));
    TERN_CHECK(loss->dtype == gradient->dtype, TERN_ERR_DTYPE,
               "backward: the loss is %s and the gradient %s", tern_tensor_string(loss),
               tern_tensor_string(gradient));
    TERN_CHECK(tern_shape_equal(tern_shape_get(loss), tern_shape_get(gradient)), TERN_ERR_SHAPE,
               "backward: the loss is %s and the gradient %s", tern_tensor_string(loss),
               tern_tensor_string(gradient));
    return TERN_OK;
}

static tern_status run_backward(tern_tensor *loss, tern_tensor *gradient, bool retain_graph)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    if (!gradient)
        gradient = tern_ones_like(loss);
    tern_status status = TERN_ERR_NOMEM;
    if (gradient)
        status = loss->node ? tern_engine_run(loss, gradient, retain_graph)
                            : tern_leaf_deliver(loss, gradient);
    tern_scope_close(scope);
    return status;
}

tern_status tern_backward_with(const tern_backward_options *options)
{
    if (!options)
        return tern_null_error("backward", "options");
    TERN_TRY(check_loss(options->loss, options->gradient));
    tern_status status = run_backward(options->loss, options->gradient, options->retain_graph);
    if (status == TERN_ERR_NOMEM)
        tern_engine_invalidate(options->loss);
    return status;
}
