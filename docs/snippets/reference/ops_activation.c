// SPDX-License-Identifier: Apache-2.0
// An example of each call with options of tern/ops/activation.h, for the site.
#include "examples.h"

static void show_leaky_relu(void)
{
    // [tern_leaky_relu]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_leaky_relu(x); // -0.02, 0, 3
    // [/tern_leaky_relu]
    expect_shape(y, 3);
}

static void show_rrelu(void)
{
    // [tern_rrelu]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_rrelu(x, .training = true); // slopes from 1/8 to 1/3
    // [/tern_rrelu]
    expect_shape(y, 3);
}

static void show_hardtanh(void)
{
    // [tern_hardtanh]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_hardtanh(x, .max_val = 2); // -1, 0, 2
    // [/tern_hardtanh]
    expect_shape(y, 3);
}

static void show_hardshrink(void)
{
    // [tern_hardshrink]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_hardshrink(x); // -2, 0, 3
    // [/tern_hardshrink]
    expect_shape(y, 3);
}

static void show_softshrink(void)
{
    // [tern_softshrink]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_softshrink(x); // -1.5, 0, 2.5
    // [/tern_softshrink]
    expect_shape(y, 3);
}

static void show_gelu(void)
{
    // [tern_gelu]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_gelu(x, .approximate = TERN_APPROXIMATE_TANH); // -0.0454, 0, 2.9964
    // [/tern_gelu]
    expect_shape(y, 3);
}

static void show_softplus(void)
{
    // [tern_softplus]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_softplus(x, .beta = 2); // log(1 + exp(2 x)) / 2
    // [/tern_softplus]
    expect_shape(y, 3);
}

static void show_elu(void)
{
    // [tern_elu]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_elu(x); // exp(-2) - 1, 0, 3
    // [/tern_elu]
    expect_shape(y, 3);
}

static void show_celu(void)
{
    // [tern_celu]
    tern_tensor *x = tern_from_data(tern_dims(3), (float[]){-2, 0, 3});
    tern_tensor *y = tern_celu(x, .alpha = 0.5); // (exp(-4) - 1) / 2, 0, 3
    // [/tern_celu]
    expect_shape(y, 3);
}

static void show_glu(void)
{
    // [tern_glu]
    tern_tensor *x = tern_randn(tern_dims(8, 64));
    tern_tensor *y = tern_glu(x); // (8, 32)
    // [/tern_glu]
    expect_shape(y, 8, 32);
}

int ops_activation_examples(void)
{
    show_leaky_relu();
    show_rrelu();
    show_hardtanh();
    show_hardshrink();
    show_softshrink();
    show_gelu();
    show_softplus();
    show_elu();
    show_celu();
    show_glu();
    return failures;
}
