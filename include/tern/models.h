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
typedef struct tern_models_resnet18_options {
    int64_t num_classes; ///< > 0; 1000
    char reserved_;
} tern_models_resnet18_options;
/// `tern_models_resnet34(.num_classes = 2)`.
typedef tern_models_resnet18_options tern_models_resnet34_options;
/// `tern_models_resnet50(.num_classes = 2)`.
typedef tern_models_resnet18_options tern_models_resnet50_options;

TERN_API tern_models_resnet18_options tern_models_resnet18_defaults(void);
TERN_API tern_models_resnet34_options tern_models_resnet34_defaults(void);
TERN_API tern_models_resnet50_options tern_models_resnet50_defaults(void);
/// ResNet with 18 layers (He et al. 2015, "Deep Residual Learning for Image Recognition"): 11.7
/// million parameters. Convolutions start normal with variance 2 / fan-out.
TERN_API tern_module *tern_models_resnet18_with(const tern_models_resnet18_options *options);
/// Likewise with 34 layers: 21.8 million parameters.
TERN_API tern_module *tern_models_resnet34_with(const tern_models_resnet34_options *options);
/// Likewise with 50 layers in bottlenecks, which stride in their 3x3 convolution: 25.6 million
/// parameters.
TERN_API tern_module *tern_models_resnet50_with(const tern_models_resnet50_options *options);
/// What the networks start from.
#define TERN_MODELS_DEFAULTS_ .num_classes = 1000, .reserved_ = 0
#define tern_models_resnet18(...)                                                                  \
    TERN_WITH_(tern_models_resnet18, (TERN_FIELDS_0_, ), (TERN_MODELS_DEFAULTS_, __VA_ARGS__),     \
               __VA_ARGS__)
#define tern_models_resnet34(...)                                                                  \
    TERN_WITH_(tern_models_resnet34, (TERN_FIELDS_0_, ), (TERN_MODELS_DEFAULTS_, __VA_ARGS__),     \
               __VA_ARGS__)
#define tern_models_resnet50(...)                                                                  \
    TERN_WITH_(tern_models_resnet50, (TERN_FIELDS_0_, ), (TERN_MODELS_DEFAULTS_, __VA_ARGS__),     \
               __VA_ARGS__)

/// `tern_models_vgg16(.num_classes = 2, .dropout = 0.2)`.
typedef struct tern_models_vgg16_options {
    int64_t num_classes; ///< > 0; 1000
    double dropout;      ///< between the linear layers, in [0, 1]; 0.5
    char reserved_;
} tern_models_vgg16_options;
/// `tern_models_vgg16_bn(.num_classes = 2)`.
typedef tern_models_vgg16_options tern_models_vgg16_bn_options;
/// `tern_models_vgg19(.num_classes = 2)`.
typedef tern_models_vgg16_options tern_models_vgg19_options;
/// `tern_models_vgg19_bn(.num_classes = 2)`.
typedef tern_models_vgg16_options tern_models_vgg19_bn_options;

TERN_API tern_models_vgg16_options tern_models_vgg16_defaults(void);
TERN_API tern_models_vgg16_bn_options tern_models_vgg16_bn_defaults(void);
TERN_API tern_models_vgg19_options tern_models_vgg19_defaults(void);
TERN_API tern_models_vgg19_bn_options tern_models_vgg19_bn_defaults(void);
/// VGG with 16 layers (Simonyan and Zisserman 2014, "Very Deep Convolutional Networks for
/// Large-Scale Image Recognition"): 138 million parameters. Convolutions start normal with variance
/// 2 / fan-out, linear layers with standard deviation 0.01, biases at 0.
TERN_API tern_module *tern_models_vgg16_with(const tern_models_vgg16_options *options);
/// Likewise with batch normalisation after each convolution.
TERN_API tern_module *tern_models_vgg16_bn_with(const tern_models_vgg16_bn_options *options);
/// Likewise with 19 layers: 144 million parameters.
TERN_API tern_module *tern_models_vgg19_with(const tern_models_vgg19_options *options);
/// 19 layers with batch normalisation.
TERN_API tern_module *tern_models_vgg19_bn_with(const tern_models_vgg19_bn_options *options);
/// What a VGG starts from.
#define TERN_MODELS_VGG_DEFAULTS_ .dropout = 0.5, TERN_MODELS_DEFAULTS_
#define tern_models_vgg16(...)                                                                     \
    TERN_WITH_(tern_models_vgg16, (TERN_FIELDS_0_, ), (TERN_MODELS_VGG_DEFAULTS_, __VA_ARGS__),    \
               __VA_ARGS__)
#define tern_models_vgg16_bn(...)                                                                  \
    TERN_WITH_(tern_models_vgg16_bn, (TERN_FIELDS_0_, ), (TERN_MODELS_VGG_DEFAULTS_, __VA_ARGS__), \
               __VA_ARGS__)
#define tern_models_vgg19(...)                                                                     \
    TERN_WITH_(tern_models_vgg19, (TERN_FIELDS_0_, ), (TERN_MODELS_VGG_DEFAULTS_, __VA_ARGS__),    \
               __VA_ARGS__)
#define tern_models_vgg19_bn(...)                                                                  \
    TERN_WITH_(tern_models_vgg19_bn, (TERN_FIELDS_0_, ), (TERN_MODELS_VGG_DEFAULTS_, __VA_ARGS__), \
               __VA_ARGS__)

TERN_END_DECLS

#endif
