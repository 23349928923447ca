// SPDX-License-Identifier: Apache-2.0
// Runs the examples of the reference in a folder of their own.
#include <stdlib.h>
#include <unistd.h>
#include "examples.h"

static int (*const headers[])(void) = {
    autograd_examples,
    averaged_model_examples,
    checkpoint_examples,
    cuda_examples,
    cuda_graph_examples,
    data_examples,
    datasets_examples,
    fit_examples,
    generator_examples,
    gradcheck_examples,
    image_examples,
    image_data_examples,
    init_examples,
    io_examples,
    loader_examples,
    logger_examples,
    lora_examples,
    metric_examples,
    metrics_examples,
    models_examples,
    module_examples,
    nn_activation_examples,
    nn_container_examples,
    nn_conv_examples,
    nn_dropout_examples,
    nn_linear_examples,
    nn_loss_examples,
    nn_norm_examples,
    nn_pad_examples,
    nn_parametrizations_examples,
    nn_pool_examples,
    nn_resize_examples,
    nn_shape_examples,
    ops_examples,
    ops_activation_examples,
    ops_conv_examples,
    ops_loss_examples,
    ops_norm_examples,
    ops_pool_examples,
    ops_resize_examples,
    optim_examples,
    parallel_examples,
    parametrize_examples,
    progress_examples,
    random_examples,
    run_examples,
    sampler_examples,
    sched_examples,
    state_examples,
    summary_examples,
    tensor_examples,
    transform_examples,
};

int main(void)
{
    char folder[] = "/tmp/tern-docs-XXXXXX";
    expect(mkdtemp(folder) && chdir(folder) == 0);
    setenv("TERN_CPU_DEVICES", "2", 1); // for those of parallel.h
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        tern_scope scope = tern_scope_open();
        tern_manual_seed(0);
        failures += headers[i]();
        tern_scope_close(scope);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    expect(system(command) == 0);
    return finished();
}
