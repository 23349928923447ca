// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/parallel.h, for the site.
#include "examples.h"

static void show_nn_data_parallel(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_nn_data_parallel]
    tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *both = tern_nn_data_parallel(net, .devices = devices, .count = 2);
    // [/tern_nn_data_parallel]
    expect_shape(tern_forward(both, tern_rand(tern_dims(6, 4))), 6, 2);
    tern_module_free(both);
}

static void show_parallel_check(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_device devices[] = {tern_cpu(0), tern_cpu(1)};
    tern_module *both = tern_nn_data_parallel(net, .devices = devices, .count = 2);
    tern_module *criterion = tern_nn_mse_loss();
    tern_tensor *x = tern_rand(tern_dims(6, 4)), *y = tern_rand(tern_dims(6, 2));
    // [tern_parallel_check]
    if (tern_parallel_check(both, x, y, .criterion = criterion))
        tern_error_print(stderr); // the gradients are not those of one device
    // [/tern_parallel_check]
    expect(!tern_error_pending());
    tern_module_free(criterion);
    tern_module_free(both);
}

static void show_pipeline(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_module *criterion = tern_nn_mse_loss();
    tern_tensor *x = tern_rand(tern_dims(6, 4)), *y = tern_rand(tern_dims(6, 2));
    // [tern_pipeline]
    tern_tensor *loss = tern_pipeline(net, criterion, x, y, .micro_batches = 2);
    double value = tern_item(loss); // the gradients are there as well
    // [/tern_pipeline]
    expect(value >= 0 && tern_grad(tern_module_parameter(net, "weight")) != NULL);
    tern_module_free(criterion);
    tern_module_free(net);
}

int parallel_examples(void)
{
    show_nn_data_parallel();
    show_parallel_check();
    show_pipeline();
    return failures;
}
