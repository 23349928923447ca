// SPDX-License-Identifier: Apache-2.0
// All parameters, or all gradients, as one vector.
#ifndef TERN_SRC_OPTIM_LBFGS_VECTOR_H
#define TERN_SRC_OPTIM_LBFGS_VECTOR_H

#include "optim/optim.h"

// NAN with an error pending, likewise below.
double tern_lbfgs_dot(tern_tensor *a, tern_tensor *b);
double tern_lbfgs_sum_of_sizes(tern_tensor *t);
double tern_lbfgs_largest(tern_tensor *t);

// All parameters, or their gradients (0 where there is none), as one vector, in the scope.
tern_tensor *tern_lbfgs_join(const tern_optim *optim, bool gradients);
// p += t v, for the parameters as one vector.
tern_status tern_lbfgs_add_to_parameters(const tern_optim *optim, tern_tensor *v, double t);
tern_status tern_lbfgs_set_parameters(const tern_optim *optim, tern_tensor *v);

#endif
