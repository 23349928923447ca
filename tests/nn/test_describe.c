// SPDX-License-Identifier: Apache-2.0
// What modules say of themselves. The texts are PyTorch 2.15's: print(MODULE) of the line beside
// each, with `import torch.nn as nn`.
#include <stdlib.h>

#include "support/own_module.h"

static char *printed(const tern_module *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(tern_module_print(m, file), TERN_OK);
    fclose(file);
    return text;
}

static void check_printed(tern_module *m, const char *expected)
{
    assert_non_null(m);
    char *text = printed(m);
    assert_string_equal(text, expected);
    free(text);
    tern_module_free(m);
}

// A copy prints the same. The module is freed.
static void check_print(tern_module *m, const char *expected)
{
    check_printed(tern_module_copy(m), expected);
    check_printed(m, expected);
}

static void layers_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.Linear(784, 512)
    check_print(tern_nn_linear(784, 512), "Linear(in_features=784, out_features=512, bias=True)\n");
    // nn.Linear(3, 2, bias=False)
    check_print(tern_nn_linear(3, 2, .bias = false),
                "Linear(in_features=3, out_features=2, bias=False)\n");
    // nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
    check_print(tern_nn_conv2d(3, 64, 7, .stride = 2, .padding = 3, .bias = false),
                "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)\n");
    // nn.Conv1d(4, 4, 3, padding='same', dilation=2, groups=2, padding_mode='reflect')
    check_print(tern_nn_conv1d(4, 4, 3, .padding = TERN_SAME_PADDING, .dilation = 2, .groups = 2,
                               .padding_mode = TERN_PAD_REFLECT),
                "Conv1d(4, 4, kernel_size=(3,), stride=(1,), padding=same, dilation=(2,), "
                "groups=2, padding_mode=reflect)\n");
    // nn.ConvTranspose3d(2, 4, (1, 2, 3), stride=(1, 2, 2), output_padding=(0, 1, 0))
    check_print(tern_nn_conv_transpose3d(2, 4, .kernel_size = {1, 2, 3}, .stride = {1, 2, 2},
                                         .output_padding = {0, 1, 0}),
                "ConvTranspose3d(2, 4, kernel_size=(1, 2, 3), stride=(1, 2, 2), "
                "output_padding=(0, 1, 0))\n");
    check_print(tern_nn_flatten(), "Flatten(start_dim=1, end_dim=-1)\n");      // nn.Flatten()
    check_print(tern_nn_flatten(0, -2), "Flatten(start_dim=0, end_dim=-2)\n"); // nn.Flatten(0, -2)
    check_print(tern_nn_dropout(), "Dropout(p=0.5, inplace=False)\n");         // nn.Dropout()
    check_print(tern_nn_identity(), "Identity()\n");                           // nn.Identity()
    check_print(tern_nn_relu(), "ReLU()\n");                                   // nn.ReLU()
    check_print(tern_nn_tanh(), "Tanh()\n");                                   // nn.Tanh()
    check_print(tern_nn_sigmoid(), "Sigmoid()\n");                             // nn.Sigmoid()
    check_print(tern_nn_silu(), "SiLU()\n");                                   // nn.SiLU()
    check_print(tern_nn_hardswish(), "Hardswish()\n");                         // nn.Hardswish()
    check_print(tern_nn_softmax(-1), "Softmax(dim=-1)\n");                     // nn.Softmax(-1)
    check_print(tern_nn_gelu(), "GELU(approximate='none')\n");                 // nn.GELU()
    // nn.GELU('tanh')
    check_print(tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH), "GELU(approximate='tanh')\n");
    check_print(tern_nn_leaky_relu(), "LeakyReLU(negative_slope=0.01)\n"); // nn.LeakyReLU()
}

