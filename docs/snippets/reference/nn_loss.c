// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/loss.h, for the site.
#include "examples.h"

static tern_tensor *largest(tern_tensor *a, tern_tensor *b, void *user)
{
    (void)user;
    return tern_amax(tern_abs(tern_sub(a, b)), tern_axes(-1), false);
}

static void show_nn_cross_entropy_loss(void)
{
    tern_tensor *logits = tern_randn(tern_dims(8, 10)), *labels = tern_randint(0, 10, tern_dims(8));
    // [tern_nn_cross_entropy_loss]
    tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
    tern_tensor *loss = tern_loss(criterion, logits, labels);
    // [/tern_nn_cross_entropy_loss]
    expect(tern_rank(loss) == 0 && tern_item(loss) > 0);
    tern_module_free(criterion);
}

static void show_nn_linear_cross_entropy_loss(void)
{
    tern_tensor *hidden = tern_zeros(tern_dims(2, 4));
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 7}));
    // [tern_nn_linear_cross_entropy_loss]
    tern_module *criterion = tern_nn_linear_cross_entropy_loss(4, 10, .label_smoothing = 0.1);
    tern_tensor *loss = tern_loss(criterion, hidden, labels);
    // [/tern_nn_linear_cross_entropy_loss]
    expect(near(tern_item(loss), 2.302585)); // log 10
    tern_module_free(criterion);
}

static void show_nn_mse_loss(void)
{
    tern_tensor *guess = tern_ones(tern_dims(2, 2)), *target = tern_zeros(tern_dims(2, 2));
    // [tern_nn_mse_loss]
    tern_module *criterion = tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM);
    tern_tensor *loss = tern_loss(criterion, guess, target);
    // [/tern_nn_mse_loss]
    expect(near(tern_item(loss), 4));
    tern_module_free(criterion);
}

static void show_nn_l1_loss(void)
{
    tern_tensor *guess = tern_ones(tern_dims(2, 2)), *target = tern_zeros(tern_dims(2, 2));
    // [tern_nn_l1_loss]
    tern_module *criterion = tern_nn_l1_loss(.reduction = TERN_REDUCTION_SUM);
    tern_tensor *loss = tern_loss(criterion, guess, target);
    // [/tern_nn_l1_loss]
    expect(near(tern_item(loss), 4));
    tern_module_free(criterion);
}

static void show_nn_soft_margin_loss(void)
{
    tern_tensor *y = tern_zeros(tern_dims(4)), *sign = tern_ones(tern_dims(4));
    // [tern_nn_soft_margin_loss]
    tern_module *criterion = tern_nn_soft_margin_loss();
    tern_tensor *loss = tern_loss(criterion, y, sign);
    // [/tern_nn_soft_margin_loss]
    expect(near(tern_item(loss), 0.693147));
    tern_module_free(criterion);
}

static void show_nn_smooth_l1_loss(void)
{
    tern_tensor *y = tern_full(tern_dims(4), 3.0), *t = tern_zeros(tern_dims(4));
    // [tern_nn_smooth_l1_loss]
    tern_module *criterion = tern_nn_smooth_l1_loss(.beta = 0.5);
    tern_tensor *loss = tern_loss(criterion, y, t);
    // [/tern_nn_smooth_l1_loss]
    expect(near(tern_item(loss), 2.75));
    tern_module_free(criterion);
}

static void show_nn_huber_loss(void)
{
    tern_tensor *y = tern_full(tern_dims(4), 3.0), *t = tern_zeros(tern_dims(4));
    // [tern_nn_huber_loss]
    tern_module *criterion = tern_nn_huber_loss(.delta = 0.5);
    tern_tensor *loss = tern_loss(criterion, y, t);
    // [/tern_nn_huber_loss]
    expect(near(tern_item(loss), 1.375));
    tern_module_free(criterion);
}

static void show_nn_bce_loss(void)
{
    tern_tensor *p = tern_full(tern_dims(4, 2), 0.5), *t = tern_ones(tern_dims(4, 2));
    // [tern_nn_bce_loss]
    tern_module *criterion = tern_nn_bce_loss(.weight = tern_full(tern_dims(2), 2.0));
    tern_tensor *loss = tern_loss(criterion, p, t);
    // [/tern_nn_bce_loss]
    expect(near(tern_item(loss), 1.386294));
    tern_module_free(criterion);
}

