// SPDX-License-Identifier: Apache-2.0
// y = x W^T + b.
#include "nn/layer/layer.h"
#include "nn/module/parametrize.h"
#include "tensor/liveness.h"

typedef struct linear {
    tern_module base;
    tern_tensor *weight; // (Out, In)
    tern_tensor *bias;   // (Out) or NULL
} linear;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_nn_linear_activated(module, in->at[0], TERN_ACT_NONE));
}

tern_tensor *tern_nn_linear_activated(tern_module *module, tern_tensor *x,
                                      tern_activation activation)
{
    const linear *self = (const linear *)module;
    return tern_linear(x, self->weight, self->bias, activation);
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    const linear *self = (const linear *)module;
    TERN_TRY(tern_check_tensor("nn_linear", "weight", self->weight));
    TERN_CHECK(self->weight->rank == 2, TERN_ERR_SHAPE,
               "nn_linear: weight is %s, but must have two dimensions to be drawn",
               tern_tensor_string(self->weight));
    return tern_layer_draw(self->weight, self->bias, self->weight->size[1], generator);
}

static void describe(const tern_module *module, tern_text *out)
{
    const linear *self = (const linear *)module;
    const tern_tensor *weight = self->weight;
    if (weight && weight->rank == 2)
        tern_text_add(out, "in_features=%lld, out_features=%lld, ", (long long)weight->size[1],
                      (long long)weight->size[0]);
    tern_text_add(out, "bias=%s", tern_text_bool(self->bias));
}

const tern_module_class tern_nn_linear_class = {
    .name = "Linear", .size = sizeof(linear), .call = call, .describe = describe, .reset = reset};

static tern_status reset_to_zeros(tern_module *module, tern_generator *generator)
{
    const linear *self = (const linear *)module;
    (void)generator;
    return tern_zero_(self->weight) ? TERN_OK : tern_error_code();
}

static const tern_module_class linear_zeros_class = {.name = "Linear",
                                                     .size = sizeof(linear),
                                                     .call = call,
                                                     .describe = describe,
                                                     .reset = reset_to_zeros};

// What is computed now where it is parametrized.
static tern_status current(tern_module *module, const char *name, tern_tensor **tensor)
{
    if (!tern_module_is_parametrized(module, name))
        return TERN_OK;
    *tensor = tern_module_parametrized(module, name);
    return *tensor ? TERN_OK : tern_error_code();
}

tern_status tern_nn_linear_parameters(const tern_module *module, tern_tensor **weight,
                                      tern_tensor **bias)
{
    const linear *self = (const linear *)module;
    TERN_CHECK(module->klass == &tern_nn_linear_class, TERN_ERR_ARG,
               "a %s is no Linear, whose weight is needed", module->klass->name);
    TERN_CHECK(!module->private_->adapter.call || module->private_->adapter.merged, TERN_ERR_STATE,
               "a Linear with LoRA multiplies by more than its weight; tern_lora_merge adds that");
    *weight = self->weight;
    *bias = self->bias;
    TERN_TRY(current(module->private_->self, "weight", weight));
    return current(module->private_->self, "bias", bias);
}

static tern_status check_options(const tern_nn_linear_options *options, tern_device *device)
{
    TERN_CHECK(options->in_features > 0 && options->out_features > 0, TERN_ERR_ARG,
               "nn_linear: in_features is %lld and out_features %lld, but both must be positive",
               (long long)options->in_features, (long long)options->out_features);
    TERN_CHECK(options->dtype == TERN_DTYPE_UNSPECIFIED || tern_dtype_is_floating(options->dtype),
               TERN_ERR_DTYPE, "nn_linear: %s is not a floating dtype",
               tern_dtype_name(options->dtype));
    return tern_device_resolve("nn_linear", device);
}

static tern_module *make(const tern_module_class *linear_class,
                         const tern_nn_linear_options *options)
{
    tern_device device = options->device;
    if (check_options(options, &device))
        return NULL;
    linear *self = (linear *)tern_module_new(linear_class);
    if (!self)
        return NULL;
    tern_dtype dtype = options->dtype;
    tern_shape rows = tern_dims(options->out_features, options->in_features);
    tern_shape row = tern_dims(options->out_features);
    tern_parameter(self, weight, tern_empty(rows, .dtype = dtype, .device = device));
    tern_parameter(self, bias,
                   options->bias ? tern_empty(row, .dtype = dtype, .device = device) : NULL);
    return tern_done(self);
}

tern_module *tern_nn_linear_with(const tern_nn_linear_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_linear", "options"), NULL;
    return make(&tern_nn_linear_class, options);
}

tern_module *tern_nn_linear_zeros(const tern_nn_linear_options *options)
{
    return make(&linear_zeros_class, options);
}