static void activations_print_as_those_of_pytorch(void **state)
{
    (void)state;
    check_print(tern_nn_prelu(), "PReLU(num_parameters=1)\n");       // nn.PReLU()
    check_print(tern_nn_prelu(3, 0.1), "PReLU(num_parameters=3)\n"); // nn.PReLU(3, 0.1)
    // nn.RReLU()
    check_print(tern_nn_rrelu(), "RReLU(lower=0.125, upper=0.3333333333333333)\n");
    check_print(tern_nn_elu(), "ELU(alpha=1.0)\n");                           // nn.ELU()
    check_print(tern_nn_celu(0.5), "CELU(alpha=0.5)\n");                      // nn.CELU(0.5)
    check_print(tern_nn_hardtanh(), "Hardtanh(min_val=-1.0, max_val=1.0)\n"); // nn.Hardtanh()
    check_print(tern_nn_hardshrink(), "Hardshrink(0.5)\n");                   // nn.Hardshrink()
    check_print(tern_nn_softshrink(), "Softshrink(0.5)\n");                   // nn.Softshrink()
    check_print(tern_nn_softplus(), "Softplus(beta=1.0, threshold=20.0)\n");  // nn.Softplus()
    // nn.Threshold(0.1, 20.0)
    check_print(tern_nn_threshold(0.1, 20), "Threshold(threshold=0.1, value=20.0)\n");
    check_print(tern_nn_relu6(), "ReLU6()\n");                  // nn.ReLU6()
    check_print(tern_nn_hardsigmoid(), "Hardsigmoid()\n");      // nn.Hardsigmoid()
    check_print(tern_nn_selu(), "SELU()\n");                    // nn.SELU()
    check_print(tern_nn_mish(), "Mish()\n");                    // nn.Mish()
    check_print(tern_nn_log_sigmoid(), "LogSigmoid()\n");       // nn.LogSigmoid()
    check_print(tern_nn_tanhshrink(), "Tanhshrink()\n");        // nn.Tanhshrink()
    check_print(tern_nn_softsign(), "Softsign()\n");            // nn.Softsign()
    check_print(tern_nn_glu(), "GLU(dim=-1)\n");                // nn.GLU()
    check_print(tern_nn_log_softmax(1), "LogSoftmax(dim=1)\n"); // nn.LogSoftmax(1)
    check_print(tern_nn_softmin(1), "Softmin(dim=1)\n");        // nn.Softmin(1)
    check_print(tern_nn_softmax2d(), "Softmax2d()\n");          // nn.Softmax2d()
}

static void dropouts_and_shuffles_print_as_those_of_pytorch(void **state)
{
    (void)state;
    check_print(tern_nn_dropout1d(), "Dropout1d(p=0.5, inplace=False)\n");    // nn.Dropout1d()
    check_print(tern_nn_dropout2d(0.2), "Dropout2d(p=0.2, inplace=False)\n"); // nn.Dropout2d(0.2)
    check_print(tern_nn_dropout3d(), "Dropout3d(p=0.5, inplace=False)\n");    // nn.Dropout3d()
    // nn.AlphaDropout()
    check_print(tern_nn_alpha_dropout(), "AlphaDropout(p=0.5, inplace=False)\n");
    // nn.Unflatten(1, (2, 5))
    check_print(tern_nn_unflatten(1, tern_dims(2, 5)),
                "Unflatten(dim=1, unflattened_size=(2, 5))\n");
    check_print(tern_nn_pixel_shuffle(3), "PixelShuffle(upscale_factor=3)\n"); // nn.PixelShuffle(3)
    // nn.PixelUnshuffle(2)
    check_print(tern_nn_pixel_unshuffle(2), "PixelUnshuffle(downscale_factor=2)\n");
    check_print(tern_nn_channel_shuffle(2), "ChannelShuffle(groups=2)\n"); // nn.ChannelShuffle(2)
}

