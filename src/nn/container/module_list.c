// SPDX-License-Identifier: Apache-2.0
// A list of children for a module that runs them itself.
#include <stdio.h>
#include <string.h>
#include "nn/container/list.h"

tern_module *tern_nn_list_new(const char *function, const tern_module_class *module_class,
                              int64_t count, tern_module *const *children)
{
    if (count > 0 && !children) {
        tern_null_error(function, "children");
        return NULL;
    }
    TERN_CHECK_PTR(count >= 0, TERN_ERR_ARG, "%s: %lld children", function, (long long)count);
    tern_module *list = tern_module_new(module_class);
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "child %lld", (long long)i);
        if (!children[i])
            (void)tern_null_error(function, name);
        (void)tern_module_add_child(list, name + strlen("child "), NULL, children[i]);
    }
    return tern_module_done(list);
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_STATE,
                            "%s only holds modules; run its children, tern_module_child_at",
                            module->klass->name);
}

static const tern_module_class module_list_class = {
    .name = "ModuleList", .size = sizeof(tern_module), .call = call};

tern_module *tern_nn_module_list_new(int64_t count, tern_module *const *children)
{
    tern_module *list = tern_nn_list_new("nn_module_list", &module_list_class, count, children);
    if (list)
        list->private_->print_style = TERN_PRINT_GROUPED_CHILDREN;
    return list;
}
