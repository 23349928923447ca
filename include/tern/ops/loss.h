// SPDX-License-Identifier: Apache-2.0
/// @file
/// Losses: what a result is off by, of each element or sample, as its mean or sum or one by one.
///
///     tern_tensor *loss = tern_cross_entropy(logits, labels, .label_smoothing = 0.1);
///     tern_tensor *each = tern_huber_loss(y, t, .delta = 0.5, .reduction = TERN_REDUCTION_NONE);
///
/// Each returns a new temporary of the innermost scope on the operands' device, or NULL with a
/// pending error. Operands are floating, of one dtype (TERN_ERR_DTYPE) and, unless said, of one
/// shape (TERN_ERR_SHAPE): broadcasting here is nearly always a mistake. Weights broadcast to the
/// input, no gradient flows to them, and a mean divides by the number of elements all the same. A
/// mean of nothing is NaN. Values that a formula cannot take are found on the device: TERN_ERR_ARG
/// with the first element, raised as errors.md says. Threads: any, each tensor used by one at a
/// time.
#ifndef TERN_OPS_LOSS_H
#define TERN_OPS_LOSS_H

#include <tern/reduction.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

// ---- distances ----------------------------------------------------------------------------------

/// (input - target)^2.
TERN_API tern_tensor *tern_mse_loss(tern_tensor *input, tern_tensor *target,
                                    tern_reduction reduction);

/// |input - target|. The gradient is 0 where they are equal, and where one is NaN.
TERN_API tern_tensor *tern_l1_loss(tern_tensor *input, tern_tensor *target,
                                   tern_reduction reduction);

/// `tern_smooth_l1_loss(y, t, .beta = 0.5)`.
typedef struct tern_smooth_l1_loss_options {
    double beta;              ///< 0 or more: where the parabola ends
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape
    tern_tensor *target; ///< of its shape
} tern_smooth_l1_loss_options;
#define TERN_SMOOTH_L1_LOSS_DEFAULTS_ .beta = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_SMOOTH_L1_LOSS_FIELDS_   2, 0, (input, target), (tensor, tensor)
TERN_API tern_smooth_l1_loss_options tern_smooth_l1_loss_defaults(void);
/// d^2 / (2 beta) where |d| < beta, else |d| - beta / 2; d = input - target. A beta of 0 makes it
/// tern_l1_loss, one below 0 is TERN_ERR_ARG.
TERN_API tern_tensor *tern_smooth_l1_loss_with(const tern_smooth_l1_loss_options *options);
#define tern_smooth_l1_loss(...)                                                                   \
    TERN_WITH_(tern_smooth_l1_loss, tern_smooth_l1_loss, TERN_SMOOTH_L1_LOSS, __VA_ARGS__)

/// `tern_huber_loss(y, t, .delta = 0.5)`.
typedef struct tern_huber_loss_options {
    double delta;             ///< above 0: where the parabola ends
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape
    tern_tensor *target; ///< of its shape
} tern_huber_loss_options;
#define TERN_HUBER_LOSS_DEFAULTS_ .delta = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_HUBER_LOSS_FIELDS_   2, 0, (input, target), (tensor, tensor)
TERN_API tern_huber_loss_options tern_huber_loss_defaults(void);
/// d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2); d = input - target (Huber 1964).
/// TERN_ERR_ARG unless delta > 0.
TERN_API tern_tensor *tern_huber_loss_with(const tern_huber_loss_options *options);
#define tern_huber_loss(...)                                                                       \
    TERN_WITH_(tern_huber_loss, tern_huber_loss, TERN_HUBER_LOSS, __VA_ARGS__)

// ---- probabilities ------------------------------------------------------------------------------

/// `tern_cross_entropy(logits, labels, .label_smoothing = 0.1)`.
typedef struct tern_cross_entropy_options {
    tern_tensor *weight;      ///< (C), of the input's dtype; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count
    double label_smoothing;   ///< 0 to 1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< raw logits (N, C), (N, C, d1, ..) or (C)
    tern_tensor *target; ///< int64 labels (N), (N, d1, ..) or (); or probabilities as the input
} tern_cross_entropy_options;

