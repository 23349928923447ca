// SPDX-License-Identifier: Apache-2.0
// Parameters for a module that uses them itself, by number or by name.
#include <stdio.h>
#include "nn/container/list.h"
#include "tensor/liveness.h"

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_STATE,
                            "%s only holds parameters, which tern_module_parameter finds",
                            module->klass->name);
}

static const tern_module_class list_class = {
    .name = "ParameterList", .size = sizeof(tern_module), .call = call};
static const tern_module_class dict_class = {
    .name = "ParameterDict", .size = sizeof(tern_module), .call = call};

static tern_module *begin(const char *function, const tern_module_class *module_class,
                          int64_t count, const void *tensors)
{
    if (count > 0 && !tensors) {
        tern_null_error(function, "tensors");
        return NULL;
    }
    TERN_CHECK_PTR(count >= 0, TERN_ERR_ARG, "%s: %lld parameters", function, (long long)count);
    tern_module *module = tern_module_new(module_class);
    if (module)
        module->private_->print_style = TERN_PRINT_PARAMETERS;
    return module;
}

// A NULL is a parameter that failed, not one that is absent. The caller's tensor stays as it is.
static void add(const char *function, tern_module *module, const char *name, tern_tensor *tensor)
{
    char title[96];
    snprintf(title, sizeof title, "parameter \"%.64s\"", name);
    if (tern_check_tensor(function, title, tensor))
        tensor = NULL;
    const bool required = tensor && tensor->requires_grad;
    if (tern_module_add_parameter(module, name, NULL, tensor))
        tensor->requires_grad = required;
}

// Once nothing can fail the tensors become parameters.
static tern_module *end(tern_module *module)
{
    module = tern_module_done(module);
    for (int64_t i = 0; module && i < module->private_->parameters.count; i++)
        module->private_->parameters.at[i].tensor->requires_grad = true;
    return module;
}

tern_module *tern_nn_parameter_list_new(int64_t count, tern_tensor *const *tensors)
{
    const char *function = "nn_parameter_list";
    tern_module *list = begin(function, &list_class, count, tensors);
    for (int64_t i = 0; list && i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i);
        add(function, list, name, tensors[i]);
    }
    return list ? end(list) : NULL;
}

tern_module *tern_nn_parameter_dict_new(int64_t count, const tern_nn_named_tensor *tensors)
{
    const char *function = "nn_parameter_dict";
    for (int64_t i = 0; tensors && i < count; i++) {
        char title[48];
        snprintf(title, sizeof title, "the name of parameter %lld", (long long)i);
        if (!tensors[i].name) {
            tern_null_error(function, title);
            return NULL;
        }
    }
    tern_module *dict = begin(function, &dict_class, count, tensors);
    for (int64_t i = 0; dict && i < count; i++)
        add(function, dict, tensors[i].name, tensors[i].tensor);
    return dict ? end(dict) : NULL;
}
