// SPDX-License-Identifier: Apache-2.0
// Tells the arms of a spiral apart; stops when the validation loss does not fall any more, and goes
// back to the best weights.
#include <math.h>
#include <stdio.h>
#include <tern/tern.h>

#define PATIENCE 5

// Points (count, 2) on three arms, and the arm of each.
static tern_tensor *spirals(int64_t count, tern_tensor **arm)
{
    tern_tensor *radius = tern_rand(tern_dims(count));
    *arm = tern_randint(0, 3, tern_dims(count));
    tern_tensor *start = tern_mul_scalar(tern_to_dtype(*arm, TERN_FLOAT32), 2 * acos(-1) / 3);
    tern_tensor *noise = tern_mul_scalar(tern_randn(tern_dims(count)), 0.4);
    tern_tensor *angle = tern_add(tern_add(tern_mul_scalar(radius, 5), start), noise);
    tern_tensor *x = tern_mul(radius, tern_cos(angle)), *y = tern_mul(radius, tern_sin(angle));
    return tern_stack((tern_tensor *[]){x, y}, 2, 1);
}

int main(void)
{
    tern_manual_seed(1);
    tern_tensor *y, *y_valid;
    tern_tensor *x = spirals(600, &y), *x_valid = spirals(300, &y_valid);
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader = tern_loader_new(data, .batch_size = 50, .shuffle = true);

    tern_module *net =
        tern_nn_sequential(tern_nn_linear(2, 64), tern_nn_gelu(), tern_nn_linear(64, 64),
                           tern_nn_gelu(), tern_nn_linear(64, 3));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2, .weight_decay = 1e-2);

    double best = INFINITY;
    int best_epoch = 0;
    tern_state *state = tern_module_state_dict(net), *best_state = NULL;
    for (int epoch = 1; epoch <= 100; epoch++) {
        double total = 0, valid = 0;
        tern_module_train(net, true);
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            total += tern_item(loss) * (double)b.size;
        }
        tern_module_eval(net);
        tern_no_grad
            valid = tern_item(tern_loss(criterion, tern_forward(net, x_valid), y_valid));
        if (tern_error_pending())
            break;
        printf("epoch %d: train %.6f, validation %.6f\n", epoch, total / 600, valid);
        if (valid < best) {
            best = valid;
            best_epoch = epoch;
            tern_state_free(best_state);
            best_state = tern_state_copy(state);
        } else if (epoch - best_epoch == PATIENCE) {
            break;
        }
    }

    if (!tern_error_pending() && !tern_module_load_state_dict(net, best_state)) {
        tern_tensor *logits = tern_forward(net, x_valid);
        tern_tensor *correct = tern_sum_all(tern_eq(tern_argmax(logits, 1, false), y_valid));
        printf("best epoch %d: validation %.6f, %.0f of 300\n", best_epoch,
               tern_item(tern_loss(criterion, logits, y_valid)), tern_item(correct));
    }

    tern_free(best_state, state, loader, data, opt, criterion, net);
    return tern_error_print(stderr);
}
