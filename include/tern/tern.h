// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything: one include for a training script.
#ifndef TERN_TERN_H
#define TERN_TERN_H

#include <tern/autograd.h>
#include <tern/base.h>
#include <tern/cpp.h>
#include <tern/cuda.h>
#include <tern/data.h>
#include <tern/data_type.h>
#include <tern/device.h>
#include <tern/error.h>
#include <tern/idx.h>
#include <tern/memory.h>
#include <tern/module.h>
#include <tern/nn.h>
#include <tern/ops.h>
#include <tern/optim.h>
#include <tern/random.h>
#include <tern/scalar.h>
#include <tern/scope.h>
#include <tern/tensor.h>
#include <tern/threads.h>

#endif
