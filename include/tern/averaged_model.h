// SPDX-License-Identifier: Apache-2.0
/// @file
/// Averages of a model's weights along its training.
///
///     tern_module *ema = tern_averaged_model_ema(net, .decay = 0.999);
///     ...
///     if (tern_backward(loss) || tern_optim_step(opt) || tern_averaged_model_update(ema, net))
///         return tern_error_print(stderr);
///     ...
///     tern_tensor *y = tern_forward(tern_module_eval(ema), x); // by the averages
///
/// An averaged model is a module, freed with tern_module_free, that holds a copy of the model as
/// its child "module" and runs it. It is saved, moved and copied as any module: its state dict has
/// PyTorch's names, those of the model behind "module." and "n_averaged", the number of updates, so
/// that PyTorch's AveragedModel and it load each other's. How it averages is not in there. Failed
/// calls return NULL or a status, with an error pending. Threads: as modules (module.h).
#ifndef TERN_AVERAGED_MODEL_H
#define TERN_AVERAGED_MODEL_H

#include <tern/loader.h>
#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_averaged_model_swa(net)`.
typedef struct tern_averaged_model_swa_options {
    bool use_buffers;   ///< buffers are averaged too; else they are those of the last update
    tern_device device; ///< where the averages are; where the model is unless said
    char reserved_;
    tern_module *module; ///< the model, which is copied
} tern_averaged_model_swa_options;
#define TERN_AVERAGED_MODEL_SWA_DEFAULTS_                                                          \
    .use_buffers = false, .device = {TERN_DEVICE_UNSPECIFIED, 0}
#define TERN_AVERAGED_MODEL_SWA_FIELDS_ 1, 0, (module), (module)
TERN_API tern_averaged_model_swa_options tern_averaged_model_swa_defaults(void);
/// Averages all updates alike, as stochastic weight averaging (Izmailov et al. 2018): update n =
/// 0, 1, ... makes w = w + (v - w) / (n + 1) of the average w and the model's weights v. The copy
/// is made by tern_module_copy, gradients and modes too. NULL on failure: as that, or as
/// tern_module_to with .device.
TERN_API tern_module *tern_averaged_model_swa_with(const tern_averaged_model_swa_options *options);
#define tern_averaged_model_swa(...)                                                               \
    TERN_WITH_(tern_averaged_model_swa, tern_averaged_model_swa, TERN_AVERAGED_MODEL_SWA,          \
               __VA_ARGS__)

/// `tern_averaged_model_ema(net, .decay = 0.99)`.
typedef struct tern_averaged_model_ema_options {
    double decay;       ///< 0 to 1, how much of the average stays
    bool use_buffers;   ///< buffers are averaged too; else they are those of the last update
    tern_device device; ///< where the averages are; where the model is unless said
    char reserved_;
    tern_module *module; ///< the model, which is copied
} tern_averaged_model_ema_options;
#define TERN_AVERAGED_MODEL_EMA_DEFAULTS_ .decay = 0.999, TERN_AVERAGED_MODEL_SWA_DEFAULTS_
#define TERN_AVERAGED_MODEL_EMA_FIELDS_   1, 0, (module), (module)
TERN_API tern_averaged_model_ema_options tern_averaged_model_ema_defaults(void);
/// Likewise an exponential moving average: the first update copies, later ones make w = decay w +
/// (1 - decay) v. TERN_ERR_ARG for another decay.
TERN_API tern_module *tern_averaged_model_ema_with(const tern_averaged_model_ema_options *options);
#define tern_averaged_model_ema(...)                                                               \
    TERN_WITH_(tern_averaged_model_ema, tern_averaged_model_ema, TERN_AVERAGED_MODEL_EMA,          \
               __VA_ARGS__)

