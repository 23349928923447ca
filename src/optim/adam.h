// SPDX-License-Identifier: Apache-2.0
// The numbers of Adam's formula, for all who update by it.
#ifndef TERN_SRC_OPTIM_ADAM_H
#define TERN_SRC_OPTIM_ADAM_H

#include "optim/optim.h"

typedef struct tern_adam {
    double lr, beta1, beta2, eps, weight_decay;
    bool decoupled; // the weight decay
    bool maximize;
} tern_adam;

// Of TERN_STEP_ADAM and TERN_STEP_AMSGRAD.
void tern_adam_derive(const tern_adam *adam, const tern_optim_step_info *at, double *out);

#endif
