// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a module is made of, and what training it takes: layers, shapes, parameters, multiply-adds,
/// memory.
///
///     tern_optim *opt = tern_optim_adam(net, .lr = 1e-3);
///     if (tern_module_summary_print(net, tern_dims(64, 784), stdout, .optim = opt))
///         return tern_error_print(stderr);
///
/// The module runs twice on zeros: in evaluation mode, for shapes and multiply-adds, and in
/// training mode with recording, for the memory of the activations. Modes, buffers, random
/// generators and gradients are as before; hooks rest. Multiply-adds are those of matrix products
/// and convolutions (linear, matmul, conv1d to conv3d, conv_transpose1d to conv_transpose3d) as
/// they are counted for published networks: padding counts as input, and bias, normalization,
/// activations and pooling count nothing; ResNet-18 has 1,814,073,344 for one image of 224 x 224.
/// Nothing is owned. Waits for the devices. Threads: as a forward.
#ifndef TERN_SUMMARY_H
#define TERN_SUMMARY_H

#include <stdio.h>
#include <tern/module.h>
#include <tern/optim.h>
#include <tern/options.h>

TERN_BEGIN_DECLS

/// `tern_module_summary_print(net, tern_dims(64, 784), stdout, .optim = opt)`.
typedef struct tern_module_summary_print_options {
    tern_dtype dtype;  ///< of the input; that of the first floating parameter unless said
    tern_optim *optim; ///< whose state is counted with the memory; NULL: none
    int width;         ///< columns, 60 or more; 0: those of the terminal that the file is, else
                       ///< lines are as long as what stands in them
    char reserved_;
    tern_module *module; ///< whose table it is
    tern_shape input;    ///< of the one tensor that goes in
    FILE *file;          ///< NULL stands for stdout
} tern_module_summary_print_options;

#define TERN_MODULE_SUMMARY_PRINT_DEFAULTS_                                                        \
    .dtype = TERN_DTYPE_UNSPECIFIED, .optim = NULL, .width = 0
#define TERN_MODULE_SUMMARY_PRINT_FIELDS_ 3, 0, (module, input, file), (module, shape, file)
TERN_API tern_module_summary_print_options tern_module_summary_print_defaults(void);
/// Writes a table: each module with its output's shape, and the parameters and multiply-adds of its
/// own, without those of its children, then totals: of multiply-adds also what no module did, of
/// all that the calling thread ran. Under it what one training step with that input keeps, in
/// bytes:
/// - parameters and buffers, each once however often it is there;
/// - gradients of the parameters that require one;
/// - the state of .optim when every parameter that requires a gradient was updated, of LBFGS with
///   its whole history;
/// - activations: the memory that the graph keeps for backward when the forward has ended, beside
///   parameters and buffers; results that two operations keep count once, and the input counts
///   where it is kept. What only lives during the forward or the backward, and the graph's own
///   nodes on the host, do not count. "not known" with the reason where the forward fails in
///   training mode, as batch_norm with one value for a channel does.
/// Fails as the forward in evaluation mode does, with TERN_ERR_NOMEM also where the one in training
/// mode has no memory, with TERN_ERR_ARG for a width that is too small, or with TERN_ERR_IO.
TERN_API TERN_NODISCARD tern_status
tern_module_summary_print_with(const tern_module_summary_print_options *options);
#define tern_module_summary_print(...)                                                             \
    tern_status_of_(TERN_WITH_(tern_module_summary_print, tern_module_summary_print,               \
                               TERN_MODULE_SUMMARY_PRINT, __VA_ARGS__))
/// The same text into `buffer`, cut at `size`, for an input of `dtype` (TERN_DTYPE_UNSPECIFIED: as
/// above), without an optimizer; returns the length it has uncut, -1 on failure. NULL with 0 to
/// measure.
TERN_API int64_t tern_module_summary_format(tern_module *module, tern_shape input, tern_dtype dtype,
                                            char *buffer, size_t size);

TERN_END_DECLS

#endif
