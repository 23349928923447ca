// SPDX-License-Identifier: Apache-2.0
// Modules: what the cases of an operation ask for, asked of the module that runs it.
#include "pool_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CASES 512

static tern_tensor *run(tern_module *module, tern_tensor *const *in, int count)
{
    tern_tensor *y = count == 1   ? tern_forward(module, in[0])
                     : count == 2 ? tern_loss(module, in[0], in[1])
                                  : tern_call_n(module, count, in);
    tern_module_free(module);
    return y;
}

// The parameters become copies of `weights`, of whatever shapes.
static tern_module *with_weights(tern_module *module, tern_tensor *const *weights, int count)
{
    char name[TERN_NAME_SIZE];
    tern_no_grad {
        for (int i = 0; i < count; i++)
            if (!tern_module_parameter_at(module, i, name, sizeof name) ||
                tern_module_set_parameter(module, name, tern_contiguous(tern_clone(weights[i]))))
                break;
    }
    return module;
}

// The sizes of an unflatten: those of the result from its dimension on.
static tern_shape unflatten_sizes(const setup *s, const tern_tensor *x)
{
    const int rank = tern_rank(x), first = s->dim < 0 ? s->dim + rank : s->dim;
    tern_shape sizes = {.rank = s->shape.rank - rank + 1};
    for (int i = 0; i < sizes.rank; i++)
        sizes.dim[i] = s->shape.dim[first + i];
    return sizes;
}

static tern_module *linear_cross_entropy_of(tern_tensor *const *in, const op_case *c,
                                            const setup *s)
{
    const bool labels = tern_dtype_of(in[1]) == TERN_INT64, bias = c->inputs > 3;
    tern_module *module = tern_nn_linear_cross_entropy_loss(
        tern_size(in[2], 1), tern_size(in[2], 0), .bias = bias,
        .weight = c->inputs > 4 ? in[4] : NULL,
        .ignore_index = labels ? (int64_t)s->p[1] : TERN_IGNORE_INDEX_UNSPECIFIED,
        .label_smoothing = s->p[2], .reduction = (tern_reduction)c->p[0]);
    return with_weights(module, in + 2, bias ? 2 : 1);
}

static bool noted(const op_case *c, const char *note)
{
    return c->note && strcmp(c->note, note) == 0;
}

// A layer that normalises channels by its input alone.
#define CHANNELS(constructor)                                                                      \
    with_weights(tern_nn_##constructor(s->in[1].dim[0], .eps = 1e-3, .affine = true,               \
                                       .track_running_stats = false),                              \
                 in + 1, 2)

#define REDUCED(c) .reduction = (tern_reduction)(c)->p[0]

