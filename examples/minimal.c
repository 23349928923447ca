// SPDX-License-Identifier: Apache-2.0
// The shortest program that trains: an epoch of Fashion-MNIST.
#include <stdio.h>
#include <tern/tern.h>

int main(void)
{
    tern_manual_seed(42); // PyTorch's weights and batches
    tern_module *net = tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 128),
                                          tern_nn_relu(), tern_nn_linear(128, 10));
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-3);
    tern_dataset *data = tern_data_mnist("/usr/share/datasets/fashion-mnist", TERN_TRAIN);
    tern_loader *loader = tern_loader_new(data, .batch_size = 64, .shuffle = true);

    tern_each_batch (b, loader) { // its tensors are freed at the end of each
        tern_tensor *loss = tern_cross_entropy(tern_forward(net, b.x), b.y);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
        if (tern_loader_position(loader) % 200 == 0)
            printf("step %3d: loss %.4f\n", (int)tern_loader_position(loader), tern_item(loss));
    }
    tern_loader_free(loader); // in any order
    tern_dataset_free(data);
    tern_optim_free(opt);
    tern_module_free(net);
    return tern_error_print(stderr); // one sentence, if anything failed
}
