// SPDX-License-Identifier: Apache-2.0
// Computed weights and adapters.
#include "base/error.h"
#include "operations.h"

static tern_status weight_norm(void)
{
    return tern_nn_weight_norm(w.net, .name = "1.weight") ? TERN_OK : tern_error_code();
}

static tern_status spectral_norm(void)
{
    return tern_nn_spectral_norm(w.net, .name = "1.weight") ? TERN_OK : tern_error_code();
}

static tern_status three_times(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    (void)module;
    originals->at[originals->count++] = tern_mul_scalar(value, 3);
    return originals->at[0] ? TERN_OK : tern_error_code();
}

// One whose original has other values.
static tern_status compute_weight(void)
{
    return tern_module_register_parametrization(w.net, "1.weight", tern_nn_softplus(),
                                                .right_inverse = three_times);
}

static tern_status prepare_computed(void)
{
    TERN_TRY(world_make_net_and_batch());
    return compute_weight();
}

static tern_status adapt_net(void)
{
    return tern_lora(w.net, "*", .rank = 2);
}

static tern_status prepare_weight_norm(void)
{
    TERN_TRY(world_make_net_and_batch());
    return weight_norm();
}

static tern_status prepare_adapters(void)
{
    TERN_TRY(world_make_net_and_batch());
    return adapt_net();
}

static tern_status remove_computed(void)
{
    return tern_module_remove_parametrizations(w.net, "1.weight");
}

static tern_status merge_adapters(void)
{
    return tern_lora_merge(w.net);
}

static tern_status reset(void)
{
    return tern_module_reset_parameters(w.net, NULL);
}

static tern_status copy(void)
{
    tern_module *twin = tern_module_copy(w.net);
    tern_status status = TERN_OK;
    const int64_t count = twin ? tern_module_num_parameters(twin) : -1;
    for (int64_t i = 0; !status && i < count; i++)
        status = world_see(tern_module_parameter_at(twin, i, NULL, 0));
    tern_module_free(twin);
    return tern_error_pending() ? tern_error_code() : status;
}

static tern_status forward(void)
{
    TERN_TRY(world_forward());
    return world_see(w.loss);
}

const operation parametrizations[] = {
    {"weight_norm", 10, .prepare = world_make_net_and_batch, .run = weight_norm},
    {"spectral_norm", 20, .prepare = world_make_net_and_batch, .run = spectral_norm, .draws = true},
    {"reset_weight_norm", 10, .prepare = prepare_weight_norm, .run = reset},
    {"copy_weight_norm", 30, .prepare = prepare_weight_norm, .run = copy},
    {"remove_weight_norm", 3, .prepare = prepare_weight_norm, .run = remove_computed},
    {"compute_weight", 10, .prepare = world_make_net_and_batch, .run = compute_weight},
    {"remove_computed", 2, .prepare = prepare_computed, .run = remove_computed},
    {"forward_weight_norm", 31, .prepare = prepare_weight_norm, .run = forward, .draws = true},
    {"lora", 20, .prepare = world_make_net_and_batch, .run = adapt_net, .draws = true},
    {"lora_merge", 5, .prepare = prepare_adapters, .run = merge_adapters, .goes_on = true},
    {0},
};