// A row: the constructor, the operation, which of its cases count, and the module for the case c
// and its setup s. Parameters are copies of the inputs from in[1] on: their gradients are looked at
// in tests/golden/test_modules_golden.c.
// clang-format off
#define FOR_ACTIVATIONS(LAYER)                                                                     \
    LAYER(identity, clone, c->dtypes & F32, tern_nn_identity())                                    \
    LAYER(relu, relu, true, tern_nn_relu())                                                        \
    LAYER(tanh, tanh, true, tern_nn_tanh())                                                        \
    LAYER(sigmoid, sigmoid, true, tern_nn_sigmoid())                                               \
    LAYER(silu, silu, true, tern_nn_silu())                                                        \
    LAYER(hardswish, hardswish, true, tern_nn_hardswish())                                         \
    LAYER(softmax, softmax, true, tern_nn_softmax(s->dim))                                         \
    LAYER(gelu, gelu, true, tern_nn_gelu((tern_approximate)c->p[0]))                               \
    LAYER(leaky_relu, leaky_relu, true, tern_nn_leaky_relu(c->p[0]))                               \
    LAYER(log_softmax, log_softmax, true, tern_nn_log_softmax(s->dim))                             \
    LAYER(softmin, softmin, true, tern_nn_softmin(s->dim))                                         \
    LAYER(relu6, relu6, true, tern_nn_relu6())                                                     \
    LAYER(hardsigmoid, hardsigmoid, true, tern_nn_hardsigmoid())                                   \
    LAYER(selu, selu, true, tern_nn_selu())                                                        \
    LAYER(mish, mish, true, tern_nn_mish())                                                        \
    LAYER(log_sigmoid, logsigmoid, true, tern_nn_log_sigmoid())                                    \
    LAYER(tanhshrink, tanhshrink, true, tern_nn_tanhshrink())                                      \
    LAYER(softsign, softsign, true, tern_nn_softsign())                                            \
    LAYER(elu, elu, true, tern_nn_elu(c->p[0]))                                                    \
    LAYER(celu, celu, true, tern_nn_celu(c->p[0]))                                                 \
    LAYER(hardshrink, hardshrink, true, tern_nn_hardshrink(c->p[0]))                               \
    LAYER(softshrink, softshrink, true, tern_nn_softshrink(c->p[0]))                               \
    LAYER(hardtanh, hardtanh, true, tern_nn_hardtanh(c->p[0], c->p[1]))                            \
    LAYER(softplus, softplus, true, tern_nn_softplus(c->p[0], c->p[1]))                            \
    LAYER(threshold, threshold, true, tern_nn_threshold(c->p[0], c->p[1]))                         \
    LAYER(rrelu, rrelu, true,                                                                      \
          tern_module_train(tern_nn_rrelu(c->p[0], c->p[1]), c->p[2] != 0))                        \
    LAYER(prelu, prelu, true, with_weights(tern_nn_prelu(), in + 1, 1))                            \
    LAYER(glu, glu, true, tern_nn_glu(s->dim))
#define FOR_ARRANGING(LAYER)                                                                       \
    LAYER(unflatten, unflatten, true, tern_nn_unflatten(s->dim, unflatten_sizes(s, in[0])))        \
    LAYER(pixel_shuffle, pixel_shuffle, true, tern_nn_pixel_shuffle((int64_t)s->p[0]))             \
    LAYER(pixel_unshuffle, pixel_unshuffle, true, tern_nn_pixel_unshuffle((int64_t)s->p[0]))       \
    LAYER(channel_shuffle, channel_shuffle, true, tern_nn_channel_shuffle((int64_t)s->p[0]))       \
    LAYER(dropout1d, dropout1d, true,                                                              \
          tern_module_train(tern_nn_dropout1d(c->p[0]), c->p[1] != 0))                             \
    LAYER(dropout2d, dropout2d, true,                                                              \
          tern_module_train(tern_nn_dropout2d(c->p[0]), c->p[1] != 0))                             \
    LAYER(dropout3d, dropout3d, true,                                                              \
          tern_module_train(tern_nn_dropout3d(c->p[0]), c->p[1] != 0))                             \
    LAYER(alpha_dropout, alpha_dropout, true,                                                      \
          tern_module_train(tern_nn_alpha_dropout(c->p[0]), c->p[1] != 0))                         \
    LAYER(flatten, flatten, true, tern_nn_flatten((int)s->p[0], (int)s->p[1]))                     \
    LAYER(dropout, dropout, true,                                                                  \
          tern_module_train(tern_nn_dropout(c->p[0]), c->p[1] != 0))                               \
    LAYER(linear, linear, c->p[0] <= TERN_ACT_NONE,                                                \
          with_weights(tern_nn_linear(1, 1, .bias = c->inputs > 2), in + 1, c->inputs - 1))
