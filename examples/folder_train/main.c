// SPDX-License-Identifier: Apache-2.0
// Trains a small convolutional network on a folder of images, a folder for each class, and names
// the images of the test set that it is most wrong about.
#include <stdio.h>

#include "../common/message.h"
#include "../common/options.h"
#include "../common/worst.h"
#include "data.h"

#define MAX_WORST 1000

static struct settings {
    int64_t size, epochs, batch_size, workers, worst, seed;
    double lr;
    bool augment;
    const char *device, *save, *directory;
} s = {.size = 32, .epochs = 5, .batch_size = 64, .workers = 2, .worst = 10, .lr = 1e-3};

static const tern_option table[] = {
    {"DIR", .text = &s.directory, .argument = true, .required = true,
     .help = "has folders train and test with a folder for each class, or the folders of the "
             "classes: then a fifth of the images tests"},
    {"size", .integer = {&s.size, 8, 1024}, .help = "images are resized to N x N"},
    {"epochs", .integer = {&s.epochs, 1, 1000000}},
    {"batch-size", .integer = {&s.batch_size, 1, 1 << 20}},
    {"lr", .number = {&s.lr, 0, 1e6}},
    {"augment", .flag = &s.augment, .help = "images are moved and mirrored at random"},
    {"workers", .integer = {&s.workers, 0, 256},
     .help = "threads that read and change images ahead"},
    {"device", .text = &s.device, .value = "NAME", .help = "cpu, cuda (the best there is)"},
    {"worst", .integer = {&s.worst, 0, MAX_WORST},
     .help = "how many of the worst mistakes are named"},
    {"seed", .integer = {&s.seed, 0, INT64_MAX}},
    {"save", .text = &s.save, .value = "FILE", .read = check_save,
     .help = "where the weights go: .safetensors, .pt, .npz"},
    {0},
};

static const tern_script script = {
    .name = "folder_train",
    .about = "Trains a convolutional network on images, PNG and JPEG.",
    .options = table,
    .epilog = "Exit status: 0, 1 when training fails, 2 for wrong options or images.",
};

// ---- the net ------------------------------------------------------------------------------------

// (N, in, S, S) -> (N, out, S / 2, S / 2)
static tern_module *block(int64_t in, int64_t out)
{
    return tern_nn_sequential(tern_nn_conv2d(in, out, 3, .padding = 1), tern_nn_batch_norm2d(out),
                              tern_nn_relu(), tern_nn_max_pool2d(2));
}

static tern_module *make_net(int64_t classes)
{
    return tern_nn_sequential(block(3, 32), block(32, 64), block(64, 128),
                              tern_nn_adaptive_avg_pool2d(2), tern_nn_flatten(),
                              tern_nn_linear(512, classes));
}

static tern_status train_epoch(tern_module *net, tern_optim *optim, tern_loader *loader)
{
    double loss_sum = 0;
    int64_t batches = 0;
    (void)tern_module_train(net, true);
    tern_each_batch (b, loader) {
        tern_tensor *loss = tern_cross_entropy(tern_forward(net, b.x), b.y);
        tern_optim_zero_grad(optim);
        if (tern_backward(loss) || tern_optim_step(optim))
            break;
        if (batches++ % 16 == 0) // looking at it waits for the device
            loss_sum += tern_item(loss);
    }
    if (!tern_error_pending())
        printf("epoch %lld: loss %.4f, %.0f %% of the time spent waiting for images\n",
               (long long)tern_loader_epoch(loader), loss_sum / (double)((batches + 15) / 16),
               100 * tern_loader_wait_share(loader));
    fflush(stdout);
    return tern_error_code();
}

static tern_status test_net(tern_module *net, tern_loader *loader, const images *set)
{
    mistake mistakes[MAX_WORST + 1];
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = set->classes);
    tern_metric *worst = worst_mistakes(s.worst);
    int64_t count = -1;
    if (!tern_evaluate(net, loader, .metrics = tern_metrics(accuracy, worst)))
        count = worst_read(worst, mistakes);
    if (count >= 0) {
        mistakes_print(mistakes, count, set->test, stdout);
        printf("test_accuracy=%.4f\n", tern_metric_value(accuracy));
    }
    tern_free(worst, accuracy);
    return tern_error_code();
}

// ---- all of it ----------------------------------------------------------------------------------

static tern_status run(const images *set, tern_device device)
{
    tern_module *net = tern_module_to(make_net(set->classes), device);
    tern_optim *optim = tern_optim_adam(net, .lr = s.lr);
    tern_sched *sched = tern_sched_cosine_annealing_lr(optim, s.epochs);
    tern_loader *train = tern_loader_new(set->train, .batch_size = s.batch_size, .shuffle = true,
                                         .workers = (int)s.workers, .device = device);
    tern_loader *test =
        tern_loader_new(set->test, .batch_size = 256, .workers = (int)s.workers, .device = device);
    printf("%lld images to train with, %lld to test, %lld classes, on %s\n",
           (long long)tern_dataset_count(set->train), (long long)tern_dataset_count(set->test),
           (long long)set->classes, tern_device_string(device));
    for (int64_t epoch = 0; epoch < s.epochs && !tern_error_pending(); epoch++)
        if (train_epoch(net, optim, train) || tern_sched_step(sched))
            break;
    if (!tern_error_pending())
        (void)!test_net(net, test, set);
    if (s.save && !tern_error_pending())
        (void)!tern_module_save(net, s.save);
    tern_free(test, train, sched, optim, net);
    return tern_error_code();
}

int main(int argc, char **argv)
{
    const tern_script_action action = tern_script_read(&script, argc, argv);
    if (action != TERN_SCRIPT_RUN)
        return tern_script_print(&script, action, NULL);
    tern_device device = tern_device_best();
    images set = {0};
    tern_manual_seed((uint64_t)s.seed);
    if ((s.device && tern_device_parse(s.device, &device)) ||
        images_open(&set, s.directory, s.size, s.augment)) {
        message_print("folder_train", true);
        images_free(&set);
        return EXIT_USAGE;
    }
    const bool failed = run(&set, device) != TERN_OK;
    message_print("folder_train", false);
    images_free(&set);
    return failed ? EXIT_FAILED : 0;
}
