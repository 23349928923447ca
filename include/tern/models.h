// SPDX-License-Identifier: Apache-2.0
/// @file
/// Networks known by name, as torchvision has them: the same layers, keys and start. The state dict
/// of one fits the other, and the same seed gives the same weights.
///
///     tern_module *net = tern_models_resnet18(.num_classes = 2);
///     tern_state *weights = tern_state_read("resnet18.pt");
///     tern_status status = tern_module_load_state_dict(net, weights);
///
/// They take images (N, 3, H, W) and return logits (N, num_classes). A constructor returns a module
/// to be freed with tern_module_free, NULL on failure. Threads: a constructor runs on any thread.
#ifndef TERN_MODELS_H
#define TERN_MODELS_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_models_resnet18(.num_classes = 2)`.
typedef struct tern_models_resnet_options {
    int64_t num_classes; ///< > 0
    char reserved_;
} tern_models_resnet_options;

#define TERN_MODELS_RESNET_DEFAULTS_ .num_classes = 1000
#define TERN_MODELS_RESNET_FIELDS_   0, 0, (), ()
TERN_API tern_models_resnet_options tern_models_resnet_defaults(void);
/// ResNet with 18 layers (He et al. 2015, "Deep Residual Learning for Image Recognition"): 11.7
/// million parameters. Convolutions start normal with variance 2 / fan-out.
TERN_API tern_module *tern_models_resnet18_with(const tern_models_resnet_options *options);
/// Likewise with 34 layers: 21.8 million parameters.
TERN_API tern_module *tern_models_resnet34_with(const tern_models_resnet_options *options);
/// Likewise with 50 layers in bottlenecks, which stride in their 3x3 convolution: 25.6 million
/// parameters.
TERN_API tern_module *tern_models_resnet50_with(const tern_models_resnet_options *options);
#define tern_models_resnet18(...)                                                                  \
    TERN_WITH_(tern_models_resnet18, tern_models_resnet, TERN_MODELS_RESNET, __VA_ARGS__)
#define tern_models_resnet34(...)                                                                  \
    TERN_WITH_(tern_models_resnet34, tern_models_resnet, TERN_MODELS_RESNET, __VA_ARGS__)
#define tern_models_resnet50(...)                                                                  \
    TERN_WITH_(tern_models_resnet50, tern_models_resnet, TERN_MODELS_RESNET, __VA_ARGS__)

/// `tern_models_vgg16(.num_classes = 2, .dropout = 0.2)`.
typedef struct tern_models_vgg_options {
    int64_t num_classes; ///< > 0
    double dropout;      ///< between the linear layers, in [0, 1]
    char reserved_;
} tern_models_vgg_options;

#define TERN_MODELS_VGG_DEFAULTS_ .num_classes = 1000, .dropout = 0.5
#define TERN_MODELS_VGG_FIELDS_   0, 0, (), ()
TERN_API tern_models_vgg_options tern_models_vgg_defaults(void);
/// VGG with 16 layers (Simonyan and Zisserman 2014, "Very Deep Convolutional Networks for
/// Large-Scale Image Recognition"): 138 million parameters. Convolutions start normal with variance
/// 2 / fan-out, linear layers with standard deviation 0.01, biases at 0.
TERN_API tern_module *tern_models_vgg16_with(const tern_models_vgg_options *options);
/// Likewise with batch normalisation after each convolution.
TERN_API tern_module *tern_models_vgg16_bn_with(const tern_models_vgg_options *options);
/// Likewise with 19 layers: 144 million parameters.
TERN_API tern_module *tern_models_vgg19_with(const tern_models_vgg_options *options);
/// 19 layers with batch normalisation.
TERN_API tern_module *tern_models_vgg19_bn_with(const tern_models_vgg_options *options);
#define tern_models_vgg16(...)                                                                     \
    TERN_WITH_(tern_models_vgg16, tern_models_vgg, TERN_MODELS_VGG, __VA_ARGS__)
#define tern_models_vgg16_bn(...)                                                                  \
    TERN_WITH_(tern_models_vgg16_bn, tern_models_vgg, TERN_MODELS_VGG, __VA_ARGS__)
#define tern_models_vgg19(...)                                                                     \
    TERN_WITH_(tern_models_vgg19, tern_models_vgg, TERN_MODELS_VGG, __VA_ARGS__)
#define tern_models_vgg19_bn(...)                                                                  \
    TERN_WITH_(tern_models_vgg19_bn, tern_models_vgg, TERN_MODELS_VGG, __VA_ARGS__)

TERN_END_DECLS

#endif
