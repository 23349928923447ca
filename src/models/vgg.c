// SPDX-License-Identifier: Apache-2.0
// VGG (Simonyan and Zisserman 2014, "Very Deep Convolutional Networks for Large-Scale Image
// Recognition").
#include <tern/nn.h>
#include "models/start.h"
#include "nn/layer/layer.h"

#define MAX_STEPS  21
#define MAX_LAYERS (3 * MAX_STEPS)
#define POOL       (-1)

// What distinguishes one VGG from another: output channels of convolutions and POOLs, up to a 0.
typedef struct variant {
    const char *function;
    bool batch_norm;
    int steps[MAX_STEPS + 1];
} variant;

typedef struct vgg {
    tern_module base;
    tern_module *features, *avgpool, *classifier;
} vgg;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    const vgg *self = (const vgg *)module;
    tern_tensor *x = tern_forward(self->avgpool, tern_forward(self->features, in->at[0]));
    return tern_layer_output(out, tern_forward(self->classifier, tern_flatten(x, 1, -1)));
}

// Batch normalisation has a weight of one dimension, which stays as its layer has set it.
static tern_status draw(const tern_module_entry *entry, void *generator)
{
    const int rank = tern_rank(entry->tensor);
    if (rank == 4)
        return tern_models_draw_conv(entry->tensor, generator);
    if (rank == 2)
        return tern_layer_draw_normal(entry->tensor, 0.01, generator);
    const size_t length = strlen(entry->name);
    const bool bias = length > 5 && strcmp(entry->name + length - 5, ".bias") == 0;
    return !bias || tern_fill_(entry->tensor, 0) ? TERN_OK : tern_error_code();
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    return tern_module_each_parameter(module, draw, generator);
}

static const tern_module_class vgg_class = {
    .name = "VGG", .size = sizeof(vgg), .call = call, .reset = reset};

static tern_module *make_features(const variant *kind)
{
    tern_module *layers[MAX_LAYERS];
    int64_t count = 0, in = 3;
    for (const int *out = kind->steps; *out; out++) {
        if (*out == POOL) {
            layers[count++] = tern_nn_max_pool2d(2);
            continue;
        }
        layers[count++] = tern_nn_conv2d(in, *out, 3, .padding = 1);
        if (kind->batch_norm)
            layers[count++] = tern_nn_batch_norm2d(*out);
        layers[count++] = tern_nn_relu();
        in = *out;
    }
    return tern_nn_sequential_new(count, layers);
}

static tern_module *make_classifier(int64_t num_classes, double dropout)
{
    return tern_nn_sequential(tern_nn_linear(512 * 7 * 7, 4096), tern_nn_relu(),
                              tern_nn_dropout(dropout), tern_nn_linear(4096, 4096), tern_nn_relu(),
                              tern_nn_dropout(dropout), tern_nn_linear(4096, num_classes));
}

static tern_module *make(const variant *kind, const tern_models_vgg_options *options)
{
    if (!options)
        return (void)tern_null_error(kind->function, "options"), NULL;
    if (tern_models_check_classes(kind->function, options->num_classes))
        return NULL;
    TERN_CHECK_PTR(options->dropout >= 0 && options->dropout <= 1, TERN_ERR_ARG,
                   "%s: dropout is %g, but must be in [0, 1]", kind->function, options->dropout);
    vgg *self = (vgg *)tern_module_new(&vgg_class);
    tern_child(self, features, make_features(kind));
    tern_child(self, avgpool, tern_nn_adaptive_avg_pool2d(7));
    tern_child(self, classifier, make_classifier(options->num_classes, options->dropout));
    return tern_done(self);
}

#define VGG(name, batch_norm_, ...)                                                                \
    tern_module *tern_models_##name##_with(const tern_models_vgg_options *options)                 \
    {                                                                                              \
        static const variant kind = {"models_" #name, batch_norm_, {__VA_ARGS__, 0}};              \
        return make(&kind, options);                                                               \
    }
#define LAYERS_16                                                                                  \
    64, 64, POOL, 128, 128, POOL, 256, 256, 256, POOL, 512, 512, 512, POOL, 512, 512, 512, POOL
#define LAYERS_19                                                                                  \
    64, 64, POOL, 128, 128, POOL, 256, 256, 256, 256, POOL, 512, 512, 512, 512, POOL, 512, 512,    \
        512, 512, POOL
VGG(vgg16, false, LAYERS_16)
VGG(vgg16_bn, true, LAYERS_16)
VGG(vgg19, false, LAYERS_19)
VGG(vgg19_bn, true, LAYERS_19)
