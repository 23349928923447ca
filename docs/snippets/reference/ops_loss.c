// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/ops/loss.h, for the site.
#include "examples.h"

static tern_tensor *largest(tern_tensor *a, tern_tensor *b, void *user)
{
    (void)user;
    return tern_amax(tern_abs(tern_sub(a, b)), tern_axes(-1), false);
}

static void show_cross_entropy(void)
{
    tern_tensor *logits = tern_zeros(tern_dims(2, 10));
    // [tern_cross_entropy]
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 7}));
    tern_tensor *loss = tern_cross_entropy(logits, labels, .label_smoothing = 0.1);
    // [/tern_cross_entropy]
    expect(near(tern_item(loss), 2.302585)); // log 10
}

static void show_linear_cross_entropy(void)
{
    tern_tensor *hidden = tern_zeros(tern_dims(2, 4)), *vocabulary = tern_ones(tern_dims(10, 4));
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 7}));
    // [tern_linear_cross_entropy]
    tern_tensor *loss = tern_linear_cross_entropy(hidden, vocabulary, labels, .ignore_index = 0);
    // [/tern_linear_cross_entropy]
    expect(near(tern_item(loss), 2.302585)); // log 10
}

static void show_smooth_l1_loss(void)
{
    // [tern_smooth_l1_loss]
    tern_tensor *y = tern_full(tern_dims(4), 3.0), *t = tern_zeros(tern_dims(4));
    tern_tensor *loss = tern_smooth_l1_loss(y, t, .beta = 0.5);
    // [/tern_smooth_l1_loss]
    expect(near(tern_item(loss), 2.75));
}

static void show_huber_loss(void)
{
    // [tern_huber_loss]
    tern_tensor *y = tern_full(tern_dims(4), 3.0), *t = tern_zeros(tern_dims(4));
    tern_tensor *loss = tern_huber_loss(y, t, .delta = 0.5);
    // [/tern_huber_loss]
    expect(near(tern_item(loss), 1.375));
}

static void show_binary_cross_entropy(void)
{
    // [tern_binary_cross_entropy]
    tern_tensor *p = tern_full(tern_dims(4, 2), 0.5), *t = tern_ones(tern_dims(4, 2));
    tern_tensor *weight = tern_full(tern_dims(2), 2.0);
    tern_tensor *loss = tern_binary_cross_entropy(p, t, .weight = weight);
    // [/tern_binary_cross_entropy]
    expect(near(tern_item(loss), 1.386294));
}

static void show_binary_cross_entropy_with_logits(void)
{
    // [tern_binary_cross_entropy_with_logits]
    tern_tensor *z = tern_zeros(tern_dims(4, 2)), *t = tern_ones(tern_dims(4, 2));
    tern_tensor *weight = tern_full(tern_dims(2), 2.0);
    tern_tensor *loss = tern_binary_cross_entropy_with_logits(z, t, .pos_weight = weight);
    // [/tern_binary_cross_entropy_with_logits]
    expect(near(tern_item(loss), 1.386294));
}

static void show_kl_div(void)
{
    // [tern_kl_div]
    tern_tensor *log_p = tern_log_softmax(tern_zeros(tern_dims(4, 2)), 1);
    tern_tensor *q = tern_from_data(tern_dims(4, 2), ((float[]){1, 0, 0, 1, 1, 0, 0, 1}));
    tern_tensor *loss = tern_kl_div(log_p, q, .reduction = TERN_REDUCTION_BATCHMEAN);
    // [/tern_kl_div]
    expect(near(tern_item(loss), 0.693147));
}

static void show_poisson_nll_loss(void)
{
    // [tern_poisson_nll_loss]
    tern_tensor *rate = tern_ones(tern_dims(4)), *count = tern_ones(tern_dims(4));
    tern_tensor *loss = tern_poisson_nll_loss(rate, count, .log_input = false);
    // [/tern_poisson_nll_loss]
    expect(near(tern_item(loss), 1));
}

static void show_gaussian_nll_loss(void)
{
    // [tern_gaussian_nll_loss]
    tern_tensor *mean = tern_zeros(tern_dims(4)), *t = tern_ones(tern_dims(4));
    tern_tensor *loss = tern_gaussian_nll_loss(mean, t, tern_ones(tern_dims(4)));
    // [/tern_gaussian_nll_loss]
    expect(near(tern_item(loss), 0.5));
}

