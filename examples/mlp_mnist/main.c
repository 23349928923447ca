// SPDX-License-Identifier: Apache-2.0
// Trains a multi-layer perceptron on MNIST or Fashion-MNIST: from the data files to the test
// accuracy.
#include <stdlib.h>

#include "../common/training.h"

static tern_status train_epoch(training *t)
{
    tern_each_batch (b, t->train_loader) {
        tern_tensor *logits = tern_forward(t->model, b.x);
        tern_tensor *loss = tern_loss(t->criterion, logits, b.y);
        tern_optim_zero_grad(t->optim);
        if (tern_backward(loss) || training_step(t) || !training_goes_on(t, &b, logits, loss))
            break;
    }
    return tern_error_code();
}

#define MAX_HIDDEN 8

static int64_t hidden[MAX_HIDDEN] = {512, 512};
static int hidden_count = 2;
static const char *hidden_text = "512,512";

static tern_status read_hidden(const char *text, void *user)
{
    (void)user;
    hidden_count = 0;
    for (const char *at = text;; at++) {
        char *end;
        const long width = strtol(at, &end, 10);
        if (hidden_count == MAX_HIDDEN || end == at || width < 1 || width > 1 << 20 ||
            (*end && *end != ','))
            return tern_error_raise(TERN_ERR_ARG, "not up to 8 widths like 512,512");
        hidden[hidden_count++] = width;
        if (*end == 0)
            return TERN_OK;
        at = end;
    }
}

static tern_module *make_net(void)
{
    tern_module *layers[2 * MAX_HIDDEN + 2];
    int64_t width = 28 * 28, count = 0;
    layers[count++] = tern_nn_flatten();
    for (int i = 0; i < hidden_count; i++) {
        layers[count++] = tern_nn_linear(width, hidden[i]);
        layers[count++] = tern_nn_relu();
        width = hidden[i];
    }
    layers[count++] = tern_nn_linear(width, CLASSES);
    return tern_nn_sequential_new(count, layers);
}

int main(int argc, char **argv)
{
    static const tern_option own[] = {
        {"hidden", .text = &hidden_text, .value = "N,N,..", .read = read_hidden,
         .help = "widths of the hidden layers, at most 8"},
        {0},
    };
    const program mlp = {
        .command = {.name = "mlp_mnist",
                    .about = "a multi-layer perceptron",
                    .defaults = {.epochs = 5,
                                 .batch_size = 64,
                                 .optimizer = "adam",
                                 .lr = 1e-3,
                                 .weight_decay = -1},
                    .last_line = "test_accuracy=0.8882 test_loss=0.3093 epochs=5 seconds=S",
                    .own = own},
        .make_net = make_net,
        .train_epoch = train_epoch,
    };
    return train_images(&mlp, argc, argv);
}
