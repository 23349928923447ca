// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything: one include for a training script.
#ifndef TERN_TERN_H
#define TERN_TERN_H

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
#include <tern/ops.h>
#include <tern/ops/copy.h>
#include <tern/ops/inplace.h>
#include <tern/ops/join.h>
#include <tern/ops/view.h>
#include <tern/optim.h>
#include <tern/random.h>
#include <tern/reduction.h>
#include <tern/scalar.h>
#include <tern/scope.h>
#include <tern/state.h>
#include <tern/tensor.h>
#include <tern/threads.h>

#endif