static void dicts_and_parameters_print_what_they_hold(void **state)
{
    (void)state;
    check_print(tern_nn_module_dict(), "ModuleDict()\n");       // nn.ModuleDict()
    check_print(tern_nn_parameter_list(), "ParameterList()\n"); // nn.ParameterList()
    // nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.ReLU()})
    check_print(tern_nn_module_dict({"a", tern_nn_linear(2, 3)}, {"b", tern_nn_relu()}),
                "ModuleDict(\n"
                "  (a): Linear(in_features=2, out_features=3, bias=True)\n"
                "  (b): ReLU()\n"
                ")\n");
    // nn.Sequential(nn.ParameterList([torch.ones(2, 3), torch.ones(())]), nn.ReLU())
    check_print(tern_nn_sequential(
                    tern_nn_parameter_list(tern_ones(tern_dims(2, 3)), tern_ones(tern_dims())),
                    tern_nn_relu()),
                "Sequential(\n"
                "  (0): ParameterList(\n"
                "      (0): Parameter containing: [torch.float32 of size 2x3]\n"
                "      (1): Parameter containing: [torch.float32 of size ]\n"
                "  )\n"
                "  (1): ReLU()\n"
                ")\n");
    // PyTorch's dict says torch.DoubleTensor
    check_print(tern_nn_parameter_dict({"w", tern_ones(tern_dims(4), .dtype = TERN_FLOAT64)}),
                "ParameterDict(\n"
                "    (w): Parameter containing: [torch.float64 of size 4]\n"
                ")\n");
    // nn.ModuleList([nn.ParameterList([torch.ones(n)] * 2) for n in (2, 2, 3)]).
    check_print(tern_nn_module_list(tern_nn_parameter_list(tern_ones(tern_dims(2))),
                                    tern_nn_parameter_list(tern_ones(tern_dims(2))),
                                    tern_nn_parameter_list(tern_ones(tern_dims(3)))),
                "ModuleList(\n"
                "  (0-1): 2 x ParameterList(\n"
                "      (0): Parameter containing: [torch.float32 of size 2]\n"
                "  )\n"
                "  (2): ParameterList(\n"
                "      (0): Parameter containing: [torch.float32 of size 3]\n"
                "  )\n"
                ")\n");
}

static void poolings_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.MaxPool2d(2)
    check_print(tern_nn_max_pool2d(2), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, "
                                       "ceil_mode=False)\n");
    // nn.MaxPool2d((3, 2), 2, (1, 0), ceil_mode=True)
    check_print(tern_nn_max_pool2d(.kernel_size = {3, 2}, .stride = 2, .padding = {1, 0},
                                   .ceil_mode = true),
                "MaxPool2d(kernel_size=(3, 2), stride=2, padding=(1, 0), dilation=1, "
                "ceil_mode=True)\n");
    // nn.MaxPool1d(3, 1)
    check_print(tern_nn_max_pool1d(3, .stride = 1),
                "MaxPool1d(kernel_size=3, stride=1, padding=0, dilation=1, ceil_mode=False)\n");
    // nn.MaxPool3d(2, padding=1)
    check_print(tern_nn_max_pool3d(2, .padding = 1),
                "MaxPool3d(kernel_size=2, stride=2, padding=1, dilation=1, ceil_mode=False)\n");
    // nn.AvgPool1d(3, 2)
    check_print(tern_nn_avg_pool1d(3, .stride = 2),
                "AvgPool1d(kernel_size=(3,), stride=(2,), padding=(0,))\n");
    // nn.AvgPool2d(3, 2, 1)
    check_print(tern_nn_avg_pool2d(3, .stride = 2, .padding = 1),
                "AvgPool2d(kernel_size=3, stride=2, padding=1)\n");
    // nn.AvgPool3d(2)
    check_print(tern_nn_avg_pool3d(2), "AvgPool3d(kernel_size=2, stride=2, padding=0)\n");
    // nn.AdaptiveAvgPool1d(5)
    check_print(tern_nn_adaptive_avg_pool1d(5), "AdaptiveAvgPool1d(output_size=5)\n");
    // nn.AdaptiveAvgPool2d((None, 7))
    check_print(tern_nn_adaptive_avg_pool2d(.size = {TERN_KEEP_SIZE, 7}),
                "AdaptiveAvgPool2d(output_size=(None, 7))\n");
    // nn.AdaptiveMaxPool1d(5)
    check_print(tern_nn_adaptive_max_pool1d(5), "AdaptiveMaxPool1d(output_size=5)\n");
    // nn.AdaptiveMaxPool2d((5, 7))
    check_print(tern_nn_adaptive_max_pool2d(.size = {5, 7}),
                "AdaptiveMaxPool2d(output_size=(5, 7))\n");
    // nn.LocalResponseNorm(2)
    check_print(tern_nn_local_response_norm(2),
                "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)\n");
}

