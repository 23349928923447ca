// SPDX-License-Identifier: Apache-2.0
// What L-BFGS goes on from.
#ifndef TERN_SRC_OPTIM_LBFGS_STATE_H
#define TERN_SRC_OPTIM_LBFGS_STATE_H

#include "optim/optim.h"

// Two iterations' difference. Its tensors are held, as all here, and never written to again.
typedef struct tern_lbfgs_correction {
    tern_tensor *gradient; // y
    tern_tensor *step;     // s
    double ro;             // 1 / (y s)
    double al;             // of the recursion in progress
} tern_lbfgs_correction;

// What goes on from step to step, under PyTorch's names.
typedef struct tern_lbfgs {
    int64_t func_evals, n_iter;
    tern_tensor *d, *prev_flat_grad;
    double t, h_diag, prev_loss;
    tern_lbfgs_correction *history;
    int64_t count, capacity;
} tern_lbfgs;

// Holds `t` in the slot, NULL too, in place of what it held.
void tern_lbfgs_set(tern_tensor **slot, tern_tensor *t);
// Likewise what a call made, whose temporaries die with its scope; NULL is the call's error.
tern_status tern_lbfgs_set_made(tern_tensor **slot, tern_tensor *made);

// A copy that shares the tensors. On failure it has some of them.
tern_status tern_lbfgs_copy(tern_lbfgs *to, const tern_lbfgs *from);
void tern_lbfgs_release(tern_lbfgs *l);
void tern_lbfgs_release_oldest(tern_lbfgs *l);
// Adds to the history; the tensors are held.
tern_status tern_lbfgs_add(tern_lbfgs *l, tern_tensor *gradient, tern_tensor *step, double ro);
// Brings the state to where, and as, the parameter is.
tern_status tern_lbfgs_follow(tern_lbfgs *l, const tern_tensor *param);
tern_status tern_lbfgs_visit(tern_optim *optim, tern_state_visitor *visitor);

#endif
