// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation: layers found by name, and what they compute besides.
#include "nn/parametrization/lora.h"

#include <fnmatch.h>
#include <math.h>
#include "base/mem.h"
#include "tensor/capture.h"
#include "tensor/tensor.h"

// ---- layers -------------------------------------------------------------------------------------

tern_status tern_lora_add_layer(tern_lora_layers *layers, tern_module *module, const char *name)
{
    TERN_TRY(tern_mem_grow((void **)&layers->at, &layers->capacity, layers->count + 1,
                           sizeof *layers->at));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    layers->at[layers->count++] = (tern_lora_layer){module, copy};
    return TERN_OK;
}

void tern_lora_free_layers(tern_lora_layers *layers)
{
    for (int64_t i = 0; i < layers->count; i++)
        tern_mem_free_string(layers->at[i].name);
    tern_mem_free(layers->at, (size_t)layers->capacity * sizeof *layers->at);
}

tern_module *tern_lora_child(const tern_module *layer, const char *name)
{
    const tern_module_private *private_ = layer->private_;
    for (int64_t i = 0; i < private_->child_count; i++)
        if (strcmp(private_->children[i].name, name) == 0)
            return private_->children[i].module;
    return NULL;
}

bool tern_lora_is_part(const tern_module *module)
{
    const tern_module *parent = module->private_->parent;
    return parent && parent->private_->adapter.call &&
           (tern_lora_child(parent, TERN_LORA_A) == module ||
            tern_lora_child(parent, TERN_LORA_B) == module);
}

static tern_status add_adapted(const char *name, tern_module *module, void *user)
{
    return module->private_->adapter.call ? tern_lora_add_layer(user, module, name) : TERN_OK;
}

tern_status tern_lora_find(const char *function, tern_module *module, tern_lora_layers *layers)
{
    TERN_TRY(tern_check_module(function, module));
    TERN_TRY(tern_module_each_module(module, add_adapted, layers));
    TERN_CHECK(layers->count > 0, TERN_ERR_ARG,
               "%s: no layer of %s is adapted; tern_lora does that", function, module->klass->name);
    return TERN_OK;
}

bool tern_lora_is_adapted(const tern_module *module)
{
    return !tern_check_module("lora_is_adapted", module) && module->private_->adapter.call;
}

bool tern_lora_is_merged(const tern_module *module)
{
    return !tern_check_module("lora_is_merged", module) && module->private_->adapter.merged;
}

// ---- the forward --------------------------------------------------------------------------------

static tern_status call(tern_module *layer, const tern_tensors *in, tern_tensors *out)
{
    const tern_module_adapter *adapter = &layer->private_->adapter;
    tern_module *a = tern_lora_child(layer, TERN_LORA_A), *b = tern_lora_child(layer, TERN_LORA_B);
    tern_tensor *x = in->at[0], *y = out->at[0];
    if (adapter->merged)
        return TERN_OK;
    const tern_tensor *weight = a ? tern_module_parameter(a, "weight") : NULL;
    if (!weight || !b)
        return tern_error_code();
    x = tern_to_dtype(x, weight->dtype);
    if (adapter->dropout > 0)
        x = tern_dropout(x, adapter->dropout, layer->private_->training);
    tern_tensor *change = tern_mul_scalar(tern_forward(b, tern_forward(a, x)), adapter->scale);
    return tern_layer_output(out, tern_add(y, tern_to_dtype(change, y->dtype)));
}

// ---- adapting -----------------------------------------------------------------------------------

typedef struct matching {
    const char *pattern;
    tern_lora_layers layers;
    const tern_module *other; // that fits and is no Linear
} matching;

static tern_status match(const char *name, tern_module *module, void *user)
{
    matching *m = user;
    if (fnmatch(m->pattern, name, 0) != 0 || tern_lora_is_part(module))
        return TERN_OK;
    if (module->klass == &tern_nn_linear_class)
        return tern_lora_add_layer(&m->layers, module, name);
    if (name[0])
        m->other = module;
    return TERN_OK;
}

static tern_status find_matches(const tern_lora_options *o, matching *m)
{
    TERN_TRY(tern_module_each_module(o->module, match, m));
    TERN_CHECK(m->layers.count > 0 || !m->other, TERN_ERR_ARG,
               "lora: no Linear of %s fits \"%.64s\", but a %s does, which cannot be adapted",
               o->module->klass->name, o->pattern, m->other->klass->name);
    TERN_CHECK(m->layers.count > 0, TERN_ERR_ARG, "lora: no Linear of %s fits \"%.64s\"",
               o->module->klass->name, o->pattern);
    return TERN_OK;
}

// The tensor that says the sizes, the dtype and the device of the layer's weight.
static const tern_tensor *weight_of(const tern_module *layer)
{
    const tern_module *dict = tern_parametrizations_of(layer);
    const tern_module_tensors *list = &layer->private_->parameters;
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, "weight") == 0)
            return list->at[i].tensor;
    for (int64_t i = 0; dict && i < dict->private_->child_count; i++)
        if (strcmp(dict->private_->children[i].name, "weight") == 0)
            return tern_parametrization_compute(tern_parametrization_at(dict, i));
    return NULL;
}

