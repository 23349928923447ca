// SPDX-License-Identifier: Apache-2.0
// A small convolutional network for images of 28 by 28 pixels.
#ifndef CNN_MNIST_NET_H
#define CNN_MNIST_NET_H

#include <tern/tern.h>

// (N, 1, 28, 28) -> (N, classes). `dropout`: share of the last features that is left out.
tern_module *cnn(int64_t classes, double dropout);

#endif
