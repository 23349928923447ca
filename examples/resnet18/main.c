// SPDX-License-Identifier: Apache-2.0
// Trains ResNet-18 on MNIST or Fashion-MNIST, from nothing or from weights: the last layer of
// weights for other classes is replaced.
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

#define FEATURES 512

static bool freeze;

// A hook: grey images (N, 1, H, W) become three equal channels.
static tern_status to_rgb(tern_module *net, tern_tensors *in, void *user)
{
    (void)net, (void)user;
    tern_shape shape = tern_shape_of(in->at[0]);
    shape.dim[1] = 3;
    in->at[0] = tern_expand(in->at[0], shape);
    return tern_error_code();
}

static tern_module *make_net(void)
{
    tern_module *net = tern_models_resnet18(.num_classes = CLASSES);
    tern_module_add_forward_pre_hook(net, to_rgb, NULL);
    return net;
}

// How many classes the weights are for; 0 on failure.
static int64_t classes_of(const tern_state *weights)
{
    tern_tensor *last = tern_state_tensor(weights, "fc.weight");
    return last ? tern_shape_of(last).dim[0] : 0;
}

// The weights, into a net whose last layer is theirs; then it is one for these classes again.
static tern_status load(tern_module *net, const char *path)
{
    tern_scope scope = tern_scope_open();
    tern_state *weights = tern_state_read(path);
    const int64_t classes = classes_of(weights);
    if (classes && classes != CLASSES)
        (void)!tern_module_set_child(net, "fc", tern_nn_linear(FEATURES, classes));
    if (!tern_error_pending() && !tern_module_load_state_dict(net, weights) && classes != CLASSES)
        (void)!tern_module_set_child(net, "fc", tern_nn_linear(FEATURES, CLASSES));
    if (freeze && !tern_error_pending()) {
        tern_module_requires_grad_(net, false);
        tern_module_requires_grad_(tern_module_child(net, "fc"), true);
    }
    tern_state_free(weights);
    tern_scope_close(scope);
    return tern_error_code();
}

int main(int argc, char **argv)
{
    static const tern_option own[] = {
        {"freeze", .flag = &freeze, .needs = "load", .help = "only the last layer learns"},
        {0},
    };
    const program resnet = {
        .command = {.name = "resnet18",
                    .about = "ResNet-18",
                    .defaults = {.epochs = 1,
                                 .batch_size = 64,
                                 .optimizer = "adam",
                                 .lr = 1e-3,
                                 .weight_decay = -1},
                    .last_lr = 0.01,
                    .own = own},
        .make_net = make_net,
        .train_epoch = train_epoch,
        .channels = 3,
        .load = load,
    };
    return train_images(&resnet, argc, argv);
}
