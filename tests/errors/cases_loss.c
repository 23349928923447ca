// SPDX-License-Identifier: Apache-2.0
// ops/loss.h and nn/loss.h, but for cross-entropy, squared and absolute errors.
#include "errors.h"

static tern_tensor *run(tern_module *criterion, tern_tensor *input, tern_tensor *target)
{
    tern_tensor *loss = tern_loss(criterion, input, target);
    tern_module_free(criterion);
    return loss;
}

static tern_tensor *run_3(tern_module *criterion, tern_tensor *a, tern_tensor *b, tern_tensor *c)
{
    tern_tensor *loss = tern_call(criterion, a, b, c);
    tern_module_free(criterion);
    return loss;
}

static tern_tensor *halves(void)
{
    return tern_full(tern_dims(2, 3), 0.5);
}

// ---- what all refuse ----------------------------------------------------------------------------

// LOSS(a, b, ..) calls tern_NAME of the first two tensors and the rest.
#define PAIR_OF(function, name, first, second, LOSS)                                               \
    NULL_AND_DEAD(function, name, first, LOSS(NULL, f->x), LOSS(f->dead, f->x))                    \
    NULL_AND_DEAD(function, name, second, LOSS(f->x, NULL), LOSS(f->x, f->dead))                   \
    REFUSES(function, "shapes that differ", TERN_ERR_SHAPE,                                        \
            name ": " first "|(2, 3)|" second "|(3,)", LOSS(f->x, f->vector))                      \
    REFUSES(function, "two dtypes", TERN_ERR_DTYPE,                                                \
            name ": " first " is float32 and " second " is float64", LOSS(f->x, f->doubles))       \
    REFUSES(function, "integers", TERN_ERR_DTYPE, name ": " first " is int64",                     \
            LOSS(f->ints, f->ints))                                                                \
    REFUSES(function, "operands on two devices", TERN_ERR_DEVICE,                                  \
            name ": " first " is on cpu:0 and " second " on cpu:1", LOSS(f->x, f->far))
