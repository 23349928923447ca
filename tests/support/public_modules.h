// SPDX-License-Identifier: Apache-2.0
// The modules of nn.h, for the tests that hold for each of them: what copies and states keep
// (tests/unit), PyTorch's results (tests/golden/modules_*.py, where the inputs are), and the
// manifest (tests/conformance), which asks for every constructor.
#ifndef TERN_TESTS_SUPPORT_PUBLIC_MODULES_H
#define TERN_TESTS_SUPPORT_PUBLIC_MODULES_H

#include <tern/tern.h>
#include "modules/activation.h"
#include "modules/container.h"
#include "modules/conv.h"
#include "modules/dropout.h"
#include "modules/linear.h"
#include "modules/loss.h"
#include "modules/norm.h"
#include "modules/pad.h"
#include "modules/pool.h"
#include "modules/resize.h"
#include "modules/shape.h"

// A row: the name of PyTorch's case, the constructor without tern_nn_, _with and _new, and the
// call, which is the case's; tests/support/modules has them by family.
#define PUBLIC_MODULES(MODULE)                                                                     \
    MODULES_ACTIVATION(MODULE)                                                                     \
    MODULES_CONTAINER(MODULE)                                                                      \
    MODULES_CONV(MODULE)                                                                           \
    MODULES_DROPOUT(MODULE)                                                                        \
    MODULES_LINEAR(MODULE)                                                                         \
    MODULES_LOSS(MODULE)                                                                           \
    MODULES_PAD(MODULE)                                                                            \
    MODULES_POOL(MODULE)                                                                           \
    MODULES_RESIZE(MODULE)                                                                         \
    MODULES_NORM(MODULE)                                                                           \
    MODULES_SHAPE(MODULE)

typedef struct public_module {
    const char *name, *constructor;
    tern_module *(*make)(void);
} public_module;

#define MODULE(name, constructor, ...)                                                             \
    static inline tern_module *make_public_##name(void)                                            \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
PUBLIC_MODULES(MODULE)
#undef MODULE

#define MODULE(name, constructor, ...) {#name, #constructor, make_public_##name},
static const public_module public_modules[] = {PUBLIC_MODULES(MODULE)};
#undef MODULE
#define PUBLIC_MODULE_COUNT ((int)(sizeof public_modules / sizeof *public_modules))

#endif
