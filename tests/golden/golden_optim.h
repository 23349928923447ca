// SPDX-License-Identifier: Apache-2.0
// The optimizers of PyTorch's stored runs. Include <cmocka.h> before.
#ifndef TERN_TESTS_GOLDEN_OPTIM_H
#define TERN_TESTS_GOLDEN_OPTIM_H

#include <string.h>

#include "golden.h"

// An optimizer is a line: PyTorch's name, and the call that makes it, but for the options that can
// be set by name afterwards. FROM: `params`, `count` of them; c: the stored case.
#define FROM NULL, .params = params, .param_count = count
#define GOLDEN_OPTIMIZERS(OPTIMIZER)                                                               \
    OPTIMIZER(SGD, tern_optim_sgd(FROM))                                                           \
    OPTIMIZER(Adam, tern_optim_adam(FROM))                                                         \
    OPTIMIZER(AdamW, tern_optim_adamw(FROM))                                                       \
    OPTIMIZER(RMSprop, tern_optim_rmsprop(FROM))                                                   \
    OPTIMIZER(Adadelta, tern_optim_adadelta(FROM))                                                 \
    OPTIMIZER(Adamax, tern_optim_adamax(FROM))                                                     \
    OPTIMIZER(RAdam, tern_optim_radam(FROM))                                                       \
    OPTIMIZER(NAdam, tern_optim_nadam(FROM))                                                       \
    OPTIMIZER(ASGD, tern_optim_asgd(FROM))                                                         \
    OPTIMIZER(AdamWScheduleFree, tern_optim_schedule_free_adamw(FROM))                             \
    OPTIMIZER(Muon, tern_optim_muon(FROM, .rest = TERN_MUON_ADAMW, .ns_dtype = TERN_FLOAT64))      \
    OPTIMIZER(Adafactor, tern_optim_adafactor(FROM))                                               \
    OPTIMIZER(Lion, tern_optim_lion(FROM))                                                         \
    OPTIMIZER(LBFGS, tern_optim_lbfgs(FROM))                                                       \
    OPTIMIZER(Rprop, tern_optim_rprop(FROM))                                                       \
    OPTIMIZER(Adagrad, tern_optim_adagrad(FROM, .initial_accumulator_value = golden_number(        \
                                                    c, "initial_accumulator_value", 0)))

static inline bool golden_has_optim(const golden_case *c)
{
    const char *name = golden_text(c, "optimizer");
#define OPTIMIZER(NAME, call) || strcmp(name, #NAME) == 0
    return false GOLDEN_OPTIMIZERS(OPTIMIZER);
#undef OPTIMIZER
}

static inline tern_optim *golden_make_optim(const golden_case *c, tern_tensor *const *params,
                                            int64_t count)
{
    const char *name = golden_text(c, "optimizer");
#define OPTIMIZER(NAME, call)                                                                      \
    if (strcmp(name, #NAME) == 0)                                                                  \
        return call;
    GOLDEN_OPTIMIZERS(OPTIMIZER)
#undef OPTIMIZER
    fail_msg("there is no %s", name);
    return NULL;
}

// Gives a group the case's options of that group.
static inline void golden_set_options(const golden_case *c, tern_optim *optim, int group)
{
    char names[512], *rest = names;
    snprintf(names, sizeof names, "%s", golden_text(c, "options"));
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        assert_int_equal(tern_optim_set(optim, group, name, golden_number(c, name, group)),
                         TERN_OK);
}

static inline tern_optim *golden_optim(const golden_case *c, tern_tensor *const *params,
                                       int64_t count)
{
    tern_optim *optim = golden_make_optim(c, params, count);
    assert_non_null(optim);
    golden_set_options(c, optim, 0);
    return optim;
}

#endif
