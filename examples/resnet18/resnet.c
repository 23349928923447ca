// SPDX-License-Identifier: Apache-2.0
#include "resnet.h"

#include <math.h>

// relu(y + x), y being x through two convolutions; where they change the shape, x goes through a
// convolution of its own.
typedef struct basic_block {
    tern_module base;
    tern_module *conv1, *bn1, *conv2, *bn2;
    tern_module *downsample; // NULL: none
} basic_block;

static tern_status block_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    basic_block *self = (basic_block *)module;
    tern_tensor *x = in->at[0];
    tern_tensor *y = tern_relu(tern_forward(self->bn1, tern_forward(self->conv1, x)));
    y = tern_forward(self->bn2, tern_forward(self->conv2, y));
    if (self->downsample)
        x = tern_forward(self->downsample, x);
    out->at[out->count++] = tern_relu(tern_add(y, x));
    return tern_error_code();
}

static const tern_module_class block_class = {
    .name = "BasicBlock", .size = sizeof(basic_block), .call = block_call};

static tern_module *conv3x3(int64_t in, int64_t out, int64_t stride)
{
    return tern_nn_conv2d(in, out, 3, .stride = stride, .padding = 1, .bias = false);
}

static tern_module *make_block(int64_t in, int64_t out, int64_t stride)
{
    tern_module *downsample = NULL; // drawn first
    if (stride != 1 || in != out)
        downsample = tern_nn_sequential(tern_nn_conv2d(in, out, 1, .stride = stride, .bias = false),
                                        tern_nn_batch_norm2d(out));
    basic_block *self = (basic_block *)tern_module_new(&block_class);
    if (!self) {
        tern_module_free(downsample);
        return NULL;
    }
    tern_module_add_child(&self->base, "conv1", &self->conv1, conv3x3(in, out, stride));
    tern_module_add_child(&self->base, "bn1", &self->bn1, tern_nn_batch_norm2d(out));
    tern_module_add_child(&self->base, "conv2", &self->conv2, conv3x3(out, out, 1));
    tern_module_add_child(&self->base, "bn2", &self->bn2, tern_nn_batch_norm2d(out));
    if (downsample)
        tern_module_add_child(&self->base, "downsample", &self->downsample, downsample);
    return tern_module_done(&self->base);
}

static tern_module *make_layer(int64_t in, int64_t out, int64_t stride)
{
    return tern_nn_sequential(make_block(in, out, stride), make_block(out, out, 1));
}

typedef struct resnet {
    tern_module base;
    tern_module *conv1, *bn1, *relu, *maxpool, *layer1, *layer2, *layer3, *layer4, *avgpool, *fc;
} resnet;

static tern_status resnet_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    resnet *self = (resnet *)module;
    tern_module *const layers[] = {self->conv1,   self->bn1,    self->relu,
                                   self->maxpool, self->layer1, self->layer2,
                                   self->layer3,  self->layer4, self->avgpool};
    tern_tensor *x = in->at[0];
    tern_shape shape = tern_shape_of(x);
    if (shape.rank == 4 && shape.dim[1] == 1)
        x = tern_expand(x, tern_dims(shape.dim[0], 3, shape.dim[2], shape.dim[3]));
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        x = tern_forward(layers[i], x);
    out->at[out->count++] = tern_forward(self->fc, tern_flatten(x, 1, -1));
    return tern_error_code();
}

static const tern_module_class resnet_class = {
    .name = "ResNet", .size = sizeof(resnet), .call = resnet_call};

// Kaiming's normal distribution for the convolutions, by the fan-out (He et al. 2015, "Delving Deep
// into Rectifiers"); drawn anew after their usual initialisation.
static void draw_convolutions(tern_module *net)
{
    tern_no_grad {
        for (int64_t i = 0; net && i < tern_module_num_parameters(net); i++) {
            tern_tensor *weight = tern_module_parameter_at(net, i, NULL, 0);
            tern_shape shape = tern_shape_of(weight);
            if (shape.rank != 4)
                continue;
            const int64_t fan_out = shape.dim[0] * shape.dim[2] * shape.dim[3];
            if (!tern_normal_(weight, 0, sqrt(2.0 / (double)fan_out), NULL))
                return;
        }
    }
}

tern_module *resnet18(int64_t classes)
{
    resnet *self = (resnet *)tern_module_new(&resnet_class);
    if (!self)
        return NULL;
    tern_module *m = &self->base;
    tern_module_add_child(m, "conv1", &self->conv1,
                          tern_nn_conv2d(3, 64, 7, .stride = 2, .padding = 3, .bias = false));
    tern_module_add_child(m, "bn1", &self->bn1, tern_nn_batch_norm2d(64));
    tern_module_add_child(m, "relu", &self->relu, tern_nn_relu());
    tern_module_add_child(m, "maxpool", &self->maxpool,
                          tern_nn_max_pool2d(3, .stride = 2, .padding = 1));
    tern_module_add_child(m, "layer1", &self->layer1, make_layer(64, 64, 1));
    tern_module_add_child(m, "layer2", &self->layer2, make_layer(64, 128, 2));
    tern_module_add_child(m, "layer3", &self->layer3, make_layer(128, 256, 2));
    tern_module_add_child(m, "layer4", &self->layer4, make_layer(256, 512, 2));
    tern_module_add_child(m, "avgpool", &self->avgpool, tern_nn_adaptive_avg_pool2d(1));
    tern_module_add_child(m, "fc", &self->fc, tern_nn_linear(512, classes));
    m = tern_module_done(m);
    draw_convolutions(m);
    if (!tern_error_pending())
        return m;
    tern_module_free(m);
    return NULL;
}
