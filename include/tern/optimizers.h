// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kinds of optimizers. Formulas and defaults are PyTorch's; what all of them do is in optim.h.
///
///     tern_optim *opt = tern_optim_adam(net, .lr = 1e-3);
///
/// The parameters are those of `module`, or, with NULL for the module, the `params` given. A
/// constructor returns NULL with an error pending: TERN_ERR_ARG where there are no parameters at
/// all and for an option that makes no sense; the sentence says which. Threads: any; an optimizer
/// is used by one at a time.
#ifndef TERN_OPTIMIZERS_H
#define TERN_OPTIMIZERS_H

#include <tern/optim.h>

TERN_BEGIN_DECLS

/// `tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9)`.
typedef struct tern_optim_sgd_options {
    double lr;                  ///< >= 0
    double momentum;            ///< >= 0
    double dampening;           ///< of the momentum
    double weight_decay;        ///< >= 0
    bool nesterov;              ///< wants momentum > 0 and dampening 0
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_sgd_options;

#define TERN_OPTIM_SGD_DEFAULTS_                                                                   \
    .lr = 1e-3, .momentum = 0, .dampening = 0, .weight_decay = 0, .nesterov = false,               \
    .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_SGD_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_sgd_options tern_optim_sgd_defaults(void);
/// g += weight_decay p; b = g at the first step, later b = momentum b + (1 - dampening) g; g +=
/// momentum b with nesterov, else g = b; p -= lr g.
TERN_API tern_optim *tern_optim_sgd_with(const tern_optim_sgd_options *options);
#define tern_optim_sgd(...) TERN_WITH_(tern_optim_sgd, tern_optim_sgd, TERN_OPTIM_SGD, __VA_ARGS__)

/// `tern_optim_adam(net, .lr = 1e-3, .betas = {0.9, 0.98})`.
typedef struct tern_optim_adam_options {
    double lr;                  ///< >= 0
    double betas[2];            ///< each in [0, 1)
    double eps;                 ///< >= 0
    double weight_decay;        ///< >= 0
    bool amsgrad;               ///< divide by the largest v so far (Reddi, Kale and Kumar 2018)
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_adam_options;
/// `tern_optim_adamw(net, .weight_decay = 0.1)`.
typedef tern_optim_adam_options tern_optim_adamw_options;

#define TERN_OPTIM_ADAM_DEFAULTS_                                                                  \
    .lr = 1e-3, .betas = {0.9, 0.999}, .eps = 1e-8, .weight_decay = 0, .amsgrad = false,           \
    .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_ADAM_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_adam_options tern_optim_adam_defaults(void);
#define TERN_OPTIM_ADAMW_DEFAULTS_ TERN_OPTIM_ADAM_DEFAULTS_, .weight_decay = 0.01
#define TERN_OPTIM_ADAMW_FIELDS_   TERN_OPTIM_ADAM_FIELDS_
TERN_API tern_optim_adamw_options tern_optim_adamw_defaults(void);
/// Kingma and Ba 2014: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// p -= lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps), where g has weight_decay p
/// added.
TERN_API tern_optim *tern_optim_adam_with(const tern_optim_adam_options *options);
/// Loshchilov and Hutter 2017: p *= 1 - lr weight_decay first, then Adam without the addition to g.
TERN_API tern_optim *tern_optim_adamw_with(const tern_optim_adamw_options *options);
/// The second of a pair that nobody gave: `.betas = 0.5`, without braces, sets the first alone.
#define TERN_OPTION_UNSAID_ (-HUGE_VAL)
#define tern_optim_adam(...)                                                                       \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_adam, tern_optim_adam,                                                          \
        (TERN_OPTIM_ADAM_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),              \
        TERN_OPTIM_ADAM_FIELDS_, __VA_ARGS__)
#define tern_optim_adamw(...)                                                                      \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_adamw, tern_optim_adamw,                                                        \
        (TERN_OPTIM_ADAMW_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),             \
        TERN_OPTIM_ADAMW_FIELDS_, __VA_ARGS__)

