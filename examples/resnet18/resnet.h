// SPDX-License-Identifier: Apache-2.0
// ResNet-18 (He et al. 2015, "Deep Residual Learning for Image Recognition").
#ifndef RESNET18_RESNET_H
#define RESNET18_RESNET_H

#include <tern/tern.h>

// (N, 3, H, W) -> (N, classes); grey images (N, 1, H, W) are taken as three equal channels. Layers,
// names and the way parameters are drawn are those of torchvision's resnet18.
tern_module *resnet18(int64_t classes);

#endif