static void paddings_and_resizings_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.ZeroPad1d(2)
    check_print(tern_nn_zero_pad1d(2), "ZeroPad1d((2, 2))\n");
    // nn.ZeroPad2d((1, 0, 3, -2))
    check_print(tern_nn_zero_pad2d(.left = 1, .top = 3, .bottom = -2),
                "ZeroPad2d((1, 0, 3, -2))\n");
    // nn.ConstantPad2d((3, 1, 2, 1), 3.5)
    check_print(tern_nn_constant_pad2d(1, 3.5, .left = 3, .top = 2),
                "ConstantPad2d(padding=(3, 1, 2, 1), value=3.5)\n");
    // nn.ReflectionPad2d(2)
    check_print(tern_nn_reflection_pad2d(2), "ReflectionPad2d((2, 2, 2, 2))\n");
    // nn.ReplicationPad3d((3, 3, 6, 6, 1, 1))
    check_print(tern_nn_replication_pad3d(3, .top = 6, .bottom = 6, .front = 1, .back = 1),
                "ReplicationPad3d((3, 3, 6, 6, 1, 1))\n");
    // nn.CircularPad1d((3, 1))
    check_print(tern_nn_circular_pad1d(.left = 3, .right = 1), "CircularPad1d((3, 1))\n");
    // nn.Upsample(scale_factor=2)
    check_print(tern_nn_upsample(.scale = 2), "Upsample(scale_factor=2.0, mode='nearest')\n");
    // nn.Upsample(scale_factor=(2, 1.5), mode='nearest-exact')
    check_print(tern_nn_upsample(.scale = {2, 1.5}, .mode = TERN_NEAREST_EXACT),
                "Upsample(scale_factor=(2.0, 1.5), mode='nearest-exact')\n");
    // nn.Upsample(size=(12, 24), mode='bilinear')
    check_print(tern_nn_upsample(.size = tern_dims(12, 24), .mode = TERN_BILINEAR),
                "Upsample(size=(12, 24), mode='bilinear')\n");
    // nn.Upsample(size=7, mode='linear')
    check_print(tern_nn_upsample(.size = tern_dims(7), .mode = TERN_LINEAR),
                "Upsample(size=7, mode='linear')\n");
}

static void normalisations_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.BatchNorm1d(3)
    check_print(tern_nn_batch_norm1d(3), "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, "
                                         "bias=True, track_running_stats=True)\n");
    // nn.BatchNorm2d(3, momentum=None, affine=False)
    check_print(tern_nn_batch_norm2d(3, .momentum = NAN, .affine = false),
                "BatchNorm2d(3, eps=1e-05, momentum=None, affine=False, bias=False, "
                "track_running_stats=True)\n");
    // nn.BatchNorm3d(3, eps=0.5, track_running_stats=False, bias=False)
    check_print(tern_nn_batch_norm3d(3, .eps = 0.5, .track_running_stats = false, .bias = false),
                "BatchNorm3d(3, eps=0.5, momentum=0.1, affine=True, bias=False, "
                "track_running_stats=False)\n");
    // nn.InstanceNorm2d(3)
    check_print(tern_nn_instance_norm2d(3), "InstanceNorm2d(3, eps=1e-05, momentum=0.1, "
                                            "affine=False, bias=False, "
                                            "track_running_stats=False)\n");
    // nn.GroupNorm(2, 6)
    check_print(tern_nn_group_norm(2, 6), "GroupNorm(2, 6, eps=1e-05, affine=True, bias=True)\n");
    // nn.LayerNorm(5, bias=False), nn.LayerNorm((3, 5), elementwise_affine=False)
    check_print(tern_nn_layer_norm(tern_dims(5), .bias = false),
                "LayerNorm((5,), eps=1e-05, elementwise_affine=True, bias=False)\n");
    check_print(tern_nn_layer_norm(tern_dims(3, 5), .elementwise_affine = false),
                "LayerNorm((3, 5), eps=1e-05, elementwise_affine=False, bias=False)\n");
    // nn.RMSNorm(5), nn.RMSNorm((3, 5), eps=0.1)
    check_print(tern_nn_rms_norm(tern_dims(5)),
                "RMSNorm((5,), eps=None, elementwise_affine=True)\n");
    check_print(tern_nn_rms_norm(tern_dims(3, 5), .eps = 0.1),
                "RMSNorm((3, 5), eps=0.1, elementwise_affine=True)\n");
}

