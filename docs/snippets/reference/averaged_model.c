// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/averaged_model.h, for the site.
#include "examples.h"

static void show_averaged_model_swa(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_averaged_model_swa]
    tern_module *average = tern_averaged_model_swa(net);
    tern_status status = tern_averaged_model_update(average, net); // behind each epoch of the end
    // [/tern_averaged_model_swa]
    expect(!status);
    tern_free(average, net);
}

static void show_averaged_model_ema(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_averaged_model_ema]
    tern_module *average = tern_averaged_model_ema(net, .decay = 0.99);
    tern_status status = tern_averaged_model_update(average, net); // behind each step
    // [/tern_averaged_model_ema]
    expect(!status);
    tern_free(average, net);
}

int averaged_model_examples(void)
{
    show_averaged_model_swa();
    show_averaged_model_ema();
    return failures;
}
