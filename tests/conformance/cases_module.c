// SPDX-License-Identifier: Apache-2.0
// Modules: what the cases of an operation ask for, asked of the module that runs it.
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CASES 128

static tern_tensor *run(tern_module *module, tern_tensor *x, tern_tensor *target)
{
    tern_tensor *y = target ? tern_loss(module, x, target) : tern_forward(module, x);
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

// A row: the constructor, the operation, which of its cases count, and the module for the case c
// and its setup s. Parameters are copies of the inputs from in[1] on: their gradients are looked at
// in tests/golden/test_modules_golden.c.
// clang-format off
#define FOR_MODULES(LAYER, LOSS)                                                                   \
    LAYER(identity, clone, c->dtypes & F32, tern_nn_identity())                                    \
    LAYER(relu, relu, true, tern_nn_relu())                                                        \
    LAYER(tanh, tanh, true, tern_nn_tanh())                                                        \
    LAYER(sigmoid, sigmoid, true, tern_nn_sigmoid())                                               \
    LAYER(silu, silu, true, tern_nn_silu())                                                        \
    LAYER(hardswish, hardswish, true, tern_nn_hardswish())                                         \
    LAYER(softmax, softmax, true, tern_nn_softmax(s->dim))                                         \
    LAYER(gelu, gelu, true, tern_nn_gelu())                                                        \
    LAYER(gelu, gelu_tanh, true, tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH))               \
    LAYER(leaky_relu, leaky_relu, true, tern_nn_leaky_relu(c->p[0]))                               \
    LAYER(flatten, flatten, true, tern_nn_flatten((int)s->p[0], (int)s->p[1]))                     \
    LAYER(dropout, dropout, true,                                                                  \
          tern_module_train(tern_nn_dropout(c->p[0]), c->p[1] != 0))                               \
    LAYER(linear, linear, c->p[0] <= TERN_ACT_NONE,                                                \
          with_weights(tern_nn_linear(1, 1, .bias = c->inputs > 2), in + 1, c->inputs - 1))        \
    LOSS(mse_loss, mse_loss, true, tern_nn_mse_loss(.reduction = (tern_reduction)c->p[0]))         \
    LOSS(l1_loss, l1_loss, true, tern_nn_l1_loss(.reduction = (tern_reduction)c->p[0]))            \
    LOSS(cross_entropy_loss, cross_entropy, true,                                                  \
         tern_nn_cross_entropy_loss(.weight = c->inputs > 2 ? in[2] : NULL,                        \
                                    .ignore_index = (int64_t)s->p[1],                              \
                                    .label_smoothing = s->p[2],                                    \
                                    .reduction = (tern_reduction)c->p[0]))
// clang-format on

#define CALL(like, counts, module, target)                                                         \
    static bool counts_##like(const op_case *c)                                                    \
    {                                                                                              \
        (void)c;                                                                                   \
        return counts;                                                                             \
    }                                                                                              \
    static tern_tensor *call_##like(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return run(module, in[0], target);                                                         \
    }
#define LAYER(name, like, counts, ...) CALL(like, counts, __VA_ARGS__, NULL)
#define LOSS(name, like, counts, ...)  CALL(like, counts, __VA_ARGS__, in[1])
FOR_MODULES(LAYER, LOSS)
#undef LAYER
#undef LOSS

typedef struct module_row {
    const char *op, *like;
    bool (*counts)(const op_case *c);
    call_fn *call;
    unsigned inputs; // bit i: input i may have a gradient
} module_row;

#define LAYER(name, like, ...) {"nn_" #name, #like, counts_##like, call_##like, 1},
#define LOSS(name, like, ...)  {"nn_" #name, #like, counts_##like, call_##like, 3},
static const module_row rows[] = {FOR_MODULES(LAYER, LOSS)};

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

const case_list *module_cases(void)
{
    static const case_list *const lists[] = {&elementwise_cases, &reduction_cases, &product_cases,
                                             &shape_cases};
    static op_case cases[MOST_CASES];
    static case_list made = {cases, 0};
    const bool first = made.count == 0;
    for (size_t i = 0; first && i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            add_cases(&rows[i], lists[k], cases, &made.count);
    return &made;
}
