// SPDX-License-Identifier: Apache-2.0
// ResNet (He et al. 2015, "Deep Residual Learning for Image Recognition").
#include <tern/nn.h>
#include "models/start.h"
#include "nn/layer/layer.h"

// ---- a block ------------------------------------------------------------------------------------

// relu(y + x), y being x through two convolutions, in a bottleneck through three; where they change
// the shape, x goes through a convolution of its own.
typedef struct block {
    tern_module base;
    tern_module *conv1, *bn1, *conv2, *bn2, *relu;
    tern_module *conv3, *bn3; // of a bottleneck
    tern_module *downsample;  // NULL: none
} block;

static tern_tensor *normalized(tern_module *conv, tern_module *norm, tern_tensor *x)
{
    return tern_forward(norm, tern_forward(conv, x));
}

static tern_status block_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    const block *self = (const block *)module;
    tern_tensor *x = in->at[0];
    tern_tensor *y = tern_forward(self->relu, normalized(self->conv1, self->bn1, x));
    y = normalized(self->conv2, self->bn2, y);
    if (self->conv3)
        y = normalized(self->conv3, self->bn3, tern_forward(self->relu, y));
    if (self->downsample)
        x = tern_forward(self->downsample, x);
    return tern_layer_output(out, tern_forward(self->relu, tern_add(y, x)));
}

static const tern_module_class basic_class = {
    .name = "BasicBlock", .size = sizeof(block), .call = block_call};
static const tern_module_class bottleneck_class = {
    .name = "Bottleneck", .size = sizeof(block), .call = block_call};

static tern_module *conv3x3(int64_t in, int64_t out, int64_t stride)
{
    return tern_nn_conv2d(in, out, 3, .stride = stride, .padding = 1, .bias = false);
}

static tern_module *conv1x1(int64_t in, int64_t out, int64_t stride)
{
    return tern_nn_conv2d(in, out, 1, .stride = stride, .bias = false);
}

static void fill_basic(block *self, int64_t in, int64_t planes, int64_t stride)
{
    tern_child(self, conv1, conv3x3(in, planes, stride));
    tern_child(self, bn1, tern_nn_batch_norm2d(planes));
    tern_child(self, relu, tern_nn_relu());
    tern_child(self, conv2, conv3x3(planes, planes, 1));
    tern_child(self, bn2, tern_nn_batch_norm2d(planes));
}

static void fill_bottleneck(block *self, int64_t in, int64_t planes, int64_t stride)
{
    tern_child(self, conv1, conv1x1(in, planes, 1));
    tern_child(self, bn1, tern_nn_batch_norm2d(planes));
    tern_child(self, conv2, conv3x3(planes, planes, stride));
    tern_child(self, bn2, tern_nn_batch_norm2d(planes));
    tern_child(self, conv3, conv1x1(planes, 4 * planes, 1));
    tern_child(self, bn3, tern_nn_batch_norm2d(4 * planes));
    tern_child(self, relu, tern_nn_relu());
}

// ---- the network --------------------------------------------------------------------------------

#define MAX_BLOCKS 6

// What distinguishes one ResNet from another.
typedef struct variant {
    const char *function;
    bool bottleneck;
    int blocks[4]; // of each layer
} variant;

static int64_t expansion(const variant *kind)
{
    return kind->bottleneck ? 4 : 1;
}

// The convolution of x is made, and drawn, before the others.
static tern_module *make_block(const variant *kind, int64_t in, int64_t planes, int64_t stride)
{
    const int64_t out = expansion(kind) * planes;
    const bool changes = stride != 1 || in != out;
    tern_module *conv = changes ? conv1x1(in, out, stride) : NULL;
    tern_module *downsample = changes ? tern_nn_sequential(conv, tern_nn_batch_norm2d(out)) : NULL;
    block *self = (block *)tern_module_new(kind->bottleneck ? &bottleneck_class : &basic_class);
    if (kind->bottleneck)
        fill_bottleneck(self, in, planes, stride);
    else
        fill_basic(self, in, planes, stride);
    if (changes)
        tern_child(self, downsample, downsample);
    return tern_done(self);
}

static tern_module *make_layer(const variant *kind, int number)
{
    const int64_t planes = (int64_t)64 << number;
    const int64_t before = number ? expansion(kind) * planes / 2 : 64;
    tern_module *blocks[MAX_BLOCKS];
    blocks[0] = make_block(kind, before, planes, number ? 2 : 1);
    for (int i = 1; i < kind->blocks[number]; i++)
        blocks[i] = make_block(kind, expansion(kind) * planes, planes, 1);
    return tern_nn_sequential_new(kind->blocks[number], blocks);
}

typedef struct resnet {
    tern_module base;
    tern_module *conv1, *bn1, *relu, *maxpool, *layer1, *layer2, *layer3, *layer4, *avgpool, *fc;
} resnet;

static tern_status resnet_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    const resnet *self = (const resnet *)module;
    tern_module *const stages[] = {self->conv1,   self->bn1,    self->relu,
                                   self->maxpool, self->layer1, self->layer2,
                                   self->layer3,  self->layer4, self->avgpool};
    tern_tensor *x = in->at[0];
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        x = tern_forward(stages[i], x);
    return tern_layer_output(out, tern_forward(self->fc, tern_flatten(x, 1, -1)));
}

// The convolutions are drawn anew; all else stays as its layer has drawn it.
static tern_status draw(const tern_module_entry *entry, void *generator)
{
    return tern_rank(entry->tensor) == 4 ? tern_models_draw_conv(entry->tensor, generator)
                                         : TERN_OK;
}

static tern_status resnet_reset(tern_module *module, tern_generator *generator)
{
    return tern_module_each_parameter(module, draw, generator);
}

static const tern_module_class resnet_class = {
    .name = "ResNet", .size = sizeof(resnet), .call = resnet_call, .reset = resnet_reset};

static tern_module *make(const variant *kind, const tern_models_resnet_options *options)
{
    if (!options)
        return (void)tern_null_error(kind->function, "options"), NULL;
    if (tern_models_check_classes(kind->function, options->num_classes))
        return NULL;
    resnet *self = (resnet *)tern_module_new(&resnet_class);
    tern_child(self, conv1, tern_nn_conv2d(3, 64, 7, .stride = 2, .padding = 3, .bias = false));
    tern_child(self, bn1, tern_nn_batch_norm2d(64));
    tern_child(self, relu, tern_nn_relu());
    tern_child(self, maxpool, tern_nn_max_pool2d(3, .stride = 2, .padding = 1));
    tern_child(self, layer1, make_layer(kind, 0));
    tern_child(self, layer2, make_layer(kind, 1));
    tern_child(self, layer3, make_layer(kind, 2));
    tern_child(self, layer4, make_layer(kind, 3));
    tern_child(self, avgpool, tern_nn_adaptive_avg_pool2d(1));
    tern_child(self, fc, tern_nn_linear(512 * expansion(kind), options->num_classes));
    return tern_done(self);
}

#define RESNET(name, bottleneck_, ...)                                                             \
    tern_module *tern_models_##name##_with(const tern_models_resnet_options *options)              \
    {                                                                                              \
        static const variant kind = {"models_" #name, bottleneck_, {__VA_ARGS__}};                 \
        return make(&kind, options);                                                               \
    }
RESNET(resnet18, false, 2, 2, 2, 2)
RESNET(resnet34, false, 3, 4, 6, 3)
RESNET(resnet50, true, 3, 4, 6, 3)