static void show_hinge_embedding_loss(void)
{
    // [tern_hinge_embedding_loss]
    tern_tensor *distance = tern_ones(tern_dims(4)), *t = tern_full(tern_dims(4), -1.0);
    tern_tensor *loss = tern_hinge_embedding_loss(distance, t, .margin = 3);
    // [/tern_hinge_embedding_loss]
    expect(near(tern_item(loss), 2));
}

static void show_margin_ranking_loss(void)
{
    // [tern_margin_ranking_loss]
    tern_tensor *a = tern_ones(tern_dims(4)), *b = tern_zeros(tern_dims(4));
    tern_tensor *first = tern_ones(tern_dims(4)); // a is to be the larger
    tern_tensor *loss = tern_margin_ranking_loss(a, b, first, .margin = 1.5);
    // [/tern_margin_ranking_loss]
    expect(near(tern_item(loss), 0.5));
}

static void show_nll_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 0}));
    // [tern_nll_loss]
    tern_tensor *log_probs = tern_log_softmax(scores, 1);
    tern_tensor *loss = tern_nll_loss(log_probs, labels);
    // [/tern_nll_loss]
    expect(near(tern_item(loss), 1.386294));
}

static void show_multi_margin_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 0}));
    // [tern_multi_margin_loss]
    tern_tensor *loss = tern_multi_margin_loss(scores, labels, .p = 2);
    // [/tern_multi_margin_loss]
    expect(near(tern_item(loss), 0.75));
}

static void show_cosine_embedding_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3)), *like = tern_ones(tern_dims(2));
    // [tern_cosine_embedding_loss]
    tern_tensor *loss = tern_cosine_embedding_loss(a, tern_neg(a), like);
    // [/tern_cosine_embedding_loss]
    expect(near(tern_item(loss), 2));
}

static void show_triplet_margin_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3)), *b = tern_zeros(tern_dims(2, 3));
    // [tern_triplet_margin_loss]
    tern_tensor *loss = tern_triplet_margin_loss(a, b, a, .p = 1, .eps = 0);
    // [/tern_triplet_margin_loss]
    expect(near(tern_item(loss), 4));
}

static void show_triplet_margin_with_distance_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3)), *b = tern_zeros(tern_dims(2, 3));
    // [tern_triplet_margin_with_distance_loss]
    tern_tensor *loss = tern_triplet_margin_with_distance_loss(a, b, a, .distance = largest);
    // [/tern_triplet_margin_with_distance_loss]
    expect(near(tern_item(loss), 2));
}

static void show_ctc_loss(void)
{
    tern_tensor *log_probs = tern_log_softmax(tern_zeros(tern_dims(1, 1, 2)), 2);
    tern_tensor *labels = tern_ones(tern_dims(1, 1), .dtype = TERN_INT64);
    tern_tensor *one = tern_ones(tern_dims(1), .dtype = TERN_INT64);
    // [tern_ctc_loss]
    tern_tensor *loss = tern_ctc_loss(log_probs, labels, one, one);
    // [/tern_ctc_loss]
    expect(near(tern_item(loss), 0.693147));
}

static void show_multilabel_soft_margin_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    // [tern_multilabel_soft_margin_loss]
    tern_tensor *loss = tern_multilabel_soft_margin_loss(scores, tern_ones(tern_dims(2, 4)));
    // [/tern_multilabel_soft_margin_loss]
    expect(near(tern_item(loss), 0.693147));
}

int ops_loss_examples(void)
{
    show_cross_entropy();
    show_linear_cross_entropy();
    show_smooth_l1_loss();
    show_huber_loss();
    show_binary_cross_entropy();
    show_binary_cross_entropy_with_logits();
    show_kl_div();
    show_poisson_nll_loss();
    show_gaussian_nll_loss();
    show_hinge_embedding_loss();
    show_margin_ranking_loss();
    show_nll_loss();
    show_multi_margin_loss();
    show_cosine_embedding_loss();
    show_triplet_margin_loss();
    show_triplet_margin_with_distance_loss();
    show_ctc_loss();
    show_multilabel_soft_margin_loss();
    return failures;
}
