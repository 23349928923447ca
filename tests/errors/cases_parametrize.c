// SPDX-License-Identifier: Apache-2.0
// parametrize.h, nn/parametrizations.h and lora.h.
#include "errors.h"

#define NO_MODULE(function, op, ...)                                                               \
    REFUSES(function, "a module that is NULL", TERN_ERR_NULL, op ": module is NULL", __VA_ARGS__)
#define NO_OPTIONS(function, op)                                                                   \
    REFUSES(function, "options that are NULL", TERN_ERR_NULL, op ": options is NULL",              \
            function(NULL))

static tern_status flat(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->at[out->count++] = tern_reshape(in->at[0], tern_dims(-1));
    return tern_error_code();
}

static const tern_module_class flat_class = {
    .name = "Flat", .size = sizeof(tern_module), .call = flat};

static tern_module *flat_new(void)
{
    return tern_module_done(tern_module_new(&flat_class));
}

#define REGISTER(module, name, p) tern_module_register_parametrization(module, name, p)

NO_OPTIONS(tern_module_register_parametrization_with, "module_register_parametrization")
NO_MODULE(tern_module_register_parametrization_with, "module_register_parametrization",
          REGISTER(NULL, "weight", tern_nn_identity()))
REFUSES(tern_module_register_parametrization_with, "a name that is NULL", TERN_ERR_NULL,
        "module_register_parametrization: name is NULL", REGISTER(f->net, NULL, tern_nn_identity()))
REFUSES(tern_module_register_parametrization_with, "a parametrization that is NULL", TERN_ERR_NULL,
        "module_register_parametrization: parametrization is NULL",
        REGISTER(f->net, "0.weight", NULL))
REFUSES(tern_module_register_parametrization_with, "a name that is not there", TERN_ERR_ARG,
        "module_register_parametrization: Sequential has no parameter \"0.w\"; it has 0.weight",
        REGISTER(f->net, "0.w", tern_nn_identity()))
REFUSES(tern_module_register_parametrization_with, "another shape", TERN_ERR_SHAPE,
        "module_register_parametrization: what the parametrization gives is float32 (12,)|(4, 3)|"
        "its shape may not change",
        REGISTER(f->net, "0.weight", flat_new()))
REFUSES(tern_module_register_parametrization_with, "what has the module below itself", TERN_ERR_ARG,
        "module_register_parametrization: \"0.weight\" cannot be a Sequential that has this Linear",
        REGISTER(f->net, "0.weight", tern_module_retain(f->net)))

NO_OPTIONS(tern_module_remove_parametrizations_with, "module_remove_parametrizations")
NO_MODULE(tern_module_remove_parametrizations_with, "module_remove_parametrizations",
          tern_module_remove_parametrizations(NULL, "weight"))
REFUSES(tern_module_remove_parametrizations_with, "a name that is NULL", TERN_ERR_NULL,
        "module_remove_parametrizations: name is NULL",
        tern_module_remove_parametrizations(f->net, NULL))
REFUSES(tern_module_remove_parametrizations_with, "a plain parameter", TERN_ERR_ARG,
        "module_remove_parametrizations: \"0.weight\" of Sequential is not parametrized",
        tern_module_remove_parametrizations(f->net, "0.weight"))

static tern_status remove_from_several(void)
{
    tern_module *linear = tern_nn_weight_norm(tern_nn_linear(3, 2));
    tern_status status =
        tern_module_remove_parametrizations(linear, "weight", .leave_parametrized = false);
    tern_module_free(linear);
    return status;
}

REFUSES(tern_module_remove_parametrizations_with, "one of several originals", TERN_ERR_ARG,
        "module_remove_parametrizations: \"weight\" is computed from 2 tensors",
        remove_from_several())

NO_MODULE(tern_module_is_parametrized, "module_is_parametrized",
          !tern_module_is_parametrized(NULL, "weight"))
NO_MODULE(tern_module_parametrized, "module_parametrized", tern_module_parametrized(NULL, "weight"))
REFUSES(tern_module_parametrized, "a name that is NULL", TERN_ERR_NULL,
        "module_parametrized: name is NULL", tern_module_parametrized(f->net, NULL))
REFUSES(tern_module_parametrized, "a plain parameter", TERN_ERR_ARG,
        "module_parametrized: \"0.bias\" of Sequential is not parametrized",
        tern_module_parametrized(f->net, "0.bias"))

NO_OPTIONS(tern_nn_weight_norm_with, "nn_weight_norm")
NO_MODULE(tern_nn_weight_norm_with, "nn_weight_norm", tern_nn_weight_norm(NULL))
REFUSES(tern_nn_weight_norm_with, "a name that is not there", TERN_ERR_ARG,
        "nn_weight_norm: Sequential has no parameter \"weight\"", tern_nn_weight_norm(f->net))
REFUSES(tern_nn_weight_norm_with, "a dim that is not there", TERN_ERR_ARG,
        "nn_weight_norm: dim is 2|\"0.weight\"|(4, 3)|0 to 1",
        tern_nn_weight_norm(f->net, .name = "0.weight", .dim = 2))

NO_OPTIONS(tern_nn_spectral_norm_with, "nn_spectral_norm")
NO_MODULE(tern_nn_spectral_norm_with, "nn_spectral_norm", tern_nn_spectral_norm(NULL))
REFUSES(tern_nn_spectral_norm_with, "a name that is not there", TERN_ERR_ARG,
        "nn_spectral_norm: Sequential has no parameter \"weight\"", tern_nn_spectral_norm(f->net))
