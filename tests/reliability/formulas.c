// SPDX-License-Identifier: Apache-2.0
// Every function on tensors at least once, with its backward.
#include <math.h>

#include "operations.h"

#define FORMULA(name, ...)                                                                         \
    static tern_tensor *name(void)                                                                 \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

#define ALL TERN_ALL_AXES
#define AXIS(...)                                                                                  \
    tern_axis_list_make((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                 \
                        (const int64_t[]){__VA_ARGS__})

FORMULA(arithmetic, tern_div(tern_mul(tern_add(w.a, w.b), tern_sub(w.a, w.b)),
                             tern_add_scalar(tern_pow(w.b, w.b), 1)))
FORMULA(scalars,
        tern_pow_scalar(tern_div_scalar(tern_mul_scalar(tern_sub_scalar(w.a, 1), 3), 2), 2))
FORMULA(broadcast, tern_mul(tern_narrow(w.a, 0, 0, 1), tern_narrow(w.b, 1, 0, 1)))
FORMULA(mixed_dtypes, tern_add(tern_mul(w.half, w.a), w.b))
FORMULA(extremes, tern_add(tern_minimum(w.a, w.b), tern_maximum(w.a, w.b)))
FORMULA(comparisons,
        tern_logical_or(tern_logical_and(tern_lt(w.a, w.b), tern_ge_scalar(w.a, 0)),
                        tern_logical_not(tern_logical_or(tern_eq(w.a, w.b), tern_ne(w.a, w.b)))))
FORMULA(roots_and_logs, tern_add(tern_add(tern_sqrt(w.b), tern_rsqrt(w.b)),
                                 tern_add(tern_log(w.b), tern_log1p(w.b))))
FORMULA(waves, tern_add(tern_sin(tern_exp(tern_neg(w.a))), tern_cos(tern_abs(w.a))))
FORMULA(activations,
        tern_add(tern_add(tern_gelu(w.a), tern_gelu(w.a, .approximate = TERN_APPROXIMATE_TANH)),
                 tern_add(tern_silu(tern_softplus(w.a, 1, 20)),
                          tern_leaky_relu(tern_relu(w.a), 0.1))))
FORMULA(slopes, tern_add(tern_prelu(w.a, tern_select(w.b, 0, 0)),
                         tern_rrelu(w.b, 0.1, 0.3, .training = true)))
FORMULA(gates,
        tern_add(tern_transpose(tern_glu(w.a, 1), 0, 1), tern_glu(tern_transpose(w.b, 0, 1), 0)))
FORMULA(channels_dropped, tern_dropout2d(tern_reshape(w.a, tern_dims(2, 2, 2, 3)), 0.5, true))
FORMULA(selus_dropped, tern_alpha_dropout(tern_selu(w.a), 0.5, true))
FORMULA(shuffles,
        tern_add(tern_pixel_shuffle(tern_reshape(w.a, tern_dims(4, 2, 3)), 2),
                 tern_reshape(tern_channel_shuffle(tern_unflatten(w.b, 1, tern_dims(2, 3)), 2),
                              tern_dims(1, 4, 6))))
FORMULA(normalized, tern_normalize(w.a, .dim = 0))
FORMULA(squashing, tern_add(tern_tanh(w.a), tern_sigmoid(tern_clamp(w.a, -1, 1))))
FORMULA(rounding, tern_logical_and(tern_isfinite(tern_round(w.a)), tern_isfinite(w.b)))
FORMULA(choice,
        tern_where(tern_lt(w.a, w.b), w.a, tern_masked_fill(w.b, tern_gt_scalar(w.b, 0.5), 2)))
FORMULA(sums, tern_add(tern_sum(w.a, AXIS(1), true), tern_mean(w.a, ALL, false)))
FORMULA(sums_of_many_rows, tern_sum(w.wide, AXIS(0), false))
FORMULA(spreads, tern_add(tern_var(w.a, AXIS(0), 1, false), tern_std(w.a, ALL, 0, false)))
FORMULA(spreads_of_many_rows, tern_var(w.wide, AXIS(0), 1, false))
FORMULA(largest, tern_add(tern_amax(w.a, AXIS(1), false), tern_amin(w.b, AXIS(1), false)))
FORMULA(norms, tern_add(tern_norm(w.a, 2, AXIS(0), false), tern_norm(w.a, INFINITY, ALL, false)))
FORMULA(norms_of_other_powers,
        tern_add(tern_norm(w.a, 1, ALL, false), tern_norm(w.a, 3, ALL, false)))
FORMULA(counts, tern_logical_and(tern_any(tern_gt(w.a, w.b), AXIS(0), false),
                                 tern_all(tern_gt(w.a, w.b), ALL, false)))
FORMULA(running_sums, tern_add(tern_cumsum(w.a, 0), tern_cumsum(w.b, 1)))
FORMULA(running_sums_in_half, tern_cumsum(w.half, 1))
FORMULA(orders, tern_add(tern_sort(w.a, 1, true, NULL), tern_topk(w.b, 6, 1, false, NULL)))
FORMULA(places_in_order, tern_argsort(w.a, 0, false))
FORMULA(places, tern_add(tern_argmax(w.a, 1, false), tern_argmin(w.a, 1, false)))
FORMULA(products, tern_matmul(w.a, tern_transpose(w.b, 0, 1)))
FORMULA(products_in_half, tern_matmul(w.half, tern_transpose(w.half, 0, 1)))
FORMULA(large_products, tern_matmul(tern_transpose(tern_narrow(w.wide, 1, 0, 200), 0, 1),
                                    tern_narrow(w.wide, 1, 0, 200)))
FORMULA(large_products_in_double,
        tern_matmul(tern_to_dtype(tern_narrow(w.wide, 1, 0, 200), TERN_FLOAT64),
                    tern_to_dtype(tern_transpose(tern_narrow(w.wide, 1, 0, 200), 0, 1),
                                  TERN_FLOAT64)))
FORMULA(batched_products, tern_matmul(tern_reshape(w.a, tern_dims(2, 1, 2, 6)),
                                      tern_reshape(w.b, tern_dims(2, 6, 2))))
FORMULA(strided_products, tern_matmul(tern_slice(w.wide, 1, 0, 600, 3),
                                      tern_transpose(tern_slice(w.wide, 1, 0, 600, 3), 0, 1)))
FORMULA(vector_products, tern_matmul(tern_select(w.a, 0, 1), tern_select(w.b, 0, 2)))
FORMULA(linear_gelu, tern_linear(w.a, w.b, tern_select(w.a, 1, 0), TERN_ACT_GELU))
FORMULA(linear_relu, tern_linear(tern_reshape(w.a, tern_dims(2, 2, 6)), w.b, tern_select(w.a, 1, 0),
                                 TERN_ACT_RELU))
FORMULA(linear_in_half, tern_linear(w.half, w.half, NULL, TERN_ACT_SILU))
FORMULA(linear_of_a_view, tern_linear(tern_transpose(tern_reshape(w.a, tern_dims(6, 4)), 0, 1), w.b,
                                      NULL, TERN_ACT_TANH))
FORMULA(convolutions, tern_conv2d(tern_reshape(w.a, tern_dims(1, 2, 4, 3)),
                                  tern_reshape(w.b, tern_dims(3, 2, 2, 2)), NULL, .padding = 1,
                                  .activation = TERN_ACT_GELU))
FORMULA(convolutions_of_views, // copies are made of all three
        tern_conv2d(tern_transpose(tern_reshape(w.a, tern_dims(1, 2, 4, 3)), 2, 3),
                    tern_transpose(tern_reshape(w.b, tern_dims(2, 2, 2, 3)), 2, 3),
                    tern_select(tern_reshape(w.b, tern_dims(2, 12)), 1, 0)))
FORMULA(transposed_convolutions_in_half,
        tern_conv_transpose1d(tern_reshape(w.half, tern_dims(2, 3, 4)),
                              tern_reshape(w.half, tern_dims(3, 2, 4)), NULL, .stride = 2))
FORMULA(softmaxes, tern_add(tern_softmax(w.a, 0), tern_log_softmax(w.b, 1)))
FORMULA(softmaxes_of_views, tern_softmax(tern_transpose(w.a, 0, 1), 0))
FORMULA(cross_entropies,
        tern_add(tern_cross_entropy(w.a, w.labels, .weight = tern_detach(tern_select(w.b, 0, 0)),
                                    .label_smoothing = 0.2),
                 tern_cross_entropy(w.a, w.labels, .reduction = TERN_REDUCTION_NONE)))
FORMULA(cross_entropy_in_half, tern_cross_entropy(w.half, w.labels))
FORMULA(cross_entropy_of_probabilities,
        tern_cross_entropy(w.a, tern_softmax(tern_detach(w.b), 1), .label_smoothing = 0.1))
FORMULA(cross_entropy_of_images, tern_cross_entropy(tern_reshape(w.a, tern_dims(1, 6, 4)),
                                                    tern_reshape(w.labels, tern_dims(1, 4))))
#define LINEAR_ENTROPY(t, ...)                                                                     \
    tern_linear_cross_entropy(tern_narrow(t, 1, 0, 4), tern_reshape(t, tern_dims(6, 4)), w.labels, \
                              __VA_ARGS__)
FORMULA(linear_cross_entropies,
        tern_add(LINEAR_ENTROPY(w.a, .linear_bias = tern_select(w.b, 0, 0)),
                 LINEAR_ENTROPY(w.b, .weight = tern_detach(tern_select(w.a, 0, 0)),
                                .reduction = TERN_REDUCTION_NONE)))
FORMULA(linear_cross_entropy_in_half, LINEAR_ENTROPY(w.half, .label_smoothing = 0.1))
FORMULA(linear_cross_entropy_of_probabilities,
        tern_linear_cross_entropy(
            w.a, tern_reshape(w.b, tern_dims(2, 2, 6)),
            tern_softmax(tern_reshape(tern_narrow(w.b, 1, 0, 4), tern_dims(4, 2, 2)), 1)))
FORMULA(squared_errors, tern_add(tern_mse_loss(w.a, w.b, TERN_REDUCTION_MEAN),
                                 tern_mse_loss(w.a, w.b, TERN_REDUCTION_NONE)))
FORMULA(absolute_errors, tern_add(tern_l1_loss(w.a, w.b, TERN_REDUCTION_MEAN),
                                  tern_l1_loss(w.a, w.b, TERN_REDUCTION_NONE)))
FORMULA(squared_errors_in_half, tern_mse_loss(w.half, tern_detach(w.half), TERN_REDUCTION_SUM))
FORMULA(gathers,
        tern_add(tern_gather(w.a, 1, tern_reshape(w.labels, tern_dims(4, 1))),
                 tern_unsqueeze(tern_index_select(tern_select(w.b, 0, 0), 0, w.labels), 1)))
FORMULA(one_hots, tern_mul(w.a, tern_one_hot(w.labels, 6)))
FORMULA(views,
        tern_flatten(tern_expand(tern_unsqueeze(tern_permute(tern_view(w.a, tern_dims(2, 2, 6)),
                                                             AXIS(2, 0, 1)),
                                                0),
                                 tern_dims(3, 6, 2, 2)),
                     1, 2))
FORMULA(slices, tern_squeeze(tern_narrow(tern_slice(w.a, 1, 0, 6, 2), 0, 1, 1), 0))
FORMULA(copies,
        tern_add(tern_clone(tern_transpose(w.a, 0, 1)), tern_contiguous(tern_transpose(w.b, 0, 1))))
FORMULA(casts, tern_to_dtype(tern_to_dtype(w.a, TERN_FLOAT64), TERN_BFLOAT16))
FORMULA(moves, tern_to(tern_to(w.a, tern_cpu(1)), tern_cpu(0)))
FORMULA(scalars_of_another_device, tern_mul(tern_to(w.a, tern_cpu(1)), tern_full(tern_dims(), 2)))
FORMULA(joins,
        tern_cat((tern_tensor *[]){w.a, tern_transpose(tern_reshape(w.b, tern_dims(6, 4)), 0, 1)},
                 2, 0))
FORMULA(stacks, tern_stack((tern_tensor *[]){w.a, w.b, w.a}, 3, 1))
FORMULA(makers, tern_add(tern_add(tern_eye(4, 6), tern_zeros_like(w.a)),
                         tern_add(tern_full_like(w.a, 3), tern_ones(tern_dims(4, 6)))))
FORMULA(more_makers, tern_add(tern_new_full(w.a, tern_dims(6), 2),
                              tern_add(tern_arange(0, 6, 1), tern_linspace(0, 1, 6))))
FORMULA(random_numbers,
        tern_add(tern_add(tern_rand_like(w.a), tern_randn_like(w.a)),
                 tern_add(tern_bernoulli_like(w.a, 0.5, NULL), tern_randint(0, 9, tern_dims(6)))))
FORMULA(one_fill_of_random_numbers, tern_rand(tern_dims(5, 7)))
FORMULA(normal_numbers_in_half, tern_randn(tern_dims(33), .dtype = TERN_FLOAT16))
FORMULA(permutations, tern_randperm(7))
FORMULA(permutations_in_float, tern_randperm(7, .dtype = TERN_FLOAT32))
FORMULA(dropouts, tern_dropout(tern_transpose(w.a, 0, 1), 0.5, true))

static tern_tensor *largest_with_places(void)
{
    tern_tensor *places = NULL, *other = NULL;
    tern_tensor *y = tern_max(w.a, 1, false, &places), *z = tern_min(w.b, 0, true, &other);
    return tern_add(tern_add(tern_sum(y, ALL, false), tern_sum(z, ALL, false)),
                    tern_add(tern_sum(places, ALL, false), tern_sum(other, ALL, false)));
}

static tern_tensor *pieces(void)
{
    tern_tensor *part[4] = {NULL}, *half[2] = {NULL};
    int64_t count;
    if (tern_split(w.a, 1, 0, part, 4, &count) || tern_chunk(w.b, 2, 1, half, 2, &count))
        return NULL;
    return tern_add(tern_add(part[0], part[3]), tern_cat(half, 2, 1));
}

static tern_tensor *changes_in_place(void)
{
    tern_tensor *t = tern_clone(w.a);
    t = tern_mul_(tern_add_(t, w.b, 2), tern_narrow(w.b, 0, 0, 1));
    t = tern_mul_scalar_(tern_add_scalar_(t, 1), 3);
    return tern_copy_(t, tern_narrow(w.a, 0, 1, 1));
}

static tern_tensor *fills_in_place(void)
{
    tern_tensor *t = tern_zero_(tern_fill_(tern_empty(tern_dims(5, 3)), 2));
    t = tern_transpose(t, 0, 1);
    return tern_bernoulli_(tern_normal_(tern_uniform_(t, 0, 1, NULL), 0, 1, NULL), 0.3, NULL);
}

static tern_status square_backward(tern_backward_context *context)
{
    tern_tensor *dx = tern_mul(tern_context_grad(context), tern_context_saved(context, 0));
    return tern_context_set_grad(context, 0, tern_mul_scalar(dx, 2));
}

static tern_tensor *a_function_of_the_users_own(void)
{
    static const tern_function square = {"square", square_backward};
    tern_tensor *y = NULL;
    tern_no_grad {
        y = tern_mul(w.a, w.a);
    }
    return tern_record(&square, y, &w.a, 1, &w.a, 1, NULL, 0);
}

// Longer than the first work lists.
static tern_tensor *a_long_chain(void)
{
    tern_tensor *y = w.a;
    for (int i = 0; i < 20; i++)
        y = tern_add(y, tern_mul(w.b, y));
    return y;
}

// clang-format off
#define ONE(name, count) {#name, count, .formula = name, .spoils = true, .keeps = true}
#define DRAWS(name, count)                                                                         \
    {#name, count, .formula = name, .spoils = true, .keeps = true, .draws = true}
// clang-format on

const operation formulas[] = {
    ONE(arithmetic, 58),
    ONE(scalars, 20),
    ONE(broadcast, 20),
    ONE(mixed_dtypes, 20),
    ONE(extremes, 43),
    ONE(comparisons, 12),
    ONE(roots_and_logs, 28),
    ONE(waves, 28),
    ONE(activations, 36),
    DRAWS(slopes, 26),
    ONE(gates, 22),
    DRAWS(channels_dropped, 15),
    DRAWS(selus_dropped, 18),
    ONE(shuffles, 24),
    ONE(normalized, 30),
    ONE(squashing, 20),
    ONE(rounding, 7),
    ONE(choice, 24),
    ONE(sums, 16),
    ONE(sums_of_many_rows, 8),
    ONE(spreads, 35),
    ONE(spreads_of_many_rows, 15),
    ONE(largest, 30),
    ONE(norms, 41),
    ONE(norms_of_other_powers, 32),
    ONE(counts, 8),
    ONE(running_sums, 17),
    ONE(running_sums_in_half, 12),
    ONE(orders, 18),
    ONE(places_in_order, 2),
    ONE(places, 4),
    ONE(products, 13),
    ONE(products_in_half, 19),
    ONE(large_products, 12),
    ONE(large_products_in_double, 20),
    ONE(batched_products, 25),
    ONE(strided_products, 24),
    ONE(vector_products, 17),
    ONE(linear_gelu, 18),
    ONE(linear_relu, 19),
    ONE(linear_in_half, 18),
    ONE(linear_of_a_view, 17),
    ONE(convolutions, 20),
    ONE(convolutions_of_views, 20),
    ONE(transposed_convolutions_in_half, 24),
    ONE(softmaxes, 20),
    ONE(softmaxes_of_views, 13),
    ONE(cross_entropies, 26),
    ONE(cross_entropy_in_half, 14),
    ONE(cross_entropy_of_probabilities, 14),
    ONE(cross_entropy_of_images, 13),
    ONE(linear_cross_entropies, 60),
    ONE(linear_cross_entropy_in_half, 30),
    ONE(linear_cross_entropy_of_probabilities, 20),
    ONE(absolute_errors, 24),
    ONE(squared_errors, 24),
    ONE(squared_errors_in_half, 16),
    ONE(gathers, 20),
    ONE(one_hots, 12),
    ONE(views, 13),
    ONE(slices, 11),
    ONE(copies, 16),
    ONE(casts, 13),
    ONE(moves, 15),
    ONE(scalars_of_another_device, 16),
    ONE(joins, 11),
    ONE(stacks, 12),
    ONE(makers, 11),
    ONE(more_makers, 12),
    DRAWS(random_numbers, 12),
    ONE(one_fill_of_random_numbers, 1),
    ONE(normal_numbers_in_half, 1),
    ONE(permutations, 2),
    ONE(permutations_in_float, 4),
    DRAWS(dropouts, 15),
    ONE(largest_with_places, 37),
    ONE(pieces, 28),
    ONE(changes_in_place, 31),
    DRAWS(fills_in_place, 6),
    ONE(a_function_of_the_users_own, 11),
    ONE(a_long_chain, 197),
    {0},
};
