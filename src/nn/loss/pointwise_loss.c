// SPDX-License-Identifier: Apache-2.0
// Losses that keep their options and call the operation: a table, a line of which is class, call
// and constructor.
#include "nn/loss/weight.h"

typedef struct pointwise_loss {
    tern_module base;
    tern_tensor *weight, *pos_weight; // broadcast to the input; NULL: all 1
    tern_reduction reduction;
    double margin, eps, number; // number: beta or delta
    double p;                   // of a norm
    int64_t power;
    bool full, log; // log: the input or the target is a logarithm
    bool swap, zero_infinity;
    int64_t label; // ignored, or the blank
    tern_distance_fn *distance;
    void *user;
} pointwise_loss;

static tern_status begin(const pointwise_loss *self, const char *loss, const tern_tensors *in,
                         int count)
{
    TERN_TRY(tern_layer_inputs(&self->base, in, count));
    TERN_TRY(tern_loss_match_weight(loss, "weight", self->weight, in->at[0]));
    return tern_loss_match_weight(loss, "pos_weight", self->pos_weight, in->at[0]);
}

// A module as `kept`, whose weights are the caller's.
static tern_module *make(const tern_module_class *klass, const char *function,
                         const pointwise_loss *kept)
{
    if (tern_loss_check_weight(function, "weight", kept->weight) ||
        tern_loss_check_weight(function, "pos_weight", kept->pos_weight))
        return NULL;
    pointwise_loss *self = (pointwise_loss *)tern_module_new(klass);
    if (!self)
        return NULL;
    tern_module base = self->base;
    *self = *kept;
    self->base = base;
    self->weight = self->pos_weight = NULL;
    tern_buffer(self, weight, tern_loss_copy_weight(kept->weight));
    tern_buffer(self, pos_weight, tern_loss_copy_weight(kept->pos_weight));
    return tern_module_done(&self->base);
}

