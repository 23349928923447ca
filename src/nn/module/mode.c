// SPDX-License-Identifier: Apache-2.0
// What a module does to everything below it in one go: modes, gradients.
#include "nn/module/module.h"
#include "tensor/capture.h"

static void set_training(tern_module *module, void *user)
{
    module->private_->training = *(const bool *)user;
}

tern_module *tern_module_train(tern_module *module, bool training)
{
    if (tern_check_module("module_train", module))
        return NULL;
    tern_module_visit(module, set_training, &training);
    return module;
}

tern_module *tern_module_eval(tern_module *module)
{
    if (tern_check_module("module_eval", module))
        return NULL;
    return tern_module_train(module, false);
}

bool tern_module_is_training(const tern_module *module)
{
    return !tern_check_module("module_is_training", module) && module->private_->training;
}

static void zero_grads(tern_module *module, void *user)
{
    const tern_module_tensors *list = &module->private_->parameters;
    (void)user;
    for (int64_t i = 0; i < list->count; i++)
        if (list->at[i].tensor)
            tern_zero_grad(list->at[i].tensor);
}

void tern_module_zero_grad(tern_module *module)
{
    if (!tern_check_module("module_zero_grad", module))
        tern_module_visit(module, zero_grads, NULL);
}

static void set_requires_grad(tern_module *module, void *user)
{
    const tern_module_tensors *list = &module->private_->parameters;
    for (int64_t i = 0; i < list->count; i++) {
        tern_tensor *t = list->at[i].tensor;
        if (t && !tern_capture_leaf(t, TERN_LEAF_REQUIRES_SET))
            t->requires_grad = *(const bool *)user;
    }
}

tern_module *tern_module_requires_grad_(tern_module *module, bool requires_grad)
{
    if (tern_check_module("module_requires_grad_", module))
        return NULL;
    tern_module_visit(module, set_requires_grad, &requires_grad);
    return module;
}
