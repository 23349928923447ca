// SPDX-License-Identifier: Apache-2.0
// An example of each call with options of tern/init.h, for the site.
#include "examples.h"

static tern_tensor *make_weight(void)
{
    return tern_empty(tern_dims(20, 30));
}

static double largest(tern_tensor *t)
{
    return tern_item(tern_amax(tern_abs(t), TERN_ALL_AXES, false));
}

static void show_init_uniform(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_uniform]
    tern_init_uniform(weight, -0.1, 0.1);
    // [/tern_init_uniform]
    expect(largest(weight) <= 0.1 && largest(weight) > 0.09);
}

static void show_init_normal(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_normal]
    tern_init_normal(weight, 0, 0.02);
    // [/tern_init_normal]
    expect(largest(weight) > 0.03 && largest(weight) < 0.2);
}

static void show_init_trunc_normal(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_trunc_normal]
    tern_init_trunc_normal(weight, .std = 0.02, .a = -0.04, .b = 0.04);
    // [/tern_init_trunc_normal]
    expect(largest(weight) > 0.03 && largest(weight) <= 0.04f);
}

static void show_init_xavier_uniform(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_xavier_uniform]
    double gain = tern_init_calculate_gain(TERN_NONLINEARITY_TANH, NAN); // 5 / 3
    tern_init_xavier_uniform(weight, gain);
    // [/tern_init_xavier_uniform]
    expect(near(gain, 5.0 / 3) && largest(weight) <= gain * sqrt(6.0 / 50));
}

static void show_init_xavier_normal(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_xavier_normal]
    tern_init_xavier_normal(weight); // std: sqrt(2 / (30 + 20)), 0.2
    // [/tern_init_xavier_normal]
    expect(largest(weight) > 0.4 && largest(weight) < 2);
}

static void show_init_kaiming_uniform(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_kaiming_uniform]
    tern_init_kaiming_uniform(weight, .a = 0.2);
    // [/tern_init_kaiming_uniform]
    expect(largest(weight) <= sqrt(6 / (1.04 * 30)));
}

static void show_init_kaiming_normal(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_kaiming_normal]
    tern_init_kaiming_normal(weight, .mode = TERN_FAN_OUT, .nonlinearity = TERN_NONLINEARITY_RELU);
    // [/tern_init_kaiming_normal]
    expect(largest(weight) > 0.6 && largest(weight) < 3);
}

static void show_init_orthogonal(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_orthogonal]
    tern_init_orthogonal(weight); // (20, 30): its rows are orthonormal
    tern_tensor *products = tern_matmul(weight, tern_transpose(weight, 0, 1));
    // [/tern_init_orthogonal]
    expect(near(tern_item(tern_sum_all(products)), 20));
}

static void show_init_sparse(void)
{
    tern_tensor *weight = make_weight();
    // [tern_init_sparse]
    tern_init_sparse(weight, 0.9); // 18 of the 20 rows of each column are 0
    // [/tern_init_sparse]
    expect(tern_item_int(tern_sum_all(tern_ne_scalar(weight, 0))) == 60);
}

static void show_init_dirac(void)
{
    tern_tensor *x = tern_ones(tern_dims(1, 4, 5));
    // [tern_init_dirac]
    tern_tensor *weight = tern_init_dirac(tern_empty(tern_dims(4, 4, 3)));
    tern_tensor *y = tern_conv1d(x, weight, NULL, .padding = 1); // x
    // [/tern_init_dirac]
    expect(largest(tern_sub(x, y)) == 0);
}

int init_examples(void)
{
    show_init_uniform();
    show_init_normal();
    show_init_trunc_normal();
    show_init_xavier_uniform();
    show_init_xavier_normal();
    show_init_kaiming_uniform();
    show_init_kaiming_normal();
    show_init_orthogonal();
    show_init_sparse();
    show_init_dirac();
    return failures;
}
