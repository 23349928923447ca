// SPDX-License-Identifier: Apache-2.0
#include "nn/layer/norm.h"

#include <math.h>

#include "ops/row_norm.h"

tern_status tern_norm_check(tern_norm_make *make)
{
    TERN_TRY(tern_norm_check_eps(make->function, make->eps));
    TERN_CHECK(make->dtype == TERN_DTYPE_UNSPECIFIED || tern_dtype_is_floating(make->dtype),
               TERN_ERR_DTYPE, "%s: %s is not a floating dtype", make->function,
               tern_dtype_name(make->dtype));
    return tern_device_resolve(make->function, &make->device);
}

static tern_tensor *empty(const tern_norm_make *make, tern_shape shape)
{
    return tern_empty(shape, .dtype = make->dtype, .device = make->device);
}

void tern_norm_add(tern_module *module, const tern_norm_make *make, tern_shape shape,
                   tern_tensor **weight, tern_tensor **bias)
{
    tern_module_add_parameter(module, "weight", weight, make->affine ? empty(make, shape) : NULL);
    if (bias)
        tern_module_add_parameter(module, "bias", bias,
                                  make->affine && make->bias ? empty(make, shape) : NULL);
}

static tern_status fill(tern_tensor *t, double value)
{
    return !t || tern_fill_(t, value) ? TERN_OK : tern_error_code();
}

tern_status tern_norm_reset(tern_tensor *weight, tern_tensor *bias)
{
    TERN_TRY(fill(weight, 1));
    return fill(bias, 0);
}

// ---- with running statistics --------------------------------------------------------------------

tern_status tern_channel_norm_reset_running(const tern_channel_norm *self)
{
    TERN_TRY(fill(self->running_mean, 0));
    TERN_TRY(fill(self->running_var, 1));
    return fill(self->num_batches_tracked, 0);
}

tern_status tern_channel_norm_reset(tern_module *module, tern_generator *generator)
{
    const tern_channel_norm *self = (const tern_channel_norm *)module;
    (void)generator;
    TERN_TRY(tern_norm_reset(self->weight, self->bias));
    return tern_channel_norm_reset_running(self);
}

void tern_channel_norm_describe(const tern_module *module, tern_text *out)
{
    const tern_channel_norm *self = (const tern_channel_norm *)module;
    tern_text_add(out, "%lld, eps=", (long long)self->num_features);
    tern_text_add_double(out, self->eps);
    tern_text_add(out, ", momentum=");
    if (isnan(self->momentum))
        tern_text_add(out, "None");
    else
        tern_text_add_double(out, self->momentum);
    tern_text_add(out, ", affine=%s, bias=%s, track_running_stats=%s", tern_text_bool(self->weight),
                  tern_text_bool(self->bias), tern_text_bool(self->running_mean));
}

static tern_status check(const tern_nn_batch_norm_options *o, tern_norm_make *make)
{
    TERN_CHECK(o->num_features > 0, TERN_ERR_ARG, "%s: num_features is %lld, but must be 1 or more",
               make->function, (long long)o->num_features);
    TERN_CHECK(!isinf(o->momentum), TERN_ERR_ARG,
               "%s: momentum is %g, but must be finite, or NAN for none", make->function,
               o->momentum);
    return tern_norm_check(make);
}

static void add_running(tern_channel_norm *self, const tern_norm_make *make, tern_shape shape,
                        bool tracked)
{
    tern_tensor *count =
        tracked ? tern_empty(tern_dims(), .dtype = TERN_INT64, .device = make->device) : NULL;
    tern_buffer(self, running_mean, tracked ? empty(make, shape) : NULL);
    tern_buffer(self, running_var, tracked ? empty(make, shape) : NULL);
    tern_buffer(self, num_batches_tracked, count);
    tern_module_buffer_since(&self->base, 2);
}

tern_module *tern_channel_norm_new(const tern_module_class *klass, const char *function, int space,
                                   const tern_nn_batch_norm_options *o)
{
    if (!o)
        return (void)tern_null_error(function, "options"), NULL;
    tern_norm_make make = {.function = function,
                           .eps = o->eps,
                           .affine = o->affine,
                           .bias = o->bias,
                           .dtype = o->dtype,
                           .device = o->device};
    if (check(o, &make))
        return NULL;
    const tern_shape shape = tern_dims(o->num_features);
    tern_channel_norm *self = (tern_channel_norm *)tern_module_new(klass);
    if (!self)
        return NULL;
    self->num_features = o->num_features;
    self->eps = o->eps;
    self->momentum = o->momentum;
    self->space = space;
    tern_norm_add(&self->base, &make, shape, &self->weight, &self->bias);
    add_running(self, &make, shape, o->track_running_stats);
    return tern_module_done(&self->base);
}

tern_status tern_channel_norm_check(const tern_channel_norm *self, const tern_tensor *x, int dim)
{
    const int64_t channels = x->size[dim], last = x->size[x->rank - 1];
    const bool behind = x->rank - 1 > dim && last == self->num_features;
    TERN_CHECK(channels == self->num_features, TERN_ERR_SHAPE,
               "%s: x %s has %lld channels in dimension %d, but num_features is %lld%s",
               self->base.klass->name, tern_shape_string(tern_shape_get(x)), (long long)channels,
               dim, (long long)self->num_features,
               behind ? " (its last size is: tern_permute brings channels that come last forward)"
                      : "");
    return TERN_OK;
}
