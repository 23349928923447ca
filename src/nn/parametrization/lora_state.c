// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation merged into weights and taken away, and what is saved of it.
#include "nn/parametrization/lora.h"
#include "state/visitor.h"
#include "tensor/capture.h"
#include "tensor/tensor.h"

// ---- merging ------------------------------------------------------------------------------------

static tern_status weight_of(const char *function, const tern_lora_layer *layer,
                             tern_tensor **weight)
{
    tern_module *owner;
    TERN_CHECK(
        !tern_module_is_parametrized(layer->module, "weight"), TERN_ERR_STATE,
        "%s: the weight of \"%s\" is parametrized; tern_module_remove_parametrizations makes "
        "it a parameter",
        function, layer->name);
    const tern_module_tensor *entry =
        tern_module_find_tensor(function, layer->module, "weight", true, &owner);
    if (!entry)
        return tern_error_code();
    *weight = entry->tensor;
    return TERN_OK;
}

typedef struct tie {
    const tern_module *layer;
    const tern_tensor *weight; // the layer's
    const tern_module *other;  // that has it too; NULL: none
} tie;

static void find_other(tern_module *module, void *user)
{
    tie *t = user;
    const tern_module_tensors *list = &module->private_->parameters;
    for (int64_t i = 0; i < list->count && module != t->layer; i++)
        if (list->at[i].tensor == t->weight)
            t->other = module;
}

// What one layer adds to a tied weight would count in the other module as well.
static tern_status check_not_tied(const char *function, tern_module *module,
                                  const tern_lora_layer *layer, const tern_tensor *weight)
{
    tie t = {.layer = layer->module, .weight = weight};
    tern_module_visit(module, find_other, &t);
    TERN_CHECK(!t.other, TERN_ERR_STATE,
               "%s: the weight of \"%s\" is that of another %s too, which would change with it",
               function, layer->name, t.other->klass->name);
    return TERN_OK;
}

// That a layer is not merged, or is: TERN_ERR_STATE when none is so.
static tern_status check_layers(const char *function, tern_module *module,
                                const tern_lora_layers *layers, bool merged)
{
    int64_t count = 0;
    for (int64_t i = 0; i < layers->count; i++) {
        const tern_lora_layer *layer = &layers->at[i];
        tern_tensor *weight = NULL;
        TERN_TRY(tern_module_check_change(function, layer->module));
        TERN_TRY(weight_of(function, layer, &weight));
        if (!merged && !layer->module->private_->adapter.merged)
            TERN_TRY(check_not_tied(function, module, layer, weight));
        count += layer->module->private_->adapter.merged == merged;
    }
    TERN_CHECK(count > 0, TERN_ERR_STATE,
               merged ? "%s: no layer is merged" : "%s: all layers are merged already", function);
    return TERN_OK;
}

// weight += sign * scale * B A.
static tern_status add_product(const tern_lora_layer *layer, tern_tensor *weight, double sign)
{
    tern_module_adapter *adapter = &layer->module->private_->adapter;
    tern_tensor *a = tern_module_parameter(tern_lora_child(layer->module, TERN_LORA_A), "weight");
    tern_tensor *b = tern_module_parameter(tern_lora_child(layer->module, TERN_LORA_B), "weight");
    tern_tensor *change = tern_mul_scalar(tern_matmul(b, a), adapter->scale);
    if (!change || !tern_add_(weight, tern_to_dtype(change, weight->dtype), sign))
        return tern_error_code();
    adapter->merged = sign > 0;
    return TERN_OK;
}

static tern_status add(const char *function, const tern_lora_layer *layer, double sign)
{
    tern_tensor *weight = NULL;
    TERN_TRY(weight_of(function, layer, &weight));
    tern_scope scope = tern_scope_open();
    tern_status status = scope ? TERN_OK : tern_error_code();
    tern_no_grad {
        if (!status)
            status = add_product(layer, weight, sign);
    }
    tern_scope_close(scope);
    return status;
}

static tern_status add_all(const char *function, tern_module *module,
                           const tern_lora_layers *layers, double sign)
{
    const bool merged = sign < 0;
    tern_status status = check_layers(function, module, layers, merged);
    for (int64_t i = 0; !status && i < layers->count; i++)
        if (layers->at[i].module->private_->adapter.merged == merged)
            status = add(function, &layers->at[i], sign);
    return status;
}

