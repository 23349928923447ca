// SPDX-License-Identifier: Apache-2.0
// Steps once for four small batches: their gradients add up to that of a large one.
#include <stdio.h>
#include <tern/tern.h>

#define ACCUMULATE 4

int main(void)
{
    tern_manual_seed(9);
    tern_tensor *x = tern_randn(tern_dims(1024, 10));
    tern_tensor *y = tern_tanh(tern_matmul(x, tern_randn(tern_dims(10, 1))));
    y = tern_add(y, tern_mul_scalar(tern_randn(tern_dims(1024, 1)), 0.1));
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader = tern_loader_new(data, .batch_size = 16, .shuffle = true);

    tern_module *net =
        tern_nn_sequential(tern_nn_linear(10, 64), tern_nn_relu(), tern_nn_linear(64, 1));
    tern_module *criterion = tern_nn_mse_loss();
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9);

    for (int epoch = 1; epoch <= 8 && !tern_error_pending(); epoch++) {
        double total = 0, norms = 0;
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            loss = tern_div_scalar(loss, ACCUMULATE);
            if (tern_backward(loss))
                break;
            total += tern_item(loss);
            if (tern_loader_position(loader) % ACCUMULATE == 0) {
                norms += tern_item(tern_clip_grad_norm(net, 1.0));
                if (tern_optim_step(opt))
                    break;
                tern_optim_zero_grad(opt);
            }
        }
        const double steps = (double)tern_loader_batches(loader) / ACCUMULATE;
        if (!tern_error_pending())
            printf("epoch %d: loss %.6f, gradient norm %.6f\n", epoch, total / steps,
                   norms / steps);
    }

    tern_free(loader, data, opt, criterion, net);
    return tern_error_print(stderr);
}