#define TERN_CROSS_ENTROPY_DEFAULTS_                                                               \
    .weight = NULL, .ignore_index = -100, .label_smoothing = 0, .reduction = TERN_REDUCTION_MEAN
#define TERN_CROSS_ENTROPY_FIELDS_ 2, 0, (input, target), (tensor, tensor)
TERN_API tern_cross_entropy_options tern_cross_entropy_defaults(void);
/// -log softmax(input)[label], weighted and smoothed as PyTorch's CrossEntropyLoss: with weights
/// the mean divides by the sum of the weights of the labels that count. A label out of range is
/// TERN_ERR_INDEX with its sample, found on the device. All labels ignored: mean is NaN.
TERN_API tern_tensor *tern_cross_entropy_with(const tern_cross_entropy_options *options);
#define tern_cross_entropy(...)                                                                    \
    TERN_WITH_(tern_cross_entropy, tern_cross_entropy, TERN_CROSS_ENTROPY, __VA_ARGS__)

/// `tern_linear_cross_entropy(hidden, linear_weight, labels, .label_smoothing = 0.1)`.
typedef struct tern_linear_cross_entropy_options {
    tern_tensor *linear_bias; ///< (C) or (C, d1, ..); NULL: none
    tern_tensor *weight;      ///< (C): one per class; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count; unless said: -100
    double label_smoothing;   ///< 0 to 1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;         ///< (N, In) or (In)
    tern_tensor *linear_weight; ///< (C, In); or (C, d1, .., In), with a batch
    tern_tensor *target; ///< int64 labels (N), (N, d1, ..) or (); or probabilities (N, C, ..)
} tern_linear_cross_entropy_options;

/// An ignore_index that was not said.
#define TERN_IGNORE_INDEX_UNSPECIFIED INT64_MIN
#define TERN_LINEAR_CROSS_ENTROPY_DEFAULTS_                                                        \
    .linear_bias = NULL, .weight = NULL, .ignore_index = TERN_IGNORE_INDEX_UNSPECIFIED,            \
    .label_smoothing = 0, .reduction = TERN_REDUCTION_MEAN
#define TERN_LINEAR_CROSS_ENTROPY_FIELDS_                                                          \
    3, 0, (input, linear_weight, target), (tensor, tensor, tensor)
TERN_API tern_linear_cross_entropy_options tern_linear_cross_entropy_defaults(void);
/// tern_cross_entropy(tern_linear(input, linear_weight, linear_bias, ..), target), a chunk of the
/// batch after the other: the logits of all of it never exist. With a reduction the forward makes
/// the gradients too (Hsu et al. 2024, Liger Kernel), which the backward multiplies by that of the
/// loss; without one the backward makes the logits again. 16-bit operands are computed in float32.
/// A target that requires a gradient needs all logits. Errors as tern_cross_entropy; an
/// ignore_index with probabilities is TERN_ERR_ARG.
TERN_API tern_tensor *tern_linear_cross_entropy_with(
    const tern_linear_cross_entropy_options *options);
#define tern_linear_cross_entropy(...)                                                             \
    TERN_WITH_(tern_linear_cross_entropy, tern_linear_cross_entropy, TERN_LINEAR_CROSS_ENTROPY,    \
               __VA_ARGS__)

/// `tern_nll_loss(tern_log_softmax(logits, 1), labels)`.
typedef struct tern_nll_loss_options {
    tern_tensor *weight;      ///< (C), of the input's dtype; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< logarithms of probabilities (N, C), (N, C, d1, ..) or (C)
    tern_tensor *target; ///< int64 labels (N), (N, d1, ..) or ()
} tern_nll_loss_options;
#define TERN_NLL_LOSS_DEFAULTS_                                                                    \
    .weight = NULL, .ignore_index = -100, .reduction = TERN_REDUCTION_MEAN
#define TERN_NLL_LOSS_FIELDS_ 2, 0, (input, target), (tensor, tensor)
TERN_API tern_nll_loss_options tern_nll_loss_defaults(void);
/// -weight[label] input[label]: tern_cross_entropy without its softmax, with the same mean and
/// errors.
TERN_API tern_tensor *tern_nll_loss_with(const tern_nll_loss_options *options);
#define tern_nll_loss(...) TERN_WITH_(tern_nll_loss, tern_nll_loss, TERN_NLL_LOSS, __VA_ARGS__)

