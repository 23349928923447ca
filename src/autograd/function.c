// SPDX-License-Identifier: Apache-2.0
// Operations of the user's own, with a backward of their own (PyTorch's autograd.Function).
#include <string.h>
#include <tern/autograd.h>
#include "autograd/op.h"
#include "autograd/record.h"
#include "base/callback.h"
#include "tensor/liveness.h"
#include "tensor/node.h"

struct tern_backward_context {
    tern_node *node;
    tern_tensor *const *dy;
    tern_tensor **dx;
};

static tern_status function_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_backward_context context = {node, dy, dx};
    return node->function->backward(&context);
}

#define USER_SAVED   8
#define RECORD_BYTES 64 // of a user's data

static const tern_op user_op = {.name = "function", .backward = function_backward};

static tern_status check_record(const tern_function *function, tern_tensor *output,
                                tern_tensor *const *inputs, int count, tern_tensor *const *saved,
                                int saved_count, const void *data, size_t nbytes)
{
    if (!function || !function->name || !function->backward)
        return tern_null_error("record", !function ? "function" : "a field of function");
    TERN_TRY(tern_check_tensor("record", "output", output));
    if ((count > 0 && !inputs) || (saved_count > 0 && !saved) || (nbytes > 0 && !data))
        return tern_null_error("record", count > 0 && !inputs        ? "inputs"
                                         : saved_count > 0 && !saved ? "saved"
                                                                     : "data");
    TERN_CHECK(count >= 0 && count <= TERN_OP_INPUTS && saved_count >= 0 &&
                   saved_count <= USER_SAVED && nbytes <= RECORD_BYTES,
               TERN_ERR_ARG,
               "record: %s has %d inputs, %d saved tensors and %zu bytes, but at most "
               "%d, %d and %d are possible",
               function->name, count, saved_count, nbytes, TERN_OP_INPUTS, USER_SAVED,
               RECORD_BYTES);
    TERN_CHECK(!output->requires_grad, TERN_ERR_STATE,
               "record: the output of %s already has a history; make it under tern_no_grad",
               function->name);
    TERN_CHECK(atomic_load(&output->saves) == 0 && atomic_load(&output->edges) == 0, TERN_ERR_STATE,
               "record: the output of %s was used by a recorded operation before, which would not "
               "pass its gradient on; record it first",
               function->name);
    TERN_CHECK(tern_dtype_is_floating(output->dtype), TERN_ERR_DTYPE,
               "record: the output of %s is %s; only floating dtypes have gradients",
               function->name, tern_tensor_string(output));
    for (int i = 0; i < count; i++)
        TERN_TRY(tern_check_tensor(function->name, "an input", inputs[i]));
    for (int i = 0; i < saved_count; i++)
        TERN_TRY(tern_check_tensor(function->name, "a saved tensor", saved[i]));
    return TERN_OK;
}

tern_tensor *tern_record(const tern_function *function, tern_tensor *output,
                         tern_tensor *const *inputs, int count, tern_tensor *const *saved,
                         int saved_count, const void *data, size_t nbytes)
{
    if (check_record(function, output, inputs, count, saved, saved_count, data, nbytes))
        return NULL;
    tern_op_call call = {.op = &user_op, .count = count, .many = inputs};
    if (nbytes)
        memcpy(call.attrs.bytes, data, nbytes);
    output->op = function->name;
    if (!tern_op_end(&call, output, saved, saved_count))
        return NULL;
    if (output->node) {
        output->node->function = function;
        output->node->name = function->name;
    }
    return output;
}

tern_tensor *tern_record_user(tern_tensor *output, void *user, tern_free_fn *free)
{
    tern_status status = tern_check_tensor("record_user", "output", output);
    tern_node *node = status ? NULL : output->node;
    if (!status && node && !node->function)
        status = tern_error_raise(TERN_ERR_STATE, "record_user: %s is no output of tern_record",
                                  tern_tensor_string(output));
    if (status || !node) {
        tern_free_user(free, user);
        return status ? NULL : output;
    }
    tern_replace_user(&node->user, &node->user_free, user, free);
    return output;
}

void *tern_context_user(tern_backward_context *context)
{
    if (!context) {
        tern_null_error("context_user", "context");
        return NULL;
    }
    return context->node->user;
}

tern_tensor *tern_context_grad(tern_backward_context *context)
{
    if (!context) {
        tern_null_error("context_grad", "context");
        return NULL;
    }
    return context->dy[0];
}

tern_tensor *tern_context_saved(tern_backward_context *context, int index)
{
    if (!context) {
        tern_null_error("context_saved", "context");
        return NULL;
    }
    TERN_CHECK_PTR(index >= 0 && index < USER_SAVED && context->node->saved[index], TERN_ERR_ARG,
                   "context_saved: %s saved no tensor %d", context->node->function->name, index);
    return context->node->saved[index];
}

const void *tern_context_data(tern_backward_context *context)
{
    if (!context) {
        tern_null_error("context_data", "context");
        return NULL;
    }
    return context->node->attrs.bytes;
}

bool tern_context_needs(tern_backward_context *context, int index)
{
    if (!context) {
        tern_null_error("context_needs", "context");
        return false;
    }
    return index >= 0 && index < context->node->inputs && tern_node_needs(context->node, index);
}

tern_status tern_context_set_grad(tern_backward_context *context, int index, tern_tensor *gradient)
{
    if (!context)
        return tern_null_error("context_set_grad", "context");
    TERN_TRY(tern_check_tensor("context_set_grad", "gradient", gradient));
    TERN_CHECK(index >= 0 && index < context->node->inputs, TERN_ERR_ARG,
               "context_set_grad: %s has no input %d", context->node->function->name, index);
    context->dx[index] = gradient;
    return TERN_OK;
}