#define BY_NAME(name, first, second, LOSS, reduced)                                                \
    PAIR_OF(tern_##name##_with, #name, first, second, LOSS)                                        \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))                                                              \
    REFUSES(tern_##name##_with, "a reduction that does not exist", TERN_ERR_ARG,                   \
            #name ": |reduction|9", reduced)
#define NO_REDUCTION .reduction = (tern_reduction)9
// A loss of a pair.
#define PAIR(name)                                                                                 \
    BY_NAME(name, "input", "target", tern_##name, tern_##name(f->x, f->x, NO_REDUCTION))
// A module of a pair.
#define MODULE_OF(name, says, run_it)                                                              \
    REFUSES(tern_nn_##name##_with, "options that are NULL", TERN_ERR_NULL,                         \
            "nn_" #name ": options is NULL", tern_nn_##name##_with(NULL))                          \
    REFUSES(tern_nn_##name##_with, "a reduction that does not exist", TERN_ERR_ARG,                \
            "nn_" #name ": |reduction|9", tern_nn_##name(NO_REDUCTION))                            \
    REFUSES(tern_nn_##name##_with, "shapes that differ", TERN_ERR_SHAPE, says, run_it)
#define MODULE(name, op, title)                                                                    \
    MODULE_OF(name, op ": input|(2, 3)|(3,)|[in " title "]", run(tern_nn_##name(), f->x, f->vector))

#define SOFT_MARGIN(a, b) tern_soft_margin_loss(a, b, TERN_REDUCTION_MEAN)
PAIR_OF(tern_soft_margin_loss, "soft_margin_loss", "input", "target", SOFT_MARGIN)
REFUSES(tern_soft_margin_loss, "a reduction that does not exist", TERN_ERR_ARG,
        "soft_margin_loss: |reduction|9", tern_soft_margin_loss(f->x, f->x, (tern_reduction)9))
REFUSES(tern_soft_margin_loss, "kl_div's reduction", TERN_ERR_ARG,
        "soft_margin_loss: |batchmean is kl_div's",
        tern_soft_margin_loss(f->x, f->x, TERN_REDUCTION_BATCHMEAN))
MODULE(soft_margin_loss, "soft_margin_loss", "SoftMarginLoss")
REFUSES(tern_nn_soft_margin_loss_with, "kl_div's reduction", TERN_ERR_ARG,
        "nn_soft_margin_loss: |batchmean is kl_div's",
        tern_nn_soft_margin_loss(.reduction = TERN_REDUCTION_BATCHMEAN))

// ---- distances ----------------------------------------------------------------------------------

PAIR(smooth_l1_loss)
MODULE(smooth_l1_loss, "smooth_l1_loss", "SmoothL1Loss")
REFUSES(tern_smooth_l1_loss_with, "a negative beta", TERN_ERR_ARG,
        "smooth_l1_loss: beta is -1|below 0", tern_smooth_l1_loss(f->x, f->x, .beta = -1))
REFUSES(tern_nn_smooth_l1_loss_with, "a negative beta", TERN_ERR_ARG,
        "nn_smooth_l1_loss: beta is -1|below 0", tern_nn_smooth_l1_loss(.beta = -1))
PAIR(huber_loss)
MODULE(huber_loss, "huber_loss", "HuberLoss")
REFUSES(tern_huber_loss_with, "a delta of 0", TERN_ERR_ARG, "huber_loss: delta is 0|above 0",
        tern_huber_loss(f->x, f->x, .delta = 0))
REFUSES(tern_nn_huber_loss_with, "a delta of 0", TERN_ERR_ARG, "nn_huber_loss: delta is 0|above 0",
        tern_nn_huber_loss(.delta = 0))

// ---- probabilities ------------------------------------------------------------------------------

PAIR(binary_cross_entropy)
MODULE(bce_loss, "binary_cross_entropy", "BCELoss")
REFUSES(tern_binary_cross_entropy_with, "an input above 1", TERN_ERR_ARG,
        "binary_cross_entropy: every probability must be from 0 to 1, but is not at element 1",
        tern_binary_cross_entropy(f->x, halves()))
REFUSES(tern_binary_cross_entropy_with, "a target above 1", TERN_ERR_ARG, "from 0 to 1|element 1",
        tern_binary_cross_entropy(halves(), f->x))
REFUSES(tern_binary_cross_entropy_with, "NaN", TERN_ERR_ARG, "from 0 to 1|element 0",
        tern_binary_cross_entropy(tern_full(tern_dims(2, 3), NAN), halves()))
REFUSES(tern_nn_bce_loss_with, "an input above 1", TERN_ERR_ARG, "from 0 to 1|[in BCELoss]",
        run(tern_nn_bce_loss(), f->x, halves()))
#define WEIGHT(name, weight, ...)                                                                  \
    NULL_AND_DEAD_WEIGHT(name, weight, __VA_ARGS__)                                                \
    REFUSES(tern_##name##_with, weight " that does not broadcast", TERN_ERR_SHAPE,                 \
            #name ": " weight " (4, 5) does not broadcast to input (2, 3)",                        \
            tern_##name(halves(), halves(), __VA_ARGS__ = f->wide))                                \
    REFUSES(tern_##name##_with, weight " of another dtype", TERN_ERR_DTYPE,                        \
            #name ": input is float32 and " weight " is float64",                                  \
            tern_##name(halves(), halves(), __VA_ARGS__ = f->doubles))
#define NULL_AND_DEAD_WEIGHT(name, weight, ...)                                                    \
    REFUSES(tern_##name##_with, weight " that died", TERN_ERR_STATE,                               \
            #name ": " weight " (float32 (2, 3), made by neg) died when its scope closed",         \
            tern_##name(halves(), halves(), __VA_ARGS__ = f->dead))
WEIGHT(binary_cross_entropy, "weight", .weight)
REFUSES(tern_nn_bce_loss_with, "a weight that died", TERN_ERR_STATE,
        "nn_bce_loss: weight (float32 (2, 3)", tern_nn_bce_loss(.weight = f->dead))
REFUSES(tern_nn_bce_loss_with, "a weight of integers", TERN_ERR_DTYPE,
        "nn_bce_loss: weight|int64|floating", tern_nn_bce_loss(.weight = f->ints))
REFUSES(tern_nn_bce_loss_with, "an input on another device than its weight", TERN_ERR_DEVICE,
        "criterion's weight is on cpu:0|input on cpu:1|tern_module_to(criterion|[in BCELoss]",
        run(tern_nn_bce_loss(.weight = f->vector), f->far, f->far))

PAIR(binary_cross_entropy_with_logits)
MODULE(bce_with_logits_loss, "binary_cross_entropy_with_logits", "BCEWithLogitsLoss")
WEIGHT(binary_cross_entropy_with_logits, "weight", .weight)
WEIGHT(binary_cross_entropy_with_logits, "pos_weight", .pos_weight)
REFUSES(tern_nn_bce_with_logits_loss_with, "weights that died", TERN_ERR_STATE,
        "nn_bce_with_logits_loss: weight (float32 (2, 3)",
        tern_nn_bce_with_logits_loss(.weight = f->dead))
REFUSES(tern_nn_bce_with_logits_loss_with, "a pos_weight that died", TERN_ERR_STATE,
        "nn_bce_with_logits_loss: pos_weight (float32 (2, 3)",
        tern_nn_bce_with_logits_loss(.pos_weight = f->dead))
REFUSES(tern_nn_bce_with_logits_loss_with, "an input of another dtype than its pos_weight",
        TERN_ERR_DTYPE, "criterion's pos_weight is float32|float64|[in BCEWithLogitsLoss]",
        run(tern_nn_bce_with_logits_loss(.pos_weight = f->vector), f->doubles, f->doubles))

PAIR(kl_div)
MODULE(kl_div_loss, "kl_div", "KLDivLoss")
REFUSES(tern_kl_div_with, "a target below 0", TERN_ERR_ARG,
        "kl_div: target must be 0 or more, but is not at element 0",
        tern_kl_div(f->x, tern_neg(f->x)))
REFUSES(tern_kl_div_with, "the mean over a batch that is not there", TERN_ERR_SHAPE,
        "kl_div: input has no dimensions|batchmean",
        tern_kl_div(f->scalar, f->scalar, .reduction = TERN_REDUCTION_BATCHMEAN))
REFUSES(tern_kl_div_with, "a NULL whose batch is asked for", TERN_ERR_NULL, "kl_div: input is NULL",
        tern_kl_div(NULL, f->x, .reduction = TERN_REDUCTION_BATCHMEAN))
TAKES(tern_kl_div_with, "any target that is a logarithm",
      tern_kl_div(f->x, tern_neg(f->x), .log_target = true) != NULL)

PAIR(poisson_nll_loss)
MODULE(poisson_nll_loss, "poisson_nll_loss", "PoissonNLLLoss")
REFUSES(tern_poisson_nll_loss_with, "an eps of 0", TERN_ERR_ARG,
        "poisson_nll_loss: eps is 0|above 0", tern_poisson_nll_loss(f->x, f->x, .eps = 0))
REFUSES(tern_nn_poisson_nll_loss_with, "an eps of 0", TERN_ERR_ARG,
        "nn_poisson_nll_loss: eps is 0|above 0", tern_nn_poisson_nll_loss(.eps = 0))

#define GAUSSIAN(a, b) tern_gaussian_nll_loss(a, b, tern_ones(tern_dims(2, 3)))
BY_NAME(gaussian_nll_loss, "input", "target", GAUSSIAN,
        tern_gaussian_nll_loss(f->x, f->x, f->x, NO_REDUCTION))
NULL_AND_DEAD(tern_gaussian_nll_loss_with, "gaussian_nll_loss", "var",
              tern_gaussian_nll_loss(f->x, f->x, NULL), tern_gaussian_nll_loss(f->x, f->x, f->dead))
MODULE_OF(gaussian_nll_loss, "gaussian_nll_loss: input|(2, 3)|(3,)|[in GaussianNLLLoss]",
          run_3(tern_nn_gaussian_nll_loss(), f->x, f->vector, f->x))
REFUSES(tern_gaussian_nll_loss_with, "a variance of another shape", TERN_ERR_SHAPE,
        "gaussian_nll_loss: input (2, 3) and var (3,)",
        tern_gaussian_nll_loss(f->x, f->x, f->vector))
REFUSES(tern_gaussian_nll_loss_with, "a negative variance", TERN_ERR_ARG,
        "gaussian_nll_loss: var must be 0 or more, but is not at element 0",
        tern_gaussian_nll_loss(f->x, f->x, tern_neg(f->x)))
REFUSES(tern_gaussian_nll_loss_with, "an eps of 0", TERN_ERR_ARG,
        "gaussian_nll_loss: eps is 0|above 0", tern_gaussian_nll_loss(f->x, f->x, f->x, .eps = 0))
REFUSES(tern_nn_gaussian_nll_loss_with, "an eps of 0", TERN_ERR_ARG,
        "nn_gaussian_nll_loss: eps is 0|above 0", tern_nn_gaussian_nll_loss(.eps = 0))
REFUSES(tern_nn_gaussian_nll_loss_with, "two tensors", TERN_ERR_ARG,
        "GaussianNLLLoss takes 3 tensors, not 2", run(tern_nn_gaussian_nll_loss(), f->x, f->x))

// ---- margins ------------------------------------------------------------------------------------

PAIR(hinge_embedding_loss)
MODULE(hinge_embedding_loss, "hinge_embedding_loss", "HingeEmbeddingLoss")
REFUSES(tern_hinge_embedding_loss_with, "a target that is neither 1 nor -1", TERN_ERR_ARG,
        "hinge_embedding_loss: target must be 1 or -1, but is not at element 1",
        tern_hinge_embedding_loss(f->x, f->x))
#define RANKING(a, b) tern_margin_ranking_loss(a, b, tern_ones(tern_dims(2, 3)))
BY_NAME(margin_ranking_loss, "input1", "input2", RANKING,
        tern_margin_ranking_loss(f->x, f->x, f->x, NO_REDUCTION))
NULL_AND_DEAD(tern_margin_ranking_loss_with, "margin_ranking_loss", "target",
              tern_margin_ranking_loss(f->x, f->x, NULL),
              tern_margin_ranking_loss(f->x, f->x, f->dead))
MODULE_OF(margin_ranking_loss, "margin_ranking_loss: input1|(2, 3)|(3,)|[in MarginRankingLoss]",
          run_3(tern_nn_margin_ranking_loss(), f->x, f->vector, f->x))
REFUSES(tern_margin_ranking_loss_with, "a target of another shape", TERN_ERR_SHAPE,
        "margin_ranking_loss: input1 (2, 3) and target (3,)",
        tern_margin_ranking_loss(f->x, f->x, f->vector))
REFUSES(tern_margin_ranking_loss_with, "a target that is neither 1 nor -1", TERN_ERR_ARG,
        "margin_ranking_loss: target must be 1 or -1, but is not at element 1",
        tern_margin_ranking_loss(f->x, f->x, f->x))

#define EMBEDDING(a, b) tern_cosine_embedding_loss(a, b, tern_ones(tern_dims(2)))
BY_NAME(cosine_embedding_loss, "input1", "input2", EMBEDDING,
        tern_cosine_embedding_loss(f->x, f->x, tern_ones(tern_dims(2)), NO_REDUCTION))
NULL_AND_DEAD(tern_cosine_embedding_loss_with, "cosine_embedding_loss", "target",
              tern_cosine_embedding_loss(f->x, f->x, NULL),
              tern_cosine_embedding_loss(f->x, f->x, f->dead))
REFUSES(tern_cosine_embedding_loss_with, "a target of another shape", TERN_ERR_SHAPE,
        "cosine_embedding_loss: input1 (2, 3) and target (3,)",
        tern_cosine_embedding_loss(f->x, f->x, f->vector))
REFUSES(tern_cosine_embedding_loss_with, "a target that is neither 1 nor -1", TERN_ERR_ARG,
        "cosine_embedding_loss: target must be 1 or -1, but is not at element 0",
        tern_cosine_embedding_loss(f->x, f->x, tern_zeros(tern_dims(2))))
MODULE_OF(cosine_embedding_loss, "cosine_embedding_loss: input1|(2, 3)|(3,)",
          run_3(tern_nn_cosine_embedding_loss(), f->x, f->vector, f->x))

#define TRIPLET(name, title)                                                                       \
    PAIR_OF(tern_##name##_with, #name, "anchor", "positive", TRIPLET_OF_##name)                    \
    NULL_AND_DEAD(tern_##name##_with, #name, "negative", tern_##name(f->x, f->x, NULL),            \
                  tern_##name(f->x, f->x, f->dead))                                                \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))                                                              \
    REFUSES(tern_##name##_with, "a reduction that does not exist", TERN_ERR_ARG,                   \
            #name ": |reduction|9", tern_##name(f->x, f->x, f->x, NO_REDUCTION))                   \
    REFUSES(tern_##name##_with, "a negative of another shape", TERN_ERR_SHAPE,                     \
            #name ": anchor (2, 3) and negative (3,)", tern_##name(f->x, f->x, f->vector))         \
    REFUSES(tern_##name##_with, "a margin of 0", TERN_ERR_ARG, #name ": margin is 0|above 0",      \
            tern_##name(f->x, f->x, f->x, .margin = 0))                                            \
    REFUSES(tern_nn_##name##_with, "a margin of 0", TERN_ERR_ARG,                                  \
            "nn_" #name ": margin is 0|above 0", tern_nn_##name(.margin = 0))                      \
    MODULE_OF(name, #name ": anchor|(2, 3)|(3,)|[in " title "]",                                   \
              run_3(tern_nn_##name(), f->x, f->vector, f->x))
#define TRIPLET_OF_triplet_margin_loss(a, b) tern_triplet_margin_loss(a, b, f->x)
#define TRIPLET_OF_triplet_margin_with_distance_loss(a, b)                                         \
    tern_triplet_margin_with_distance_loss(a, b, f->x)
TRIPLET(triplet_margin_loss, "TripletMarginLoss")
TRIPLET(triplet_margin_with_distance_loss, "TripletMarginWithDistanceLoss")
REFUSES(tern_triplet_margin_loss_with, "a p that is no number", TERN_ERR_ARG,
        "triplet_margin_loss: p is nan", tern_triplet_margin_loss(f->x, f->x, f->x, .p = NAN))

static tern_tensor *no_distance(tern_tensor *a, tern_tensor *b, void *user)
{
    (void)a, (void)b, (void)user;
    tern_error_raise(TERN_ERR_NUMERIC, "no distance");
    return NULL;
}
REFUSES(tern_triplet_margin_with_distance_loss_with, "a distance that fails", TERN_ERR_NUMERIC,
        "no distance",
        tern_triplet_margin_with_distance_loss(f->x, f->x, f->x, .distance = no_distance))

// ---- classes ------------------------------------------------------------------------------------

// LOSS(input, target) of scores and classes.
#define CLASSES(function, name, LOSS)                                                              \
    NULL_AND_DEAD(function, name, "input", LOSS(NULL, f->labels), LOSS(f->dead, f->labels))        \
    NULL_AND_DEAD(function, name, "target", LOSS(f->x, NULL), LOSS(f->x, f->dead))                 \
    REFUSES(function, "scores that are integers", TERN_ERR_DTYPE, name ": input is |int64",        \
            LOSS(f->ints, f->labels))                                                              \
    REFUSES(function, "targets that are numbers", TERN_ERR_DTYPE, name ": target is |int64",       \
            LOSS(f->x, f->x))                                                                      \
    REFUSES(function, "targets of another shape", TERN_ERR_SHAPE,                                  \
            name ": input (4, 5) and target (2,)|of this input are (4", LOSS(f->wide, f->labels))  \
    REFUSES(function, "operands on two devices", TERN_ERR_DEVICE, name ": |cpu:0|cpu:1",           \
            LOSS(f->far, f->labels))
#define WEIGHED(name)                                                                              \
    CLASSES(tern_##name##_with, #name, tern_##name)                                                \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))                                                              \
    REFUSES(tern_##name##_with, "a reduction that does not exist", TERN_ERR_ARG,                   \
            #name ": |reduction|9", tern_##name(f->x, f->labels, NO_REDUCTION))                    \
    REFUSES(tern_##name##_with, "a weight that died", TERN_ERR_STATE,                              \
            #name ": weight (float32 (2, 3), made by neg) died",                                   \
            tern_##name(f->x, f->labels, .weight = f->dead))                                       \
    REFUSES(tern_##name##_with, "a weight of another size", TERN_ERR_SHAPE,                        \
            #name ": input (2, 3) has 3 classes and weight is (2, 3)",                             \
            tern_##name(f->x, f->labels, .weight = f->x))                                          \
    REFUSES(tern_##name##_with, "a weight of another dtype", TERN_ERR_DTYPE,                       \
            #name ": input is float32 and weight is float64",                                      \
            tern_##name(f->x, f->labels, .weight = f->doubles))                                    \
    REFUSES(tern_##name##_with, "a label that is no class", TERN_ERR_INDEX,                        \
            #name ": label of sample 1 is 2, but must be 0 to 1",                                  \
            tern_##name(tern_zeros(tern_dims(2, 2)), f->labels))                                   \
    REFUSES(tern_nn_##name##_with, "a weight of two dimensions", TERN_ERR_SHAPE,                   \
            "nn_" #name ": weight|(2, 3)|classes", tern_nn_##name(.weight = f->x))                 \
    MODULE_OF(name, #name ": input|(4, 5)|(2,)", run(tern_nn_##name(), f->wide, f->labels))
WEIGHED(nll_loss)
REFUSES(tern_nn_nll_loss_with, "a weight that died", TERN_ERR_STATE, "nn_nll_loss: weight",
        tern_nn_nll_loss(.weight = f->dead))
WEIGHED(multi_margin_loss)
REFUSES(tern_nn_multi_margin_loss_with, "a weight that died", TERN_ERR_STATE,
        "nn_multi_margin_loss: weight", tern_nn_multi_margin_loss(.weight = f->dead))
REFUSES(tern_multi_margin_loss_with, "a p of 3", TERN_ERR_ARG,
        "multi_margin_loss: p is 3, but must be 1 or 2",
        tern_multi_margin_loss(f->x, f->labels, .p = 3))
REFUSES(tern_nn_multi_margin_loss_with, "a p of 3", TERN_ERR_ARG,
        "nn_multi_margin_loss: p is 3, but must be 1 or 2", tern_nn_multi_margin_loss(.p = 3))
REFUSES(tern_multi_margin_loss_with, "three dimensions", TERN_ERR_SHAPE,
        "multi_margin_loss: input is (1, 1, 1, 1, 1, 1, 1, 1)|(N, C)",
        tern_multi_margin_loss(f->deep, f->labels))
#define LISTS(a, b) tern_multilabel_margin_loss(a, b, TERN_REDUCTION_MEAN)
CLASSES(tern_multilabel_margin_loss, "multilabel_margin_loss", LISTS)
REFUSES(tern_multilabel_margin_loss, "a reduction that does not exist", TERN_ERR_ARG,
        "multilabel_margin_loss: |reduction|9",
        tern_multilabel_margin_loss(f->x, f->ints, (tern_reduction)9))
REFUSES(tern_multilabel_margin_loss, "a class that does not exist", TERN_ERR_INDEX,
        "multilabel_margin_loss: target 0 is 3, but must be 0 to 2",
        LISTS(f->x, tern_full(tern_dims(2, 3), 3, .dtype = TERN_INT64)))
MODULE_OF(multi_label_margin_loss, "multilabel_margin_loss: input|(4, 5)|(2,)",
          run(tern_nn_multi_label_margin_loss(), f->wide, f->labels))
PAIR(multilabel_soft_margin_loss)
WEIGHT(multilabel_soft_margin_loss, "weight", .weight)
MODULE(multi_label_soft_margin_loss, "multilabel_soft_margin_loss", "MultiLabelSoftMarginLoss")
REFUSES(tern_nn_multi_label_soft_margin_loss_with, "a weight that died", TERN_ERR_STATE,
        "nn_multi_label_soft_margin_loss: weight",
        tern_nn_multi_label_soft_margin_loss(.weight = f->dead))
REFUSES(tern_multilabel_soft_margin_loss_with, "no dimensions", TERN_ERR_SHAPE,
        "multilabel_soft_margin_loss: input has no dimensions",
        tern_multilabel_soft_margin_loss(f->scalar, f->scalar))

// ---- sequences ----------------------------------------------------------------------------------

// Numbers of one dimension.
static tern_tensor *numbers(int64_t a, int64_t b)
{
    return tern_from_data(tern_dims(2), ((int64_t[]){a, b}));
}

// Three times, two samples, four classes.
static tern_tensor *log_probs(void)
{
    return tern_zeros(tern_dims(3, 2, 4));
}

static tern_tensor *labels(void)
{
    return tern_ones(tern_dims(2, 1), .dtype = TERN_INT64);
}

#define CTC(...) tern_ctc_loss(log_probs(), labels(), __VA_ARGS__)
NULL_AND_DEAD(tern_ctc_loss_with, "ctc_loss", "log_probs",
              tern_ctc_loss(NULL, labels(), numbers(3, 3), numbers(1, 1)),
              tern_ctc_loss(f->dead, labels(), numbers(3, 3), numbers(1, 1)))
NULL_AND_DEAD(tern_ctc_loss_with, "ctc_loss", "targets",
              tern_ctc_loss(log_probs(), NULL, numbers(3, 3), numbers(1, 1)),
              tern_ctc_loss(log_probs(), f->dead, numbers(3, 3), numbers(1, 1)))
NULL_AND_DEAD(tern_ctc_loss_with, "ctc_loss", "input_lengths", CTC(NULL, numbers(1, 1)),
              CTC(f->dead, numbers(1, 1)))
NULL_AND_DEAD(tern_ctc_loss_with, "ctc_loss", "target_lengths", CTC(numbers(3, 3), NULL),
              CTC(numbers(3, 3), f->dead))
REFUSES(tern_ctc_loss_with, "options that are NULL", TERN_ERR_NULL, "ctc_loss: options is NULL",
        tern_ctc_loss_with(NULL))
REFUSES(tern_ctc_loss_with, "a reduction that does not exist", TERN_ERR_ARG,
        "ctc_loss: |reduction|9", CTC(numbers(3, 3), numbers(1, 1), NO_REDUCTION))
REFUSES(tern_ctc_loss_with, "integers", TERN_ERR_DTYPE, "ctc_loss: log_probs is int64",
        tern_ctc_loss(f->ints, labels(), numbers(3, 3), numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "one dimension", TERN_ERR_SHAPE,
        "ctc_loss: log_probs is (3,)|(T, N, C)",
        tern_ctc_loss(f->vector, labels(), numbers(3, 3), numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "targets that are numbers", TERN_ERR_DTYPE,
        "ctc_loss: targets is float32|int64",
        tern_ctc_loss(log_probs(), f->x, numbers(3, 3), numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "targets of another batch", TERN_ERR_SHAPE,
        "ctc_loss: log_probs (3, 2, 4) and targets (4, 1)",
        tern_ctc_loss(log_probs(), tern_ones(tern_dims(4, 1), .dtype = TERN_INT64), numbers(3, 3),
                      numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "a blank that is no class", TERN_ERR_ARG,
        "ctc_loss: blank is 4, but must be a class, 0 to 3",
        CTC(numbers(3, 3), numbers(1, 1), .blank = 4))
REFUSES(tern_ctc_loss_with, "lengths that are numbers", TERN_ERR_DTYPE,
        "ctc_loss: input_lengths is float32, but must be int64", CTC(f->vector, numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "lengths of another batch", TERN_ERR_SHAPE,
        "ctc_loss: target_lengths is (2, 3)|2 samples", CTC(numbers(3, 3), f->ints))
REFUSES(tern_ctc_loss_with, "more times than there are", TERN_ERR_ARG,
        "ctc_loss: input_lengths of sample 1 is 4, but must be 0 to 3",
        CTC(numbers(3, 4), numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "more labels than there are", TERN_ERR_ARG,
        "ctc_loss: target_lengths of sample 0 is 2, but must be 0 to 1",
        CTC(numbers(3, 3), numbers(2, 1)))
REFUSES(tern_ctc_loss_with, "a length below 0", TERN_ERR_ARG,
        "ctc_loss: target_lengths of sample 1 is -1", CTC(numbers(3, 3), numbers(1, -1)))
REFUSES(tern_ctc_loss_with, "labels that are left over", TERN_ERR_SHAPE,
        "ctc_loss: targets has 2 labels and target_lengths 1 together",
        tern_ctc_loss(log_probs(), f->labels, numbers(3, 3), numbers(1, 0)))
REFUSES(tern_ctc_loss_with, "a label that is no class", TERN_ERR_ARG,
        "ctc_loss: every target must be a class other than the blank, but is not at element 1",
        tern_ctc_loss(log_probs(), numbers(1, 4), numbers(3, 3), numbers(1, 1)))
REFUSES(tern_ctc_loss_with, "the blank as a label", TERN_ERR_ARG,
        "ctc_loss: every target must be a class other than the blank, but is not at element 0",
        tern_ctc_loss(log_probs(), numbers(0, 1), numbers(3, 3), numbers(1, 1)))
REFUSES(tern_nn_ctc_loss_with, "options that are NULL", TERN_ERR_NULL,
        "nn_ctc_loss: options is NULL", tern_nn_ctc_loss_with(NULL))
REFUSES(tern_nn_ctc_loss_with, "a reduction that does not exist", TERN_ERR_ARG,
        "nn_ctc_loss: |reduction|9", tern_nn_ctc_loss(NO_REDUCTION))
REFUSES(tern_nn_ctc_loss_with, "two tensors", TERN_ERR_ARG, "CTCLoss takes 4 tensors, not 2",
        run(tern_nn_ctc_loss(), f->x, f->labels))
