// SPDX-License-Identifier: Apache-2.0
// The pointwise losses, for operations that are made of them too.
#ifndef TERN_SRC_OPS_POINTWISE_LOSS_H
#define TERN_SRC_OPS_POINTWISE_LOSS_H

#include "ops/op.h"

enum { LOSS_INPUT, LOSS_TARGET, LOSS_THIRD, LOSS_WEIGHT, LOSS_INPUTS };

// A call of a pointwise loss.
typedef struct tern_loss_call {
    const tern_op *op;            // its inputs have the names of `in`
    tern_loss_code code;          // of device/loss.def
    const char *rule;             // what values must be: "target must be 1 or -1"; NULL: any
    tern_tensor *in[LOSS_INPUTS]; // NULL: no third input, no weight
    bool third_is_weight;         // it broadcasts, and no gradient flows to it
    double a, b;                  // parameters of the formula
    tern_reduction reduction;
    int64_t mean_of; // what the mean divides by; 0: the elements
} tern_loss_call;

// The loss, recorded; all inputs but weights, which broadcast, have one shape.
tern_tensor *tern_loss_run(const tern_loss_call *loss);
tern_op_backward tern_loss_backward;

// The losses of the samples, or NULL, reduced.
tern_tensor *tern_loss_reduce(tern_tensor *losses, tern_reduction reduction);
// A reduction that exists.
tern_status tern_loss_reduction(const char *op, tern_reduction reduction);
// Parameters: above 0; 0 or more.
tern_status tern_loss_above_0(const char *op, const char *name, double value);
tern_status tern_loss_not_below_0(const char *op, const char *name, double value);
// Of multi_margin_loss: 1 or 2.
tern_status tern_loss_check_power(const char *op, int64_t p);

#endif
