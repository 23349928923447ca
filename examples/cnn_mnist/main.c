// SPDX-License-Identifier: Apache-2.0
// Trains a small convolutional network on MNIST or Fashion-MNIST: from the data files to the test
// accuracy.
#include "../common/training.h"
#include "net.h"

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

static double dropout = 0.25;

static tern_module *make_net(void)
{
    return cnn(CLASSES, dropout);
}

int main(int argc, char **argv)
{
    static const tern_option own[] = {
        {"dropout", .number = {&dropout, 0, 1},
         .help = "share of the last features that is left out"},
        {0},
    };
    const program cnn = {
        .command = {.name = "cnn_mnist",
                    .about = "a convolutional network",
                    .defaults = {.epochs = 3,
                                 .batch_size = 64,
                                 .optimizer = "adam",
                                 .lr = 1e-3,
                                 .weight_decay = -1},
                    .last_lr = 0.01,
                    .last_line = "test_accuracy=0.9130 test_loss=0.2375 epochs=3 seconds=S",
                    .own = own},
        .make_net = make_net,
        .train_epoch = train_epoch,
    };
    return train_images(&cnn, argc, argv);
}
