// SPDX-License-Identifier: Apache-2.0
// What modules say of themselves.
#ifndef TERN_SRC_NN_MODULE_DESCRIBE_H
#define TERN_SRC_NN_MODULE_DESCRIBE_H

#include "nn/module/module.h"

// Bytes of a description, the final 0 included. What does not fit is cut and ends with "...".
#define TERN_DESCRIPTION_SIZE 256

struct tern_text {
    char text[TERN_DESCRIPTION_SIZE];
};

// What the module's class says; "" where it says nothing.
void tern_module_describe(const tern_module *module, tern_text *out);

// Words of a description, as Python has them: a truth, and the shortest number that reads back.
static inline const char *tern_text_bool(bool truth)
{
    return truth ? "True" : "False";
}
void tern_text_add_double(tern_text *out, double value);

// "Linear(in_features=2, out_features=3, bias=True)", or the class alone where it says nothing. A
// description that does not fit is cut and ends with "...)".
void tern_module_title(const tern_module *module, char *title, size_t size);

#endif
