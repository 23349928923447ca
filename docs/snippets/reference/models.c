// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/models.h, for the site.
#include "examples.h"

static void show_models_resnet18(void)
{
    // [tern_models_resnet18]
    tern_module *net = tern_models_resnet18(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(4, 3, 64, 64))); // (4, 2)
    // [/tern_models_resnet18]
    expect_shape(y, 4, 2);
    tern_module_free(net);
}

static void show_models_resnet34(void)
{
    // [tern_models_resnet34]
    tern_module *net = tern_models_resnet34(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(4, 3, 64, 64))); // (4, 2)
    // [/tern_models_resnet34]
    expect_shape(y, 4, 2);
    tern_module_free(net);
}

static void show_models_resnet50(void)
{
    // [tern_models_resnet50]
    tern_module *net = tern_models_resnet50(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(4, 3, 64, 64))); // (4, 2)
    // [/tern_models_resnet50]
    expect_shape(y, 4, 2);
    tern_module_free(net);
}

static void show_models_vgg16(void)
{
    // [tern_models_vgg16]
    tern_module *net = tern_models_vgg16(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(2, 3, 32, 32))); // (2, 2)
    // [/tern_models_vgg16]
    expect_shape(y, 2, 2);
    tern_module_free(net);
}

static void show_models_vgg16_bn(void)
{
    // [tern_models_vgg16_bn]
    tern_module *net = tern_models_vgg16_bn(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(2, 3, 32, 32))); // (2, 2)
    // [/tern_models_vgg16_bn]
    expect_shape(y, 2, 2);
    tern_module_free(net);
}

static void show_models_vgg19(void)
{
    // [tern_models_vgg19]
    tern_module *net = tern_models_vgg19(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(2, 3, 32, 32))); // (2, 2)
    // [/tern_models_vgg19]
    expect_shape(y, 2, 2);
    tern_module_free(net);
}

static void show_models_vgg19_bn(void)
{
    // [tern_models_vgg19_bn]
    tern_module *net = tern_models_vgg19_bn(.num_classes = 2);
    tern_tensor *y = tern_forward(net, tern_randn(tern_dims(2, 3, 32, 32))); // (2, 2)
    // [/tern_models_vgg19_bn]
    expect_shape(y, 2, 2);
    tern_module_free(net);
}

int models_examples(void)
{
    show_models_resnet18();
    show_models_resnet34();
    show_models_resnet50();
    show_models_vgg16();
    show_models_vgg16_bn();
    show_models_vgg19();
    show_models_vgg19_bn();
    return failures;
}