static void show_nn_bce_with_logits_loss(void)
{
    tern_tensor *z = tern_zeros(tern_dims(4, 2)), *t = tern_ones(tern_dims(4, 2));
    // [tern_nn_bce_with_logits_loss]
    tern_module *criterion =
        tern_nn_bce_with_logits_loss(.pos_weight = tern_full(tern_dims(2), 2.0));
    tern_tensor *loss = tern_loss(criterion, z, t);
    // [/tern_nn_bce_with_logits_loss]
    expect(near(tern_item(loss), 1.386294));
    tern_module_free(criterion);
}

static void show_nn_kl_div_loss(void)
{
    tern_tensor *log_p = tern_log_softmax(tern_zeros(tern_dims(4, 2)), 1);
    tern_tensor *q = tern_full(tern_dims(4, 2), 0.5);
    // [tern_nn_kl_div_loss]
    tern_module *criterion = tern_nn_kl_div_loss(.reduction = TERN_REDUCTION_BATCHMEAN);
    tern_tensor *loss = tern_loss(criterion, log_p, q);
    // [/tern_nn_kl_div_loss]
    expect(near(tern_item(loss), 0));
    tern_module_free(criterion);
}

static void show_nn_poisson_nll_loss(void)
{
    tern_tensor *log_rate = tern_zeros(tern_dims(4)), *count = tern_ones(tern_dims(4));
    // [tern_nn_poisson_nll_loss]
    tern_module *criterion = tern_nn_poisson_nll_loss(.full = true);
    tern_tensor *loss = tern_loss(criterion, log_rate, count);
    // [/tern_nn_poisson_nll_loss]
    expect(near(tern_item(loss), 1));
    tern_module_free(criterion);
}

static void show_nn_gaussian_nll_loss(void)
{
    tern_tensor *mean = tern_zeros(tern_dims(4)), *t = tern_ones(tern_dims(4));
    tern_tensor *variance = tern_ones(tern_dims(4));
    // [tern_nn_gaussian_nll_loss]
    tern_module *criterion = tern_nn_gaussian_nll_loss(.eps = 1e-4);
    tern_tensor *loss = tern_call(criterion, mean, t, variance);
    // [/tern_nn_gaussian_nll_loss]
    expect(near(tern_item(loss), 0.5));
    tern_module_free(criterion);
}

static void show_nn_hinge_embedding_loss(void)
{
    tern_tensor *distance = tern_ones(tern_dims(4)), *sign = tern_full(tern_dims(4), -1.0);
    // [tern_nn_hinge_embedding_loss]
    tern_module *criterion = tern_nn_hinge_embedding_loss(.margin = 3);
    tern_tensor *loss = tern_loss(criterion, distance, sign);
    // [/tern_nn_hinge_embedding_loss]
    expect(near(tern_item(loss), 2));
    tern_module_free(criterion);
}

static void show_nn_margin_ranking_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(4)), *b = tern_zeros(tern_dims(4));
    tern_tensor *first = tern_ones(tern_dims(4)); // a is to be the larger
    // [tern_nn_margin_ranking_loss]
    tern_module *criterion = tern_nn_margin_ranking_loss(.margin = 1.5);
    tern_tensor *loss = tern_call(criterion, a, b, first);
    // [/tern_nn_margin_ranking_loss]
    expect(near(tern_item(loss), 0.5));
    tern_module_free(criterion);
}

static void show_nn_nll_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 0}));
    // [tern_nn_nll_loss]
    tern_module *criterion = tern_nn_nll_loss(.ignore_index = 0);
    tern_tensor *loss = tern_loss(criterion, tern_log_softmax(scores, 1), labels);
    // [/tern_nn_nll_loss]
    expect(near(tern_item(loss), 1.386294));
    tern_module_free(criterion);
}

static void show_nn_multi_margin_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 0}));
    // [tern_nn_multi_margin_loss]
    tern_module *criterion = tern_nn_multi_margin_loss(.p = 2);
    tern_tensor *loss = tern_loss(criterion, scores, labels);
    // [/tern_nn_multi_margin_loss]
    expect(near(tern_item(loss), 0.75));
    tern_module_free(criterion);
}

