// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything: one include for a training script.
#ifndef TERN_TERN_H
#define TERN_TERN_H

#include <tern/activation.h>
#include <tern/autograd.h>
#include <tern/base.h>
#include <tern/checkpoint.h>
#include <tern/cpp.h>
#include <tern/cuda.h>
#include <tern/cuda_graph.h>
#include <tern/data.h>
#include <tern/data_type.h>
#include <tern/device.h>
#include <tern/dtype.h>
#include <tern/error.h>
#include <tern/generator.h>
#include <tern/idx.h>
#include <tern/io.h>
#include <tern/memory.h>
#include <tern/module.h>
#include <tern/nn.h>
#include <tern/nn/activation.h>
#include <tern/nn/container.h>
#include <tern/nn/conv.h>
#include <tern/nn/dropout.h>
#include <tern/nn/linear.h>
#include <tern/nn/loss.h>
#include <tern/nn/norm.h>
#include <tern/nn/pad.h>
#include <tern/nn/pool.h>
#include <tern/nn/resize.h>
#include <tern/nn/shape.h>
#include <tern/ops.h>
#include <tern/ops/activation.h>
#include <tern/ops/conv.h>
#include <tern/ops/copy.h>
#include <tern/ops/dropout.h>
#include <tern/ops/inplace.h>
#include <tern/ops/join.h>
#include <tern/ops/norm.h>
#include <tern/ops/pool.h>
#include <tern/ops/resize.h>
#include <tern/ops/shuffle.h>
#include <tern/ops/view.h>
#include <tern/optim.h>
#include <tern/pair.h>
#include <tern/random.h>
#include <tern/reduction.h>
#include <tern/scalar.h>
#include <tern/scope.h>
#include <tern/state.h>
#include <tern/tensor.h>
#include <tern/threads.h>

#endif