/// `tern_binary_cross_entropy(p, t, .weight = weight)`.
typedef struct tern_weighted_loss_options {
    tern_tensor *weight;      ///< broadcasts to the input; NULL: all 1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape
    tern_tensor *target; ///< of its shape
} tern_weighted_loss_options;
#define TERN_WEIGHTED_LOSS_DEFAULTS_ .weight = NULL, .reduction = TERN_REDUCTION_MEAN
#define TERN_WEIGHTED_LOSS_FIELDS_   2, 0, (input, target), (tensor, tensor)
TERN_API tern_weighted_loss_options tern_weighted_loss_defaults(void);
/// -(target log(input) + (1 - target) log(1 - input)), logarithms not below -100. The slope in the
/// input is (input - target) / (input (1 - input)), its divisor not below 1e-12. Both inputs are
/// from 0 to 1, else TERN_ERR_ARG.
TERN_API tern_tensor *tern_binary_cross_entropy_with(const tern_weighted_loss_options *options);
#define tern_binary_cross_entropy(...)                                                             \
    TERN_WITH_(tern_binary_cross_entropy, tern_weighted_loss, TERN_WEIGHTED_LOSS, __VA_ARGS__)

/// `tern_binary_cross_entropy_with_logits(z, t, .pos_weight = weight)`.
typedef struct tern_bce_with_logits_options {
    tern_tensor *weight;      ///< broadcasts to the input; NULL: all 1
    tern_tensor *pos_weight;  ///< likewise: the weight of the target
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape
    tern_tensor *target; ///< of its shape
} tern_bce_with_logits_options;
#define TERN_BCE_WITH_LOGITS_DEFAULTS_                                                             \
    .weight = NULL, .pos_weight = NULL, .reduction = TERN_REDUCTION_MEAN
#define TERN_BCE_WITH_LOGITS_FIELDS_ 2, 0, (input, target), (tensor, tensor)
TERN_API tern_bce_with_logits_options tern_bce_with_logits_defaults(void);
/// -(pos_weight target log s(input) + (1 - target) log s(-input)), s the sigmoid, without overflow.
TERN_API tern_tensor *tern_binary_cross_entropy_with_logits_with(
    const tern_bce_with_logits_options *options);
#define tern_binary_cross_entropy_with_logits(...)                                                 \
    TERN_WITH_(tern_binary_cross_entropy_with_logits, tern_bce_with_logits, TERN_BCE_WITH_LOGITS,  \
               __VA_ARGS__)

/// `tern_kl_div(log_p, q, .reduction = TERN_REDUCTION_BATCHMEAN)`.
typedef struct tern_kl_div_options {
    bool log_target;          ///< the target too is a logarithm
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape
    tern_tensor *target; ///< of its shape
} tern_kl_div_options;
#define TERN_KL_DIV_DEFAULTS_ .log_target = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_KL_DIV_FIELDS_   2, 0, (input, target), (tensor, tensor)
TERN_API tern_kl_div_options tern_kl_div_defaults(void);
/// target (log target - input), input a logarithm: the Kullback-Leibler divergence if summed over
/// a distribution, which TERN_REDUCTION_BATCHMEAN does. A target of 0 gives 0, with gradient 0; one
/// below 0 is TERN_ERR_ARG. With log_target exp(target) (target - input).
TERN_API tern_tensor *tern_kl_div_with(const tern_kl_div_options *options);
#define tern_kl_div(...) TERN_WITH_(tern_kl_div, tern_kl_div, TERN_KL_DIV, __VA_ARGS__)

/// `tern_poisson_nll_loss(y, t, .log_input = false)`.
typedef struct tern_poisson_nll_loss_options {
    bool log_input;           ///< the input is the logarithm of the rate
    bool full;                ///< with Stirling's approximation of log(target!)
    double eps;               ///< added to a rate before its logarithm; above 0
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape
    tern_tensor *target; ///< of its shape
} tern_poisson_nll_loss_options;
#define TERN_POISSON_NLL_LOSS_DEFAULTS_                                                            \
    .log_input = true, .full = false, .eps = 1e-8, .reduction = TERN_REDUCTION_MEAN