static void losses_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.CrossEntropyLoss(torch.ones(3), label_smoothing=0.1)
    check_print(
        tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3)), .label_smoothing = 0.1),
        "CrossEntropyLoss()\n");
    check_print(tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM), "MSELoss()\n");
    check_print(tern_nn_l1_loss(), "L1Loss()\n"); // nn.L1Loss()
    // nn.BCEWithLogitsLoss(pos_weight=torch.ones(3)), nn.HuberLoss(delta=0.5)
    check_print(tern_nn_bce_with_logits_loss(.pos_weight = tern_ones(tern_dims(3))),
                "BCEWithLogitsLoss()\n");
    check_print(tern_nn_huber_loss(.delta = 0.5), "HuberLoss()\n");
    // nn.LinearCrossEntropyLoss(3, 4), which ends with ", options=None"
    check_print(tern_nn_linear_cross_entropy_loss(3, 4),
                "LinearCrossEntropyLoss(\n"
                "  in_features=3, num_classes=4, out_features=(), bias=False, reduction=mean, "
                "ignore_index=None, label_smoothing=0.0\n"
                "  (linear): Linear(in_features=3, out_features=4, bias=False)\n"
                ")\n");
    // nn.LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True, ignore_index=1,
    //                           label_smoothing=0.1, reduction="sum")
    check_print(tern_nn_linear_cross_entropy_loss(3, 4, .out_features = tern_dims(2), .bias = true,
                                                  .ignore_index = 1, .label_smoothing = 0.1,
                                                  .reduction = TERN_REDUCTION_SUM),
                "LinearCrossEntropyLoss(\n"
                "  in_features=3, num_classes=4, out_features=(2,), bias=True, reduction=sum, "
                "ignore_index=1, label_smoothing=0.1\n"
                "  (linear): Linear(in_features=3, out_features=8, bias=True)\n"
                ")\n");
}

