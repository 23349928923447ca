// SPDX-License-Identifier: Apache-2.0
// The optimizers that make_files_torch.py saved, and the same here. Include <cmocka.h> before.
#ifndef TERN_TESTS_IO_OPTIM_FILE_H
#define TERN_TESTS_IO_OPTIM_FILE_H

#include "data/data_fixture.h"

static inline const char *golden(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/torch_%s.pt", TERN_IO_DATA, name);
    return path;
}

static inline void set(tern_status status)
{
    if (status)
        fail_msg("%s", tern_error_message());
}

// A weight (2, 3) and a bias (2), each in a group of its own, and their optimizer.
typedef struct run {
    tern_tensor *params[2];
    tern_optim *optim;
} run;

// With other numbers than those of the file, which it is to bring.
static inline tern_optim *make(const char *kind, tern_tensor *const *params)
{
    if (strcmp(kind, "sgd") == 0)
        return tern_optim_sgd(NULL, .params = params, .param_count = 1);
    if (strcmp(kind, "momentum") == 0)
        return tern_optim_sgd(NULL, .momentum = 0.25, .params = params, .param_count = 1);
    if (strcmp(kind, "adam") == 0)
        return tern_optim_adam(NULL, .params = params, .param_count = 1);
    if (strcmp(kind, "adamw") == 0)
        return tern_optim_adamw(NULL, .params = params, .param_count = 1);
    if (strcmp(kind, "rmsprop") == 0)
        return tern_optim_rmsprop(NULL, .params = params, .param_count = 1);
    return tern_optim_adagrad(NULL, .params = params, .param_count = 1);
}

static inline run begin(const char *kind, const tern_state *saved)
{
    run r;
    const char *const names[] = {"model.weight", "model.bias"};
    for (int i = 0; i < 2; i++) {
        r.params[i] = tern_clone(tern_state_tensor(saved, names[i]));
        tern_set_requires_grad(r.params[i], true);
    }
    r.optim = make(kind, r.params);
    set(tern_optim_add_group(r.optim, NULL, .params = r.params + 1, .param_count = 1));
    return r;
}

// take_steps() of make_files_torch.py.
static inline void take_steps(run *r, int first, int count)
{
    for (int t = first; t < first + count; t++) {
        float gradient[6];
        for (int i = 0; i < 6; i++)
            gradient[i] = ((float)i - 1) * (float)(t + 1) / 4;
        tern_tensor *weight = tern_mul(r->params[0], tern_from_data(tern_dims(2, 3), gradient));
        float two[] = {gradient[0], gradient[1]};
        tern_tensor *bias = tern_mul(r->params[1], tern_from_data(tern_dims(2), two));
        tern_optim_zero_grad(r->optim);
        set(tern_backward(tern_add(tern_sum_all(weight), tern_sum_all(bias))));
        set(tern_optim_step(r->optim));
    }
}

static const char *const kinds[] = {"sgd", "momentum", "adam", "adamw", "rmsprop", "adagrad"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static inline tern_state *copy_of(tern_optim *optim)
{
    tern_state *own = tern_optim_state_dict(optim), *copy = tern_state_copy(own);
    tern_state_free(own);
    return copy;
}

#endif