#define TERN_POISSON_NLL_LOSS_FIELDS_ 2, 0, (input, target), (tensor, tensor)
TERN_API tern_poisson_nll_loss_options tern_poisson_nll_loss_defaults(void);
/// exp(input) - target input, or input - target log(input + eps); `full` adds target log(target) -
/// target + log(2 pi target) / 2 where target > 1. TERN_ERR_ARG unless eps > 0.
TERN_API tern_tensor *tern_poisson_nll_loss_with(const tern_poisson_nll_loss_options *options);
#define tern_poisson_nll_loss(...)                                                                 \
    TERN_WITH_(tern_poisson_nll_loss, tern_poisson_nll_loss, TERN_POISSON_NLL_LOSS, __VA_ARGS__)

/// `tern_gaussian_nll_loss(mean, t, var)`.
typedef struct tern_gaussian_nll_loss_options {
    bool full;                ///< with the constant log(2 pi) / 2
    double eps;               ///< the least variance that counts; above 0
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape: the mean
    tern_tensor *target; ///< of its shape
    tern_tensor *var;    ///< likewise, or of its shape but for a last size of 1, or without that
} tern_gaussian_nll_loss_options;
#define TERN_GAUSSIAN_NLL_LOSS_DEFAULTS_                                                           \
    .full = false, .eps = 1e-6, .reduction = TERN_REDUCTION_MEAN
#define TERN_GAUSSIAN_NLL_LOSS_FIELDS_ 3, 0, (input, target, var), (tensor, tensor, tensor)
TERN_API tern_gaussian_nll_loss_options tern_gaussian_nll_loss_defaults(void);
/// (log v + (input - target)^2 / v) / 2, v = max(var, eps) (Nix and Weigend 1994). The gradient in
/// var is that in v. A variance below 0 is TERN_ERR_ARG, as is an eps that is not above 0.
TERN_API tern_tensor *tern_gaussian_nll_loss_with(const tern_gaussian_nll_loss_options *options);
#define tern_gaussian_nll_loss(...)                                                                \
    TERN_WITH_(tern_gaussian_nll_loss, tern_gaussian_nll_loss, TERN_GAUSSIAN_NLL_LOSS, __VA_ARGS__)

// ---- margins ------------------------------------------------------------------------------------
// Where a margin is just kept, the gradient is 0.

/// log(1 + exp(-target input)), without overflow.
TERN_API tern_tensor *tern_soft_margin_loss(tern_tensor *input, tern_tensor *target,
                                            tern_reduction reduction);

/// `tern_hinge_embedding_loss(distance, t, .margin = 2)`.
typedef struct tern_hinge_embedding_loss_options {
    double margin;            ///< what the input is to be where the target is -1
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< of any shape: distances
    tern_tensor *target; ///< of its shape: 1 or -1
} tern_hinge_embedding_loss_options;
#define TERN_HINGE_EMBEDDING_LOSS_DEFAULTS_ .margin = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_HINGE_EMBEDDING_LOSS_FIELDS_   2, 0, (input, target), (tensor, tensor)
TERN_API tern_hinge_embedding_loss_options tern_hinge_embedding_loss_defaults(void);
/// input where the target is 1, max(0, margin - input) where it is -1, TERN_ERR_ARG for others. No
/// gradient flows to the target.
TERN_API tern_tensor *tern_hinge_embedding_loss_with(
    const tern_hinge_embedding_loss_options *options);
#define tern_hinge_embedding_loss(...)                                                             \
    TERN_WITH_(tern_hinge_embedding_loss, tern_hinge_embedding_loss, TERN_HINGE_EMBEDDING_LOSS,    \
               __VA_ARGS__)

/// `tern_margin_ranking_loss(a, b, t, .margin = 0.5)`.
typedef struct tern_margin_loss_options {
    double margin;            ///< by how much
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input1; ///< see the functions
    tern_tensor *input2; ///< of its shape
    tern_tensor *target; ///< 1 or -1, else TERN_ERR_ARG
} tern_margin_loss_options;
#define TERN_MARGIN_LOSS_DEFAULTS_ .margin = 0, .reduction = TERN_REDUCTION_MEAN
#define TERN_MARGIN_LOSS_FIELDS_   3, 0, (input1, input2, target), (tensor, tensor, tensor)
TERN_API tern_margin_loss_options tern_margin_loss_defaults(void);
/// max(0, margin - target (input1 - input2)), all of one shape: the target says which is to be the
/// larger.
TERN_API tern_tensor *tern_margin_ranking_loss_with(const tern_margin_loss_options *options);
#define tern_margin_ranking_loss(...)                                                              \
    TERN_WITH_(tern_margin_ranking_loss, tern_margin_loss, TERN_MARGIN_LOSS, __VA_ARGS__)