REFUSES(tern_nn_spectral_norm_with, "a dim that is not there", TERN_ERR_ARG,
        "nn_spectral_norm: dim is -3|\"0.weight\"|(4, 3)",
        tern_nn_spectral_norm(f->net, .name = "0.weight", .dim = -3))
REFUSES(tern_nn_spectral_norm_with, "no power iteration", TERN_ERR_ARG,
        "nn_spectral_norm: n_power_iterations is 0|positive",
        tern_nn_spectral_norm(f->net, .name = "0.weight", .n_power_iterations = 0))
REFUSES(tern_nn_spectral_norm_with, "an eps that is NaN", TERN_ERR_ARG,
        "nn_spectral_norm: eps is nan|positive",
        tern_nn_spectral_norm(f->net, .name = "0.weight", .eps = NAN))

// ---- low-rank adaptation ------------------------------------------------------------------------

NO_OPTIONS(tern_lora_with, "lora")
NO_MODULE(tern_lora_with, "lora", tern_lora(NULL, "*"))
REFUSES(tern_lora_with, "a pattern that is NULL", TERN_ERR_NULL, "lora: pattern is NULL",
        tern_lora(f->net, NULL))
REFUSES(tern_lora_with, "a rank of 0", TERN_ERR_ARG, "lora: rank is 0|positive",
        tern_lora(f->net, "*", .rank = 0))
REFUSES(tern_lora_with, "an infinite alpha", TERN_ERR_ARG, "lora: alpha is inf|finite",
        tern_lora(f->net, "*", .alpha = INFINITY))
REFUSES(tern_lora_with, "a dropout of all", TERN_ERR_ARG, "lora: dropout is 1",
        tern_lora(f->net, "*", .dropout = 1))
REFUSES(tern_lora_with, "integers", TERN_ERR_DTYPE, "lora: int64 is not a floating dtype",
        tern_lora(f->net, "*", .dtype = TERN_INT64))
REFUSES(tern_lora_with, "a pattern that nothing fits", TERN_ERR_ARG,
        "lora: no Linear of Sequential fits \"*.q_proj\"", tern_lora(f->net, "*.q_proj"))
REFUSES(tern_lora_with, "a layer that is no Linear", TERN_ERR_ARG,
        "lora: no Linear of Sequential fits \"1\", but a ReLU does", tern_lora(f->net, "1"))

// What the function gives for a Linear with an adapter.
static tern_status with_adapter(tern_status (*function)(tern_module *module), bool merged)
{
    tern_module *linear = tern_nn_linear(3, 2);
    tern_status status = tern_lora(linear, "*", .rank = 1);
    if (!status && merged)
        status = tern_lora_merge(linear);
    status = function(linear);
    tern_module_free(linear);
    return status;
}

static tern_status adapt(tern_module *module)
{
    return tern_lora(module, "*");
}

REFUSES(tern_lora_with, "a layer that is adapted", TERN_ERR_STATE,
        "lora: \"\" is adapted already; tern_lora_unload", with_adapter(adapt, false))

#define OF_ALL_LAYERS(name)                                                                        \
    NO_MODULE(tern_lora_##name, "lora_" #name, tern_lora_##name(NULL))                             \
    REFUSES(tern_lora_##name, "layers without adapters", TERN_ERR_ARG,                             \
            "lora_" #name ": no layer of Sequential is adapted", tern_lora_##name(f->net))
OF_ALL_LAYERS(merge)
OF_ALL_LAYERS(unmerge)
OF_ALL_LAYERS(unload)
REFUSES(tern_lora_merge, "a layer that is merged", TERN_ERR_STATE,
        "lora_merge: all layers are merged already", with_adapter(tern_lora_merge, true))
REFUSES(tern_lora_unmerge, "a layer that is not merged", TERN_ERR_STATE,
        "lora_unmerge: no layer is merged", with_adapter(tern_lora_unmerge, false))

NO_MODULE(tern_lora_is_adapted, "lora_is_adapted", !tern_lora_is_adapted(NULL))
NO_MODULE(tern_lora_is_merged, "lora_is_merged", !tern_lora_is_merged(NULL))

NO_OPTIONS(tern_lora_state_dict_with, "lora_state_dict")
NO_MODULE(tern_lora_state_dict_with, "lora_state_dict", tern_lora_state_dict(NULL))
REFUSES(tern_lora_state_dict_with, "layers without adapters", TERN_ERR_ARG,
        "lora_state_dict: no layer of Sequential is adapted", tern_lora_state_dict(f->net))

NO_OPTIONS(tern_lora_load_state_dict_with, "lora_load_state_dict")
NO_MODULE(tern_lora_load_state_dict_with, "lora_load_state_dict",
          tern_lora_load_state_dict(NULL, f->state))
REFUSES(tern_lora_load_state_dict_with, "layers without adapters", TERN_ERR_ARG,
        "lora_load_state_dict: no layer of Sequential is adapted",
        tern_lora_load_state_dict(f->net, f->state))

static tern_status load_empty(tern_module *module)
{
    tern_state *state = tern_state_new();
    tern_status status = tern_lora_load_state_dict(module, state);
    tern_state_free(state);
    return status;
}

REFUSES(tern_lora_load_state_dict_with, "a state that is NULL", TERN_ERR_NULL,
        "lora_load_state_dict: state is NULL", tern_lora_load_state_dict(f->net, NULL))
REFUSES(tern_lora_load_state_dict_with, "a state without the names", TERN_ERR_ARG,
        "lora_load_state_dict: |lora_A.weight|lora_B.weight", with_adapter(load_empty, false))
REFUSES(tern_lora_load_state_dict_with, "a layer that is merged", TERN_ERR_STATE,
        "lora_load_state_dict: \"\" is merged; tern_lora_unmerge", with_adapter(load_empty, true))
