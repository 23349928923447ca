// SPDX-License-Identifier: Apache-2.0
// Trains on Fashion-MNIST's test images, which are flipped, shifted and made noisy at random.
// Usage: augmentation [FOLDER with the files of Fashion-MNIST]
#include <stdio.h>
#include <tern/tern.h>

// Flips each image (N, 1, 28, 28) or not, shifts all by up to 2 pixels, adds noise.
static tern_tensor *augment(tern_tensor *x)
{
    tern_tensor *flip = tern_lt_scalar(tern_rand(tern_dims(tern_size(x, 0), 1, 1, 1)), 0.5);
    tern_tensor *mirrored = tern_index_select(x, 3, tern_arange(27, -1, -1));
    x = tern_where(flip, mirrored, x);
    int64_t shift[2] = {0, 0};
    if (tern_to_host(tern_randint(0, 5, tern_dims(2)), shift, sizeof shift))
        return NULL;
    x = tern_pad(x, tern_pads(2, 2, 2, 2), TERN_PAD_CONSTANT, 0);
    x = tern_narrow(tern_narrow(x, 2, shift[0], 28), 3, shift[1], 28);
    return tern_add(x, tern_mul_scalar(tern_randn_like(x), 0.1));
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
    tern_manual_seed(7);
    tern_dataset *data = tern_data_mnist(folder, TERN_TEST);
    tern_loader *loader = tern_loader_new(data, .batch_size = 100, .shuffle = true);

    tern_module *net = tern_nn_sequential(tern_nn_conv2d(1, 8, 3, .stride = 2), tern_nn_gelu(),
                                          tern_nn_conv2d(8, 16, 3, .stride = 2), tern_nn_gelu(),
                                          tern_nn_flatten(), tern_nn_linear(16 * 6 * 6, 10));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adam(net, .lr = 2e-3);

    double total = 0;
    int step = 0;
    tern_each_batch (b, loader) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, augment(b.x)), b.y);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
        total += tern_item(loss);
        if (++step % 10 == 0) {
            printf("step %d: loss %.6f\n", step, total / 10);
            total = 0;
        }
    }

    tern_free(loader, data, opt, criterion, net);
    return tern_error_print(stderr);
}
