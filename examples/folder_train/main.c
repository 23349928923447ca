// SPDX-License-Identifier: Apache-2.0
// Trains a small convolutional network on a folder of images, a folder for each class, and names
// the images of the test set that it is most wrong about.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/message.h"
#include "../common/options.h"
#include "data.h"
#include "worst.h"

static const char help[] =
    "usage: folder_train [OPTION..] DIR\n"
    "Trains a convolutional network on images, PNG and JPEG. DIR has folders train and test with "
    "a\n"
    "folder for each class, or the folders of the classes: then a fifth of the images tests.\n"
    "\n"
    "  --size N         images are resized to N x N (32)\n"
    "  --epochs N       (5)\n"
    "  --batch-size N   (64)\n"
    "  --lr X           (0.001)\n"
    "  --augment        images are moved and mirrored at random\n"
    "  --workers N      threads that read and change images ahead (2)\n"
    "  --device NAME    cpu, cuda (the best there is)\n"
    "  --worst N        how many of the worst mistakes are named (10)\n"
    "  --seed N         (0)\n"
    "  --save FILE      where the weights go: .safetensors, .pt, .npz\n"
    "\n"
    "Exit status: 0, 1 when training fails, 2 for wrong options or images.\n";

typedef struct settings {
    int64_t size, epochs, batch_size, workers, worst, seed;
    double lr;
    bool augment;
    const char *device, *save, *directory;
} settings;

// ---- the command line ---------------------------------------------------------------------------

static bool refuse(const char *option, const char *why)
{
    fprintf(stderr, "folder_train: --%s %s: not %s\n", option, optarg, why);
    return false;
}

static bool read_count(const char *option, int64_t low, int64_t high, int64_t *out)
{
    char why[96];
    snprintf(why, sizeof why, "a whole number of %lld to %lld", (long long)low, (long long)high);
    return read_integer(optarg, optarg + strlen(optarg), low, high, out) || refuse(option, why);
}

static bool read_option(settings *s, int letter)
{
    switch (letter) {
    case 's':
        return read_count("size", 8, 1024, &s->size);
    case 'e':
        return read_count("epochs", 1, 1000000, &s->epochs);
    case 'b':
        return read_count("batch-size", 1, 1 << 20, &s->batch_size);
    case 'l':
        return read_real(optarg, 0, 1e6, &s->lr) || refuse("lr", "a number of 0 or more");
    case 'a':
        return s->augment = true;
    case 'w':
        return read_count("workers", 0, 256, &s->workers);
    case 'd':
        s->device = optarg;
        return true;
    case 'W':
        return read_count("worst", 0, 1000, &s->worst);
    case 'r':
        return read_count("seed", 0, INT64_MAX, &s->seed);
    case 'S':
        s->save = optarg;
        return true;
    default:
        return false;
    }
}

static bool read_words(settings *s, int argc, char **argv)
{
    static const struct option words[] = {
        {"size", required_argument, NULL, 's'},
        {"epochs", required_argument, NULL, 'e'},
        {"batch-size", required_argument, NULL, 'b'},
        {"lr", required_argument, NULL, 'l'},
        {"augment", no_argument, NULL, 'a'},
        {"workers", required_argument, NULL, 'w'},
        {"device", required_argument, NULL, 'd'},
        {"worst", required_argument, NULL, 'W'},
        {"seed", required_argument, NULL, 'r'},
        {"save", required_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    for (int letter; (letter = getopt_long(argc, argv, "h", words, NULL)) != -1;) {
        if (letter == 'h') {
            fputs(help, stdout);
            exit(0);
        }
        if (!read_option(s, letter))
            return false;
    }
    if (optind + 1 != argc) {
        fputs("folder_train: give one folder; --help says more\n", stderr);
        return false;
    }
    s->directory = argv[optind];
    return true;
}

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

// ---- all of it ----------------------------------------------------------------------------------

static tern_status run(const settings *s, const images *set, tern_device device)
{
    tern_module *net = tern_module_to(make_net(set->classes), device);
    tern_optim *optim = tern_optim_adam(net, .lr = s->lr);
    tern_sched *sched = tern_sched_cosine_annealing_lr(optim, s->epochs);
    tern_loader *train = tern_loader_new(set->train, .batch_size = s->batch_size, .shuffle = true,
                                         .workers = (int)s->workers, .device = device);
    tern_loader *test =
        tern_loader_new(set->test, .batch_size = 256, .workers = (int)s->workers, .device = device);
    printf("%lld images to train with, %lld to test, %lld classes, on %s\n",
           (long long)tern_dataset_count(set->train), (long long)tern_dataset_count(set->test),
           (long long)set->classes, tern_device_string(device));
    for (int64_t epoch = 0; epoch < s->epochs && !tern_error_pending(); epoch++)
        if (train_epoch(net, optim, train) || tern_sched_step(sched))
            break;
    worst found = {.capacity = s->worst};
    if (!tern_error_pending() && !worst_find(&found, net, test)) {
        worst_print(&found, set->test, stdout);
        printf("test_accuracy=%.4f\n", found.accuracy);
    }
    worst_free(&found);
    if (s->save && !tern_error_pending())
        (void)!tern_module_save(net, s->save);
    tern_free(test, train, sched, optim, net);
    return tern_error_code();
}

int main(int argc, char **argv)
{
    settings s = {.size = 32, .epochs = 5, .batch_size = 64, .workers = 2, .worst = 10, .lr = 1e-3};
    if (!read_words(&s, argc, argv))
        return EXIT_USAGE;
    tern_device device = tern_device_best();
    images set = {0};
    tern_manual_seed((uint64_t)s.seed);
    if ((s.device && tern_device_parse(s.device, &device)) ||
        images_open(&set, s.directory, s.size, s.augment)) {
        message_print("folder_train", true);
        images_free(&set);
        return EXIT_USAGE;
    }
    const bool failed = run(&s, &set, device) != TERN_OK;
    message_print("folder_train", false);
    images_free(&set);
    return failed ? EXIT_FAILED : 0;
}
