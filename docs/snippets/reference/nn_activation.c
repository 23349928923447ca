// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/activation.h, for the site.
#include "examples.h"

static void show_nn_relu(void)
{
    // [tern_nn_relu]
    tern_module *relu = tern_nn_relu();
    tern_tensor *y = tern_forward(relu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_relu]
    expect_shape(y, 8, 32);
    tern_module_free(relu);
}

static void show_nn_tanh(void)
{
    // [tern_nn_tanh]
    tern_module *tanh = tern_nn_tanh();
    tern_tensor *y = tern_forward(tanh, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_tanh]
    expect_shape(y, 8, 32);
    tern_module_free(tanh);
}

static void show_nn_sigmoid(void)
{
    // [tern_nn_sigmoid]
    tern_module *sigmoid = tern_nn_sigmoid();
    tern_tensor *y = tern_forward(sigmoid, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_sigmoid]
    expect_shape(y, 8, 32);
    tern_module_free(sigmoid);
}

static void show_nn_silu(void)
{
    // [tern_nn_silu]
    tern_module *silu = tern_nn_silu();
    tern_tensor *y = tern_forward(silu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_silu]
    expect_shape(y, 8, 32);
    tern_module_free(silu);
}

static void show_nn_hardswish(void)
{
    // [tern_nn_hardswish]
    tern_module *hardswish = tern_nn_hardswish();
    tern_tensor *y = tern_forward(hardswish, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_hardswish]
    expect_shape(y, 8, 32);
    tern_module_free(hardswish);
}

static void show_nn_relu6(void)
{
    // [tern_nn_relu6]
    tern_module *relu6 = tern_nn_relu6();
    tern_tensor *y = tern_forward(relu6, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_relu6]
    expect_shape(y, 8, 32);
    tern_module_free(relu6);
}

static void show_nn_hardsigmoid(void)
{
    // [tern_nn_hardsigmoid]
    tern_module *hardsigmoid = tern_nn_hardsigmoid();
    tern_tensor *y = tern_forward(hardsigmoid, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_hardsigmoid]
    expect_shape(y, 8, 32);
    tern_module_free(hardsigmoid);
}

static void show_nn_selu(void)
{
    // [tern_nn_selu]
    tern_module *selu = tern_nn_selu();
    tern_tensor *y = tern_forward(selu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_selu]
    expect_shape(y, 8, 32);
    tern_module_free(selu);
}

static void show_nn_mish(void)
{
    // [tern_nn_mish]
    tern_module *mish = tern_nn_mish();
    tern_tensor *y = tern_forward(mish, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_mish]
    expect_shape(y, 8, 32);
    tern_module_free(mish);
}

static void show_nn_log_sigmoid(void)
{
    // [tern_nn_log_sigmoid]
    tern_module *log_sigmoid = tern_nn_log_sigmoid();
    tern_tensor *y = tern_forward(log_sigmoid, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_log_sigmoid]
    expect_shape(y, 8, 32);
    tern_module_free(log_sigmoid);
}

static void show_nn_tanhshrink(void)
{
    // [tern_nn_tanhshrink]
    tern_module *tanhshrink = tern_nn_tanhshrink();
    tern_tensor *y = tern_forward(tanhshrink, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_tanhshrink]
    expect_shape(y, 8, 32);
    tern_module_free(tanhshrink);
}

static void show_nn_softsign(void)
{
    // [tern_nn_softsign]
    tern_module *softsign = tern_nn_softsign();
    tern_tensor *y = tern_forward(softsign, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_softsign]
    expect_shape(y, 8, 32);
    tern_module_free(softsign);
}

static void show_nn_softmax(void)
{
    // [tern_nn_softmax]
    tern_module *softmax = tern_nn_softmax(-1);
    tern_tensor *y = tern_forward(softmax, tern_randn(tern_dims(8, 10))); // (8, 10)
    // [/tern_nn_softmax]
    expect_shape(y, 8, 10);
    tern_module_free(softmax);
}

static void show_nn_log_softmax(void)
{
    // [tern_nn_log_softmax]
    tern_module *log_softmax = tern_nn_log_softmax(-1);
    tern_tensor *y = tern_forward(log_softmax, tern_randn(tern_dims(8, 10))); // (8, 10)
    // [/tern_nn_log_softmax]
    expect_shape(y, 8, 10);
    tern_module_free(log_softmax);
}

static void show_nn_softmin(void)
{
    // [tern_nn_softmin]
    tern_module *softmin = tern_nn_softmin(-1);
    tern_tensor *y = tern_forward(softmin, tern_randn(tern_dims(8, 10))); // (8, 10)
    // [/tern_nn_softmin]
    expect_shape(y, 8, 10);
    tern_module_free(softmin);
}

