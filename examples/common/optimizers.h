// SPDX-License-Identifier: Apache-2.0
// Optimizers, by the names of their constructors.
#ifndef COMMON_OPTIMIZERS_H
#define COMMON_OPTIMIZERS_H

#include <tern/tern.h>

typedef struct optimizer_kind {
    const char *name;
    double lr; // a rate that mlp_mnist learns at
    tern_optim *(*make)(tern_module *net);
    bool by_closure; // a step evaluates the loss of its batch several times
} optimizer_kind;

// Of that name; NULL: there is none.
const optimizer_kind *optimizer_find(const char *name);
// Those of all, which NULL ends.
extern const char *const optimizer_names[];

#endif