static void numbers_print_as_python_prints_them(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {
        // print([repr(x) for x in (1.0, 0.0, 1e-5, 0.0001, 1 / 3, 0.1, -1e20, 1e16, 1e15,
        //                          123456.5, -10.0)])
        {1.0, "1.0"},
        {0.0, "0.0"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1, "0.1"},
        {-1e20, "-1e+20"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {123456.5, "123456.5"},
        {-10.0, "-10.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "LeakyReLU(negative_slope=%s)\n", cases[i].text);
        check_print(tern_nn_leaky_relu(cases[i].value), expected);
    }
    check_print(tern_nn_hardtanh(-(double)INFINITY, (double)INFINITY),
                "Hardtanh(min_val=-inf, max_val=inf)\n");
}

static void containers_print_their_children_inside(void **state)
{
    (void)state;
    check_print(tern_nn_sequential(), "Sequential()\n"); // nn.Sequential()
    // nn.Sequential(nn.Linear(784, 512), nn.Sequential(nn.ReLU(), nn.Dropout(0.2)))
    check_print(tern_nn_sequential(tern_nn_linear(784, 512),
                                   tern_nn_sequential(tern_nn_relu(), tern_nn_dropout(0.2))),
                "Sequential(\n"
                "  (0): Linear(in_features=784, out_features=512, bias=True)\n"
                "  (1): Sequential(\n"
                "    (0): ReLU()\n"
                "    (1): Dropout(p=0.2, inplace=False)\n"
                "  )\n"
                ")\n");
}

static void lists_print_equal_neighbours_once(void **state)
{
    (void)state;
    check_print(tern_nn_module_list(), "ModuleList()\n"); // nn.ModuleList()
    // nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3), nn.Linear(2, 4), nn.Sequential(nn.ReLU()),
    //                nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh()), nn.ReLU()])
    check_print(tern_nn_module_list(tern_nn_linear(2, 3), tern_nn_linear(2, 3),
                                    tern_nn_linear(2, 4), tern_nn_sequential(tern_nn_relu()),
                                    tern_nn_sequential(tern_nn_relu()),
                                    tern_nn_sequential(tern_nn_tanh()), tern_nn_relu()),
                "ModuleList(\n"
                "  (0-1): 2 x Linear(in_features=2, out_features=3, bias=True)\n"
                "  (2): Linear(in_features=2, out_features=4, bias=True)\n"
                "  (3-4): 2 x Sequential(\n"
                "    (0): ReLU()\n"
                "  )\n"
                "  (5): Sequential(\n"
                "    (0): Tanh()\n"
                "  )\n"
                "  (6): ReLU()\n"
                ")\n");
}

// ---- classes of the user's own ------------------------------------------------------------------

static const char *said;

static void say(const tern_module *module, tern_text *out)
{
    (void)module;
    tern_text_add(out, "%s", said);
    tern_text_add(out, "=%g", 1.5);
}

static const tern_module_class talking_class = {
    .name = "Talking", .size = sizeof(tern_module), .call = call_odd, .describe = say};

static tern_module *talking_new(const char *words, tern_module *child)
{
    said = words;
    tern_module *m = tern_module_new(&talking_class);
    if (child)
        (void)tern_module_add_child(m, "inner", NULL, child);
    return tern_module_done(m);
}

static void a_module_with_children_says_its_own_first(void **state)
{
    (void)state;
    // class Talking(nn.Module):
    //     def __init__(self): super().__init__(); self.inner = nn.ReLU()
    //     def extra_repr(self): return 'size=1.5'
    check_print(talking_new("size", tern_nn_relu()), "Talking(\n"
                                                     "  size=1.5\n"
                                                     "  (inner): ReLU()\n"
                                                     ")\n");
    check_print(talking_new("size", NULL), "Talking(size=1.5)\n");
}

static void a_description_is_one_line_that_is_cut(void **state)
{
    (void)state;
    char words[400];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = 0;
    tern_module *m = talking_new(words, NULL);
    char *text = printed(m);
    assert_int_equal(strlen(text), strlen("Talking()\n") + 255);
    assert_string_equal(text + strlen(text) - 7, "xx...)\n");
    free(text);
    tern_module_free(m);
    check_print(talking_new("a\nb", NULL), "Talking(a?b=1.5)\n");
}

static tern_status refuse(const tern_tensors *in, tern_tensors *out)
{
    (void)in, (void)out;
    return tern_error_raise(TERN_ERR_ARG, "no");
}

static void errors_show_what_a_module_says(void **state)
{
    (void)state;
    odd_call = refuse;
    tern_module *m = tern_nn_sequential(talking_new("size", NULL), odd_new());
    assert_null_with(tern_forward(m, tern_ones(tern_dims(1))), TERN_ERR_ARG,
                     "no [in 0 (Talking(size=1.5))]");
    assert_null_with(tern_forward(tern_module_child(m, "1"), tern_ones(tern_dims(1))), TERN_ERR_ARG,
                     "no [in Odd]");
    tern_module_free(m);
}

static void errors_cut_what_is_too_long_and_keep_the_name(void **state)
{
    (void)state;
    char words[200];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = 0;
    odd_call = refuse;
    tern_module *m = tern_nn_sequential(talking_new(words, NULL));
    assert_null(tern_forward(m, tern_ones(tern_dims(1))));
    const char *sentence = tern_error_message();
    assert_non_null(strstr(sentence, "no [in 0 (Talking(xxx"));
    assert_string_equal(sentence + strlen(sentence) - 8, "xx...))]");
    tern_error_clear();
    tern_module_free(m);
}

static void a_module_is_of_its_class_alone(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_relu()), *norm = tern_nn_batch_norm2d(3);
    assert_true(tern_module_is(net, "Sequential"));
    assert_false(tern_module_is(net, "ReLU"));
    assert_true(tern_module_is(norm, "BatchNorm2d"));
    assert_false(tern_module_is(norm, "BatchNorm") || tern_module_is(norm, "BatchNorm2dx"));
    assert_false(tern_module_is(norm, "batchnorm2d") || tern_module_is(norm, ""));
    tern_free(net, norm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(layers_print_as_those_of_pytorch),
        CHECK_TEST(activations_print_as_those_of_pytorch),
        CHECK_TEST(dropouts_and_shuffles_print_as_those_of_pytorch),
        CHECK_TEST(dicts_and_parameters_print_what_they_hold),
        CHECK_TEST(poolings_print_as_those_of_pytorch),
        CHECK_TEST(paddings_and_resizings_print_as_those_of_pytorch),
        CHECK_TEST(normalisations_print_as_those_of_pytorch),
        CHECK_TEST(losses_print_as_those_of_pytorch),
        CHECK_TEST(numbers_print_as_python_prints_them),
        CHECK_TEST(containers_print_their_children_inside),
        CHECK_TEST(lists_print_equal_neighbours_once),
        CHECK_TEST(a_module_with_children_says_its_own_first),
        CHECK_TEST(a_description_is_one_line_that_is_cut),
        CHECK_TEST(errors_show_what_a_module_says),
        CHECK_TEST(errors_cut_what_is_too_long_and_keep_the_name),
        CHECK_TEST(a_module_is_of_its_class_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
