// SPDX-License-Identifier: Apache-2.0
/// @file
/// Optimizers: they change parameters by their gradients. optimizers.h has their kinds.
///
///     tern_optim *opt = tern_optim_adam(net, .lr = 1e-3);
///     tern_optim_zero_grad(opt);
///     if (tern_backward(loss) || tern_optim_step(opt))
///         return tern_error_print(stderr);
///     tern_optim_free(opt);
///
/// An optimizer holds its parameters: net and optimizer may be freed in any order. Moving the
/// module later is fine: the state follows at the next step. A parameter without a gradient is
/// skipped and has no state (Adagrad's has it from construction on). Steps wait for no device and
/// allocate nothing after the first, but those of Muon and Adafactor do, and LBFGS does both. A
/// failed call returns NULL, a status, -1 or NAN, with an error pending: TERN_ERR_INDEX for a
/// parameter or group that is not there, TERN_ERR_ARG for an option that makes no sense. Threads:
/// an optimizer is used by one thread at a time; only its reference count is atomic.
#ifndef TERN_OPTIM_H
#define TERN_OPTIM_H

#include <math.h>
#include <tern/module.h>
#include <tern/state.h>

TERN_BEGIN_DECLS

/// What changes parameters by their gradients; made by tern_optim_sgd and its like.
typedef struct tern_optim tern_optim;
TERN_REQUIRED_TYPE_(optim, tern_optim *)

/// One more reference. Returns the optimizer. NULL stays NULL.
TERN_API tern_optim *tern_optim_retain(tern_optim *optim);
/// Gives a reference back; the last one frees it. NULL is fine.
TERN_API void tern_optim_free(tern_optim *optim);

// ---- groups -------------------------------------------------------------------------------------

/// `tern_optim_add_group(opt, head, .lr = 1e-2)`: NAN stands for what the optimizer was made with;
/// other numbers by tern_optim_set afterwards.
typedef struct tern_optim_add_group_options {
    double lr;                  ///< >= 0
    double weight_decay;        ///< >= 0
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_optim *optim;   ///< that gets a group
    tern_module *module; ///< whose parameters are added, or NULL
} tern_optim_add_group_options;

#define TERN_OPTIM_ADD_GROUP_DEFAULTS_                                                             \
    .lr = NAN, .weight_decay = NAN, .params = NULL, .param_count = 0
#define TERN_OPTIM_ADD_GROUP_FIELDS_ 2, 0, (optim, module), (optim, module)
TERN_API tern_optim_add_group_options tern_optim_add_group_defaults(void);
/// Adds parameters with numbers of their own. A parameter that is in the optimizer already and a
/// number that it does not have are TERN_ERR_ARG; then nothing is added.
TERN_API TERN_NODISCARD tern_status
tern_optim_add_group_with(const tern_optim_add_group_options *options);
#define tern_optim_add_group(...)                                                                  \
    tern_status_of_(                                                                               \
        TERN_WITH_(tern_optim_add_group, tern_optim_add_group, TERN_OPTIM_ADD_GROUP, __VA_ARGS__))

/// `tern_optim_group_names(opt, "*.bias", .weight_decay = 0)`: NAN stands for what the optimizer
/// was made with.
typedef struct tern_optim_group_names_options {
    double lr;           ///< >= 0
    double weight_decay; ///< >= 0
    char reserved_;
    tern_optim *optim;   ///< that gets a group
    const char *pattern; ///< `*`, `?` and `[..]` stand for characters, dots too, as for fnmatch(3)
} tern_optim_group_names_options;

