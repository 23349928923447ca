// SPDX-License-Identifier: Apache-2.0
// Random numbers in place, for operations under a name of their own.
#ifndef TERN_SRC_OPS_RANDOM_H
#define TERN_SRC_OPS_RANDOM_H

#include <tern/generator.h>
#include "autograd/op.h"

// tern_uniform_ and tern_normal_, checks included. The descriptor has tern_overwrite_backward.
tern_tensor *tern_draw_uniform(const tern_op *op, tern_tensor *t, double low, double high,
                               tern_generator *generator);
tern_tensor *tern_draw_normal(const tern_op *op, tern_tensor *t, double mean, double std,
                              tern_generator *generator);

#endif
