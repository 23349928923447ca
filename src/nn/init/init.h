// SPDX-License-Identifier: Apache-2.0
// What initialisers share.
#ifndef TERN_SRC_NN_INIT_INIT_H
#define TERN_SRC_NN_INIT_INIT_H

#include <tern/autograd.h>
#include <tern/init.h>
#include "ops/alias.h"
#include "ops/random.h"
#include "tensor/liveness.h"

// A descriptor, whose name messages have.
#define TERN_INIT_OP(name) static const tern_op op = {name, {"t"}, tern_overwrite_backward}

// tern_draw_uniform and tern_draw_normal under tern_no_grad.
tern_tensor *tern_init_draw_uniform(const tern_op *op, tern_tensor *t, double low, double high,
                                    tern_generator *generator);
tern_tensor *tern_init_draw_normal(const tern_op *op, tern_tensor *t, double mean, double std,
                                   tern_generator *generator);

// A tensor of `min_rank` to `max_rank` dimensions that may be changed under tern_no_grad.
tern_status tern_init_check(const tern_op *op, const tern_tensor *t, int min_rank, int max_rank);
// Likewise of a floating dtype.
tern_status tern_init_check_floating(const tern_op *op, const tern_tensor *t, int min_rank,
                                     int max_rank);

#endif