#define FOR_IMAGES(LAYER)                                                                          \
    LAYER(max_pool1d, max_pool1d, c->result != PLACES,                                             \
          tern_nn_max_pool1d(SETUP_MAX(1, s)))                                    \
    LAYER(max_pool2d, max_pool2d, c->result != PLACES, tern_nn_max_pool2d(SETUP_MAX(2, s)))        \
    LAYER(max_pool3d, max_pool3d, c->result != PLACES, tern_nn_max_pool3d(SETUP_MAX(3, s)))        \
    LAYER(avg_pool1d, avg_pool1d, true, tern_nn_avg_pool1d(SETUP_AVG(1, s)))      \
    LAYER(avg_pool2d, avg_pool2d, true, tern_nn_avg_pool2d(SETUP_AVG(2, s)))                       \
    LAYER(avg_pool3d, avg_pool3d, true, tern_nn_avg_pool3d(SETUP_AVG(3, s)))                       \
    LAYER(adaptive_avg_pool1d, adaptive_avg_pool1d, true,                                          \
          tern_nn_adaptive_avg_pool1d(s->shape.dim[0]))                                            \
    LAYER(adaptive_avg_pool2d, adaptive_avg_pool2d, true,                                          \
          tern_nn_adaptive_avg_pool2d(.size = SETUP_2(s->shape.dim, 0)))                           \
    LAYER(adaptive_max_pool1d, adaptive_max_pool1d, c->result != PLACES,                           \
          tern_nn_adaptive_max_pool1d(s->shape.dim[0]))                                            \
    LAYER(adaptive_max_pool2d, adaptive_max_pool2d, c->result != PLACES,                           \
          tern_nn_adaptive_max_pool2d(.size = SETUP_2(s->shape.dim, 0)))                           \
    LAYER(upsample, interpolate, true, tern_nn_upsample(SETUP_RESIZE(c, s)))                       \
    LAYER(local_response_norm, local_response_norm, true,                                          \
          tern_nn_local_response_norm((int64_t)s->p[0], .alpha = s->p[1], .beta = s->p[2], .k =    \
              s->p[3]))                                                                            \
    LAYER(batch_norm1d, batch_norm, noted(c, "1d"), CHANNELS(batch_norm1d))                        \
    LAYER(batch_norm2d, batch_norm, noted(c, "2d"), CHANNELS(batch_norm2d))                        \
    LAYER(batch_norm3d, batch_norm, noted(c, "3d"), CHANNELS(batch_norm3d))                        \
    LAYER(instance_norm1d, instance_norm, noted(c, "1d"), CHANNELS(instance_norm1d))               \
    LAYER(instance_norm2d, instance_norm, noted(c, "2d"), CHANNELS(instance_norm2d))               \
    LAYER(instance_norm3d, instance_norm, noted(c, "3d"), CHANNELS(instance_norm3d))               \
    LAYER(group_norm, group_norm, noted(c, "affine"),                                              \
          with_weights(tern_nn_group_norm((int64_t)s->p[0], s->in[1].dim[0], .eps = 1e-3),         \
                       in + 1, 2))                                                                 \
    LAYER(layer_norm, layer_norm, noted(c, "affine"),                                              \
          with_weights(tern_nn_layer_norm(s->in[1], .eps = 1e-3), in + 1, 2))                      \
    LAYER(rms_norm, rms_norm, noted(c, "weight"),                                                  \
          with_weights(tern_nn_rms_norm(s->in[1], .eps = 1e-3), in + 1, 1))                        \
    LAYER(conv1d, conv1d, conv_case_is_module(c),                                                  \
          with_weights(conv_case_module(in, c, s), in + 1, c->inputs - 1))                         \
    LAYER(conv2d, conv2d, conv_case_is_module(c),                                                  \
          with_weights(conv_case_module(in, c, s), in + 1, c->inputs - 1))                         \
    LAYER(conv3d, conv3d, conv_case_is_module(c),                                                  \
          with_weights(conv_case_module(in, c, s), in + 1, c->inputs - 1))                         \
    LAYER(conv_transpose1d, conv_transpose1d, conv_case_is_module(c),                              \
          with_weights(conv_case_module(in, c, s), in + 1, c->inputs - 1))                         \
    LAYER(conv_transpose2d, conv_transpose2d, conv_case_is_module(c),                              \
          with_weights(conv_case_module(in, c, s), in + 1, c->inputs - 1))                         \
    LAYER(conv_transpose3d, conv_transpose3d, conv_case_is_module(c),                              \
          with_weights(conv_case_module(in, c, s), in + 1, c->inputs - 1))