static tern_status run(const char *function, tern_module *module, double sign)
{
    tern_lora_layers layers = {0};
    TERN_TRY(tern_check_module(function, module));
    TERN_TRY(tern_capture_refuse(function, "replays would change the weights again"));
    tern_status status = tern_lora_find(function, module, &layers);
    if (!status)
        status = add_all(function, module, &layers, sign);
    tern_lora_free_layers(&layers);
    return status;
}

tern_status tern_lora_merge(tern_module *module)
{
    return run("lora_merge", module, 1);
}

tern_status tern_lora_unmerge(tern_module *module)
{
    return run("lora_unmerge", module, -1);
}

// ---- saving -------------------------------------------------------------------------------------

static tern_status visit_layers(void *object, tern_state_visitor *visitor)
{
    const tern_module *module = object;
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->child_count; i++) {
        const tern_module_link *link = &private_->children[i];
        if (tern_lora_is_part(link->module))
            TERN_TRY(tern_visit_module(visitor, link->name, link->module));
        else
            TERN_TRY(tern_visit_part(visitor, link->name, visit_layers, link->module));
    }
    return TERN_OK;
}

// Whether there are adapters, and none of them is merged.
static tern_status check_adapted(const char *function, tern_module *module, bool unmerged)
{
    tern_lora_layers layers = {0};
    tern_status status = tern_lora_find(function, module, &layers);
    for (int64_t i = 0; unmerged && !status && i < layers.count; i++)
        if (layers.at[i].module->private_->adapter.merged)
            status = tern_error_raise(TERN_ERR_STATE,
                                      "%s: \"%s\" is merged; tern_lora_unmerge it before", function,
                                      layers.at[i].name);
    tern_lora_free_layers(&layers);
    return status;
}

static tern_state *with_prefix(tern_state *state, const char *prefix)
{
    char name[TERN_STATE_NAME_SIZE];
    tern_state *renamed = tern_state_new();
    tern_status status = renamed ? TERN_OK : tern_error_code();
    for (int64_t i = 0; !status && i < tern_state_count(state); i++) {
        const char *old = tern_state_name_at(state, i);
        const int length = snprintf(name, sizeof name, "%s%s", prefix, old);
        if (length < 0 || length >= (int)sizeof name)
            status = tern_error_raise(
                TERN_ERR_ARG,
                "lora_state_dict: .prefix makes \"%.64s\" a name of more than %d bytes", old,
                TERN_STATE_NAME_SIZE - 1);
        else
            status = tern_state_set_tensor(renamed, name, tern_state_tensor(state, old));
    }
    tern_state_free(state);
    if (!status)
        return renamed;
    tern_state_free(renamed);
    return NULL;
}

tern_state *tern_lora_state_dict_with(const tern_lora_state_dict_options *options)
{
    const char *function = "lora_state_dict";
    if (!options)
        return (void)tern_null_error(function, "options"), NULL;
    if (check_adapted(function, options->module, false))
        return NULL;
    tern_module_begin_run(options->module);
    tern_state *state = tern_state_of_as(function, visit_layers, options->module);
    tern_module_end_run(options->module);
    return state && options->prefix ? with_prefix(state, options->prefix) : state;
}

tern_status tern_lora_load_state_dict_with(const tern_lora_load_state_dict_options *options)
{
    const char *function = "lora_load_state_dict";
    if (!options)
        return tern_null_error(function, "options");
    TERN_TRY(tern_check_module(function, options->module));
    if (!options->state)
        return tern_null_error(function, "state");
    TERN_TRY(check_adapted(function, options->module, true));
    tern_module_begin_run(options->module);
    tern_status status =
        tern_state_load_as(&(tern_load_caller){.function = function, .options = TERN_LOAD_ALL},
                           &(tern_state_load_options){
                               TERN_LOAD_OPTIONS(options),
                               .convert = options->convert,
                               .visit = visit_layers,
                               .object = options->module,
                           });
    tern_module_end_run(options->module);
    return status;
}
