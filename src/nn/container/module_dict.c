// SPDX-License-Identifier: Apache-2.0
// Named children for a module that runs them itself.
#include <stdio.h>
#include "nn/container/list.h"

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_STATE,
                            "%s only holds modules; run its children, tern_module_child",
                            module->klass->name);
}

static const tern_module_class module_dict_class = {
    .name = "ModuleDict", .size = sizeof(tern_module), .call = call};

// Takes over the child, also on failure.
static void add(tern_module *dict, int64_t index, const tern_nn_named_module *child)
{
    const char *function = "nn_module_dict";
    char title[96];
    snprintf(title, sizeof title, "the name of child %lld", (long long)index);
    if (!child->name)
        (void)tern_null_error(function, title);
    snprintf(title, sizeof title, "child \"%.64s\"", child->name ? child->name : "");
    if (!child->module)
        (void)tern_null_error(function, title);
    (void)tern_module_add_child(dict, child->name, NULL, child->module);
}

tern_module *tern_nn_module_dict_new(int64_t count, const tern_nn_named_module *children)
{
    if (count > 0 && !children) {
        tern_null_error("nn_module_dict", "children");
        return NULL;
    }
    TERN_CHECK_PTR(count >= 0, TERN_ERR_ARG, "nn_module_dict: %lld children", (long long)count);
    tern_module *dict = tern_module_new(&module_dict_class);
    for (int64_t i = 0; i < count; i++)
        add(dict, i, &children[i]);
    return tern_module_done(dict);
}