static void show_nn_softmax2d(void)
{
    // [tern_nn_softmax2d]
    tern_module *softmax = tern_nn_softmax2d();
    tern_tensor *y = tern_forward(softmax, tern_randn(tern_dims(8, 10, 4, 4))); // (8, 10, 4, 4)
    // [/tern_nn_softmax2d]
    expect_shape(y, 8, 10, 4, 4);
    tern_module_free(softmax);
}

static void show_nn_gelu(void)
{
    // [tern_nn_gelu]
    tern_module *gelu = tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH);
    tern_tensor *y = tern_forward(gelu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_gelu]
    expect_shape(y, 8, 32);
    tern_module_free(gelu);
}

static void show_nn_leaky_relu(void)
{
    // [tern_nn_leaky_relu]
    tern_module *leaky = tern_nn_leaky_relu(0.2);
    tern_tensor *y = tern_forward(leaky, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_leaky_relu]
    expect_shape(y, 8, 32);
    tern_module_free(leaky);
}

static void show_nn_elu(void)
{
    // [tern_nn_elu]
    tern_module *elu = tern_nn_elu(1.5);
    tern_tensor *y = tern_forward(elu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_elu]
    expect_shape(y, 8, 32);
    tern_module_free(elu);
}

static void show_nn_celu(void)
{
    // [tern_nn_celu]
    tern_module *celu = tern_nn_celu(1.5);
    tern_tensor *y = tern_forward(celu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_celu]
    expect_shape(y, 8, 32);
    tern_module_free(celu);
}

static void show_nn_hardshrink(void)
{
    // [tern_nn_hardshrink]
    tern_module *shrink = tern_nn_hardshrink(0.3);
    tern_tensor *y = tern_forward(shrink, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_hardshrink]
    expect_shape(y, 8, 32);
    tern_module_free(shrink);
}

static void show_nn_softshrink(void)
{
    // [tern_nn_softshrink]
    tern_module *shrink = tern_nn_softshrink(0.3);
    tern_tensor *y = tern_forward(shrink, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_softshrink]
    expect_shape(y, 8, 32);
    tern_module_free(shrink);
}

static void show_nn_hardtanh(void)
{
    // [tern_nn_hardtanh]
    tern_module *hardtanh = tern_nn_hardtanh(-2, 2);
    tern_tensor *y = tern_forward(hardtanh, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_hardtanh]
    expect_shape(y, 8, 32);
    tern_module_free(hardtanh);
}

static void show_nn_softplus(void)
{
    // [tern_nn_softplus]
    tern_module *softplus = tern_nn_softplus(.beta = 2);
    tern_tensor *y = tern_forward(softplus, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_softplus]
    expect_shape(y, 8, 32);
    tern_module_free(softplus);
}

static void show_nn_threshold(void)
{
    // [tern_nn_threshold]
    tern_module *threshold = tern_nn_threshold(0.1, 20);
    tern_tensor *y = tern_forward(threshold, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_threshold]
    expect_shape(y, 8, 32);
    tern_module_free(threshold);
}

static void show_nn_rrelu(void)
{
    // [tern_nn_rrelu]
    tern_module *rrelu = tern_nn_rrelu(0.1, 0.3);
    tern_tensor *y = tern_forward(rrelu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_rrelu]
    expect_shape(y, 8, 32);
    tern_module_free(rrelu);
}

static void show_nn_prelu(void)
{
    // [tern_nn_prelu]
    tern_module *prelu = tern_nn_prelu(32, .init = 0.1);
    tern_tensor *y = tern_forward(prelu, tern_randn(tern_dims(8, 32))); // (8, 32)
    // [/tern_nn_prelu]
    expect_shape(y, 8, 32);
    tern_module_free(prelu);
}

static void show_nn_glu(void)
{
    // [tern_nn_glu]
    tern_module *glu = tern_nn_glu(-1);
    tern_tensor *y = tern_forward(glu, tern_randn(tern_dims(8, 32))); // (8, 16)
    // [/tern_nn_glu]
    expect_shape(y, 8, 16);
    tern_module_free(glu);
}

int nn_activation_examples(void)
{
    show_nn_relu();
    show_nn_tanh();
    show_nn_sigmoid();
    show_nn_silu();
    show_nn_hardswish();
    show_nn_relu6();
    show_nn_hardsigmoid();
    show_nn_selu();
    show_nn_mish();
    show_nn_log_sigmoid();
    show_nn_tanhshrink();
    show_nn_softsign();
    show_nn_softmax();
    show_nn_log_softmax();
    show_nn_softmin();
    show_nn_softmax2d();
    show_nn_gelu();
    show_nn_leaky_relu();
    show_nn_elu();
    show_nn_celu();
    show_nn_hardshrink();
    show_nn_softshrink();
    show_nn_hardtanh();
    show_nn_softplus();
    show_nn_threshold();
    show_nn_rrelu();
    show_nn_prelu();
    show_nn_glu();
    return failures;
}