/// The next average of one tensor, of `average` and what the model has, `value`: of one shape,
/// dtype and device. `n_averaged`, int64 () on that device, is how many updates there were before.
/// Returns a tensor of their shape on their device, which is cast to their dtype, or NULL with an
/// error pending. It changes none of the three. `user` is what the average was made with.
///
///     // Polynomial decay (Shamir and Zhang 2013): w + (v - w) (eta + 1) / (n + 1 + eta)
///     static tern_tensor *polynomial(tern_tensor *average, tern_tensor *value,
///                                    tern_tensor *n_averaged, void *user)
///     {
///         const double eta = *(const double *)user;
///         tern_tensor *next = tern_add_scalar(tern_to_dtype(n_averaged, TERN_FLOAT32), 1 + eta);
///         tern_tensor *way = tern_mul_scalar(tern_sub(value, average), eta + 1);
///         return tern_add(average, tern_div(way, next));
///     }
typedef tern_tensor *tern_average_fn(tern_tensor *average, tern_tensor *value,
                                     tern_tensor *n_averaged, void *user);
TERN_REQUIRED_TYPE_(average_fn, tern_average_fn *)

/// `tern_averaged_model_avg_fn(net, polynomial, .user = &eta)`.
typedef struct tern_averaged_model_avg_fn_options {
    void *user;         ///< handed to the function; borrowed
    bool use_buffers;   ///< buffers are averaged too; else they are those of the last update
    tern_device device; ///< where the averages are; where the model is unless said
    char reserved_;
    tern_module *module;     ///< the model, which is copied
    tern_average_fn *avg_fn; ///< called for each tensor that is averaged, in order
} tern_averaged_model_avg_fn_options;
#define TERN_AVERAGED_MODEL_AVG_FN_DEFAULTS_ .user = NULL, TERN_AVERAGED_MODEL_SWA_DEFAULTS_
#define TERN_AVERAGED_MODEL_AVG_FN_FIELDS_   2, 0, (module, avg_fn), (module, average_fn)
TERN_API tern_averaged_model_avg_fn_options tern_averaged_model_avg_fn_defaults(void);
/// Averages by a function. Each update calls it without recording, in a scope of its own. The first
/// one copies, whatever the function returned: the count is on the device, and nothing waits for
/// it. Copies of the average have the function and `user` too; a state dict does not.
TERN_API tern_module *tern_averaged_model_avg_fn_with(
    const tern_averaged_model_avg_fn_options *options);
#define tern_averaged_model_avg_fn(...)                                                            \
    TERN_WITH_(tern_averaged_model_avg_fn, tern_averaged_model_avg_fn, TERN_AVERAGED_MODEL_AVG_FN, \
               __VA_ARGS__)

/// Takes the weights of `model` into the averages of `average`, by name. The first update, and the
/// first one after tern_module_reset_parameters of `average`, copies them. Weights of another dtype
/// or on another device are cast and copied; buffers that are not floating are averaged in float32
/// and truncated, as PyTorch's. Waits for a device only where weights come to the CPU from one, and
/// may be captured (cuda_graph.h). TERN_ERR_ARG where `average` is not an averaged model, where a
/// name is missing in one of the two, and for a tensor that is in both; TERN_ERR_SHAPE where shapes
/// differ; what a function of one's own left pending, TERN_ERR_SHAPE, TERN_ERR_DEVICE or
/// TERN_ERR_NULL for what it returned. Then, and while an error is pending, nothing changes.
TERN_API TERN_NODISCARD tern_status tern_averaged_model_update(tern_module *average,
                                                               tern_module *model);

/// Computes the running statistics of all BatchNorm layers in `module` anew, as those of averaged
/// weights have to be: the mean over the batches of one epoch, of which the module is given x, in
/// training mode and without recording. Without such layers nothing is done. Modes and momenta are
/// as before; other layers' draws and buffers are those of a training epoch. On failure the
/// statistics are as before too: TERN_ERR_STATE when there was no batch and while the calling
/// thread captures, else what the loader or the module says. Waits for the device at the end of the
/// epoch.
TERN_API TERN_NODISCARD tern_status tern_update_bn(tern_module *module, tern_loader *loader);

TERN_END_DECLS

#endif