#define TERN_OPTIM_GROUP_NAMES_DEFAULTS_ .lr = NAN, .weight_decay = NAN
#define TERN_OPTIM_GROUP_NAMES_FIELDS_   2, 0, (optim, pattern), (optim, text)
TERN_API tern_optim_group_names_options tern_optim_group_names_defaults(void);
/// Moves the parameters whose full names are like `pattern` from their groups to a new one, which
/// is the last; they are the last parameters then. A pattern that no name is like is TERN_ERR_ARG,
/// after the first step it is TERN_ERR_STATE; then nothing has moved.
TERN_API TERN_NODISCARD tern_status
tern_optim_group_names_with(const tern_optim_group_names_options *options);
#define tern_optim_group_names(...)                                                                \
    tern_status_of_(TERN_WITH_(tern_optim_group_names, tern_optim_group_names,                     \
                               TERN_OPTIM_GROUP_NAMES, __VA_ARGS__))

/// Whether a parameter belongs to the group. It may leave an error pending, which fails the call.
typedef bool tern_optim_group_if_fn(const tern_module_entry *parameter, void *user);
TERN_REQUIRED_TYPE_(group_if_fn, tern_optim_group_if_fn *)

/// `tern_optim_group_if(opt, net, is_vector, .weight_decay = 0)`: NAN stands for what the optimizer
/// was made with.
typedef struct tern_optim_group_if_options {
    double lr;           ///< >= 0
    double weight_decay; ///< >= 0
    void *user;          ///< handed to the function
    char reserved_;
    tern_optim *optim;                ///< that gets a group
    tern_module *module;              ///< whose parameters the function is asked about
    tern_optim_group_if_fn *function; ///< true for those of the group
} tern_optim_group_if_options;

#define TERN_OPTIM_GROUP_IF_DEFAULTS_ TERN_OPTIM_GROUP_NAMES_DEFAULTS_, .user = NULL
#define TERN_OPTIM_GROUP_IF_FIELDS_   3, 0, (optim, module, function), (optim, module, group_if_fn)
TERN_API tern_optim_group_if_options tern_optim_group_if_defaults(void);
/// Likewise those of the module's parameters that the function chooses, by name, shape, or the
/// module that has them: `tern_rank(parameter->tensor) < 2`. One that is not in the optimizer, and
/// none at all, are TERN_ERR_ARG.
TERN_API TERN_NODISCARD tern_status
tern_optim_group_if_with(const tern_optim_group_if_options *options);
#define tern_optim_group_if(...)                                                                   \
    tern_status_of_(                                                                               \
        TERN_WITH_(tern_optim_group_if, tern_optim_group_if, TERN_OPTIM_GROUP_IF, __VA_ARGS__))

/// How many groups there are, at least 1; -1 for NULL.
TERN_API int tern_optim_num_groups(const tern_optim *optim);

/// Stands for every group where one is set.
#define TERN_ALL_GROUPS (-1)

/// A number of group 0, 1, ... by the name of its option: "lr", "momentum", "betas[0]"; flags
/// ("nesterov") are 0 or 1. "initial_lr" is what the group's first scheduler found (sched.h). NAN
/// with TERN_ERR_INDEX, TERN_ERR_ARG, or, without a scheduler, TERN_ERR_STATE.
TERN_API double tern_optim_get(const tern_optim *optim, int group, const char *name);
/// Changes it from the next step on, in one group or in TERN_ALL_GROUPS; checked as in the
/// constructor. TERN_ERR_ARG for a number that steps change, TERN_ERR_STATE for one that the state
/// was made with (betas[0] of schedule-free AdamW).
TERN_API TERN_NODISCARD tern_status tern_optim_set(tern_optim *optim, int group, const char *name,
                                                   double value);
/// The learning rate of group 0, 1, ...; NAN with TERN_ERR_INDEX.
TERN_API double tern_optim_lr(const tern_optim *optim, int group);
/// Changes the learning rate from the next step on, as tern_optim_set.
TERN_API TERN_NODISCARD tern_status tern_optim_set_lr(tern_optim *optim, int group, double lr);

// ---- steps --------------------------------------------------------------------------------------

/// Marks all gradients absent and clears a value error (a label out of range, ...) that was
/// reported.
TERN_API void tern_optim_zero_grad(tern_optim *optim);

