// SPDX-License-Identifier: Apache-2.0
// The modules of nn/loss.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_LOSS_H
#define TERN_TESTS_SUPPORT_MODULES_LOSS_H

#define LOSS_ROW tern_linspace(0.5, 2, 3)
// clang-format off
#define MODULES_LOSS_OF_NUMBERS(MODULE)                                                            \
    MODULE(cross_entropy_loss, cross_entropy_loss, tern_nn_cross_entropy_loss())                   \
    MODULE(cross_entropy_loss_weighted, cross_entropy_loss, tern_nn_cross_entropy_loss(.weight =   \
           tern_linspace(0.5, 2, 3), .label_smoothing = 0.1))                                      \
    MODULE(linear_cross_entropy_loss, linear_cross_entropy_loss,                                   \
           tern_nn_linear_cross_entropy_loss(3, 4))                                                \
    MODULE(linear_cross_entropy_loss_full, linear_cross_entropy_loss,                              \
           tern_nn_linear_cross_entropy_loss(3, 3, .out_features = tern_dims(2), .bias = true,     \
               .weight = LOSS_ROW, .ignore_index = 1, .label_smoothing = 0.1,                      \
               .reduction = TERN_REDUCTION_NONE))                                                  \
    MODULE(mse_loss, mse_loss, tern_nn_mse_loss())                                                 \
    MODULE(mse_loss_sum, mse_loss, tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM))              \
    MODULE(l1_loss, l1_loss, tern_nn_l1_loss())                                                    \
    MODULE(l1_loss_none, l1_loss, tern_nn_l1_loss(.reduction = TERN_REDUCTION_NONE))               \
    MODULE(soft_margin_loss, soft_margin_loss, tern_nn_soft_margin_loss())                         \
    MODULE(soft_margin_loss_sum, soft_margin_loss,                                                 \
           tern_nn_soft_margin_loss(.reduction = TERN_REDUCTION_SUM))                              \
    MODULE(smooth_l1_loss, smooth_l1_loss, tern_nn_smooth_l1_loss())                               \
    MODULE(smooth_l1_loss_none, smooth_l1_loss,                                                    \
           tern_nn_smooth_l1_loss(.beta = 0.5, .reduction = TERN_REDUCTION_NONE))                  \
    MODULE(huber_loss, huber_loss, tern_nn_huber_loss())                                           \
    MODULE(huber_loss_sum, huber_loss,                                                             \
           tern_nn_huber_loss(.delta = 0.5, .reduction = TERN_REDUCTION_SUM))                      \
    MODULE(bce_loss, bce_loss, tern_nn_bce_loss())                                                 \
    MODULE(bce_loss_weighted, bce_loss,                                                            \
           tern_nn_bce_loss(.weight = LOSS_ROW, .reduction = TERN_REDUCTION_SUM))                  \
    MODULE(bce_with_logits_loss, bce_with_logits_loss, tern_nn_bce_with_logits_loss())             \
    MODULE(bce_with_logits_loss_weighted, bce_with_logits_loss,                                    \
           tern_nn_bce_with_logits_loss(.weight = LOSS_ROW, .pos_weight = tern_linspace(2, 0.5, 3),\
                                        .reduction = TERN_REDUCTION_NONE))                         \
    MODULE(kl_div_loss, kl_div_loss, tern_nn_kl_div_loss())                                        \
    MODULE(kl_div_loss_batchmean, kl_div_loss,                                                     \
           tern_nn_kl_div_loss(.log_target = true, .reduction = TERN_REDUCTION_BATCHMEAN))         \
    MODULE(poisson_nll_loss, poisson_nll_loss, tern_nn_poisson_nll_loss())                         \
    MODULE(poisson_nll_loss_full, poisson_nll_loss,                                                \
           tern_nn_poisson_nll_loss(.log_input = false, .full = true, .eps = 0.5,                  \
                                    .reduction = TERN_REDUCTION_SUM))                              \
    MODULE(gaussian_nll_loss, gaussian_nll_loss, tern_nn_gaussian_nll_loss())                      \
    MODULE(gaussian_nll_loss_full, gaussian_nll_loss,                                              \
           tern_nn_gaussian_nll_loss(.full = true, .eps = 0.5, .reduction = TERN_REDUCTION_NONE))  \
    MODULE(hinge_embedding_loss, hinge_embedding_loss, tern_nn_hinge_embedding_loss())             \
    MODULE(hinge_embedding_loss_sum, hinge_embedding_loss,                                         \
           tern_nn_hinge_embedding_loss(.margin = 0.5, .reduction = TERN_REDUCTION_SUM))           \
    MODULE(margin_ranking_loss, margin_ranking_loss, tern_nn_margin_ranking_loss())                \
    MODULE(margin_ranking_loss_none, margin_ranking_loss,                                          \
           tern_nn_margin_ranking_loss(.margin = 0.5, .reduction = TERN_REDUCTION_NONE))
#define MODULES_LOSS_OF_CLASSES(MODULE)                                                            \
    MODULE(nll_loss, nll_loss, tern_nn_nll_loss())                                                 \
    MODULE(nll_loss_weighted, nll_loss,                                                            \
           tern_nn_nll_loss(.weight = LOSS_ROW, .ignore_index = 2,                                 \
                            .reduction = TERN_REDUCTION_SUM))                                      \
    MODULE(multi_margin_loss, multi_margin_loss, tern_nn_multi_margin_loss())                      \
    MODULE(multi_margin_loss_weighted, multi_margin_loss,                                          \
           tern_nn_multi_margin_loss(.weight = LOSS_ROW, .p = 2, .margin = 0.5,                    \
                                     .reduction = TERN_REDUCTION_NONE))                            \
    MODULE(multi_label_margin_loss, multi_label_margin_loss, tern_nn_multi_label_margin_loss())    \
    MODULE(multi_label_soft_margin_loss, multi_label_soft_margin_loss,                             \
           tern_nn_multi_label_soft_margin_loss())                                                 \
    MODULE(multi_label_soft_margin_loss_weighted, multi_label_soft_margin_loss,                    \
           tern_nn_multi_label_soft_margin_loss(.weight = LOSS_ROW,                                \
                                                .reduction = TERN_REDUCTION_NONE))                 \
    MODULE(cosine_embedding_loss, cosine_embedding_loss, tern_nn_cosine_embedding_loss())          \
    MODULE(cosine_embedding_loss_sum, cosine_embedding_loss,                                       \
           tern_nn_cosine_embedding_loss(.margin = 0.25, .reduction = TERN_REDUCTION_SUM))         \
    MODULE(triplet_margin_loss, triplet_margin_loss, tern_nn_triplet_margin_loss())                \
    MODULE(triplet_margin_loss_swap, triplet_margin_loss,                                          \
           tern_nn_triplet_margin_loss(.margin = 2, .p = 1, .eps = 0.125, .swap = true,            \
                                       .reduction = TERN_REDUCTION_NONE))                          \
    MODULE(triplet_margin_with_distance_loss, triplet_margin_with_distance_loss,                   \
           tern_nn_triplet_margin_with_distance_loss())                                            \
    MODULE(ctc_loss, ctc_loss, tern_nn_ctc_loss())                                                 \
    MODULE(ctc_loss_sum, ctc_loss,                                                                 \
           tern_nn_ctc_loss(.zero_infinity = true, .reduction = TERN_REDUCTION_SUM))
// clang-format on
#define MODULES_LOSS(MODULE) MODULES_LOSS_OF_NUMBERS(MODULE) MODULES_LOSS_OF_CLASSES(MODULE)

#endif
