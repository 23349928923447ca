// SPDX-License-Identifier: Apache-2.0
#include "golden_calls.h"

#include <string.h>

#include "operations.h"

typedef void call_fn(tern_tensor *const *in, const golden_words *w, tern_tensor **out);

#define CALL(name, ...)                                                                            \
    static void call_##name(tern_tensor *const *in, const golden_words *w, tern_tensor **out)      \
    {                                                                                              \
        (void)w;                                                                                   \
        out[0] = __VA_ARGS__;                                                                      \
    }
#define ONE(name, ...) CALL(name, tern_##name(in[0]))
#define TWO(name, ...) CALL(name, tern_##name(in[0], in[1]))
#define SCALAR(name)   CALL(name, tern_##name(in[0], w->value))
#define REDUCED(name)  CALL(name, tern_##name(in[0], w->axes, w->keepdim))

// clang-format off
#define FOR_SCALAR(X) X(add_scalar) X(sub_scalar) X(mul_scalar) X(div_scalar) X(pow_scalar)        \
    X(eq_scalar) X(ne_scalar) X(lt_scalar) X(le_scalar) X(gt_scalar) X(ge_scalar)
#define FOR_REDUCED(X) X(sum) X(mean) X(amax) X(amin) X(any) X(all)
OPERATIONS_OF_1(ONE)
OPERATIONS_OF_2(TWO)
FOR_SCALAR(SCALAR)
FOR_REDUCED(REDUCED)
// clang-format on

CALL(leaky_relu, tern_leaky_relu(in[0], w->negative_slope))
CALL(softplus, tern_softplus(in[0], w->beta, w->threshold))
CALL(gelu, tern_gelu(in[0]))
CALL(gelu_tanh, tern_gelu(in[0], .approximate = TERN_APPROXIMATE_TANH))
CALL(elu, tern_elu(in[0], w->alpha))
CALL(celu, tern_celu(in[0], w->alpha))
CALL(hardshrink, tern_hardshrink(in[0], w->lambd))
CALL(softshrink, tern_softshrink(in[0], w->lambd))
CALL(hardtanh, tern_hardtanh(in[0], w->low, w->high))
CALL(threshold, tern_threshold(in[0], w->threshold, w->value))
CALL(rrelu, tern_rrelu(in[0], w->lower, w->upper))
CALL(glu, tern_glu(in[0], w->dim))
CALL(softmin, tern_softmin(in[0], w->dim))
CALL(pixel_shuffle, tern_pixel_shuffle(in[0], w->factor))
CALL(pixel_unshuffle, tern_pixel_unshuffle(in[0], w->factor))
CALL(channel_shuffle, tern_channel_shuffle(in[0], w->factor))
CALL(normalize, tern_normalize(in[0], .p = w->p, .dim = w->dim, .eps = w->eps))
CALL(clamp, tern_clamp(in[0], w->low, w->high))
CALL(where, tern_where(in[0], in[1], in[2]))
CALL(masked_fill, tern_masked_fill(in[0], in[1], w->value))
CALL(var, tern_var(in[0], w->axes, w->correction, w->keepdim))
CALL(std, tern_std(in[0], w->axes, w->correction, w->keepdim))
CALL(norm, tern_norm(in[0], w->p, w->axes, w->keepdim))
CALL(max, tern_max(in[0], w->dim, w->keepdim, &out[1]))
CALL(min, tern_min(in[0], w->dim, w->keepdim, &out[1]))
CALL(argmax, tern_argmax(in[0], w->dim, w->keepdim))
CALL(argmin, tern_argmin(in[0], w->dim, w->keepdim))
CALL(cumsum, tern_cumsum(in[0], w->dim))
CALL(sort, tern_sort(in[0], w->dim, w->descending, &out[1]))
CALL(argsort, tern_argsort(in[0], w->dim, w->descending))
CALL(topk, tern_topk(in[0], w->k, w->dim, w->largest, &out[1]))
CALL(linear, tern_linear(in[0], in[1], in[2], w->activation))
CALL(softmax, tern_softmax(in[0], w->dim))
CALL(log_softmax, tern_log_softmax(in[0], w->dim))
CALL(cross_entropy,
     tern_cross_entropy(in[0], in[1], .weight = in[2], .ignore_index = w->ignore_index,
                        .label_smoothing = w->label_smoothing, .reduction = w->reduction))
CALL(linear_cross_entropy,
     tern_linear_cross_entropy(in[0], in[1], in[2], .linear_bias = in[3], .weight = in[4],
                               .ignore_index = w->ignore_index ? w->ignore_index
                                                               : TERN_IGNORE_INDEX_UNSPECIFIED,
                               .label_smoothing = w->label_smoothing, .reduction = w->reduction))
