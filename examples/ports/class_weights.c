// SPDX-License-Identifier: Apache-2.0
// Three kinds, one of them rare: the loss weighs each kind by how seldom it is.
#include <stdio.h>
#include <tern/tern.h>

int main(void)
{
    tern_device device = tern_device_best();
    tern_manual_seed(5);
    tern_tensor *share = tern_from_data(tern_dims(3), (float[]){0.8f, 0.18f, 0.02f});
    tern_tensor *center = tern_from_data(tern_dims(3, 2), (float[]){0, 0, 1.5f, 0, 0, 1.5f});
    tern_tensor *draw = tern_rand(tern_dims(1000));
    tern_tensor *y = tern_add(tern_to_dtype(tern_gt_scalar(draw, 0.8), TERN_INT64),
                              tern_to_dtype(tern_gt_scalar(draw, 0.98), TERN_INT64));
    tern_tensor *noise = tern_mul_scalar(tern_randn(tern_dims(1000, 2)), 0.6);
    tern_tensor *x = tern_add(tern_index_select(center, 0, y), noise);
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader =
        tern_loader_new(data, .batch_size = 50, .shuffle = true, .device = device);

    tern_module *net =
        tern_nn_sequential(tern_nn_linear(2, 32), tern_nn_relu(), tern_nn_linear(32, 3));
    tern_tensor *weight = tern_pow_scalar(tern_mul_scalar(share, 3), -1);
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = weight);
    tern_module_to(net, device);
    tern_module_to(criterion, device); // its weight is a buffer: it moves too
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2);

    for (int epoch = 1; epoch <= 10 && !tern_error_pending(); epoch++) {
        double total = 0;
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            total += tern_item(loss);
        }
        if (!tern_error_pending())
            printf("epoch %d: loss %.6f\n", epoch, total / (double)tern_loader_batches(loader));
    }

    tern_tensor *guess = NULL;
    tern_no_grad
        guess = tern_argmax(tern_forward(net, tern_to(x, device)), 1, false);
    guess = tern_to(guess, tern_cpu(0));
    for (int kind = 0; kind < 3 && !tern_error_pending(); kind++) {
        tern_tensor *is_kind = tern_eq_scalar(y, kind);
        tern_tensor *found = tern_logical_and(is_kind, tern_eq_scalar(guess, kind));
        printf("kind %d: %.0f of %.0f found\n", kind, tern_item(tern_sum_all(found)),
               tern_item(tern_sum_all(is_kind)));
    }

    tern_free(loader, data, opt, criterion, net);
    return tern_error_print(stderr);
}
