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

// w + (v - w) (eta + 1) / (n + 1 + eta)
static tern_tensor *polynomial(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                               void *user)
{
    const double eta = *(const double *)user;
    tern_tensor *next = tern_add_scalar(tern_to_dtype(n_averaged, TERN_FLOAT32), 1 + eta);
    tern_tensor *way = tern_mul_scalar(tern_sub(value, average), eta + 1);
    return tern_add(average, tern_div(way, next));
}

static void show_averaged_model_avg_fn(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_averaged_model_avg_fn]
    double eta = 8;
    tern_module *average = tern_averaged_model_avg_fn(net, polynomial, .user = &eta);
    tern_status status = tern_averaged_model_update(average, net); // behind each step
    // [/tern_averaged_model_avg_fn]
    expect(!status);
    tern_free(average, net);
}

int averaged_model_examples(void)
{
    show_averaged_model_swa();
    show_averaged_model_ema();
    show_averaged_model_avg_fn();
    return failures;
}
