// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parametrizations: a parameter that a module of its own computes from others at every forward.
///
///     // symmetric_new makes a module whose call gives x + x^T
///     if (tern_module_register_parametrization(net, "0.weight", symmetric_new()))
///         return tern_error_print(stderr);
///     tern_optim *sgd = tern_optim_sgd(net, .lr = 0.1); // made after it
///     tern_tensor *w = tern_module_parametrized(net, "0.weight"); // symmetric
///
/// Keys are those of torch.nn.utils.parametrize: "0.weight" becomes
/// "0.parametrizations.weight.original", or "original0", "original1", .. where the parametrization
/// has several inputs, and what the parametrization registers stands below
/// "0.parametrizations.weight.0". The tensor is computed once a forward, before the module's call,
/// and recorded: gradients reach the originals. In between the module's own member for it points to
/// no tensor that can be used. Everything else goes on as for other modules: copies, moves, modes,
/// states, replicas. An optimizer that was made before keeps the tensors it was given, so make it
/// afterwards. Ready-made ones: nn/parametrizations.h. Threads: as for what changes a module
/// (module.h); a module with parametrizations runs on one thread at a time, others wait.
#ifndef TERN_PARAMETRIZE_H
#define TERN_PARAMETRIZE_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// Computes the tensors from which a parametrization gives `value`: sets `originals->count` (0
/// before) and `originals->at[]`. Nothing is recorded meanwhile. A failure leaves an error pending.
typedef tern_status tern_right_inverse_fn(tern_module *parametrization, tern_tensor *value,
                                          tern_tensors *originals);

/// The most parametrizations of one tensor.
#define TERN_MAX_PARAMETRIZATIONS 8

/// `tern_module_register_parametrization(net, "0.weight", symmetric_new(), .unsafe = true)`.
typedef struct tern_module_register_parametrization_options {
    tern_right_inverse_fn *right_inverse; ///< NULL: the original is the value itself
    bool unsafe; ///< what is computed may have another shape or dtype, and is not looked at
    char reserved_;
    tern_module *module;          ///< that has the parameter, or above it
    const char *name;             ///< full: "0.weight"
    tern_module *parametrization; ///< from the originals to the parameter's value; taken over
} tern_module_register_parametrization_options;
#define TERN_MODULE_REGISTER_PARAMETRIZATION_DEFAULTS_ .right_inverse = NULL, .unsafe = false
#define TERN_MODULE_REGISTER_PARAMETRIZATION_FIELDS_                                               \
    3, 0, (module, name, parametrization), (module, text, module)
/// The options with the values unless said.
TERN_API tern_module_register_parametrization_options
tern_module_register_parametrization_defaults(void);
/// Has `parametrization` compute a parameter, as torch.nn.utils.parametrize's function. One
/// original is the same tensor as before, with the values of `right_inverse`; one of another shape,
/// or several, are new tensors. The parametrization is put in the mode of the module, and runs once
/// here to see that shape and dtype stay. A second one for a tensor computes from what the first
/// one gives. All or nothing; the caller's reference to the parametrization is taken over, also on
/// failure. TERN_ERR_ARG where there is no such parameter, its module keeps no member for it, or it
/// is one of LoRA's A and B; TERN_ERR_STATE while its module runs or is traversed, as it does for
/// what runs here, the calling thread captures, or the parameter was exchanged meanwhile;
/// TERN_ERR_SHAPE and TERN_ERR_DTYPE where they do not stay.
TERN_API TERN_NODISCARD tern_status tern_module_register_parametrization_with(
    const tern_module_register_parametrization_options *options);
#define tern_module_register_parametrization(...)                                                  \
    tern_status_of_(TERN_WITH_(tern_module_register_parametrization,                               \
                               tern_module_register_parametrization,                               \
                               TERN_MODULE_REGISTER_PARAMETRIZATION, __VA_ARGS__))

/// `tern_module_remove_parametrizations(net, "0.weight", .leave_parametrized = false)`.
typedef struct tern_module_remove_parametrizations_options {
    bool leave_parametrized; ///< the value stays what is computed, else it is that of the original
    char reserved_;
    tern_module *module; ///< as above
    const char *name;    ///< full
} tern_module_remove_parametrizations_options;
#define TERN_MODULE_REMOVE_PARAMETRIZATIONS_DEFAULTS_ .leave_parametrized = true
#define TERN_MODULE_REMOVE_PARAMETRIZATIONS_FIELDS_   2, 0, (module, name), (module, text)
/// The options with the values unless said.
TERN_API tern_module_remove_parametrizations_options
tern_module_remove_parametrizations_defaults(void);
/// Makes a computed tensor a parameter again, the last one of its module: the original, or a new
/// tensor where there were several (TERN_ERR_ARG unless .leave_parametrized) or where the original
/// has another shape or dtype than the value that it is to have. TERN_ERR_ARG when it is not
/// parametrized; TERN_ERR_STATE as above.
TERN_API TERN_NODISCARD tern_status tern_module_remove_parametrizations_with(
    const tern_module_remove_parametrizations_options *options);
#define tern_module_remove_parametrizations(...)                                                   \
    tern_status_of_(TERN_WITH_(tern_module_remove_parametrizations,                                \
                               tern_module_remove_parametrizations,                                \
                               TERN_MODULE_REMOVE_PARAMETRIZATIONS, __VA_ARGS__))

/// Whether the tensor of a full name is computed by parametrizations; NULL: whether any tensor of
/// the module itself is. False on failure.
TERN_API bool tern_module_is_parametrized(const tern_module *module, const char *name);

/// Computes a parametrized tensor as a forward would (spectral norm in training: with a power
/// iteration), recorded; a temporary. NULL with TERN_ERR_ARG when it is not parametrized.
TERN_API tern_tensor *tern_module_parametrized(const tern_module *module, const char *name);

TERN_END_DECLS

#endif
