// SPDX-License-Identifier: Apache-2.0
#include "optimizers.h"

#include <string.h>

// Those that step once for each batch, with the rate that optimizer_kind is about, and options.
#define OPTIMIZERS(OPTIMIZER)                                                                      \
    OPTIMIZER(sgd, 0.05, .momentum = 0.9)                                                          \
    OPTIMIZER(adam, 1e-3, .maximize = false)                                                       \
    OPTIMIZER(adamw, 1e-3, .maximize = false)                                                      \
    OPTIMIZER(adamax, 2e-3, .maximize = false)                                                     \
    OPTIMIZER(nadam, 1e-3, .maximize = false)                                                      \
    OPTIMIZER(radam, 1e-3, .maximize = false)                                                      \
    OPTIMIZER(rmsprop, 1e-3, .maximize = false)                                                    \
    OPTIMIZER(adagrad, 1e-2, .maximize = false)                                                    \
    OPTIMIZER(adadelta, 1, .maximize = false)                                                      \
    OPTIMIZER(asgd, 0.1, .maximize = false)                                                        \
    OPTIMIZER(lion, 1e-4, .maximize = false)                                                       \
    OPTIMIZER(schedule_free_adamw, 2.5e-3, .warmup_steps = 100)                                    \
    OPTIMIZER(adafactor, 1e-2, .maximize = false)                                                  \
    OPTIMIZER(muon, 2e-2, .rest = TERN_MUON_ADAMW)                                                 \
    OPTIMIZER(rprop, 1e-3, .step_sizes = {1e-6, 1e-2})

#define OPTIMIZER(name, rate, ...)                                                                 \
    static tern_optim *make_##name(tern_module *net)                                               \
    {                                                                                              \
        return tern_optim_##name(net, __VA_ARGS__);                                                \
    }
OPTIMIZERS(OPTIMIZER)
#undef OPTIMIZER

static tern_optim *make_lbfgs(tern_module *net)
{
    return tern_optim_lbfgs(net, .max_iter = 10, .history_size = 10,
                            .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE);
}

static const optimizer_kind kinds[] = {
#define OPTIMIZER(name, rate, ...) {#name, rate, make_##name, false},
    OPTIMIZERS(OPTIMIZER)
#undef OPTIMIZER
        {"lbfgs", 1, make_lbfgs, true},
};

#define KINDS ((int)(sizeof kinds / sizeof *kinds))

const optimizer_kind *optimizer_find(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

const char *const optimizer_names[] = {
#define OPTIMIZER(name, rate, ...) #name,
    OPTIMIZERS(OPTIMIZER)
#undef OPTIMIZER
        "lbfgs",
    NULL,
};
