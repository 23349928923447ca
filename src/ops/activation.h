// SPDX-License-Identifier: Apache-2.0
// What activations check, as operations and as modules.
#ifndef TERN_SRC_OPS_ACTIVATION_H
#define TERN_SRC_OPS_ACTIVATION_H

#include "ops/op.h"

// A value that is no way to compute GELU is TERN_ERR_ARG.
tern_status tern_approximate_check(const char *name, tern_approximate approximate);

#endif
