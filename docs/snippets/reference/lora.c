// SPDX-License-Identifier: Apache-2.0
// An example of each call with options of tern/lora.h, for the site.
#include "examples.h"

static void show_lora(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(64, 64), tern_nn_relu());
    // [tern_lora]
    tern_status status = tern_lora(net, "*", .rank = 4, .alpha = 8); // every Linear
    int64_t trained = tern_module_num_elements(net, true);           // 4 * (64 + 64)
    // [/tern_lora]
    expect(!status && trained == 512);
    tern_module_free(net);
}

static void show_lora_state_dict(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(64, 64), tern_nn_relu());
    if (tern_lora(net, "0"))
        tern_error_print(stderr);
    // [tern_lora_state_dict]
    tern_state *adapter = tern_lora_state_dict(net, .prefix = "base_model.model.");
    tern_status status = tern_state_write(adapter, "adapter_model.safetensors");
    // [/tern_lora_state_dict]
    expect(!status && tern_state_count(adapter) == 2);
    tern_state_free(adapter);
    tern_module_free(net);
}

static void show_lora_load_state_dict(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(64, 64), tern_nn_relu());
    if (tern_lora(net, "0"))
        tern_error_print(stderr);
    // [tern_lora_load_state_dict]
    tern_state *adapter = tern_state_read("adapter_model.safetensors");
    tern_status status = tern_lora_load_state_dict(net, adapter, .strip = "base_model.model.");
    // [/tern_lora_load_state_dict]
    expect(!status);
    tern_state_free(adapter);
    tern_module_free(net);
}

int lora_examples(void)
{
    show_lora();
    show_lora_state_dict();
    show_lora_load_state_dict();
    return failures;
}
