// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/checkpoint.h, for the site.
#include "examples.h"

static void show_checkpoint_new(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_checkpoint_new]
    tern_checkpoint *kept = tern_checkpoint_new("run", .keep_last = 3);
    tern_status status = tern_checkpoint_module(kept, "net", net);
    // [/tern_checkpoint_new]
    expect(!status);
    tern_checkpoint_free(kept);
    tern_module_free(net);
}

static void show_checkpoint_save(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_checkpoint *kept = tern_checkpoint_new("run", .keep_last = 3);
    expect(!tern_checkpoint_module(kept, "net", net));
    // [tern_checkpoint_save]
    if (tern_checkpoint_save(kept, 100, .metric = 0.91))
        tern_error_print(stderr);
    // [/tern_checkpoint_save]
    expect(!tern_error_pending());
    tern_checkpoint_free(kept);
    tern_module_free(net);
}

static void show_optim_load_torch(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    expect(!tern_optim_save_torch(opt, "optimizer.pt"));
    // [tern_optim_load_torch]
    if (tern_optim_load_torch(opt, "optimizer.pt"))
        tern_error_print(stderr);
    // [/tern_optim_load_torch]
    expect(!tern_error_pending());
    tern_optim_free(opt);
    tern_module_free(net);
}

int checkpoint_examples(void)
{
    show_checkpoint_new();
    show_checkpoint_save();
    show_optim_load_torch();
    return failures;
}