/// One update. Fails, and changes nothing, while an error is pending, with TERN_ERR_STATE when a
/// failed backward left unusable gradients (zero them), with TERN_ERR_INDEX or TERN_ERR_NUMERIC
/// when a kernel found a bad value, and with TERN_ERR_NOMEM.
/// The first update of an optimizer that was made with lr 0, as `1 / 10` is in C, warns of it, once
/// (tern_set_log). It does not where another group has a rate, and where the 0 was set or loaded.
/// Where a device is lost between two of the launches that a step takes (one for each device, dtype
/// and formula), the first stays, and its gradients are unusable, so that no other step uses them
/// again.
TERN_API TERN_NODISCARD tern_status tern_optim_step(tern_optim *optim);

/// From now on every `every`-th step acts, on the mean of the gradients of `every` backward passes,
/// for batches that do not fit into memory at once:
///
///     tern_optim_accumulate(opt, 4);
///     tern_each_step(loader, &batch) {
///         tern_optim_zero_grad(opt);
///         ..
///         if (tern_backward(loss) || !tern_clip_grad_norm(NULL, 1, .optim = opt) ||
///             tern_optim_step(opt) || tern_sched_step(sched))
///             return tern_error_print(stderr);
///     }
///
/// Until then tern_optim_zero_grad keeps the gradients, unless a backward has failed or a kernel
/// found a bad value, which drops them, and the next step is the first of `every` again; clipping
/// by .optim returns the norm of what there is and changes nothing; and tern_sched_step does
/// nothing unless a step has acted since its last. Clipping by module or params is TERN_ERR_STATE;
/// before the step that acts, so are the optimizer's state dict and a step that is captured. Called
/// again it drops an unfinished mean. TERN_ERR_ARG for 0 or less, and for LBFGS.
TERN_API TERN_NODISCARD tern_status tern_optim_accumulate(tern_optim *optim, int64_t every);

/// Brings the parameters to where gradients are taken, where they are at first. Of optimizers that
/// average by themselves (tern_optim_schedule_free_adamw), also the state of parameters that moved;
/// with others nothing is to be done. Waits for the devices; fails, and changes nothing, with the
/// error that a kernel found before, with TERN_ERR_NOMEM, and with TERN_ERR_STATE while the calling
/// thread captures.
TERN_API TERN_NODISCARD tern_status tern_optim_train(tern_optim *optim);
/// Likewise to the average, for an evaluation or a file of the model; steps and replays of captured
/// ones are TERN_ERR_STATE until tern_optim_train. Before the first step that is the same place.
TERN_API TERN_NODISCARD tern_status tern_optim_eval(tern_optim *optim);

/// A loss as a function: marks the gradients absent, computes the loss, runs tern_backward, and
/// returns it; NULL, with an error pending, on failure. `user` is what the call was given.
///
///     static tern_tensor *closure(void *user)
///     {
///         training *t = user;
///         tern_optim_zero_grad(t->optim);
///         tern_tensor *out = tern_forward(t->net, t->x);
///         tern_tensor *loss = tern_mse_loss(out, t->y, TERN_REDUCTION_MEAN);
///         return tern_backward(loss) ? NULL : loss;
///     }
typedef tern_tensor *tern_closure_fn(void *user);
TERN_REQUIRED_TYPE_(closure_fn, tern_closure_fn *)

/// One update of any optimizer, by the gradients that the closure makes: tern_optim_lbfgs calls it
/// as often as it needs to, all others once. It runs with recording on and in a scope of its own,
/// which all but the loss die with. Returns the loss of the first call, or NULL: then parameters
/// and optimizer are as before, though not what the closure changes besides gradients. Fails as
/// the closure and tern_optim_step do; with TERN_ERR_SHAPE for a loss that is not of one floating
/// element. LBFGS waits for the device at each call, so that it is TERN_ERR_STATE while the calling
/// thread captures, and TERN_ERR_NUMERIC where a loss or gradient that a step would begin from is
/// not finite; within a line search that is a step too long.
TERN_API tern_tensor *tern_optim_step_closure(tern_optim *optim, tern_closure_fn *closure,
                                              void *user);

