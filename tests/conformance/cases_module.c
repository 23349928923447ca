// SPDX-License-Identifier: Apache-2.0
// Modules that take nothing and compute an element from an element.
#include "conformance.h"

#include <math.h>

#define FOR_MODULES(X)                                                                             \
    X(identity, x[0])                                                                              \
    X(relu, isnan(x[0]) ? x[0] : x[0] > 0 ? x[0] : 0)                                              \
    X(tanh, tanhl(x[0]))                                                                           \
    X(sigmoid, x[0] < 0 ? expl(x[0]) / (1 + expl(x[0])) : 1 / (1 + expl(-x[0])))                   \
    X(silu, x[0] < 0 ? x[0] * expl(x[0]) / (1 + expl(x[0])) : x[0] / (1 + expl(-x[0])))            \
    X(hardswish, x[0] <= -3 ? 0 : x[0] >= 3 ? x[0] : x[0] * (x[0] + 3) / 6)

#define MODULE(name, ...)                                                                          \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        tern_module *module = tern_nn_##name();                                                    \
        tern_tensor *y = tern_forward(module, in[0]);                                              \
        tern_module_free(module);                                                                  \
        return y;                                                                                  \
    }                                                                                              \
    static real each_##name(const real *x, const double *p)                                        \
    {                                                                                              \
        (void)p;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
FOR_MODULES(MODULE)

static const setup setups[] = {
    {.in = {{0}}},
    {.in = {{1, {7}}}},
    {.in = {{2, {5, 3}}}},
    {.in = {{1, {129}}}},
};

#define CASE(name, ...)                                                                            \
    {.op = "nn_" #name,                                                                            \
     .call = call_##name,                                                                          \
     .reference = reference_each,                                                                  \
     .each = each_##name,                                                                          \
     .setups = setups,                                                                             \
     .setup_count = sizeof setups / sizeof *setups,                                                \
     .inputs = 1,                                                                                  \
     .values = {WIDE},                                                                             \
     .dtypes = FLOATS,                                                                             \
     .ulps = 4,                                                                                    \
     .gradients = 1},
static const op_case cases[] = {FOR_MODULES(CASE)};

const case_list module_cases = {cases, sizeof cases / sizeof *cases};
