// SPDX-License-Identifier: Apache-2.0
// quickstart.c from C++17: required values come first, then a callable sets options by name.
// Usage: quickstart_cpp [FOLDER with the four files of MNIST or Fashion-MNIST]
#include <cstdio>
#include <tern/tern.h>

static double accuracy(tern_module *net, tern_dataset *data, tern_device dev)
{
    tern_loader *loader =
        tern_loader_new(data, [&](auto &o) { o.batch_size = 1000, o.device = dev; });
    double correct = 0, samples = 0;
    tern_module_eval(net);
    tern_each_batch (b, loader) {
        tern_no_grad {
            tern_tensor *guess = tern_argmax(tern_forward(net, b.x), 1, false);
            correct += tern_item(tern_sum_all(tern_eq(guess, b.y)));
            samples += static_cast<double>(b.size);
        }
    }
    tern_module_train(net, true);
    tern_loader_free(loader);
    return correct / samples;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
    tern_manual_seed(42);
    tern_device dev = tern_device_best(); // cuda:0 when there is one, else cpu

    tern_module *net = tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 512),
                                          tern_nn_relu(), tern_nn_linear(512, 10));
    tern_module *criterion = tern_nn_cross_entropy_loss([](auto &o) { o.label_smoothing = 0.1; });
    tern_optim *opt = tern_optim_adam(net, [](auto &o) { o.lr = 1e-3; });

    tern_module_to(net, dev);       // in place; opt stays valid
    tern_module_to(criterion, dev); // its weight is a buffer: it moves too

    tern_dataset *train = tern_data_mnist(folder, TERN_TRAIN);
    tern_dataset *test = tern_data_mnist(folder, TERN_TEST);
    tern_loader *loader = tern_loader_new(
        train, [&](auto &o) { o.batch_size = 64, o.shuffle = true, o.device = dev; });

    for (int epoch = 0; epoch < 2 && !tern_error_pending(); epoch++) {
        tern_each_batch (b, loader) { // temporaries live until the next one
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
        }
        double share = accuracy(net, test, dev);
        if (!tern_error_pending())
            std::printf("epoch %d: %.1f %% of the test images\n", epoch + 1, 100 * share);
    }

    int status = tern_error_print(stderr); // which op, which shapes, which module
    tern_loader_free(loader);              // in any order
    tern_dataset_free(test);
    tern_dataset_free(train);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
    return status;
}
