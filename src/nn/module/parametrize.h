// SPDX-License-Identifier: Apache-2.0
// Parametrizations looked up by name.
#ifndef TERN_SRC_NN_MODULE_PARAMETRIZE_H
#define TERN_SRC_NN_MODULE_PARAMETRIZE_H

#include "nn/module/parametrized.h"

// The list of a full name; NULL, without an error, when it is not parametrized. *owner has it, and
// is NULL where there is no such module.
tern_parametrization_list *tern_parametrization_find(const tern_module *module, const char *name,
                                                     tern_module **owner);

#endif
