// SPDX-License-Identifier: Apache-2.0
// Tensors of a module that are computed at each forward: the module has a child "parametrizations",
// and that a child of the tensor's name, which has the originals and computes.
#ifndef TERN_SRC_NN_MODULE_PARAMETRIZED_H
#define TERN_SRC_NN_MODULE_PARAMETRIZED_H

#include <tern/parametrize.h>
#include "nn/module/module.h"

// Names that PyTorch's older functions gave the originals: "weight" with these behind it.
typedef struct tern_parametrization_old_names {
    const char *suffix[2];
} tern_parametrization_old_names;

typedef struct tern_parametrization_list {
    tern_module base;
    size_t member;     // of the module whose tensor it is
    tern_tensor *idle; // what the member points to while the module does not run: no live tensor
    tern_right_inverse_fn *right_inverse[TERN_MAX_PARAMETRIZATIONS]; // NULL: the identity
    const tern_parametrization_old_names *old_names;                 // NULL: none
} tern_parametrization_list;

extern const tern_module_class tern_parametrizations_class, tern_parametrization_list_class;

// The children of the dict that a parametrized module has, NULL for others.
tern_module *tern_parametrizations_of(const tern_module *module);
static inline tern_parametrization_list *tern_parametrization_at(const tern_module *dict,
                                                                 int64_t index)
{
    return (tern_parametrization_list *)dict->private_->children[index].module;
}
// What a list computes, recorded.
tern_tensor *tern_parametrization_compute(tern_parametrization_list *list);
// A list that is made from `parametrization`, which it takes over, for a value; NULL raises. An
// original that is to be the parameter itself is still a tensor of its own.
tern_parametrization_list *tern_parametrization_new(
    const tern_module_register_parametrization_options *options, tern_tensor *value, size_t member);
// Has the right inverse of a parametrization set `originals`, which has none before.
tern_status tern_parametrization_run_inverse(tern_right_inverse_fn *right_inverse,
                                             tern_module *parametrization, tern_tensor *value,
                                             tern_tensors *originals);
// The tensors from which the list gives `value`.
tern_status tern_parametrization_inverse(const tern_parametrization_list *list, tern_tensor *value,
                                         tern_tensors *originals);

// The members point to no live tensor, as between forwards.
void tern_parametrized_rest(tern_module *module);

// What is done otherwise for a module that has such a child.
extern const tern_module_computed tern_parametrized;

#endif
