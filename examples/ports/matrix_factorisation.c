// SPDX-License-Identifier: Apache-2.0
// Predicts ratings: a vector for each user and item, whose product is the rating.
#include <stdio.h>
#include <tern/tern.h>

#define USERS   100
#define ITEMS   60
#define RANK    4
#define RATINGS 4000

// The ratings of users and items by their numbers, both (N).
static tern_tensor *predict(tern_module *net, tern_tensor *user, tern_tensor *item)
{
    tern_tensor *left = tern_index_select(tern_module_parameter(net, "user"), 0, user);
    tern_tensor *right = tern_index_select(tern_module_parameter(net, "item"), 0, item);
    tern_tensor *bias = tern_index_select(tern_module_parameter(net, "bias"), 0, item);
    return tern_add(tern_sum(tern_mul(left, right), tern_axes(1), false), bias);
}

int main(void)
{
    tern_manual_seed(10);
    tern_tensor *user = tern_randint(0, USERS, tern_dims(RATINGS));
    tern_tensor *item = tern_randint(0, ITEMS, tern_dims(RATINGS));
    tern_tensor *left = tern_randn(tern_dims(USERS, 2)), *right = tern_randn(tern_dims(2, ITEMS));
    tern_tensor *truth = tern_flatten(tern_matmul(left, right), 0, 1);
    tern_tensor *index = tern_add(tern_mul_scalar(user, ITEMS), item);
    tern_tensor *noise = tern_mul_scalar(tern_randn(tern_dims(RATINGS)), 0.1);
    tern_tensor *rating = tern_add(tern_index_select(truth, 0, index), noise);
    tern_dataset *data = tern_data_tensors(user, item, rating);
    tern_loader *loader = tern_loader_new(data, .batch_size = 100, .shuffle = true);
    tern_module *net = tern_nn_parameter_dict({"user", tern_randn(tern_dims(USERS, RANK))},
                                              {"item", tern_randn(tern_dims(ITEMS, RANK))},
                                              {"bias", tern_zeros(tern_dims(ITEMS))});
    tern_optim *opt = tern_optim_adam(net, .lr = 2e-2);

    for (int epoch = 1; epoch <= 12 && !tern_error_pending(); epoch++) {
        double total = 0;
        tern_each_batch (b, loader) {
            tern_tensor *guess = predict(net, b.at[0], b.at[1]);
            tern_tensor *loss = tern_mse_loss(guess, b.at[2], TERN_REDUCTION_MEAN);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            total += tern_item(loss);
        }
        if (!tern_error_pending())
            printf("epoch %d: loss %.6f\n", epoch, total / (double)tern_loader_batches(loader));
    }

    tern_free(loader, data, opt, net);
    return tern_error_print(stderr);
}