/// `tern_optim_rmsprop(net, .lr = 1e-3, .alpha = 0.9)`.
typedef struct tern_optim_rmsprop_options {
    double lr;                  ///< >= 0
    double momentum;            ///< >= 0
    double alpha;               ///< >= 0, how much of the average of g^2 stays
    double eps;                 ///< >= 0
    double weight_decay;        ///< >= 0
    bool centered;              ///< divide by the standard deviation (Graves 2013)
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_rmsprop_options;

#define TERN_OPTIM_RMSPROP_DEFAULTS_                                                               \
    .lr = 1e-2, .momentum = 0, .alpha = 0.99, .eps = 1e-8, .weight_decay = 0, .centered = false,   \
    .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_RMSPROP_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_rmsprop_options tern_optim_rmsprop_defaults(void);
/// Hinton 2012: g += weight_decay p; v = alpha v + (1 - alpha) g^2; d = g / (sqrt(v) + eps), where
/// centered has v - m^2 for v, m = alpha m + (1 - alpha) g; with momentum b = momentum b + d and p
/// -= lr b, else p -= lr d.
TERN_API tern_optim *tern_optim_rmsprop_with(const tern_optim_rmsprop_options *options);
#define tern_optim_rmsprop(...)                                                                    \
    TERN_WITH_(tern_optim_rmsprop, tern_optim_rmsprop, TERN_OPTIM_RMSPROP, __VA_ARGS__)

/// `tern_optim_adadelta(net, .rho = 0.95)`.
typedef struct tern_optim_adadelta_options {
    double lr;                  ///< >= 0
    double rho;                 ///< in [0, 1], how much of the averages of squares stays
    double eps;                 ///< >= 0
    double weight_decay;        ///< >= 0
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_adadelta_options;

#define TERN_OPTIM_ADADELTA_DEFAULTS_                                                              \
    .lr = 1, .rho = 0.9, .eps = 1e-6, .weight_decay = 0, .maximize = false, .params = NULL,        \
    .param_count = 0
#define TERN_OPTIM_ADADELTA_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_adadelta_options tern_optim_adadelta_defaults(void);
/// Zeiler 2012: g += weight_decay p; v = rho v + (1 - rho) g^2; d = sqrt(u + eps) / sqrt(v + eps)
/// g; u = rho u + (1 - rho) d^2; p -= lr d.
TERN_API tern_optim *tern_optim_adadelta_with(const tern_optim_adadelta_options *options);
#define tern_optim_adadelta(...)                                                                   \
    TERN_WITH_(tern_optim_adadelta, tern_optim_adadelta, TERN_OPTIM_ADADELTA, __VA_ARGS__)

/// `tern_optim_adamax(net, .betas = {0.9, 0.98})`.
typedef struct tern_optim_adamax_options {
    double lr;                  ///< >= 0
    double betas[2];            ///< each in [0, 1)
    double eps;                 ///< >= 0
    double weight_decay;        ///< >= 0
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_adamax_options;

#define TERN_OPTIM_ADAMAX_DEFAULTS_                                                                \
    .lr = 2e-3, .betas = {0.9, 0.999}, .eps = 1e-8, .weight_decay = 0, .maximize = false,          \
    .params = NULL, .param_count = 0
#define TERN_OPTIM_ADAMAX_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_adamax_options tern_optim_adamax_defaults(void);
/// Kingma and Ba 2014, section 7.1: g += weight_decay p; m = beta1 m + (1 - beta1) g; u = max(beta2
/// u, |g| + eps); p -= lr / (1 - beta1^t) m / u.
TERN_API tern_optim *tern_optim_adamax_with(const tern_optim_adamax_options *options);
#define tern_optim_adamax(...)                                                                     \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_adamax, tern_optim_adamax,                                                      \
        (TERN_OPTIM_ADAMAX_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),            \
        TERN_OPTIM_ADAMAX_FIELDS_, __VA_ARGS__)

/// `tern_optim_radam(net, .lr = 1e-3)`.
typedef struct tern_optim_radam_options {
    double lr;                   ///< >= 0
    double betas[2];             ///< each in [0, 1)
    double eps;                  ///< >= 0
    double weight_decay;         ///< >= 0
    bool decoupled_weight_decay; ///< p *= 1 - lr weight_decay instead of the addition to g
    bool maximize;               ///< go up the gradient instead of down
    tern_tensor *const *params;  ///< instead of the module's
    int64_t param_count;         ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_radam_options;

#define TERN_OPTIM_RADAM_DEFAULTS_                                                                 \
    .lr = 1e-3, .betas = {0.9, 0.999}, .eps = 1e-8, .weight_decay = 0,                             \
    .decoupled_weight_decay = false, .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_RADAM_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_radam_options tern_optim_radam_defaults(void);
/// Liu et al. 2019: g += weight_decay p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2)
/// g^2; with l = 2 / (1 - beta2) - 1 and r = l - 2 t beta2^t / (1 - beta2^t), p -= lr m / (1 -
/// beta1^t) times sqrt(1 - beta2^t) / (sqrt(v) + eps) sqrt((r - 4) (r - 2) l / ((l - 4) (l - 2)
/// r)) where r > 5, else times 1.
TERN_API tern_optim *tern_optim_radam_with(const tern_optim_radam_options *options);
#define tern_optim_radam(...)                                                                      \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_radam, tern_optim_radam,                                                        \
        (TERN_OPTIM_RADAM_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),             \
        TERN_OPTIM_RADAM_FIELDS_, __VA_ARGS__)

/// `tern_optim_nadam(net, .momentum_decay = 0.01)`.
typedef struct tern_optim_nadam_options {
    double lr;                   ///< >= 0
    double betas[2];             ///< each in [0, 1)
    double eps;                  ///< >= 0
    double weight_decay;         ///< >= 0
    double momentum_decay;       ///< >= 0, how fast the momentum grows from half of the first beta
    bool decoupled_weight_decay; ///< p *= 1 - lr weight_decay instead of the addition to g
    bool maximize;               ///< go up the gradient instead of down
    tern_tensor *const *params;  ///< instead of the module's
    int64_t param_count;         ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_nadam_options;

#define TERN_OPTIM_NADAM_DEFAULTS_                                                                 \
    .lr = 2e-3, .betas = {0.9, 0.999}, .eps = 1e-8, .weight_decay = 0, .momentum_decay = 4e-3,     \
    .decoupled_weight_decay = false, .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_NADAM_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_nadam_options tern_optim_nadam_defaults(void);
/// Dozat 2016: g += weight_decay p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// with u(t) = beta1 (1 - 0.96^(t momentum_decay) / 2) and the product q(t) of u(1) to u(t),
/// p -= lr ((1 - u(t)) / (1 - q(t)) g + u(t + 1) / (1 - q(t + 1)) m) / (sqrt(v / (1 - beta2^t)) +
/// eps). The product is a number "mu_product" of each parameter, in float32.
TERN_API tern_optim *tern_optim_nadam_with(const tern_optim_nadam_options *options);
#define tern_optim_nadam(...)                                                                      \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_nadam, tern_optim_nadam,                                                        \
        (TERN_OPTIM_NADAM_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),             \
        TERN_OPTIM_NADAM_FIELDS_, __VA_ARGS__)

/// `tern_optim_schedule_free_adamw(net, .lr = 2.5e-3, .warmup_steps = 1000)`.
typedef struct tern_optim_schedule_free_adamw_options {
    double lr;                  ///< >= 0
    double betas[2];            ///< the first in (0, 1), the second in [0, 1)
    double eps;                 ///< >= 0
    double weight_decay;        ///< >= 0, at the parameters that gradients are taken at
    int64_t warmup_steps;       ///< >= 0, through which the rate rises linearly to lr
    double r;                   ///< the average weights step k by k^r
    double weight_lr_power;     ///< and by this power of the largest rate so far
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_schedule_free_adamw_options;

#define TERN_OPTIM_SCHEDULE_FREE_ADAMW_DEFAULTS_                                                   \
    .lr = 2.5e-3, .betas = {0.9, 0.999}, .eps = 1e-8, .weight_decay = 0, .warmup_steps = 0,        \
    .r = 0, .weight_lr_power = 2, .params = NULL, .param_count = 0
#define TERN_OPTIM_SCHEDULE_FREE_ADAMW_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_schedule_free_adamw_options tern_optim_schedule_free_adamw_defaults(void);
/// Defazio et al. 2024, as AdamWScheduleFree of the authors' package: without a schedule, the
/// average x of the steps z is what a schedule would lead to. The gradient is taken at the
/// parameters y = (1 - beta1) z + beta1 x, and z begins as y: v = beta2 v + (1 - beta2) g^2; d = g
/// / (sqrt(v / (1 - beta2^k)) + eps) + weight_decay y; y goes the part c of the way to z, and then
/// by lr (beta1 (1 - c) - 1) d; z -= lr d, where c is the share of step k, k^r m^weight_lr_power
/// with the largest rate m so far, in the sum of all so far. A model is evaluated and saved at x,
/// between tern_optim_eval and tern_optim_train. The numbers "k", "lr_max", "weight_sum" and
/// "train_mode" of each group are state.
TERN_API tern_optim *tern_optim_schedule_free_adamw_with(
    const tern_optim_schedule_free_adamw_options *options);
#define tern_optim_schedule_free_adamw(...)                                                        \
    TERN_WITH_OPTIONS_(tern_optim_schedule_free_adamw, tern_optim_schedule_free_adamw,             \
                       (TERN_OPTIM_SCHEDULE_FREE_ADAMW_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, \
                        .reserved_ = 0),                                                           \
                       TERN_OPTIM_SCHEDULE_FREE_ADAMW_FIELDS_, __VA_ARGS__)

/// What makes Muon's steps of matrices of different shapes alike: the rate is multiplied by
typedef enum tern_muon_adjust_lr {
    TERN_MUON_ORIGINAL,          ///< sqrt(max(1, rows / columns)), Jordan's
    TERN_MUON_MATCH_RMS_ADAMW,   ///< 0.2 sqrt(max(rows, columns)): AdamW's rates fit
    TERN_MUON_SPECTRAL_UNCLAMPED ///< sqrt(rows / columns), Bernstein's
} tern_muon_adjust_lr;

/// What Muon does with parameters that are no matrices.
typedef enum tern_muon_rest {
    TERN_MUON_REFUSE,   ///< they are TERN_ERR_ARG
    TERN_MUON_ADAMW,    ///< AdamW updates them
    TERN_MUON_ADAMW_ALL ///< and the matrices of the group too, for an embedding or the last layer
} tern_muon_rest;

/// `tern_optim_muon(net, .lr = 0.02, .rest = TERN_MUON_ADAMW)`.
typedef struct tern_optim_muon_options {
    double lr;                        ///< >= 0
    double weight_decay;              ///< >= 0, of the rest too
    double momentum;                  ///< >= 0, how much of the average of g stays
    bool nesterov;                    ///< the gradient goes in once more
    double ns_coefficients[3];        ///< of the Newton-Schulz iteration
    double eps;                       ///< >= 0, the least norm that is divided by
    int64_t ns_steps;                 ///< 0 to 99 iterations
    tern_muon_adjust_lr adjust_lr_fn; ///< by the shape of the matrix
    tern_dtype ns_dtype;              ///< that the iterations round to
    tern_muon_rest rest;              ///< the parameters that are no matrices
    double rest_lr;                   ///< >= 0, of AdamW; schedulers and set_lr change lr alone
    double rest_betas[2];             ///< each in [0, 1), likewise
    double rest_eps;                  ///< >= 0, likewise
    tern_tensor *const *params;       ///< instead of the module's
    int64_t param_count;              ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_muon_options;

#define TERN_OPTIM_MUON_DEFAULTS_                                                                  \
    .lr = 1e-3, .weight_decay = 0.1, .momentum = 0.95, .nesterov = true,                           \
    .ns_coefficients = {3.4445, -4.775, 2.0315}, .eps = 1e-7, .ns_steps = 5,                       \
    .adjust_lr_fn = TERN_MUON_ORIGINAL, .ns_dtype = TERN_BFLOAT16, .rest = TERN_MUON_REFUSE,       \
    .rest_lr = 1e-3, .rest_betas = {0.9, 0.999}, .rest_eps = 1e-8, .params = NULL,                 \
    .param_count = 0
#define TERN_OPTIM_MUON_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_muon_options tern_optim_muon_defaults(void);
/// Jordan et al. 2024, for matrices: b = momentum b + (1 - momentum) g; u = momentum b + (1 -
/// momentum) g with nesterov, else b; X = u / max(|u|, eps), transposed where it has more rows than
/// columns, then ns_steps times X = ns_coefficients[0] X + (ns_coefficients[1] A +
/// ns_coefficients[2] A^2) X with A = X X^T; p = (1 - lr weight_decay) p - lr adjust X. A group's
/// number "rest" says which of its parameters AdamW updates. A graph that captured a step refuses
/// to replay it with other numbers than then, but for lr, weight_decay, and those of the rest.
TERN_API tern_optim *tern_optim_muon_with(const tern_optim_muon_options *options);
#define tern_optim_muon(...)                                                                       \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_muon, tern_optim_muon,                                                          \
        (TERN_OPTIM_MUON_DEFAULTS_, .rest_betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),         \
        TERN_OPTIM_MUON_FIELDS_, __VA_ARGS__)

/// `tern_optim_adafactor(net, .lr = 0.05)`.
typedef struct tern_optim_adafactor_options {
    double lr;                  ///< >= 0
    double beta2_decay;         ///< <= 0, the power of the step that a mean takes of g^2
    double eps[2];              ///< under the root, -1: the dtype's epsilon; the least size of p
    double d;                   ///< >= 1, the root mean square that a direction may have
    double weight_decay;        ///< >= 0
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_adafactor_options;

#define TERN_OPTIM_ADAFACTOR_DEFAULTS_                                                             \
    .lr = 1e-2, .beta2_decay = -0.8, .eps = {-1, 1e-3}, .d = 1, .weight_decay = 0,                 \
    .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_ADAFACTOR_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_adafactor_options tern_optim_adafactor_defaults(void);
/// Shazeer and Stern 2018, with little state: of a parameter of two dimensions or more, r and c,
/// averages of g^2 over the last dimension and over the one before, each going the part
/// t^beta2_decay of the way, and V = r c / max(mean(r), eps[0]); else V is the average of g^2. p *=
/// 1 - lr weight_decay; u = g / max(sqrt(V), eps[0]); p -= min(lr, 1 / sqrt(t)) max(eps[1], rms(p))
/// u / max(1, rms(u) / d), rms(p) being that of p before the step. A graph that captured a step
/// refuses to replay it with another eps or d than then.
TERN_API tern_optim *tern_optim_adafactor_with(const tern_optim_adafactor_options *options);
#define tern_optim_adafactor(...)                                                                  \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_adafactor, tern_optim_adafactor,                                                \
        (TERN_OPTIM_ADAFACTOR_DEFAULTS_, .eps[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),           \
        TERN_OPTIM_ADAFACTOR_FIELDS_, __VA_ARGS__)

/// `tern_optim_lion(net, .lr = 1e-4, .weight_decay = 0.1)`.
typedef struct tern_optim_lion_options {
    double lr;                  ///< >= 0
    double betas[2];            ///< each in [0, 1)
    double weight_decay;        ///< >= 0
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_lion_options;

#define TERN_OPTIM_LION_DEFAULTS_                                                                  \
    .lr = 1e-4, .betas = {0.9, 0.99}, .weight_decay = 0, .maximize = false, .params = NULL,        \
    .param_count = 0
#define TERN_OPTIM_LION_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_lion_options tern_optim_lion_defaults(void);
/// Chen et al. 2023, which PyTorch does not have: p *= 1 - lr weight_decay; p -= lr sign(beta1 m +
/// (1 - beta1) g); m = beta2 m + (1 - beta2) g.
TERN_API tern_optim *tern_optim_lion_with(const tern_optim_lion_options *options);
#define tern_optim_lion(...)                                                                       \
    TERN_WITH_OPTIONS_(                                                                            \
        tern_optim_lion, tern_optim_lion,                                                          \
        (TERN_OPTIM_LION_DEFAULTS_, .betas[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),              \
        TERN_OPTIM_LION_FIELDS_, __VA_ARGS__)

/// `tern_optim_rprop(net, .step_sizes = {1e-6, 1})`.
typedef struct tern_optim_rprop_options {
    double lr;            ///< >= 0, the size of the first step
    double etas[2];       ///< of a step size: what makes it smaller, in (0, 1), and larger, > 1
    double step_sizes[2]; ///< the least and the most, >= 0
    bool maximize;        ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_rprop_options;

#define TERN_OPTIM_RPROP_DEFAULTS_                                                                 \
    .lr = 1e-2, .etas = {0.5, 1.2}, .step_sizes = {1e-6, 50}, .maximize = false, .params = NULL,   \
    .param_count = 0
#define TERN_OPTIM_RPROP_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_rprop_options tern_optim_rprop_defaults(void);
/// Riedmiller and Braun 1993, for gradients of whole data sets: each element has a step size d, lr
/// at first, times etas[1] where g has the sign that it had before, times etas[0] where it has the
/// other, and then g = 0; within step_sizes; p -= sign(g) d.
TERN_API tern_optim *tern_optim_rprop_with(const tern_optim_rprop_options *options);
#define tern_optim_rprop(...)                                                                      \
    TERN_WITH_OPTIONS_(tern_optim_rprop, tern_optim_rprop,                                         \
                       (TERN_OPTIM_RPROP_DEFAULTS_, .etas[1] = TERN_OPTION_UNSAID_,                \
                        .step_sizes[1] = TERN_OPTION_UNSAID_, .reserved_ = 0),                     \
                       TERN_OPTIM_RPROP_FIELDS_, __VA_ARGS__)

/// `tern_optim_asgd(net, .lr = 0.1, .t0 = 1000)`.
typedef struct tern_optim_asgd_options {
    double lr;                  ///< >= 0
    double lambd;               ///< >= 0, how fast the rate and the parameters decay
    double alpha;               ///< >= 0, the power of the rate's decay
    double t0;                  ///< steps after which averaging begins
    double weight_decay;        ///< >= 0
    bool maximize;              ///< go up the gradient instead of down
    tern_tensor *const *params; ///< instead of the module's
    int64_t param_count;        ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_asgd_options;

#define TERN_OPTIM_ASGD_DEFAULTS_                                                                  \
    .lr = 1e-2, .lambd = 1e-4, .alpha = 0.75, .t0 = 1e6, .weight_decay = 0, .maximize = false,     \
    .params = NULL, .param_count = 0
#define TERN_OPTIM_ASGD_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_asgd_options tern_optim_asgd_defaults(void);
/// Polyak and Juditsky 1992: g += weight_decay p; p = (1 - lambd n) p - n g; a += u (p - a); then
/// n = lr / (1 + lambd lr t)^alpha, which is lr at first, and u = 1 / max(1, t - t0). The average a
/// is the state "ax"; n and u are numbers "eta" and "mu" of each parameter, in float32: a rate that
/// is set counts from the step after the next one, as in PyTorch.
TERN_API tern_optim *tern_optim_asgd_with(const tern_optim_asgd_options *options);
#define tern_optim_asgd(...)                                                                       \
    TERN_WITH_(tern_optim_asgd, tern_optim_asgd, TERN_OPTIM_ASGD, __VA_ARGS__)

/// How L-BFGS finds how far to go along a direction.
typedef enum tern_line_search {
    TERN_LINE_SEARCH_NONE, ///< as far as lr says
    /// Until the loss has fallen enough and is flat enough (Nocedal and Wright 2006, algorithm 3.5)
    TERN_LINE_SEARCH_STRONG_WOLFE
} tern_line_search;

/// `tern_optim_lbfgs(net, .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE)`.
typedef struct tern_optim_lbfgs_options {
    double lr;                       ///< >= 0, the first step length that is tried
    int64_t max_iter;                ///< >= 1, iterations in a step
    int64_t max_eval;                ///< >= 1, evaluations in a step; 0: 5/4 of max_iter
    double tolerance_grad;           ///< >= 0: a step ends when no gradient is larger
    double tolerance_change;         ///< >= 0: and when parameters or loss change by no more
    int64_t history_size;            ///< >= 1, past iterations that it remembers
    tern_line_search line_search_fn; ///< none, or strong Wolfe
    bool maximize;                   ///< go up the gradient instead of down
    tern_tensor *const *params;      ///< instead of the module's
    int64_t param_count;             ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_lbfgs_options;

#define TERN_OPTIM_LBFGS_DEFAULTS_                                                                 \
    .lr = 1, .max_iter = 20, .max_eval = 0, .tolerance_grad = 1e-7, .tolerance_change = 1e-9,      \
    .history_size = 100, .line_search_fn = TERN_LINE_SEARCH_NONE, .maximize = false,               \
    .params = NULL, .param_count = 0
#define TERN_OPTIM_LBFGS_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_lbfgs_options tern_optim_lbfgs_defaults(void);
/// Nocedal 1980, for small problems whose whole loss can be evaluated often: each step takes a
/// closure (tern_optim_step_closure) and runs up to max_iter iterations along -H g, H being the
/// approximate inverse of the Hessian by the last history_size changes of parameters and gradient.
/// All parameters are of one device and dtype, in one group. It remembers 2 history_size + 2
/// vectors of all parameters. A parameter without a gradient counts as one whose gradient is 0.
TERN_API tern_optim *tern_optim_lbfgs_with(const tern_optim_lbfgs_options *options);
#define tern_optim_lbfgs(...)                                                                      \
    TERN_WITH_(tern_optim_lbfgs, tern_optim_lbfgs, TERN_OPTIM_LBFGS, __VA_ARGS__)

/// `tern_optim_adagrad(net, .lr = 0.1)`.
typedef struct tern_optim_adagrad_options {
    double lr;                        ///< >= 0
    double lr_decay;                  ///< >= 0
    double weight_decay;              ///< >= 0
    double initial_accumulator_value; ///< >= 0
    double eps;                       ///< >= 0
    bool maximize;                    ///< go up the gradient instead of down
    tern_tensor *const *params;       ///< instead of the module's
    int64_t param_count;              ///< of `params`
    char reserved_;
    tern_module *module; ///< whose parameters it changes, or NULL
} tern_optim_adagrad_options;

#define TERN_OPTIM_ADAGRAD_DEFAULTS_                                                               \
    .lr = 1e-2, .lr_decay = 0, .weight_decay = 0, .initial_accumulator_value = 0, .eps = 1e-10,    \
    .maximize = false, .params = NULL, .param_count = 0
#define TERN_OPTIM_ADAGRAD_FIELDS_ 1, 0, (module), (module)
TERN_API tern_optim_adagrad_options tern_optim_adagrad_defaults(void);
/// Duchi, Hazan and Singer 2011: g += weight_decay p; s += g^2, from initial_accumulator_value on;
/// p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps). The state is there from construction,
/// which is therefore TERN_ERR_STATE while the calling thread captures.
TERN_API tern_optim *tern_optim_adagrad_with(const tern_optim_adagrad_options *options);
#define tern_optim_adagrad(...)                                                                    \
    TERN_WITH_(tern_optim_adagrad, tern_optim_adagrad, TERN_OPTIM_ADAGRAD, __VA_ARGS__)

TERN_END_DECLS

#endif