/// 1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1; input1 and
/// input2 (N, D) and target (N), or (D) and (). 1e-12 is added to squares of norms.
TERN_API tern_tensor *tern_cosine_embedding_loss_with(const tern_margin_loss_options *options);
#define tern_cosine_embedding_loss(...)                                                            \
    TERN_WITH_(tern_cosine_embedding_loss, tern_margin_loss, TERN_MARGIN_LOSS, __VA_ARGS__)

/// `tern_multi_margin_loss(scores, labels, .p = 2)`.
typedef struct tern_multi_margin_loss_options {
    tern_tensor *weight;      ///< (C), of the input's dtype; NULL: all 1
    int64_t p;                ///< 1 or 2, else TERN_ERR_ARG
    double margin;            ///< what the label is to be ahead by
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *input;  ///< scores (N, C) or (C)
    tern_tensor *target; ///< int64 labels (N) or ()
} tern_multi_margin_loss_options;
#define TERN_MULTI_MARGIN_LOSS_DEFAULTS_                                                           \
    .weight = NULL, .p = 1, .margin = 1, .reduction = TERN_REDUCTION_MEAN
#define TERN_MULTI_MARGIN_LOSS_FIELDS_ 2, 0, (input, target), (tensor, tensor)
TERN_API tern_multi_margin_loss_options tern_multi_margin_loss_defaults(void);
/// Sum over the other classes i of weight[t] max(0, margin - input[t] + input[i])^p / C, t the
/// label. One out of range is TERN_ERR_INDEX, found on the device.
TERN_API tern_tensor *tern_multi_margin_loss_with(const tern_multi_margin_loss_options *options);
#define tern_multi_margin_loss(...)                                                                \
    TERN_WITH_(tern_multi_margin_loss, tern_multi_margin_loss, TERN_MULTI_MARGIN_LOSS, __VA_ARGS__)

/// Likewise where a sample has several classes: the sum over those, t, and over the others, i, of
/// max(0, 1 - input[t] + input[i]) / C. input (N, C) or (C), target int64 of its shape: classes, up
/// to the first -1. One out of range is TERN_ERR_INDEX.
TERN_API tern_tensor *tern_multilabel_margin_loss(tern_tensor *input, tern_tensor *target,
                                                  tern_reduction reduction);
/// tern_binary_cross_entropy_with_logits of (.., C), of which the classes have their mean and the
/// samples, (..), the reduction.
TERN_API tern_tensor *tern_multilabel_soft_margin_loss_with(
    const tern_weighted_loss_options *options);
#define tern_multilabel_soft_margin_loss(...)                                                      \
    TERN_WITH_(tern_multilabel_soft_margin_loss, tern_weighted_loss, TERN_WEIGHTED_LOSS,           \
               __VA_ARGS__)

/// `tern_triplet_margin_loss(anchor, like, unlike, .swap = true)`.
typedef struct tern_triplet_margin_loss_options {
    double margin;            ///< above 0
    double p;                 ///< of the norm
    double eps;               ///< added to each difference
    bool swap;                ///< the distance from positive to negative, if that is smaller
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *anchor;   ///< (.., D)
    tern_tensor *positive; ///< of its shape
    tern_tensor *negative; ///< likewise
} tern_triplet_margin_loss_options;
#define TERN_TRIPLET_MARGIN_LOSS_DEFAULTS_                                                         \
    .margin = 1, .p = 2, .eps = 1e-6, .swap = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_TRIPLET_MARGIN_LOSS_FIELDS_                                                           \
    3, 0, (anchor, positive, negative), (tensor, tensor, tensor)
