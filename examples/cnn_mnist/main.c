// SPDX-License-Identifier: Apache-2.0
// Trains a small convolutional network on MNIST or Fashion-MNIST: from the data files to the test
// accuracy. The loop is in ../common/training.c.
#include "../common/evaluate.h"
#include "../common/training.h"
#include "net.h"

static double dropout = 0.25;

static bool read_dropout(const char *text)
{
    return read_real(text, 0, 1, &dropout);
}

static tern_module *make_net(void)
{
    return cnn(CLASSES, dropout);
}

int main(int argc, char **argv)
{
    static const own_option own[] = {
        {.word = "dropout",
         .help = "  --dropout P          share of the last features that is left out (0.25)\n",
         .wanted = "a number of 0 to 1",
         .read = read_dropout},
        {.word = NULL},
    };
    const program cnn = {
        .command = {.name = "cnn_mnist",
                    .about = "a convolutional network",
                    .defaults = {.epochs = 3,
                                 .batch_size = 64,
                                 .optimizer = OPTIMIZER_ADAM,
                                 .lr = 1e-3,
                                 .weight_decay = -1},
                    .last_lr = 0.01,
                    .last_line = "test_accuracy=0.9130 test_loss=0.2375 epochs=3 seconds=S",
                    .own = own},
        .make_net = make_net,
    };
    return train_images(&cnn, argc, argv);
}
