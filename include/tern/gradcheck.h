// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gradients compared with differences, for operations and modules of one's own.
///
///     static tern_tensor *f(tern_tensor *const *inputs, void *user)
///     {
///         return distance(inputs[0], inputs[1]);
///     }
///     tern_tensor *inputs[] = {a, b}; // float64, .requires_grad = true
///     if (tern_gradcheck(f, inputs, 2))
///         return tern_error_print(stderr);
///
/// Each element of an input that requires a gradient is moved by eps to either side, and for each
/// element of the result the central difference is compared with what backward says: time and
/// memory grow with the product of both numbers. Inputs keep their values, and their gradients are
/// absent afterwards. Waits for the device. Threads: autograd.h.
#ifndef TERN_GRADCHECK_H
#define TERN_GRADCHECK_H

#include <tern/autograd.h>
#include <tern/module.h>

TERN_BEGIN_DECLS

/// What is differentiated: makes a tensor of `inputs`, the same values at each call. NULL with an
/// error pending.
typedef tern_tensor *tern_gradcheck_fn(tern_tensor *const *inputs, void *user);
TERN_REQUIRED_TYPE_(gradcheck_fn, tern_gradcheck_fn *)
TERN_REQUIRED_TYPE_(tensors, tern_tensor *const *)

/// `tern_gradcheck(f, inputs, 2, .eps = 1e-5)`.
typedef struct tern_gradcheck_options {
    double eps;  ///< > 0; how far an element is moved to either side
    double atol; ///< >= 0
    double rtol; ///< >= 0; gradients differ by no more than atol + rtol * |difference|
    void *user;  ///< handed to the function
    char reserved_;
    tern_gradcheck_fn *function; ///< what is differentiated
    tern_tensor *const *inputs;  ///< leaves; those that require no gradient are constants
    int64_t count;               ///< of inputs, 1 or more
} tern_gradcheck_options;

/// The numbers are those for modules.
#define TERN_GRADCHECK_DEFAULTS_ TERN_GRADCHECK_MODULE_DEFAULTS_, .user = NULL
#define TERN_GRADCHECK_FIELDS_   3, 0, (function, inputs, count), (gradcheck_fn, tensors, int64)
TERN_API tern_gradcheck_options tern_gradcheck_defaults(void);
/// Compares gradients of the function's result. TERN_ERR_NUMERIC where one is another, with the
/// input, the element and both numbers; TERN_ERR_DTYPE for an input that requires a gradient or a
/// result that is not float64, where differences say little; TERN_ERR_STATE for an input that is no
/// leaf, and where two calls give other values; TERN_ERR_ARG when no input requires a gradient,
/// when the result has no elements, and for other options.
TERN_API TERN_NODISCARD tern_status tern_gradcheck_with(const tern_gradcheck_options *options);
#define tern_gradcheck(...)                                                                        \
    tern_status_of_(TERN_WITH_(tern_gradcheck, tern_gradcheck, TERN_GRADCHECK, __VA_ARGS__))

/// `tern_gradcheck_module(net, inputs, 1)`.
typedef struct tern_gradcheck_module_options {
    double eps;  ///< > 0; how far an element is moved to either side
    double atol; ///< >= 0
    double rtol; ///< >= 0; gradients differ by no more than atol + rtol * |difference|
    char reserved_;
    tern_module *module;        ///< of float64 (tern_module_to_dtype), in the mode that is checked
    tern_tensor *const *inputs; ///< leaves; those that require no gradient are constants
    int64_t count;              ///< of inputs, 1 to TERN_MAX_TENSORS
} tern_gradcheck_module_options;
#define TERN_GRADCHECK_MODULE_DEFAULTS_ .eps = 1e-6, .atol = 1e-5, .rtol = 1e-3
#define TERN_GRADCHECK_MODULE_FIELDS_   3, 0, (module, inputs, count), (module, tensors, int64)
TERN_API tern_gradcheck_module_options tern_gradcheck_module_defaults(void);
/// Likewise of a module's first output, by its inputs and by its parameters, which messages have by
/// name; fails likewise. Buffers change as forwards change them.
TERN_API TERN_NODISCARD tern_status
tern_gradcheck_module_with(const tern_gradcheck_module_options *options);
#define tern_gradcheck_module(...)                                                                 \
    tern_status_of_(TERN_WITH_(tern_gradcheck_module, tern_gradcheck_module,                       \
                               TERN_GRADCHECK_MODULE, __VA_ARGS__))

TERN_END_DECLS

#endif
