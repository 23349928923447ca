// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/fit.h, for the site.
#include "examples.h"

static tern_module *net, *criterion;
static tern_optim *opt;
static tern_loader *loader;

static void show_fit(void)
{
    // [tern_fit]
    if (tern_fit(net, criterion, opt, loader, .epochs = 2, .quiet = true))
        tern_error_print(stderr);
    // [/tern_fit]
    expect(!tern_error_pending() && tern_optim_step_count(opt, 0) == 4);
}

static void show_lr_find(void)
{
    // [tern_lr_find]
    tern_lr_curve *curve = tern_lr_find(net, criterion, opt, loader, .steps = 20);
    double first = curve ? curve->loss[0] : 0; // with the rate curve->lr[0]
    // [/tern_lr_find]
    expect(curve && first > 0);
    tern_lr_curve_free(curve);
}

int fit_examples(void)
{
    tern_dataset *data = tern_data_tensors(tern_rand(tern_dims(8, 4)), tern_rand(tern_dims(8, 2)));
    net = tern_nn_linear(4, 2);
    criterion = tern_nn_mse_loss();
    opt = tern_optim_sgd(net, .lr = 0.01);
    loader = tern_loader_new(data, .batch_size = 4);
    show_fit();
    show_lr_find();
    tern_free(loader, opt, criterion, net, data);
    return failures;
}