TERN_API tern_triplet_margin_loss_options tern_triplet_margin_loss_defaults(void);
/// max(0, margin + |anchor - positive + eps| - |anchor - negative + eps|), the p-norm over D
/// (Balntas et al. 2016). TERN_ERR_ARG unless margin > 0.
TERN_API tern_tensor *tern_triplet_margin_loss_with(
    const tern_triplet_margin_loss_options *options);
#define tern_triplet_margin_loss(...)                                                              \
    TERN_WITH_(tern_triplet_margin_loss, tern_triplet_margin_loss, TERN_TRIPLET_MARGIN_LOSS,       \
               __VA_ARGS__)

/// A distance of two batches, (.., D) to (..) as a rule; NULL on failure.
typedef tern_tensor *tern_distance_fn(tern_tensor *a, tern_tensor *b, void *user);
/// `tern_triplet_margin_with_distance_loss(a, p, n, .distance = mine)`.
typedef struct tern_triplet_distance_options {
    tern_distance_fn *distance; ///< NULL: |a - b + 1e-6|
    void *user;                 ///< handed to it
    double margin;              ///< above 0
    bool swap;                  ///< as tern_triplet_margin_loss has it
    tern_reduction reduction;   ///< what becomes of the losses
    char reserved_;
    tern_tensor *anchor;   ///< (.., D)
    tern_tensor *positive; ///< of its shape
    tern_tensor *negative; ///< likewise
} tern_triplet_distance_options;
#define TERN_TRIPLET_DISTANCE_DEFAULTS_                                                            \
    .distance = NULL, .user = NULL, .margin = 1, .swap = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_TRIPLET_DISTANCE_FIELDS_ 3, 0, (anchor, positive, negative), (tensor, tensor, tensor)
TERN_API tern_triplet_distance_options tern_triplet_distance_defaults(void);
/// tern_triplet_margin_loss of a distance of the caller's.
TERN_API tern_tensor *tern_triplet_margin_with_distance_loss_with(
    const tern_triplet_distance_options *options);
#define tern_triplet_margin_with_distance_loss(...)                                                \
    TERN_WITH_(tern_triplet_margin_with_distance_loss, tern_triplet_distance,                      \
               TERN_TRIPLET_DISTANCE, __VA_ARGS__)

// ---- sequences ----------------------------------------------------------------------------------

/// `tern_ctc_loss(log_probs, labels, input_lengths, target_lengths)`.
typedef struct tern_ctc_loss_options {
    int64_t blank;            ///< the class of no label
    bool zero_infinity;       ///< a sample whose labels do not fit in has a loss of 0
    tern_reduction reduction; ///< what becomes of the losses
    char reserved_;
    tern_tensor *log_probs;     ///< (T, N, C), or (T, C) of one sample: logarithms of probabilities
    tern_tensor *targets;       ///< int64 classes (N, S), or those of all samples in one row
    tern_tensor *input_lengths; ///< int64 (N), 0 to T; of one sample also ()
    tern_tensor *target_lengths; ///< likewise, 0 to S
} tern_ctc_loss_options;
#define TERN_CTC_LOSS_DEFAULTS_ .blank = 0, .zero_infinity = false, .reduction = TERN_REDUCTION_MEAN
#define TERN_CTC_LOSS_FIELDS_                                                                      \
    4, 0, (log_probs, targets, input_lengths, target_lengths), (tensor, tensor, tensor, tensor)
TERN_API tern_ctc_loss_options tern_ctc_loss_defaults(void);
/// -log of the probability of all ways together to write the targets into the input, with blanks
/// and repetitions between (Graves et al. 2006), computed in logarithms; 16 bits in float32. The
/// mean divides each loss by its number of labels, at least 1, and then by N. Where the labels do
/// not fit in, the loss is infinity and its gradient NaN, without zero_infinity. The gradient takes
/// for granted that log_probs are of tern_log_softmax. A target that is no class, or the blank, is
/// TERN_ERR_ARG, found on the device. So is a length out of range; they are read on the host, which
/// waits for a device that they are on.
TERN_API tern_tensor *tern_ctc_loss_with(const tern_ctc_loss_options *options);
#define tern_ctc_loss(...) TERN_WITH_(tern_ctc_loss, tern_ctc_loss, TERN_CTC_LOSS, __VA_ARGS__)

TERN_END_DECLS

#endif
