// SPDX-License-Identifier: Apache-2.0
// quickstart.c from C++17: required values come first, then a callable sets options by name.
// Usage: quickstart_cpp [FOLDER with the four files of MNIST or Fashion-MNIST]
#include <cstdio>
#include <tern/tern.h>

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
    tern_manual_seed(42);
    tern_device dev = tern_device_best(); // cuda:0 when there is one, else cpu

    tern_module *net = tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 512),
                                          tern_nn_relu(), tern_nn_linear(512, 10));
    tern_module *criterion = tern_nn_cross_entropy_loss([](auto &o) { o.label_smoothing = 0.1; });
    tern_optim *opt = tern_optim_adam(net, [](auto &o) { o.lr = 1e-3; });
    tern_metric *accuracy = tern_metric_accuracy([](auto &o) { o.num_classes = 10; });

    tern_module_to(net, dev);       // in place; opt stays valid
    tern_module_to(criterion, dev); // its weight is a buffer: it moves too

    tern_dataset *train_data = tern_data_mnist(folder, TERN_TRAIN);
    tern_dataset *test_data = tern_data_mnist(folder, TERN_TEST);
    tern_loader *train = tern_loader_new(
        train_data, [&](auto &o) { o.batch_size = 64, o.shuffle = true, o.device = dev; });
    tern_loader *test =
        tern_loader_new(test_data, [&](auto &o) { o.batch_size = 1000, o.device = dev; });

    if (!tern_fit(net, criterion, opt, train, [](auto &o) { o.epochs = 2; }) &&
        !tern_evaluate(net, test, [&](auto &o) { o.metrics = tern_metrics(accuracy); }))
        std::printf("%.1f %% of the test images\n", 100 * tern_metric_value(accuracy));

    int status = tern_error_print(stderr); // which op, which shapes, which module
    tern_loader_free(test);                // in any order
    tern_loader_free(train);
    tern_dataset_free(test_data);
    tern_dataset_free(train_data);
    tern_metric_free(accuracy);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
    return status;
}
