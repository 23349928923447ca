// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layers and losses, by family: modules with PyTorch's names, defaults and keys.
///
///     tern_module *net = tern_nn_sequential(
///         tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_linear(512, 10));
///     tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
///     tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
///
/// Constructors return a module to be freed with tern_module_free or given to a container, NULL on
/// failure. Parameters are drawn from the CPU's default generator, weight before bias, the same
/// bits as PyTorch's for the same seed, then moved to the device. A loss is a module: its weights
/// are buffers, which tern_module_to moves. Threads: a constructor runs on any thread, and several
/// may run one module at the same time (module.h).
#ifndef TERN_NN_H
#define TERN_NN_H

#include <tern/module.h>
#include <tern/nn/activation.h>
#include <tern/nn/container.h>
#include <tern/nn/conv.h>
#include <tern/nn/dropout.h>
#include <tern/nn/linear.h>
#include <tern/nn/loss.h>
#include <tern/nn/norm.h>
#include <tern/nn/pad.h>
#include <tern/nn/parametrizations.h>
#include <tern/nn/pool.h>
#include <tern/nn/resize.h>
#include <tern/nn/shape.h>
#include <tern/ops.h>

#endif
