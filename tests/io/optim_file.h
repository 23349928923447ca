// SPDX-License-Identifier: Apache-2.0
// The optimizers that make_files_torch.py saved, and the same here. Include <cmocka.h> before.
#ifndef TERN_TESTS_IO_OPTIM_FILE_H
#define TERN_TESTS_IO_OPTIM_FILE_H

#include <unistd.h>

#include "data/data_fixture.h"
#include "support/state_check.h"

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

// A weight (2, 3) and a bias (2), of Muon (1, 2), each in a group of its own, and their optimizer.
typedef struct run {
    tern_tensor *params[2];
    tern_optim *optim;
} run;

// A file of make_files_torch.py, the kind of optimizer in it, and one of that kind here: with other
// numbers than those of the file, which it is to bring.
#define FROM NULL, .params = params, .param_count = 1
#define KINDS(KIND)                                                                                \
    KIND("sgd", SGD, tern_optim_sgd(FROM))                                                         \
    KIND("momentum", SGD, tern_optim_sgd(FROM, .momentum = 0.25))                                  \
    KIND("adam", Adam, tern_optim_adam(FROM))                                                      \
    KIND("adamw", AdamW, tern_optim_adamw(FROM))                                                   \
    KIND("rmsprop", RMSprop, tern_optim_rmsprop(FROM))                                             \
    KIND("adagrad", Adagrad, tern_optim_adagrad(FROM))                                             \
    KIND("adadelta", Adadelta, tern_optim_adadelta(FROM))                                          \
    KIND("adamax", Adamax, tern_optim_adamax(FROM))                                                \
    KIND("radam", RAdam, tern_optim_radam(FROM))                                                   \
    KIND("nadam", NAdam, tern_optim_nadam(FROM))                                                   \
    KIND("asgd", ASGD, tern_optim_asgd(FROM))                                                      \
    KIND("schedule_free", AdamWScheduleFree, tern_optim_schedule_free_adamw(FROM))                 \
    KIND("muon", Muon, tern_optim_muon(FROM, .rest = TERN_MUON_ADAMW))                             \
    KIND("adafactor", Adafactor, tern_optim_adafactor(FROM))                                       \
    KIND("lion", Lion, tern_optim_lion(FROM))                                                      \
    KIND("rprop", Rprop, tern_optim_rprop(FROM))

static const struct {
    const char *file, *name;
} kinds[] = {
#define KIND(file, name, call) {file, #name},
    KINDS(KIND)
#undef KIND
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static inline tern_optim *make(const char *kind, tern_tensor *const *params)
{
#define KIND(file, name, call)                                                                     \
    if (strcmp(kind, file) == 0)                                                                   \
        return call;
    KINDS(KIND)
#undef KIND
    fail_msg("there is no %s", kind);
    return NULL;
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
        tern_tensor *bias =
            tern_mul(r->params[1], tern_from_data(tern_shape_of(r->params[1]), two));
        tern_optim_zero_grad(r->optim);
        set(tern_backward(tern_add(tern_sum_all(weight), tern_sum_all(bias))));
        set(tern_optim_step(r->optim));
    }
}

static inline tern_state *copy_of(tern_optim *optim)
{
    tern_state *own = tern_optim_state_dict(optim), *copy = tern_state_copy(own);
    tern_state_free(own);
    return copy;
}

// Where an allocation fails, a load changes nothing, and a save leaves no file.
static inline void check_without_memory(tern_optim *optim, const char *file)
{
    tern_state *before = copy_of(optim);
    tern_status status = TERN_ERR_NOMEM;
    for (int64_t n = 1; status; n++) {
        fail_nth_allocation(n);
        status = tern_optim_load_torch(optim, file, .prefix = "optimizer.");
        assert_true(status ? memory.failed > 0 : memory.failed == 0);
        fail_nth_allocation(0);
        if (!status)
            break;
        assert_error(TERN_ERR_NOMEM, "");
        tern_state *after = copy_of(optim);
        check_states(before, after, true);
        tern_state_free(after);
    }
    status = TERN_ERR_NOMEM;
    for (int64_t n = 1; status; n++) {
        fail_nth_allocation(n);
        status = tern_optim_save_torch(optim, path_of("memory.pt"));
        fail_nth_allocation(0);
        assert_int_equal(access(path_of("memory.pt"), F_OK), status ? -1 : 0);
        if (status)
            assert_error(TERN_ERR_NOMEM, "");
    }
    tern_state_free(before);
}

#endif
