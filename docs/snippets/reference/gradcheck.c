// SPDX-License-Identifier: Apache-2.0
// An example of each call with options of tern/gradcheck.h, for the site.
#include "examples.h"

static tern_tensor *product(tern_tensor *const *inputs, void *user)
{
    (void)user;
    return tern_matmul(inputs[0], tern_tanh(inputs[1]));
}

static void show_gradcheck(void)
{
    tern_tensor *a = tern_randn(tern_dims(2, 3), .dtype = TERN_FLOAT64, .requires_grad = true);
    tern_tensor *b = tern_randn(tern_dims(3, 4), .dtype = TERN_FLOAT64, .requires_grad = true);
    // [tern_gradcheck]
    tern_tensor *inputs[] = {a, b};
    tern_status status = tern_gradcheck(product, inputs, 2); // of tern_matmul(a, tern_tanh(b))
    // [/tern_gradcheck]
    expect(!status);
}

static void show_gradcheck_module(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_gelu());
    // [tern_gradcheck_module]
    tern_tensor *x = tern_randn(tern_dims(2, 3), .dtype = TERN_FLOAT64);
    tern_status status = tern_gradcheck_module(tern_module_to_dtype(net, TERN_FLOAT64), &x, 1);
    // [/tern_gradcheck_module]
    expect(!status);
    tern_free(net);
}

int gradcheck_examples(void)
{
    show_gradcheck();
    show_gradcheck_module();
    return failures;
}
