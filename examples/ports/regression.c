// SPDX-License-Identifier: Apache-2.0
// Fits a noisy sine: dataset, network, loss, optimizer, loop.
#include <stdio.h>
#include <tern/tern.h>

int main(void)
{
    tern_manual_seed(0);
    tern_tensor *x = tern_unsqueeze(tern_linspace(-3, 3, 512), 1);
    tern_tensor *noise = tern_mul_scalar(tern_randn_like(x), 0.1);
    tern_tensor *y = tern_add(tern_sin(tern_mul_scalar(x, 2)), noise);
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader = tern_loader_new(data, .batch_size = 32, .shuffle = true);

    tern_module *net =
        tern_nn_sequential(tern_nn_linear(1, 32), tern_nn_tanh(), tern_nn_linear(32, 32),
                           tern_nn_tanh(), tern_nn_linear(32, 1));
    tern_module *criterion = tern_nn_mse_loss();
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2);

    for (int epoch = 1; epoch <= 10 && !tern_error_pending(); epoch++) {
        double total = 0;
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            total += tern_item(loss) * (double)b.size;
        }
        if (!tern_error_pending())
            printf("epoch %d: loss %.6f\n", epoch, total / 512);
    }

    tern_free(loader, data, opt, criterion, net);
    return tern_error_print(stderr);
}