#define FOR_LOSSES(LOSS, LOSS_3)                                                                   \
    LOSS(mse_loss, mse_loss, true, tern_nn_mse_loss(REDUCED(c)))                                   \
    LOSS(l1_loss, l1_loss, true, tern_nn_l1_loss(REDUCED(c)))                                      \
    LOSS(soft_margin_loss, soft_margin_loss, true, tern_nn_soft_margin_loss(REDUCED(c)))           \
    LOSS(smooth_l1_loss, smooth_l1_loss, true,                                                     \
         tern_nn_smooth_l1_loss(.beta = c->p[1], REDUCED(c)))                                      \
    LOSS(huber_loss, huber_loss, true, tern_nn_huber_loss(.delta = c->p[1], REDUCED(c)))           \
    LOSS(bce_loss, binary_cross_entropy, true,                                                     \
         tern_nn_bce_loss(.weight = c->inputs > 2 ? in[2] : NULL, REDUCED(c)))                     \
    LOSS(bce_with_logits_loss, binary_cross_entropy_with_logits, true,                             \
         tern_nn_bce_with_logits_loss(.weight = c->inputs > 2 ? in[2] : NULL,                      \
                                      .pos_weight = c->inputs > 3 ? in[3] : NULL, REDUCED(c)))     \
    LOSS(kl_div_loss, kl_div, true,                                                                \
         tern_nn_kl_div_loss(.log_target = c->p[1] != 0, REDUCED(c)))                              \
    LOSS(poisson_nll_loss, poisson_nll_loss, true,                                                 \
         tern_nn_poisson_nll_loss(.log_input = c->p[1] == 0, .full = c->p[2] != 0, .eps = 0.25,    \
                                  REDUCED(c)))                                                     \
    LOSS_3(gaussian_nll_loss, gaussian_nll_loss, true,                                             \
           tern_nn_gaussian_nll_loss(.full = c->p[2] != 0, .eps = c->p[1], REDUCED(c)))            \
    LOSS(hinge_embedding_loss, hinge_embedding_loss, true,                                         \
         tern_nn_hinge_embedding_loss(.margin = c->p[1], REDUCED(c)))                              \
    LOSS_3(margin_ranking_loss, margin_ranking_loss, true,                                         \
           tern_nn_margin_ranking_loss(.margin = c->p[1], REDUCED(c)))                             \
    LOSS(nll_loss, nll_loss, true,                                                                 \
         tern_nn_nll_loss(.weight = c->inputs > 2 ? in[2] : NULL,                                  \
                          .ignore_index = (int64_t)s->p[1], REDUCED(c)))                           \
    LOSS(multi_margin_loss, multi_margin_loss, true,                                               \
         tern_nn_multi_margin_loss(.weight = c->inputs > 2 ? in[2] : NULL,                         \
                                   .p = (int64_t)c->p[1], .margin = c->p[2], REDUCED(c)))          \
    LOSS(multi_label_margin_loss, multilabel_margin_loss, true,                                    \
         tern_nn_multi_label_margin_loss(REDUCED(c)))                                              \
    LOSS(multi_label_soft_margin_loss, multilabel_soft_margin_loss, true,                          \
         tern_nn_multi_label_soft_margin_loss(.weight = c->inputs > 2 ? in[2] : NULL,              \
                                              REDUCED(c)))                                         \
    LOSS_3(cosine_embedding_loss, cosine_embedding_loss, true,                                     \
           tern_nn_cosine_embedding_loss(.margin = c->p[1], REDUCED(c)))                           \
    LOSS_3(triplet_margin_loss, triplet_margin_loss, true,                                         \
           tern_nn_triplet_margin_loss(.margin = c->p[1], .swap = c->p[2] != 0, REDUCED(c)))       \
    LOSS_3(triplet_margin_with_distance_loss, triplet_margin_with_distance_loss, true,             \
           tern_nn_triplet_margin_with_distance_loss(.distance = triplet_distance,                 \
               .margin = c->p[1], .swap = c->p[2] != 0, REDUCED(c)))                               \
    LOSS(linear_cross_entropy_loss, linear_cross_entropy, c->setups[0].in[2].rank == 2,            \
         linear_cross_entropy_of(in, c, s))                                                        \
    LOSS(cross_entropy_loss, cross_entropy, true,                                                  \
         tern_nn_cross_entropy_loss(.weight = c->inputs > 2 ? in[2] : NULL,                        \
                                    .ignore_index = (int64_t)s->p[1],                              \
                                    .label_smoothing = s->p[2], REDUCED(c)))
