// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/loss.h, for the site.
#include "examples.h"

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

int nn_loss_examples(void)
{
    show_nn_cross_entropy_loss();
    show_nn_mse_loss();
    show_nn_l1_loss();
    return failures;
}
