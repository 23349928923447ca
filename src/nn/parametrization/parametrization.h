// SPDX-License-Identifier: Apache-2.0
// What the ready-made parametrizations share.
#ifndef TERN_SRC_NN_PARAMETRIZATION_PARAMETRIZATION_H
#define TERN_SRC_NN_PARAMETRIZATION_PARAMETRIZATION_H

#include "nn/module/parametrize.h"

// The tensor of a full name, a parameter or what is computed of one now, and in *owner its module.
// NULL raises.
tern_tensor *tern_parametrization_target(const char *function, const tern_module *module,
                                         const char *name, tern_module **owner);

#endif
