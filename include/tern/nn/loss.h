// SPDX-License-Identifier: Apache-2.0
/// @file
/// Losses: modules of an input and a target, for tern_loss.
///
///     tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
///     tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_LOSS_H
#define TERN_NN_LOSS_H

#include <tern/module.h>
#include <tern/ops/loss.h>
#include <tern/reduction.h>

TERN_BEGIN_DECLS

/// `tern_nn_cross_entropy_loss(.label_smoothing = 0.1)`.
typedef struct tern_nn_cross_entropy_loss_options {
    tern_tensor *weight;      ///< (C): one per class, cloned into the buffer "weight"; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count
    double label_smoothing;   ///< 0 to 1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_cross_entropy_loss_options;

#define TERN_NN_CROSS_ENTROPY_LOSS_DEFAULTS_                                                       \
    .weight = NULL, .ignore_index = -100, .label_smoothing = 0, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_CROSS_ENTROPY_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_cross_entropy_loss_options tern_nn_cross_entropy_loss_defaults(void);
/// tern_cross_entropy as a module: raw logits (N, C, ..) and int64 labels (N, ..), or
/// probabilities.
TERN_API tern_module *tern_nn_cross_entropy_loss_with(
    const tern_nn_cross_entropy_loss_options *options);
#define tern_nn_cross_entropy_loss(...)                                                            \
    TERN_WITH_(tern_nn_cross_entropy_loss, tern_nn_cross_entropy_loss, TERN_NN_CROSS_ENTROPY_LOSS, \
               __VA_ARGS__)

/// `tern_nn_linear_cross_entropy_loss(256, 50000, .label_smoothing = 0.1)`.
typedef struct tern_nn_linear_cross_entropy_loss_options {
    tern_shape out_features;  ///< (d1, ..): each sample has so many losses; none: one
    bool bias;                ///< whether the linear layer has one
    tern_tensor *weight;      ///< (C): one per class, cloned into the buffer "weight"; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count; unless said: -100
    double label_smoothing;   ///< 0 to 1
    tern_reduction reduction; ///< what becomes of the losses
    tern_dtype dtype;         ///< floating; the default dtype unless said
    tern_device device;       ///< the default device unless said
    char reserved_;
    int64_t in_features; ///< In > 0
    int64_t num_classes; ///< C > 0
} tern_nn_linear_cross_entropy_loss_options;

#define TERN_NN_LINEAR_CROSS_ENTROPY_LOSS_DEFAULTS_                                                \
    .out_features = {0}, .bias = false, .weight = NULL,                                            \
    .ignore_index = TERN_IGNORE_INDEX_UNSPECIFIED, .label_smoothing = 0,                           \
    .reduction = TERN_REDUCTION_MEAN, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_LINEAR_CROSS_ENTROPY_LOSS_FIELDS_ 2, 0, (in_features, num_classes), (int64, int64)
TERN_API tern_nn_linear_cross_entropy_loss_options tern_nn_linear_cross_entropy_loss_defaults(void);
/// tern_linear_cross_entropy as a module: (N, In) or (In), and int64 labels (N, d1, ..) or
/// probabilities. Its child "linear" is a tern_nn_linear to C d1 .. features.
TERN_API tern_module *tern_nn_linear_cross_entropy_loss_with(
    const tern_nn_linear_cross_entropy_loss_options *options);
#define tern_nn_linear_cross_entropy_loss(...)                                                     \
    TERN_WITH_(tern_nn_linear_cross_entropy_loss, tern_nn_linear_cross_entropy_loss,               \
               TERN_NN_LINEAR_CROSS_ENTROPY_LOSS, __VA_ARGS__)

/// `tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM)`.
typedef struct tern_nn_loss_options {
    tern_reduction reduction; ///< what becomes of the losses of the elements
    char reserved_;
} tern_nn_loss_options;

#define TERN_NN_LOSS_DEFAULTS_ .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_loss_options tern_nn_loss_defaults(void);
/// tern_mse_loss as a module: (input - target)^2.
TERN_API tern_module *tern_nn_mse_loss_with(const tern_nn_loss_options *options);
/// tern_l1_loss as a module: |input - target|.
TERN_API tern_module *tern_nn_l1_loss_with(const tern_nn_loss_options *options);
/// tern_multilabel_margin_loss as a module: of scores, and classes up to the first -1.
TERN_API tern_module *tern_nn_multi_label_margin_loss_with(const tern_nn_loss_options *options);
/// tern_soft_margin_loss as a module: log(1 + exp(-target input)).
TERN_API tern_module *tern_nn_soft_margin_loss_with(const tern_nn_loss_options *options);
#define tern_nn_mse_loss(...) TERN_WITH_(tern_nn_mse_loss, tern_nn_loss, TERN_NN_LOSS, __VA_ARGS__)
#define tern_nn_l1_loss(...)  TERN_WITH_(tern_nn_l1_loss, tern_nn_loss, TERN_NN_LOSS, __VA_ARGS__)
#define tern_nn_multi_label_margin_loss(...)                                                       \
    TERN_WITH_(tern_nn_multi_label_margin_loss, tern_nn_loss, TERN_NN_LOSS, __VA_ARGS__)
#define tern_nn_soft_margin_loss(...)                                                              \
    TERN_WITH_(tern_nn_soft_margin_loss, tern_nn_loss, TERN_NN_LOSS, __VA_ARGS__)

/// `tern_nn_smooth_l1_loss(.beta = 0.5)`.
typedef struct tern_nn_smooth_l1_loss_options {
    double beta;              ///< 0 or more: where the parabola ends
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_smooth_l1_loss_options;

#define TERN_NN_SMOOTH_L1_LOSS_DEFAULTS_ .beta = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_SMOOTH_L1_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_smooth_l1_loss_options tern_nn_smooth_l1_loss_defaults(void);
/// tern_smooth_l1_loss as a module.
TERN_API tern_module *tern_nn_smooth_l1_loss_with(const tern_nn_smooth_l1_loss_options *options);
#define tern_nn_smooth_l1_loss(...)                                                                \
    TERN_WITH_(tern_nn_smooth_l1_loss, tern_nn_smooth_l1_loss, TERN_NN_SMOOTH_L1_LOSS, __VA_ARGS__)

/// `tern_nn_huber_loss(.delta = 0.5)`.
typedef struct tern_nn_huber_loss_options {
    double delta;             ///< above 0: where the parabola ends
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_huber_loss_options;

#define TERN_NN_HUBER_LOSS_DEFAULTS_ .delta = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_HUBER_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_huber_loss_options tern_nn_huber_loss_defaults(void);
/// tern_huber_loss as a module.
TERN_API tern_module *tern_nn_huber_loss_with(const tern_nn_huber_loss_options *options);
#define tern_nn_huber_loss(...)                                                                    \
    TERN_WITH_(tern_nn_huber_loss, tern_nn_huber_loss, TERN_NN_HUBER_LOSS, __VA_ARGS__)

/// `tern_nn_bce_loss(.weight = weight)`.
typedef struct tern_nn_weighted_loss_options {
    tern_tensor *weight; ///< broadcasts to the input, cloned into the buffer "weight"; NULL: all 1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_weighted_loss_options;

#define TERN_NN_WEIGHTED_LOSS_DEFAULTS_ .weight = NULL, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_WEIGHTED_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_weighted_loss_options tern_nn_weighted_loss_defaults(void);
/// tern_binary_cross_entropy as a module: of probabilities, and targets from 0 to 1.
TERN_API tern_module *tern_nn_bce_loss_with(const tern_nn_weighted_loss_options *options);
/// tern_multilabel_soft_margin_loss as a module.
TERN_API tern_module *tern_nn_multi_label_soft_margin_loss_with(
    const tern_nn_weighted_loss_options *options);
#define tern_nn_multi_label_soft_margin_loss(...)                                                  \
    TERN_WITH_(tern_nn_multi_label_soft_margin_loss, tern_nn_weighted_loss, TERN_NN_WEIGHTED_LOSS, \
               __VA_ARGS__)
#define tern_nn_bce_loss(...)                                                                      \
    TERN_WITH_(tern_nn_bce_loss, tern_nn_weighted_loss, TERN_NN_WEIGHTED_LOSS, __VA_ARGS__)

/// `tern_nn_bce_with_logits_loss(.pos_weight = weight)`.
typedef struct tern_nn_bce_with_logits_loss_options {
    tern_tensor *weight;      ///< as tern_nn_bce_loss has it
    tern_tensor *pos_weight;  ///< the weight of the target, likewise the buffer "pos_weight"
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_bce_with_logits_loss_options;

#define TERN_NN_BCE_WITH_LOGITS_LOSS_DEFAULTS_                                                     \
    .weight = NULL, .pos_weight = NULL, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_BCE_WITH_LOGITS_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_bce_with_logits_loss_options tern_nn_bce_with_logits_loss_defaults(void);
/// tern_binary_cross_entropy_with_logits as a module: of logits, and targets from 0 to 1.
TERN_API tern_module *tern_nn_bce_with_logits_loss_with(
    const tern_nn_bce_with_logits_loss_options *options);
#define tern_nn_bce_with_logits_loss(...)                                                          \
    TERN_WITH_(tern_nn_bce_with_logits_loss, tern_nn_bce_with_logits_loss,                         \
               TERN_NN_BCE_WITH_LOGITS_LOSS, __VA_ARGS__)

/// `tern_nn_kl_div_loss(.reduction = TERN_REDUCTION_BATCHMEAN)`.
typedef struct tern_nn_kl_div_loss_options {
    bool log_target;          ///< the target too is a logarithm
    tern_reduction reduction; ///< what becomes of the losses; also TERN_REDUCTION_BATCHMEAN
    char reserved_;
} tern_nn_kl_div_loss_options;

#define TERN_NN_KL_DIV_LOSS_DEFAULTS_ .log_target = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_KL_DIV_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_kl_div_loss_options tern_nn_kl_div_loss_defaults(void);
/// tern_kl_div as a module: of logarithms of probabilities, and probabilities.
TERN_API tern_module *tern_nn_kl_div_loss_with(const tern_nn_kl_div_loss_options *options);
#define tern_nn_kl_div_loss(...)                                                                   \
    TERN_WITH_(tern_nn_kl_div_loss, tern_nn_kl_div_loss, TERN_NN_KL_DIV_LOSS, __VA_ARGS__)

/// `tern_nn_poisson_nll_loss(.log_input = false)`.
typedef struct tern_nn_poisson_nll_loss_options {
    bool log_input;           ///< the input is the logarithm of the rate
    bool full;                ///< with Stirling's approximation of log(target!)
    double eps;               ///< added to a rate before its logarithm; above 0
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_poisson_nll_loss_options;

#define TERN_NN_POISSON_NLL_LOSS_DEFAULTS_                                                         \
    .log_input = true, .full = false, .eps = 1e-8, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_POISSON_NLL_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_poisson_nll_loss_options tern_nn_poisson_nll_loss_defaults(void);
/// tern_poisson_nll_loss as a module.
TERN_API tern_module *tern_nn_poisson_nll_loss_with(
    const tern_nn_poisson_nll_loss_options *options);
#define tern_nn_poisson_nll_loss(...)                                                              \
    TERN_WITH_(tern_nn_poisson_nll_loss, tern_nn_poisson_nll_loss, TERN_NN_POISSON_NLL_LOSS,       \
               __VA_ARGS__)

/// `tern_nn_gaussian_nll_loss(.full = true)`.
typedef struct tern_nn_gaussian_nll_loss_options {
    bool full;                ///< with the constant log(2 pi) / 2
    double eps;               ///< the least variance that counts; above 0
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_gaussian_nll_loss_options;

#define TERN_NN_GAUSSIAN_NLL_LOSS_DEFAULTS_                                                        \
    .full = false, .eps = 1e-6, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_GAUSSIAN_NLL_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_gaussian_nll_loss_options tern_nn_gaussian_nll_loss_defaults(void);
/// tern_gaussian_nll_loss as a module, `tern_call(criterion, mean, target, var)`.
TERN_API tern_module *tern_nn_gaussian_nll_loss_with(
    const tern_nn_gaussian_nll_loss_options *options);
#define tern_nn_gaussian_nll_loss(...)                                                             \
    TERN_WITH_(tern_nn_gaussian_nll_loss, tern_nn_gaussian_nll_loss, TERN_NN_GAUSSIAN_NLL_LOSS,    \
               __VA_ARGS__)

/// `tern_nn_hinge_embedding_loss(.margin = 2)`.
typedef struct tern_nn_hinge_embedding_loss_options {
    double margin;            ///< what the input is to be where the target is -1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_hinge_embedding_loss_options;

#define TERN_NN_HINGE_EMBEDDING_LOSS_DEFAULTS_ .margin = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_HINGE_EMBEDDING_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_hinge_embedding_loss_options tern_nn_hinge_embedding_loss_defaults(void);
/// tern_hinge_embedding_loss as a module: of distances, and targets that are 1 or -1.
TERN_API tern_module *tern_nn_hinge_embedding_loss_with(
    const tern_nn_hinge_embedding_loss_options *options);
#define tern_nn_hinge_embedding_loss(...)                                                          \
    TERN_WITH_(tern_nn_hinge_embedding_loss, tern_nn_hinge_embedding_loss,                         \
               TERN_NN_HINGE_EMBEDDING_LOSS, __VA_ARGS__)

/// `tern_nn_margin_ranking_loss(.margin = 0.5)`.
typedef struct tern_nn_margin_loss_options {
    double margin;            ///< by how much
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_margin_loss_options;

#define TERN_NN_MARGIN_LOSS_DEFAULTS_ .margin = 0, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_MARGIN_LOSS_FIELDS_   0, 0, (), ()
TERN_API tern_nn_margin_loss_options tern_nn_margin_loss_defaults(void);
/// tern_margin_ranking_loss as a module, `tern_call(criterion, a, b, target)`.
TERN_API tern_module *tern_nn_margin_ranking_loss_with(const tern_nn_margin_loss_options *options);
/// tern_cosine_embedding_loss as a module, `tern_call(criterion, a, b, target)`.
TERN_API tern_module *tern_nn_cosine_embedding_loss_with(
    const tern_nn_margin_loss_options *options);
#define tern_nn_cosine_embedding_loss(...)                                                         \
    TERN_WITH_(tern_nn_cosine_embedding_loss, tern_nn_margin_loss, TERN_NN_MARGIN_LOSS, __VA_ARGS__)
#define tern_nn_margin_ranking_loss(...)                                                           \
    TERN_WITH_(tern_nn_margin_ranking_loss, tern_nn_margin_loss, TERN_NN_MARGIN_LOSS, __VA_ARGS__)

/// `tern_nn_nll_loss(.ignore_index = 0)`.
typedef struct tern_nn_nll_loss_options {
    tern_tensor *weight;      ///< (C): one per class, cloned into the buffer "weight"; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_nll_loss_options;

#define TERN_NN_NLL_LOSS_DEFAULTS_                                                                 \
    .weight = NULL, .ignore_index = -100, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_NLL_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_nll_loss_options tern_nn_nll_loss_defaults(void);
/// tern_nll_loss as a module: logarithms of probabilities (N, C, ..) and int64 labels (N, ..).
TERN_API tern_module *tern_nn_nll_loss_with(const tern_nn_nll_loss_options *options);
#define tern_nn_nll_loss(...)                                                                      \
    TERN_WITH_(tern_nn_nll_loss, tern_nn_nll_loss, TERN_NN_NLL_LOSS, __VA_ARGS__)

/// `tern_nn_multi_margin_loss(.p = 2)`.
typedef struct tern_nn_multi_margin_loss_options {
    tern_tensor *weight;      ///< (C): one per class, cloned into the buffer "weight"; NULL: all 1
    int64_t p;                ///< 1 or 2
    double margin;            ///< what the label is to be ahead by
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_multi_margin_loss_options;

#define TERN_NN_MULTI_MARGIN_LOSS_DEFAULTS_                                                        \
    .weight = NULL, .p = 1, .margin = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_MULTI_MARGIN_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_multi_margin_loss_options tern_nn_multi_margin_loss_defaults(void);
/// tern_multi_margin_loss as a module: scores (N, C) and int64 labels (N).
TERN_API tern_module *tern_nn_multi_margin_loss_with(
    const tern_nn_multi_margin_loss_options *options);
#define tern_nn_multi_margin_loss(...)                                                             \
    TERN_WITH_(tern_nn_multi_margin_loss, tern_nn_multi_margin_loss, TERN_NN_MULTI_MARGIN_LOSS,    \
               __VA_ARGS__)

/// `tern_nn_triplet_margin_loss(.swap = true)`.
typedef struct tern_nn_triplet_margin_loss_options {
    double margin;            ///< above 0
    double p;                 ///< of the norm
    double eps;               ///< added to each difference
    bool swap;                ///< the distance from positive to negative, if that is smaller
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_triplet_margin_loss_options;

#define TERN_NN_TRIPLET_MARGIN_LOSS_DEFAULTS_                                                      \
    .margin = 1, .p = 2, .eps = 1e-6, .swap = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_TRIPLET_MARGIN_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_triplet_margin_loss_options tern_nn_triplet_margin_loss_defaults(void);
/// tern_triplet_margin_loss as a module, `tern_call(criterion, anchor, positive, negative)`.
TERN_API tern_module *tern_nn_triplet_margin_loss_with(
    const tern_nn_triplet_margin_loss_options *options);
#define tern_nn_triplet_margin_loss(...)                                                           \
    TERN_WITH_(tern_nn_triplet_margin_loss, tern_nn_triplet_margin_loss,                           \
               TERN_NN_TRIPLET_MARGIN_LOSS, __VA_ARGS__)

/// `tern_nn_triplet_margin_with_distance_loss(.distance = mine)`.
typedef struct tern_nn_triplet_distance_options {
    tern_distance_fn *distance; ///< NULL: |a - b + 1e-6|
    void *user;                 ///< handed to it; must outlive the module
    double margin;              ///< above 0
    bool swap;                  ///< as tern_triplet_margin_loss has it
    tern_reduction reduction;   ///< what becomes of the losses
    char reserved_;
} tern_nn_triplet_distance_options;

#define TERN_NN_TRIPLET_DISTANCE_DEFAULTS_                                                         \
    .distance = NULL, .user = NULL, .margin = 1, .swap = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_TRIPLET_DISTANCE_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_triplet_distance_options tern_nn_triplet_distance_defaults(void);
/// tern_triplet_margin_with_distance_loss as a module.
TERN_API tern_module *tern_nn_triplet_margin_with_distance_loss_with(
    const tern_nn_triplet_distance_options *options);
#define tern_nn_triplet_margin_with_distance_loss(...)                                             \
    TERN_WITH_(tern_nn_triplet_margin_with_distance_loss, tern_nn_triplet_distance,                \
               TERN_NN_TRIPLET_DISTANCE, __VA_ARGS__)

/// `tern_nn_ctc_loss(.zero_infinity = true)`.
typedef struct tern_nn_ctc_loss_options {
    int64_t blank;            ///< the class of no label
    bool zero_infinity;       ///< a sample whose labels do not fit in has a loss of 0
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
} tern_nn_ctc_loss_options;

#define TERN_NN_CTC_LOSS_DEFAULTS_                                                                 \
    .blank = 0, .zero_infinity = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_NN_CTC_LOSS_FIELDS_ 0, 0, (), ()
TERN_API tern_nn_ctc_loss_options tern_nn_ctc_loss_defaults(void);
/// tern_ctc_loss as a module, `tern_call(criterion, log_probs, targets, input_lengths,
/// target_lengths)`.
TERN_API tern_module *tern_nn_ctc_loss_with(const tern_nn_ctc_loss_options *options);
#define tern_nn_ctc_loss(...)                                                                      \
    TERN_WITH_(tern_nn_ctc_loss, tern_nn_ctc_loss, TERN_NN_CTC_LOSS, __VA_ARGS__)

TERN_END_DECLS

#endif
