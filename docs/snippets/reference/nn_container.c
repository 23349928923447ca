// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/container.h, for the site.
#include "examples.h"

static void show_nn_sequential_new(void)
{
    // [tern_nn_sequential_new]
    tern_module *layers[] = {tern_nn_linear(8, 16), tern_nn_relu()};
    tern_module *net = tern_nn_sequential_new(2, layers);
    // [/tern_nn_sequential_new]
    expect(tern_module_num_children(net) == 2);
    tern_module_free(net);
}

static void show_nn_module_list_new(void)
{
    // [tern_nn_module_list_new]
    tern_module *layers[] = {tern_nn_linear(8, 1), tern_nn_linear(8, 5)};
    tern_module *heads = tern_nn_module_list_new(2, layers);
    // [/tern_nn_module_list_new]
    expect(tern_module_num_children(heads) == 2);
    tern_module_free(heads);
}

static void show_nn_module_dict_new(void)
{
    // [tern_nn_module_dict_new]
    tern_nn_named_module named[] = {{"age", tern_nn_linear(8, 1)}};
    tern_module *heads = tern_nn_module_dict_new(1, named);
    // [/tern_nn_module_dict_new]
    expect(tern_module_child(heads, "age") != NULL);
    tern_module_free(heads);
}

static void show_nn_parameter_list_new(void)
{
    // [tern_nn_parameter_list_new]
    tern_tensor *tensors[] = {tern_ones(tern_dims(3)), tern_zeros(tern_dims(3))};
    tern_module *scales = tern_nn_parameter_list_new(2, tensors);
    // [/tern_nn_parameter_list_new]
    expect(tern_module_num_parameters(scales) == 2);
    tern_module_free(scales);
}

static void show_nn_parameter_dict_new(void)
{
    // [tern_nn_parameter_dict_new]
    tern_nn_named_tensor named[] = {{"left", tern_ones(tern_dims(3))}};
    tern_module *scales = tern_nn_parameter_dict_new(1, named);
    // [/tern_nn_parameter_dict_new]
    expect(tern_module_parameter(scales, "left") != NULL);
    tern_module_free(scales);
}

static void show_nn_sequential(void)
{
    // [tern_nn_sequential]
    tern_module *net = tern_nn_sequential(tern_nn_linear(8, 16), tern_nn_relu());
    tern_tensor *y = tern_forward(net, tern_rand(tern_dims(2, 8))); // (2, 16)
    // [/tern_nn_sequential]
    expect_shape(y, 2, 16);
    tern_module_free(net);
}

static void show_nn_module_list(void)
{
    tern_tensor *x = tern_rand(tern_dims(2, 8));
    // [tern_nn_module_list]
    tern_module *heads = tern_nn_module_list(tern_nn_linear(8, 1), tern_nn_linear(8, 5));
    tern_tensor *y = tern_forward(tern_module_child_at(heads, 1), x); // (2, 5)
    // [/tern_nn_module_list]
    expect_shape(y, 2, 5);
    tern_module_free(heads);
}

static void show_nn_module_dict(void)
{
    tern_tensor *x = tern_rand(tern_dims(2, 8));
    // [tern_nn_module_dict]
    tern_module *heads = tern_nn_module_dict({"age", tern_nn_linear(8, 1)});
    tern_tensor *age = tern_forward(tern_module_child(heads, "age"), x); // (2, 1)
    // [/tern_nn_module_dict]
    expect_shape(age, 2, 1);
    tern_module_free(heads);
}

static void show_nn_parameter_list(void)
{
    // [tern_nn_parameter_list]
    tern_module *scales = tern_nn_parameter_list(tern_ones(tern_dims(3)));
    tern_tensor *scale = tern_module_parameter(scales, "0"); // (3,)
    // [/tern_nn_parameter_list]
    expect_shape(scale, 3);
    tern_module_free(scales);
}

static void show_nn_parameter_dict(void)
{
    // [tern_nn_parameter_dict]
    tern_module *scales = tern_nn_parameter_dict({"left", tern_ones(tern_dims(3))});
    tern_tensor *left = tern_module_parameter(scales, "left"); // (3,)
    // [/tern_nn_parameter_dict]
    expect_shape(left, 3);
    tern_module_free(scales);
}

int nn_container_examples(void)
{
    show_nn_sequential_new();
    show_nn_module_list_new();
    show_nn_module_dict_new();
    show_nn_parameter_list_new();
    show_nn_parameter_dict_new();
    show_nn_sequential();
    show_nn_module_list();
    show_nn_module_dict();
    show_nn_parameter_list();
    show_nn_parameter_dict();
    return failures;
}