// tern_nn_LOSS_with(o), o of a family: PyTorch's name, how many tensors it takes, a check of the
// options, what is kept of them besides the reduction, and the loss of the tensors in[0], in[1] ..
#define LOSS(loss, family, title, count, check, kept, ...)                                         \
    static tern_status call_##loss(tern_module *module, const tern_tensors *tensors,               \
                                   tern_tensors *out)                                              \
    {                                                                                              \
        const pointwise_loss *self = (const pointwise_loss *)module;                               \
        tern_tensor *const *in = tensors->at;                                                      \
        TERN_TRY(begin(self, #loss, tensors, count));                                              \
        return tern_layer_output(out, __VA_ARGS__);                                                \
    }                                                                                              \
    tern_module *tern_nn_##loss##_with(const tern_nn_##family##_options *o)                        \
    {                                                                                              \
        static const char *const function = "nn_" #loss;                                           \
        static const tern_module_class klass = {                                                   \
            .name = title, .size = sizeof(pointwise_loss), .call = call_##loss};                   \
        if (!o)                                                                                    \
            return (void)tern_null_error(function, "options"), NULL;                               \
        if (check)                                                                                 \
            return NULL;                                                                           \
        return make(&klass, function,                                                              \
                    &(pointwise_loss){.reduction = o->reduction, TERN_ARGUMENTS_ kept});           \
    }
#define REDUCTION      tern_loss_reduction(function, o->reduction)
#define ABOVE_0(field) tern_loss_above_0(function, #field, o->field)
#define NOTHING        (.weight = NULL)

// clang-format off
LOSS(mse_loss, loss, "MSELoss", 2, REDUCTION, NOTHING,
     tern_mse_loss(in[0], in[1], self->reduction))
LOSS(l1_loss, loss, "L1Loss", 2, REDUCTION, NOTHING,
     tern_l1_loss(in[0], in[1], self->reduction))
LOSS(soft_margin_loss, loss, "SoftMarginLoss", 2, REDUCTION, NOTHING,
     tern_soft_margin_loss(in[0], in[1], self->reduction))
LOSS(smooth_l1_loss, smooth_l1_loss, "SmoothL1Loss", 2,
     REDUCTION || tern_loss_not_below_0(function, "beta", o->beta), (.number = o->beta),
     tern_smooth_l1_loss(in[0], in[1], .beta = self->number, .reduction = self->reduction))
LOSS(huber_loss, huber_loss, "HuberLoss", 2, REDUCTION || ABOVE_0(delta), (.number = o->delta),
     tern_huber_loss(in[0], in[1], .delta = self->number, .reduction = self->reduction))
LOSS(bce_loss, weighted_loss, "BCELoss", 2, REDUCTION, (.weight = o->weight),
     tern_binary_cross_entropy(in[0], in[1], .weight = self->weight,
                               .reduction = self->reduction))
LOSS(bce_with_logits_loss, bce_with_logits_loss, "BCEWithLogitsLoss", 2, REDUCTION,
     (.weight = o->weight, .pos_weight = o->pos_weight),
     tern_binary_cross_entropy_with_logits(in[0], in[1], .weight = self->weight,
                                           .pos_weight = self->pos_weight,
                                           .reduction = self->reduction))
LOSS(kl_div_loss, kl_div_loss, "KLDivLoss", 2,
     o->reduction != TERN_REDUCTION_BATCHMEAN && REDUCTION, (.log = o->log_target),
     tern_kl_div(in[0], in[1], .log_target = self->log, .reduction = self->reduction))
LOSS(poisson_nll_loss, poisson_nll_loss, "PoissonNLLLoss", 2, REDUCTION || ABOVE_0(eps),
     (.log = o->log_input, .full = o->full, .eps = o->eps),
     tern_poisson_nll_loss(in[0], in[1], .log_input = self->log, .full = self->full,
                           .eps = self->eps, .reduction = self->reduction))
LOSS(gaussian_nll_loss, gaussian_nll_loss, "GaussianNLLLoss", 3, REDUCTION || ABOVE_0(eps),
     (.full = o->full, .eps = o->eps),
     tern_gaussian_nll_loss(in[0], in[1], in[2], .full = self->full, .eps = self->eps,
                            .reduction = self->reduction))
LOSS(hinge_embedding_loss, hinge_embedding_loss, "HingeEmbeddingLoss", 2, REDUCTION,
     (.margin = o->margin),
     tern_hinge_embedding_loss(in[0], in[1], .margin = self->margin,
                               .reduction = self->reduction))
LOSS(margin_ranking_loss, margin_loss, "MarginRankingLoss", 3, REDUCTION, (.margin = o->margin),
     tern_margin_ranking_loss(in[0], in[1], in[2], .margin = self->margin,
                              .reduction = self->reduction))
LOSS(cosine_embedding_loss, margin_loss, "CosineEmbeddingLoss", 3, REDUCTION,
     (.margin = o->margin),
     tern_cosine_embedding_loss(in[0], in[1], in[2], .margin = self->margin,
                                .reduction = self->reduction))
LOSS(triplet_margin_loss, triplet_margin_loss, "TripletMarginLoss", 3,
     REDUCTION || ABOVE_0(margin),
     (.margin = o->margin, .p = o->p, .eps = o->eps, .swap = o->swap),
     tern_triplet_margin_loss(in[0], in[1], in[2], .margin = self->margin, .p = self->p,
                              .eps = self->eps, .swap = self->swap, .reduction = self->reduction))
LOSS(triplet_margin_with_distance_loss, triplet_distance, "TripletMarginWithDistanceLoss", 3,
     REDUCTION || ABOVE_0(margin),
     (.margin = o->margin, .swap = o->swap, .distance = o->distance, .user = o->user),
     tern_triplet_margin_with_distance_loss(in[0], in[1], in[2], .distance = self->distance,
                                            .user = self->user, .margin = self->margin,
                                            .swap = self->swap, .reduction = self->reduction))
LOSS(nll_loss, nll_loss, "NLLLoss", 2,
     REDUCTION || tern_loss_check_class_weight(function, o->weight),
     (.weight = o->weight, .label = o->ignore_index),
     tern_nll_loss(in[0], in[1], .weight = self->weight, .ignore_index = self->label,
                   .reduction = self->reduction))
LOSS(multi_margin_loss, multi_margin_loss, "MultiMarginLoss", 2,
     REDUCTION || tern_loss_check_class_weight(function, o->weight) ||
         tern_loss_check_power(function, o->p),
     (.weight = o->weight, .power = o->p, .margin = o->margin),
     tern_multi_margin_loss(in[0], in[1], .weight = self->weight, .p = self->power,
                            .margin = self->margin, .reduction = self->reduction))
LOSS(multi_label_margin_loss, loss, "MultiLabelMarginLoss", 2, REDUCTION, NOTHING,
     tern_multilabel_margin_loss(in[0], in[1], self->reduction))
LOSS(multi_label_soft_margin_loss, weighted_loss, "MultiLabelSoftMarginLoss", 2, REDUCTION,
     (.weight = o->weight),
     tern_multilabel_soft_margin_loss(in[0], in[1], .weight = self->weight,
                                      .reduction = self->reduction))
LOSS(ctc_loss, ctc_loss, "CTCLoss", 4, REDUCTION,
     (.label = o->blank, .zero_infinity = o->zero_infinity),
     tern_ctc_loss(in[0], in[1], in[2], in[3], .blank = self->label,
                   .zero_infinity = self->zero_infinity, .reduction = self->reduction))
// clang-format on
