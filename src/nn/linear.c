// SPDX-License-Identifier: Apache-2.0
// y = x W^T + b.
#include <math.h>
#include <tern/random.h>
#include "nn/layer.h"

typedef struct linear {
    tern_module base;
    tern_tensor *weight; // (Out, In)
    tern_tensor *bias;   // (Out) or NULL
} linear;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const linear *self = (const linear *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_linear(in->at[0], self->weight, self->bias, TERN_ACT_NONE));
}

const tern_module_class tern_nn_linear_class = {"Linear", sizeof(linear), call};

tern_tensor *tern_nn_linear_relu(tern_module *module, tern_tensor *x)
{
    const linear *self = (const linear *)module;
    tern_forward_frame frame;
    if (tern_forward_enter(&frame, module))
        return NULL;
    tern_tensor *y = tern_linear(x, self->weight, self->bias, TERN_ACT_RELU);
    tern_forward_leave(&frame);
    return y;
}

// Kaiming's uniform bound with the gain of leaky ReLU for a = sqrt(5) (He et al. 2015), which is
// 1 / sqrt(In) up to rounding; operation by operation as PyTorch computes it.
static double weight_bound(int64_t in_features)
{
    double a = sqrt(5.0);
    double gain = sqrt(2.0 / (1.0 + a * a));
    return sqrt(3.0) * (gain / sqrt((double)in_features));
}

static tern_tensor *add(tern_module *module, const char *name, tern_shape shape, tern_dtype dtype,
                        tern_device device)
{
    return tern_module_add_parameter(module, name,
                                     tern_empty(shape, .dtype = dtype, .device = device));
}

// Where the values of `t` are drawn: on the CPU, which may be t itself.
static tern_tensor *draft_of(tern_tensor *t)
{
    if (tern_device_equal(tern_dev(t), tern_cpu(0)))
        return t;
    return tern_empty(tern_shape_get(t), .dtype = t->dtype, .device = tern_cpu(0));
}

static tern_status draw(tern_tensor *t, tern_tensor *draft, double bound)
{
    if (!tern_uniform_(draft, -bound, bound, NULL))
        return tern_error_code();
    size_t nbytes = (size_t)t->numel * tern_dtype_size(t->dtype);
    return t == draft ? TERN_OK : tern_from_host(t, tern_data(draft), nbytes);
}

// All memory is there before the first draw: a constructor that fails has drawn nothing.
static tern_status init(linear *self, int64_t in_features)
{
    tern_status status = TERN_OK;
    tern_tensor *weight = draft_of(self->weight);
    tern_tensor *bias = self->bias && weight ? draft_of(self->bias) : NULL;
    if (!weight || (self->bias && !bias))
        return tern_error_code();
    tern_no_grad {
        status = draw(self->weight, weight, weight_bound(in_features));
        if (!status && bias)
            status = draw(self->bias, bias, 1 / sqrt((double)in_features));
    }
    return status;
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

tern_nn_linear_options tern_nn_linear_defaults(void)
{
    return (tern_nn_linear_options){.bias = true};
}

tern_module *tern_nn_linear_with(const tern_nn_linear_options *options)
{
    if (!options) {
        tern_null_error("nn_linear", "options");
        return NULL;
    }
    tern_device device = options->device;
    if (check_options(options, &device))
        return NULL;
    linear *self = (linear *)tern_module_new(&tern_nn_linear_class);
    if (!self)
        return NULL;
    int64_t in = options->in_features, out = options->out_features;
    self->weight = add(&self->base, "weight", tern_dims(out, in), options->dtype, device);
    if (options->bias)
        self->bias = add(&self->base, "bias", tern_dims(out), options->dtype, device);
    if (!self->base.private_->failed && init(self, in))
        self->base.private_->failed = true;
    return tern_module_done(&self->base);
}
