// SPDX-License-Identifier: Apache-2.0
/// @file
/// Modules that hold modules, or parameters.
///
///     tern_module *net = tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu());
///     tern_module *heads = tern_nn_module_dict({"age", tern_nn_linear(512, 1)},
///                                              {"height", tern_nn_linear(512, 1)});
///     tern_tensor *age = tern_forward(tern_module_child(heads, "age"), x);
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_CONTAINER_H
#define TERN_NN_CONTAINER_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// Runs its children one after another; they are named "0", "1", ... Takes over the caller's
/// references, also on failure; a NULL among them is a child that failed. `children` may be NULL
/// when count is 0.
TERN_API tern_module *tern_nn_sequential_new(int64_t count, tern_module *const *children)
    TERN_READS_(2, 1);
/// Holds children named "0", "1", ... for a module that runs them itself; tern_module_child_at
/// finds them. Takes over the caller's references likewise.
TERN_API tern_module *tern_nn_module_list_new(int64_t count, tern_module *const *children)
    TERN_READS_(2, 1);

/// A child of tern_nn_module_dict.
typedef struct tern_nn_named_module {
    const char *name;    ///< not empty, without a dot, not taken
    tern_module *module; ///< taken over
} tern_nn_named_module;

/// Holds children by name for a module that runs them itself; tern_module_child finds them, and
/// they keep their order. Takes over the caller's references likewise; names are copied, and
/// TERN_ERR_ARG where they cannot be names.
TERN_API tern_module *tern_nn_module_dict_new(int64_t count, const tern_nn_named_module *children)
    TERN_READS_(2, 1);

/// Holds tensors as parameters named "0", "1", ... for a module that uses them itself;
/// tern_module_parameter and tern_module_parameter_at find them. Each is one that
/// tern_module_add_parameter takes; the module holds references of its own. `tensors` may be NULL
/// when count is 0.
TERN_API tern_module *tern_nn_parameter_list_new(int64_t count, tern_tensor *const *tensors)
    TERN_READS_(2, 1);

/// A parameter of tern_nn_parameter_dict.
typedef struct tern_nn_named_tensor {
    const char *name;    ///< not empty, without a dot, not taken
    tern_tensor *tensor; ///< floating, contiguous, a leaf
} tern_nn_named_tensor;

/// Likewise by name, in the order given; names are copied.
TERN_API tern_module *tern_nn_parameter_dict_new(int64_t count, const tern_nn_named_tensor *tensors)
    TERN_READS_(2, 1);

/// `tern_nn_sequential(a, b, c)`.
#define tern_nn_sequential(...)                                                                    \
    TERN_ITEMS_(tern_module *, (NULL), tern_nn_sequential_new, __VA_ARGS__)
/// `tern_nn_module_list(a, b, c)`.
#define tern_nn_module_list(...)                                                                   \
    TERN_ITEMS_(tern_module *, (NULL), tern_nn_module_list_new, __VA_ARGS__)
/// `tern_nn_module_dict({"a", a}, {"b", b})`.
#define tern_nn_module_dict(...)                                                                   \
    TERN_ITEMS_(tern_nn_named_module, ({NULL, NULL}), tern_nn_module_dict_new, __VA_ARGS__)
/// `tern_nn_parameter_list(a, b, c)`.
#define tern_nn_parameter_list(...)                                                                \
    TERN_ITEMS_(tern_tensor *, (NULL), tern_nn_parameter_list_new, __VA_ARGS__)
/// `tern_nn_parameter_dict({"a", a}, {"b", b})`.
#define tern_nn_parameter_dict(...)                                                                \
    TERN_ITEMS_(tern_nn_named_tensor, ({NULL, NULL}), tern_nn_parameter_dict_new, __VA_ARGS__)

TERN_END_DECLS

#endif
