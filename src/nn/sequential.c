// SPDX-License-Identifier: Apache-2.0
// Children one after another.
#include "nn/list.h"

// A linear layer and the ReLU after it in one pass over the output, where nobody looks in between.
static bool is_linear_relu(const tern_module *first, const tern_module *second)
{
    return first->klass == &tern_nn_linear_class && second->klass == &tern_nn_relu_class &&
           tern_forward_is_plain(first) && tern_forward_is_plain(second);
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_module_private *private_ = module->private_;
    tern_tensors between = *in;
    for (int64_t i = 0; i < private_->child_count; i++) {
        tern_module *child = private_->children[i].module;
        bool last = i + 1 == private_->child_count;
        if (!last && between.count == 1 &&
            is_linear_relu(child, private_->children[i + 1].module)) {
            TERN_TRY(tern_layer_output(&between, tern_nn_linear_relu(child, between.at[0])));
            i++;
        } else {
            TERN_TRY(tern_module_forward(child, &between, &between));
        }
    }
    *out = between;
    return TERN_OK;
}

static const tern_module_class sequential_class = {
    .name = "Sequential", .size = sizeof(tern_module), .call = call};

tern_module *tern_nn_sequential_new(int64_t count, tern_module *const *children)
{
    return tern_nn_list_new("nn_sequential", &sequential_class, count, children);
}