CALL(mse_loss, tern_mse_loss(in[0], in[1], w->reduction))
CALL(l1_loss, tern_l1_loss(in[0], in[1], w->reduction))
#define PAIR_LOSS(name, ...)                                                                       \
    CALL(name, tern_##name(in[0], in[1], __VA_ARGS__, .reduction = w->reduction))
CALL(soft_margin_loss, tern_soft_margin_loss(in[0], in[1], w->reduction))
PAIR_LOSS(smooth_l1_loss, .beta = w->beta)
PAIR_LOSS(huber_loss, .delta = w->delta)
PAIR_LOSS(binary_cross_entropy, .weight = in[2])
PAIR_LOSS(binary_cross_entropy_with_logits, .weight = in[2], .pos_weight = in[3])
PAIR_LOSS(kl_div, .log_target = w->log_target)
PAIR_LOSS(poisson_nll_loss, .log_input = w->log_input, .full = w->full, .eps = w->eps)
PAIR_LOSS(gaussian_nll_loss, in[2], .full = w->full, .eps = w->eps)
PAIR_LOSS(hinge_embedding_loss, .margin = w->margin)
PAIR_LOSS(margin_ranking_loss, in[2], .margin = w->margin)
PAIR_LOSS(nll_loss, .weight = in[2], .ignore_index = w->ignore_index)
PAIR_LOSS(multi_margin_loss, .weight = in[2], .p = (int64_t)w->p, .margin = w->margin)
PAIR_LOSS(multilabel_soft_margin_loss, .weight = in[2])
PAIR_LOSS(cosine_embedding_loss, in[2], .margin = w->margin)
PAIR_LOSS(triplet_margin_loss, in[2], .margin = w->margin, .p = w->p, .eps = w->eps,
          .swap = w->swap)
PAIR_LOSS(triplet_margin_with_distance_loss, in[2], .margin = w->margin, .swap = w->swap)
CALL(multilabel_margin_loss, tern_multilabel_margin_loss(in[0], in[1], w->reduction))
CALL(ctc_loss, tern_ctc_loss(tern_log_softmax(in[0], -1), in[1], tern_to(in[2], tern_cpu(0)),
                             tern_to(in[3], tern_cpu(0)), .blank = w->blank,
                             .zero_infinity = w->zero_infinity, .reduction = w->reduction))
CALL(gather, tern_gather(in[0], w->dim, in[1]))
CALL(index_select, tern_index_select(in[0], w->dim, in[1]))
CALL(one_hot, tern_one_hot(in[0], w->classes))
CALL(to_dtype, tern_to_dtype(in[0], w->dtype))

typedef struct entry {
    const char *op;
    call_fn *call;
} entry;

#define ENTRY(name)       {#name, call_##name},
#define LISTED(name, ...) ENTRY(name)
// clang-format off
static const entry entries[] = {
    OPERATIONS_OF_1(LISTED) OPERATIONS_OF_2(LISTED) FOR_SCALAR(ENTRY) FOR_REDUCED(ENTRY)
    ENTRY(gelu) ENTRY(gelu_tanh) ENTRY(elu) ENTRY(celu) ENTRY(hardshrink) ENTRY(softshrink)
    ENTRY(hardtanh) ENTRY(threshold) ENTRY(rrelu) ENTRY(glu) ENTRY(softmin) ENTRY(pixel_shuffle)
    ENTRY(pixel_unshuffle) ENTRY(channel_shuffle) ENTRY(normalize)
    ENTRY(leaky_relu) ENTRY(softplus) ENTRY(clamp) ENTRY(where) ENTRY(masked_fill) ENTRY(var)
    ENTRY(std) ENTRY(norm) ENTRY(max) ENTRY(min) ENTRY(argmax) ENTRY(argmin) ENTRY(cumsum)
    ENTRY(linear) ENTRY(softmax) ENTRY(log_softmax) ENTRY(cross_entropy)
    ENTRY(linear_cross_entropy) ENTRY(mse_loss)
    ENTRY(l1_loss) ENTRY(smooth_l1_loss) ENTRY(huber_loss) ENTRY(binary_cross_entropy)
    ENTRY(binary_cross_entropy_with_logits) ENTRY(kl_div) ENTRY(poisson_nll_loss)
    ENTRY(gaussian_nll_loss) ENTRY(soft_margin_loss) ENTRY(hinge_embedding_loss)
    ENTRY(margin_ranking_loss) ENTRY(nll_loss) ENTRY(multi_margin_loss)
    ENTRY(multilabel_margin_loss) ENTRY(multilabel_soft_margin_loss) ENTRY(cosine_embedding_loss)
    ENTRY(triplet_margin_loss) ENTRY(triplet_margin_with_distance_loss) ENTRY(ctc_loss)
    ENTRY(gather) ENTRY(index_select) ENTRY(one_hot) ENTRY(to_dtype) ENTRY(sort) ENTRY(argsort)
    ENTRY(topk)
};
// clang-format on

bool golden_call(const char *op, tern_tensor *const *in, const golden_words *words,
                 tern_tensor **out)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].op, op) != 0)
            continue;
        entries[i].call(in, words, out);
        return true;
    }
    return false;
}