// ---- state, for saving and looking --------------------------------------------------------------

/// Parameters over all groups, in order; -1 for NULL.
TERN_API int64_t tern_optim_num_parameters(const tern_optim *optim);
/// Parameter `index` and its full name at the time of construction, as tern_module_parameter_at. It
/// stays the optimizer's. NULL with TERN_ERR_INDEX.
TERN_API tern_tensor *tern_optim_parameter_at(const tern_optim *optim, int64_t index, char *name,
                                              size_t size);
/// Updates that parameter `index` had; -1 on failure.
TERN_API int64_t tern_optim_step_count(const tern_optim *optim, int64_t index);
/// State tensor "momentum_buffer" (SGD, RMSprop, Muon), "exp_avg" (Adam, Adamax, RAdam, NAdam,
/// Lion, Muon's rest), "exp_avg_sq" (Adam, RAdam, NAdam, schedule-free AdamW, Muon's rest),
/// "max_exp_avg_sq" (Adam), "exp_inf" (Adamax), "square_avg" (RMSprop, Adadelta), "grad_avg"
/// (RMSprop), "acc_delta" (Adadelta), "prev", "step_size" (Rprop), "ax" (ASGD), "z" (schedule-free
/// AdamW), "sum" (Adagrad), "row_var" (.., R, 1), "col_var" (.., 1, C) or "variance" (Adafactor) of
/// parameter `index`, owned by the optimizer; NULL without error when it has none yet.
TERN_API tern_tensor *tern_optim_state(const tern_optim *optim, int64_t index, const char *name);
/// Replaces a state tensor by a copy of `value`, which has the shape that the state has
/// (TERN_ERR_SHAPE); its dtype and device become the parameter's. TERN_ERR_ARG for a name that the
/// optimizer does not have, TERN_ERR_STATE while the calling thread captures.
TERN_API TERN_NODISCARD tern_status tern_optim_set_state(tern_optim *optim, int64_t index,
                                                         const char *name, tern_tensor *value);
/// Sets the number of updates that parameter `index` had, 0 to 2^53.
TERN_API TERN_NODISCARD tern_status tern_optim_set_step_count(tern_optim *optim, int64_t index,
                                                              int64_t count);

/// What is saved of an optimizer; freed with tern_state_free. "optimizer" is its kind ("Adam"),
/// "param_groups.0.lr" and its like are the numbers of the groups, and of each parameter, by its
/// name at the time of construction (the second "weight" of groups that have one each is
/// "weight.1"), there are "0.weight.group", "0.weight.step" and its state tensors,
/// "0.weight.exp_avg", and NAdam's and ASGD's numbers. These are the optimizer's own, so
/// that they go on changing: tern_state_copy keeps their values. NULL on failure.
TERN_API tern_state *tern_optim_state_dict(tern_optim *optim);

/// `tern_optim_load_state_dict(opt, state, .numbers = false)`.
typedef struct tern_optim_load_state_dict_options {
    bool strict;                 ///< missing and unexpected names are errors
    bool numbers;                ///< the groups' options are loaded, lr too; counts are in any case
    const char *strip;           ///< taken away from names of the state that begin with it, or NULL
    const char *prefix;          ///< names of the state without it do not count, or NULL
    const char *strip_component; ///< names are compared without this component, or NULL
    tern_rename_fn *rename;      ///< gives names of the state others, or NULL
    void *user;                  ///< what `rename` is handed
    tern_load_report *report;    ///< filled with what does not fit, or NULL
    char reserved_;
    tern_optim *optim;       ///< that is loaded into
    const tern_state *state; ///< what is loaded
} tern_optim_load_state_dict_options;

#define TERN_OPTIM_LOAD_STATE_DICT_DEFAULTS_                                                       \
    .strict = true, .numbers = true, .strip = NULL, .prefix = NULL, .strip_component = NULL,       \
    .rename = NULL, .user = NULL, .report = NULL