static void show_nn_multi_label_margin_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    // [tern_nn_multi_label_margin_loss]
    tern_tensor *classes = tern_from_data(tern_dims(2, 4), ((int64_t[]){3, 0, -1, 0, 1, -1, 0, 0}));
    tern_module *criterion = tern_nn_multi_label_margin_loss();
    tern_tensor *loss = tern_loss(criterion, scores, classes);
    // [/tern_nn_multi_label_margin_loss]
    expect(near(tern_item(loss), 0.875));
    tern_module_free(criterion);
}

static void show_nn_multi_label_soft_margin_loss(void)
{
    tern_tensor *scores = tern_zeros(tern_dims(2, 4));
    // [tern_nn_multi_label_soft_margin_loss]
    tern_module *criterion = tern_nn_multi_label_soft_margin_loss();
    tern_tensor *loss = tern_loss(criterion, scores, tern_ones(tern_dims(2, 4)));
    // [/tern_nn_multi_label_soft_margin_loss]
    expect(near(tern_item(loss), 0.693147));
    tern_module_free(criterion);
}

static void show_nn_cosine_embedding_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3)), *like = tern_ones(tern_dims(2));
    // [tern_nn_cosine_embedding_loss]
    tern_module *criterion = tern_nn_cosine_embedding_loss();
    tern_tensor *loss = tern_call(criterion, a, tern_neg(a), like);
    // [/tern_nn_cosine_embedding_loss]
    expect(near(tern_item(loss), 2));
    tern_module_free(criterion);
}

static void show_nn_triplet_margin_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3)), *b = tern_zeros(tern_dims(2, 3));
    // [tern_nn_triplet_margin_loss]
    tern_module *criterion = tern_nn_triplet_margin_loss(.p = 1, .eps = 0);
    tern_tensor *loss = tern_call(criterion, a, b, a);
    // [/tern_nn_triplet_margin_loss]
    expect(near(tern_item(loss), 4));
    tern_module_free(criterion);
}

static void show_nn_triplet_margin_with_distance_loss(void)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3)), *b = tern_zeros(tern_dims(2, 3));
    // [tern_nn_triplet_margin_with_distance_loss]
    tern_module *criterion = tern_nn_triplet_margin_with_distance_loss(.distance = largest);
    tern_tensor *loss = tern_call(criterion, a, b, a);
    // [/tern_nn_triplet_margin_with_distance_loss]
    expect(near(tern_item(loss), 2));
    tern_module_free(criterion);
}

static void show_nn_ctc_loss(void)
{
    tern_tensor *log_probs = tern_log_softmax(tern_zeros(tern_dims(1, 1, 2)), 2);
    tern_tensor *labels = tern_ones(tern_dims(1, 1), .dtype = TERN_INT64);
    tern_tensor *one = tern_ones(tern_dims(1), .dtype = TERN_INT64);
    // [tern_nn_ctc_loss]
    tern_module *criterion = tern_nn_ctc_loss(.zero_infinity = true);
    tern_tensor *loss = tern_call(criterion, log_probs, labels, one, one);
    // [/tern_nn_ctc_loss]
    expect(near(tern_item(loss), 0.693147));
    tern_module_free(criterion);
}

int nn_loss_examples(void)
{
    show_nn_cross_entropy_loss();
    show_nn_linear_cross_entropy_loss();
    show_nn_mse_loss();
    show_nn_l1_loss();
    show_nn_soft_margin_loss();
    show_nn_smooth_l1_loss();
    show_nn_huber_loss();
    show_nn_bce_loss();
    show_nn_bce_with_logits_loss();
    show_nn_kl_div_loss();
    show_nn_poisson_nll_loss();
    show_nn_gaussian_nll_loss();
    show_nn_hinge_embedding_loss();
    show_nn_margin_ranking_loss();
    show_nn_nll_loss();
    show_nn_multi_margin_loss();
    show_nn_multi_label_margin_loss();
    show_nn_multi_label_soft_margin_loss();
    show_nn_cosine_embedding_loss();
    show_nn_triplet_margin_loss();
    show_nn_triplet_margin_with_distance_loss();
    show_nn_ctc_loss();
    return failures;
}
