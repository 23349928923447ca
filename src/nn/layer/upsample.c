// SPDX-License-Identifier: Apache-2.0
// Resizing.
#include "nn/layer/layer.h"
#include "ops/interpolate.h"

typedef struct upsample {
    tern_module base;
    tern_interpolate_options options; // without x
} upsample;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    tern_interpolate_options options = ((const upsample *)module)->options;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    options.x = in->at[0];
    return tern_layer_output(out, tern_interpolate_with(&options));
}

static void describe(const tern_module *module, tern_text *out)
{
    const tern_interpolate_options *o = &((const upsample *)module)->options;
    int scales = tern_scales_count(&o->scale), count = scales ? scales : o->size.rank;
    tern_text_add(out, "%s=%s", scales ? "scale_factor" : "size", count > 1 ? "(" : "");
    for (int i = 0; i < count; i++) {
        tern_text_add(out, "%s", i ? ", " : "");
        if (scales)
            tern_text_add_double(out, o->scale.at[i]);
        else
            tern_text_add(out, "%lld", (long long)o->size.dim[i]);
    }
    tern_text_add(out, "%s, mode='%s'", count > 1 ? ")" : "", tern_interpolate_mode_name(o->mode));
}

static const tern_module_class upsample_class = {
    .name = "Upsample", .size = sizeof(upsample), .call = call, .describe = describe};

tern_module *tern_nn_upsample_with(const tern_nn_upsample_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_upsample", "options"), NULL;
    TERN_CHECK_PTR(!options->x, TERN_ERR_ARG,
                   "nn_upsample: x is given, but a module takes it when it runs");
    if (tern_interpolate_check("nn_upsample", options))
        return NULL;
    upsample *self = (upsample *)tern_module_new(&upsample_class);
    if (!self)
        return NULL;
    self->options = *options;
    return tern_module_done(&self->base);
}