#define FOR_MODULES(LAYER, LOSS, LOSS_3)                                                           \
    FOR_ACTIVATIONS(LAYER)                                                                         \
    FOR_ARRANGING(LAYER)                                                                           \
    FOR_IMAGES(LAYER)                                                                              \
    FOR_LOSSES(LOSS, LOSS_3)
// clang-format on

#define CALL(name, like, counts, module, count)                                                    \
    static bool counts_##name##_##like(const op_case *c)                                           \
    {                                                                                              \
        (void)c;                                                                                   \
        return counts;                                                                             \
    }                                                                                              \
    static tern_tensor *call_##name##_##like(tern_tensor *const *in, const op_case *c,             \
                                             const setup *s)                                       \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return run(module, in, count);                                                             \
    }
#define LAYER(name, like, counts, ...)  CALL(name, like, counts, __VA_ARGS__, 1)
#define LOSS(name, like, counts, ...)   CALL(name, like, counts, __VA_ARGS__, 2)
#define LOSS_3(name, like, counts, ...) CALL(name, like, counts, __VA_ARGS__, 3)
FOR_MODULES(LAYER, LOSS, LOSS_3)
#undef LAYER
#undef LOSS
#undef LOSS_3

typedef struct module_row {
    const char *op, *like;
    bool (*counts)(const op_case *c);
    call_fn *call;
    unsigned inputs; // bit i: input i may have a gradient
} module_row;

#define ROW(name, like, inputs)                                                                    \
    {"nn_" #name, #like, counts_##name##_##like, call_##name##_##like, inputs},
#define LAYER(name, like, ...)  ROW(name, like, 1)
#define LOSS(name, like, ...)   ROW(name, like, 3)
#define LOSS_3(name, like, ...) ROW(name, like, 7)
static const module_row rows[] = {FOR_MODULES(LAYER, LOSS, LOSS_3)};

static void add_cases(const module_row *row, const case_list *list, op_case *cases, int *count)
{
    for (int i = 0; i < list->count; i++) {
        const op_case *c = &list->cases[i];
        if (strcmp(c->op, row->like) != 0 || !row->counts(c))
            continue;
        if (*count == MOST_CASES) {
            fprintf(stderr, "modules have more than MOST_CASES cases\n");
            abort();
        }
        cases[*count] = *c;
        cases[*count].op = row->op;
        cases[*count].like = row->like;
        cases[*count].note = c->note ? c->note : row->like;
        cases[*count].call = row->call;
        cases[*count].gradients &= row->inputs;
        ++*count;
    }
}

#define CASE_LIST_ADDRESS(name) &name##_cases,
const case_list *const operation_cases[OPERATION_LISTS] = {CASE_LISTS(CASE_LIST_ADDRESS)};

const case_list *module_cases(void)
{
    static op_case cases[MOST_CASES];
    static case_list made = {cases, 0};
    const bool first = made.count == 0;
    for (size_t i = 0; first && i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < OPERATION_LISTS; k++)
            add_cases(&rows[i], operation_cases[k], cases, &made.count);
    return &made;
}
