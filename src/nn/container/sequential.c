// SPDX-License-Identifier: Apache-2.0
// Children one after another.
#include "nn/container/list.h"

// What computes a layer together with an activation, or NULL.
static tern_layer_activated *activated_of(const tern_module *module)
{
    const tern_module_class *convs = &tern_nn_conv_classes[0][0];
    if (module->klass == &tern_nn_linear_class)
        return tern_nn_linear_activated;
    if (tern_nn_is_batch_norm(module))
        return tern_nn_batch_norm_activated;
    for (size_t i = 0; i < sizeof tern_nn_conv_classes / sizeof *convs; i++)
        if (module->klass == convs + i)
            return tern_nn_conv_activated;
    return NULL;
}

// A layer and the ReLU after it go in one pass over the output, where nobody looks in between.
static bool fuses(const tern_module *first, const tern_module *second)
{
    return activated_of(first) && tern_nn_is_relu(second) && tern_forward_is_plain(first) &&
           tern_forward_is_plain(second);
}

static tern_tensor *run_with_relu(tern_module *layer, tern_tensor *x)
{
    tern_forward_frame frame;
    if (tern_forward_enter(&frame, layer))
        return NULL;
    tern_tensor *y = activated_of(layer)(layer, x, TERN_ACT_RELU);
    tern_forward_leave(&frame);
    return y;
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_module_private *private_ = module->private_;
    tern_tensors between = *in;
    for (int64_t i = 0; i < private_->child_count; i++) {
        tern_module *child = private_->children[i].module;
        bool last = i + 1 == private_->child_count;
        if (!last && between.count == 1 && fuses(child, private_->children[i + 1].module)) {
            TERN_TRY(tern_layer_output(&between, run_with_relu(child, between.at[0])));
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