#define TERN_OPTIM_LOAD_STATE_DICT_FIELDS_ 2, 0, (optim, state), (optim, state)
TERN_API tern_optim_load_state_dict_options tern_optim_load_state_dict_defaults(void);
/// Loads a state dict, by names, all or nothing, as tern_state_load: a model whose parameters are
/// in another order finds its state. State tensors come to where the parameters are. Another kind
/// of optimizer, numbers that the optimizer does not take, and, unless .numbers is false, a
/// parameter that was in another group, are errors.
TERN_API TERN_NODISCARD tern_status
tern_optim_load_state_dict_with(const tern_optim_load_state_dict_options *options);
#define tern_optim_load_state_dict(...)                                                            \
    tern_status_of_(TERN_WITH_(tern_optim_load_state_dict, tern_optim_load_state_dict,             \
                               TERN_OPTIM_LOAD_STATE_DICT, __VA_ARGS__))
/// An optimizer as a part of what a visit function visits, under "name.".
TERN_API TERN_NODISCARD tern_status tern_visit_optim(tern_state_visitor *visitor, const char *name,
                                                     tern_optim *optim);

// ---- clipping -----------------------------------------------------------------------------------

/// `tern_clip_grad_norm(net, 1.0)`, `tern_clip_grad_norm(NULL, 1.0, .optim = opt)`.
typedef struct tern_clip_grad_norm_options {
    double norm_type;           ///< p > 0, INFINITY too
    bool allow_nonfinite;       ///< a norm that is not finite is TERN_ERR_NUMERIC unless true
    tern_optim *optim;          ///< its parameters instead of the module's
    tern_tensor *const *params; ///< or these
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose gradients are meant, or NULL
    double max_norm;     ///< >= 0
} tern_clip_grad_norm_options;

#define TERN_CLIP_GRAD_NORM_DEFAULTS_                                                              \
    .norm_type = 2, .allow_nonfinite = false, .optim = NULL, .params = NULL, .param_count = 0
#define TERN_CLIP_GRAD_NORM_FIELDS_ 2, 0, (module, max_norm), (module, double)
TERN_API tern_clip_grad_norm_options tern_clip_grad_norm_defaults(void);
/// Multiplies all gradients by min(1, max_norm / (norm + 1e-6)), norm being the p-norm over all
/// their elements, and returns the norm from before as a 0-dim tensor on the first gradient's
/// device, without waiting (a norm that is not finite is found at once only on the CPU). It is
/// computed in float64 and returned in float64 when a gradient is, else in float32. NULL on
/// failure; TERN_ERR_NUMERIC leaves the gradients as they are.
TERN_API tern_tensor *tern_clip_grad_norm_with(const tern_clip_grad_norm_options *options);
#define tern_clip_grad_norm(...)                                                                   \
    TERN_WITH_(tern_clip_grad_norm, tern_clip_grad_norm, TERN_CLIP_GRAD_NORM, __VA_ARGS__)

/// `tern_clip_grad_value(net, 0.5)`.
typedef struct tern_clip_grad_value_options {
    tern_optim *optim;          ///< its parameters instead of the module's
    tern_tensor *const *params; ///< or these
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose gradients are meant, or NULL
    double clip_value;   ///< >= 0
} tern_clip_grad_value_options;

#define TERN_CLIP_GRAD_VALUE_DEFAULTS_ .optim = NULL, .params = NULL, .param_count = 0
#define TERN_CLIP_GRAD_VALUE_FIELDS_   2, 0, (module, clip_value), (module, double)
TERN_API tern_clip_grad_value_options tern_clip_grad_value_defaults(void);
/// Clamps every element of every gradient to [-clip_value, clip_value].
TERN_API TERN_NODISCARD tern_status
tern_clip_grad_value_with(const tern_clip_grad_value_options *options);
#define tern_clip_grad_value(...)                                                                  \
    tern_status_of_(                                                                               \
        TERN_WITH_(tern_clip_grad_value, tern_clip_grad_value, TERN_CLIP_GRAD_VALUE, __VA_ARGS__))

TERN_END_DECLS

#endif