static tern_status check_layer(const tern_lora_layer *layer)
{
    const tern_module_private *private_ = layer->module->private_;
    TERN_CHECK(!private_->adapter.call, TERN_ERR_STATE,
               "lora: \"%s\" is adapted already; tern_lora_unload takes that out", layer->name);
    TERN_TRY(tern_module_check_change("lora", layer->module));
    TERN_CHECK(!tern_module_has_name(layer->module, TERN_LORA_A) &&
                   !tern_module_has_name(layer->module, TERN_LORA_B),
               TERN_ERR_ARG, "lora: \"%s\" has a " TERN_LORA_A " or " TERN_LORA_B " of its own",
               layer->name);
    return TERN_OK;
}

static tern_dtype dtype_of(const tern_lora_options *o, const tern_tensor *weight)
{
    if (o->dtype != TERN_DTYPE_UNSPECIFIED)
        return o->dtype;
    return tern_dtype_size(weight->dtype) < 4 ? TERN_FLOAT32 : weight->dtype;
}

// Takes over the child, also on failure.
static tern_status put(tern_module *layer, const char *name, tern_module *child)
{
    if (!child)
        return tern_error_code();
    tern_module_train(child, layer->private_->training);
    tern_status status = tern_module_check_child("lora", layer, name, child);
    if (!status)
        status = tern_module_put_child(layer, name, 0, child);
    if (status)
        tern_module_release(child);
    return status;
}

static tern_status adapt(const tern_lora_options *o, const tern_lora_layer *layer)
{
    const tern_tensor *weight = weight_of(layer->module);
    TERN_CHECK(weight && weight->rank == 2, TERN_ERR_SHAPE,
               "lora: the weight of \"%s\" must have two dimensions", layer->name);
    tern_nn_linear_options a = {.in_features = weight->size[1],
                                .out_features = o->rank,
                                .dtype = dtype_of(o, weight),
                                .device = tern_dev(weight)};
    tern_nn_linear_options b = a;
    b.in_features = o->rank;
    b.out_features = weight->size[0];
    TERN_TRY(put(layer->module, TERN_LORA_A, tern_nn_linear_with(&a)));
    TERN_TRY(put(layer->module, TERN_LORA_B, tern_nn_linear_zeros(&b)));
    layer->module->private_->adapter = (tern_module_adapter){
        .call = call, .scale = o->alpha / (double)o->rank, .dropout = o->dropout};
    return TERN_OK;
}

static void take_out(tern_module *layer)
{
    const char *const names[] = {TERN_LORA_A, TERN_LORA_B};
    for (int i = 0; i < 2; i++) {
        const tern_module *child = tern_lora_child(layer, names[i]);
        if (child)
            tern_module_take_child(layer, child);
    }
    layer->private_->adapter = (tern_module_adapter){0};
}

static void freeze(tern_module *module, void *user)
{
    const tern_module_tensors *list = &module->private_->parameters;
    (void)user;
    for (int64_t i = 0; i < list->count && !tern_lora_is_part(module); i++)
        if (list->at[i].tensor)
            list->at[i].tensor->requires_grad = false;
}

static tern_status adapt_all(const tern_lora_options *o, const tern_lora_layers *layers)
{
    tern_status status = TERN_OK;
    for (int64_t i = 0; i < layers->count; i++)
        TERN_TRY(check_layer(&layers->at[i]));
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    int64_t count = 0;
    tern_no_grad {
        while (!status && count < layers->count)
            status = adapt(o, &layers->at[count++]);
    }
    tern_scope_close(scope);
    for (int64_t i = 0; status && i < count; i++)
        take_out(layers->at[i].module);
    if (!status)
        tern_module_visit(o->module, freeze, NULL);
    return status;
}

static tern_status check_options(const tern_lora_options *o)
{
    TERN_TRY(tern_check_module("lora", o->module));
    if (!o->pattern)
        return tern_null_error("lora", "pattern");
    TERN_CHECK(o->rank > 0, TERN_ERR_ARG, "lora: rank is %lld, but must be positive",
               (long long)o->rank);
    TERN_CHECK(isfinite(o->alpha), TERN_ERR_ARG, "lora: alpha is %g, but must be finite", o->alpha);
    TERN_CHECK(o->dropout >= 0 && o->dropout < 1, TERN_ERR_ARG,
               "lora: dropout is %g, but must be 0 to less than 1", o->dropout);
    TERN_CHECK(o->dtype == TERN_DTYPE_UNSPECIFIED || tern_dtype_is_floating(o->dtype),
               TERN_ERR_DTYPE, "lora: %s is not a floating dtype", tern_dtype_name(o->dtype));
    return tern_capture_refuse("lora", "its work uses what the module has now");
}

tern_status tern_lora_with(const tern_lora_options *options)
{
    if (!options)
        return tern_null_error("lora", "options");
    TERN_TRY(check_options(options));
    matching m = {.pattern = options->pattern};
    tern_status status = find_matches(options, &m);
    if (!status)
        status = adapt_all(options, &m.layers);
    tern_lora_free_layers(&m.layers);
    return status;
}

tern_status tern_lora_unload(tern_module *module)
{
    tern_lora_layers layers = {0};
    TERN_TRY(tern_capture_refuse("lora_unload", "its work uses what the module has now"));
    tern_status status = tern_lora_find("lora_unload", module, &layers);
    for (int64_t i = 0; !status && i < layers.count; i++)
        status = tern_module_check_change("lora_unload", layers.at[i].module);
    for (int64_t i = 0; !status && i < layers.count; i++)
        take_out(layers.at[i].module);
    tern_lora_free_layers(&layers);
    return status;
}
