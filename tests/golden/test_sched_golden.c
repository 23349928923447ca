// SPDX-License-Identifier: Apache-2.0
// The rates of schedulers are PyTorch's, over 200 steps, also when they go on from a state in the
// middle.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_test.h"

#define GROUPS 2

// ---- the schedulers of make_sched.py, by its names ----------------------------------------------

static double decays_or_inverse(int64_t epoch, int group, void *user)
{
    (void)user;
    return group == 0 ? pow(0.95, (double)epoch) : 1 / (double)(epoch + 1);
}

static double constant_factor(int64_t epoch, int group, void *user)
{
    (void)epoch;
    (void)group;
    return *(const double *)user;
}

static double inverse(int64_t number, void *user)
{
    (void)user;
    return 1 / (double)(number + 1);
}

static double by_097 = 0.97, by_09 = 0.9;

static tern_sched *sequential_of_three(tern_optim *o)
{
    tern_sched *constant = tern_sched_constant_lr(o, .factor = 0.1, .total_iters = 30);
    tern_sched *exponential = tern_sched_exponential_lr(o, 0.9);
    tern_sched *steps = tern_sched_step_lr(o, 20);
    return tern_sched_sequential_lr({constant, 0}, {exponential, 30}, {steps, 90});
}

static tern_sched *sequential_without_closed_forms(tern_optim *o)
{
    tern_sched *first = tern_sched_multiplicative_lr(o, constant_factor, .user = &by_097);
    tern_sched *second = tern_sched_cosine_annealing_warm_restarts(o, 7);
    tern_sched *third = tern_sched_multiplicative_lr(o, constant_factor, .user = &by_09);
    tern_sched *fourth = tern_sched_swa_lr(o, 0.05);
    return tern_sched_sequential_lr({first, 0}, {second, 15}, {third, 50}, {fourth, 80});
}

static tern_sched *sequential_of_cycles(tern_optim *o)
{
    tern_sched *first = tern_sched_lambda_lr(o, decays_or_inverse);
    tern_sched *second = tern_sched_one_cycle_lr(o, 0.5, .total_steps = 60);
    tern_sched *third =
        tern_sched_cyclic_lr(o, 0.01, 0.2, .step_size_up = 30, .cycle_momentum = false);
    return tern_sched_sequential_lr({first, 0}, {second, 40}, {third, 90});
}

static tern_sched *sequential(tern_optim *o)
{
    tern_sched *linear = tern_sched_linear_lr(o, .start_factor = 0.1, .total_iters = 20);
    tern_sched *cosine = tern_sched_cosine_annealing_lr(o, 100);
    return tern_sched_sequential_lr({linear, 0}, {cosine, 20});
}

static tern_sched *chained_with_sequential(tern_optim *o)
{
    tern_sched *linear = tern_sched_linear_lr(o, .total_iters = 20);
    tern_sched *polynomial = tern_sched_polynomial_lr(o, .total_iters = 150);
    tern_sched *first = tern_sched_sequential_lr({linear, 0}, {polynomial, 20});
    return tern_sched_chained(first, tern_sched_step_lr(o, 50));
}

#define LIST(...) ((const double[]){__VA_ARGS__})
#define BY_A_FACTOR(SCHED)                                                                         \
    SCHED("lambda", tern_sched_lambda_lr(o, decays_or_inverse))                                    \
    SCHED("multiplicative", tern_sched_multiplicative_lr(o, constant_factor, .user = &by_097))     \
    SCHED("step", tern_sched_step_lr(o, 30, .gamma = 0.5))                                         \
    SCHED("step every", tern_sched_step_lr(o, 1))                                                  \
    SCHED("multi_step",                                                                            \
          tern_sched_multi_step_lr(o, .milestones = (const int64_t[]){150, 30, 80, 80},            \
                                   .milestone_count = 4, .gamma = 0.3))                            \
    SCHED("multi_step from 0", tern_sched_multi_step_lr(o, .milestones = (const int64_t[]){0, 7},  \
                                                        .milestone_count = 2))                     \
    SCHED("exponential", tern_sched_exponential_lr(o, 0.97))                                       \
    SCHED("constant", tern_sched_constant_lr(o))                                                   \
    SCHED("constant for 20", tern_sched_constant_lr(o, .factor = 0.6, .total_iters = 20))          \
    SCHED("linear", tern_sched_linear_lr(o))                                                       \
    SCHED("linear to 0.6",                                                                         \
          tern_sched_linear_lr(o, .start_factor = 0.1, .end_factor = 0.6, .total_iters = 50))      \
    SCHED("linear down",                                                                           \
          tern_sched_linear_lr(o, .start_factor = 1, .end_factor = 0, .total_iters = 150))         \
    SCHED("polynomial", tern_sched_polynomial_lr(o))                                               \
    SCHED("polynomial of power 2.5", tern_sched_polynomial_lr(o, .total_iters = 150, .power = 2.5))
#define BY_A_CURVE(SCHED)                                                                          \
    SCHED("cosine", tern_sched_cosine_annealing_lr(o, 50))                                         \
    SCHED("cosine to 0.001", tern_sched_cosine_annealing_lr(o, 37, .eta_min = 0.001))              \
    SCHED("warm_restarts", tern_sched_cosine_annealing_warm_restarts(o, 10))                       \
    SCHED("warm_restarts doubling",                                                                \
          tern_sched_cosine_annealing_warm_restarts(o, 7, .t_mult = 2, .eta_min = 0.001))          \
    SCHED("one_cycle", tern_sched_one_cycle_lr(o, 0.5, .total_steps = 201))                        \
    SCHED("one_cycle in three",                                                                    \
          tern_sched_one_cycle_lr(o, 0, .max_lrs = LIST(0.5, 0.3), .max_lr_count = 2, .epochs = 3, \
                                  .steps_per_epoch = 67, .pct_start = 0.4,                         \
                                  .anneal_strategy = TERN_ANNEAL_LINEAR, .base_momentum = 0.6,     \
                                  .max_momentum = 0.99, .div_factor = 10, .final_div_factor = 100, \
                                  .three_phase = true))                                            \
    SCHED("one_cycle of adam", tern_sched_one_cycle_lr(o, 0.01, .total_steps = 250))               \
    SCHED("one_cycle alone",                                                                       \
          tern_sched_one_cycle_lr(o, 0.5, .total_steps = 201, .cycle_momentum = false))            \
    SCHED("cyclic", tern_sched_cyclic_lr(o, 0.01, 0.2, .step_size_up = 30))                        \
    SCHED("cyclic halving",                                                                        \
          tern_sched_cyclic_lr(o, 0, 0, .base_lrs = LIST(0.01, 0.002), .max_lrs = LIST(0.2, 0.1),  \
                               .lr_count = 2, .step_size_up = 20, .step_size_down = 35,            \
                               .mode = TERN_CYCLIC_TRIANGULAR2, .base_momentum = 0.5,              \
                               .max_momentum = 0.95))                                              \
    SCHED("cyclic of adam", tern_sched_cyclic_lr(o, 0.01, 0.2, .step_size_up = 30,                 \
                                                 .mode = TERN_CYCLIC_EXP_RANGE, .gamma = 0.99))    \
    SCHED("cyclic by a function",                                                                  \
          tern_sched_cyclic_lr(o, 0.01, 0.2, .step_size_up = 30, .scale = inverse,                 \
                               .scale_by_epoch = true, .cycle_momentum = false))                   \
    SCHED("cyclic by a function of cycles",                                                        \
          tern_sched_cyclic_lr(o, 0.01, 0.2, .step_size_up = 30, .scale = inverse))
#define BY_OTHERS(SCHED)                                                                           \
    SCHED("swa", tern_sched_swa_lr(o, 0.05))                                                       \
    SCHED("swa along a line",                                                                      \
          tern_sched_swa_lr(o, 0, .swa_lrs = LIST(0.5, 0.001), .swa_lr_count = 2,                  \
                            .anneal_epochs = 50, .anneal_strategy = TERN_ANNEAL_LINEAR))           \
    SCHED("swa at once", tern_sched_swa_lr(o, 0.05, .anneal_epochs = 0))                           \
    SCHED("sequential", sequential(o))                                                             \
    SCHED("sequential of three", sequential_of_three(o))                                           \
    SCHED("sequential without closed forms", sequential_without_closed_forms(o))                   \
    SCHED("sequential of cycles", sequential_of_cycles(o))                                         \
    SCHED("chained",                                                                               \
          tern_sched_chained(tern_sched_constant_lr(o, .factor = 0.5, .total_iters = 30),          \
                             tern_sched_exponential_lr(o, 0.98)))                                  \
    SCHED("chained with sequential", chained_with_sequential(o))                                   \
    SCHED("warmup", tern_sched_warmup(tern_sched_cosine_annealing_lr(o, 190), 10))                 \
    SCHED("plateau", tern_sched_reduce_lr_on_plateau(o))                                           \
    SCHED("plateau of a maximum",                                                                  \
          tern_sched_reduce_lr_on_plateau(o, .mode = TERN_MAX, .factor = 0.5, .patience = 3,       \
                                          .threshold = 0.05, .threshold_mode = TERN_THRESHOLD_ABS, \
                                          .cooldown = 4, .min_lrs = LIST(0.01, 0.0001),            \
                                          .min_lr_count = 2, .eps = 0.002))                        \
    SCHED("plateau of a maximum, relative",                                                        \
          tern_sched_reduce_lr_on_plateau(o, .mode = TERN_MAX, .patience = 5, .threshold = 0.1))   \
    SCHED("plateau of a minimum, absolute",                                                        \
          tern_sched_reduce_lr_on_plateau(o, .patience = 0, .factor = 0.9, .threshold = 0.01,      \
                                          .threshold_mode = TERN_THRESHOLD_ABS))

// The scheduler of a stored case, over an optimizer of the groups of make_sched.py.
static tern_sched *make(const golden_case *c, tern_optim *o)
{
    const char *name = golden_text(c, "scheduler");
    name = name ? name : c->name;
#define SCHED(NAME, call)                                                                          \
    if (strcmp(name, NAME) == 0)                                                                   \
        return call;
    BY_A_FACTOR(SCHED)
    BY_A_CURVE(SCHED)
    BY_OTHERS(SCHED)
#undef SCHED
    fail_msg("%s: the test makes no such scheduler", name);
    return NULL;
}

// ---- a run --------------------------------------------------------------------------------------

typedef struct run {
    tern_tensor *params[GROUPS];
    tern_optim *optim;
    tern_sched *sched;
} run;

static run make_run(const golden_case *c)
{
    run r = {.optim = NULL};
    for (int i = 0; i < GROUPS; i++)
        r.params[i] = tern_zeros(tern_dims(1), .requires_grad = true);
    if (strstr(c->name, "adam"))
        r.optim = tern_optim_adam(NULL, .lr = 0.1, .params = r.params, .param_count = 1);
    else
        r.optim =
            tern_optim_sgd(NULL, .lr = 0.1, .momentum = 0.9, .params = r.params, .param_count = 1);
    assert_int_equal(
        tern_optim_add_group(r.optim, NULL, .lr = 0.02, .params = &r.params[1], .param_count = 1),
        TERN_OK);
    r.sched = make(c, r.optim);
    assert_fine();
    assert_int_equal(tern_optim_step(r.optim), TERN_OK);
    return r;
}

static void free_run(run *r)
{
    tern_sched_free(r->sched);
    tern_optim_free(r->optim);
}

// Another optimizer and scheduler go on where these are.
static void resume(const golden_case *c, run *r)
{
    tern_state *optim = tern_optim_state_dict(r->optim), *sched = tern_sched_state_dict(r->sched);
    run next = make_run(c);
    assert_int_equal(tern_optim_load_state_dict(next.optim, optim), TERN_OK);
    assert_int_equal(tern_sched_load_state_dict(next.sched, sched), TERN_OK);
    tern_state_free(optim);
    tern_state_free(sched);
    free_run(r);
    *r = next;
}

static void check_numbers(const golden_case *c, const run *r, int64_t step)
{
    const golden_array *rates = golden_find_array(c, "rates"),
                       *momentum = golden_find_array(c, "momentum");
    const char *name = strstr(c->name, "adam") ? "betas[0]" : "momentum";
    assert_int_equal(tern_sched_last_epoch(r->sched) >= 0, true);
    for (int g = 0; g < GROUPS; g++) {
        const double expected = ((const double *)rates->data)[step * GROUPS + g];
        assert_near("lr", step, tern_optim_lr(r->optim, g), expected, 0, 1e-15);
        assert_true(tern_sched_last_lr(r->sched, g) == tern_optim_lr(r->optim, g));
    }
    assert_near("momentum", step, tern_optim_get(r->optim, 0, name),
                ((const double *)momentum->data)[step], 0, 1e-15);
}

static tern_status step(const golden_case *c, const run *r, int64_t at)
{
    const golden_array *epochs = golden_find_array(c, "epochs"),
                       *metrics = golden_find_array(c, "metrics");
    if (metrics)
        return tern_sched_step_metric(r->sched, ((const double *)metrics->data)[at]);
    return tern_sched_step(r->sched, .epoch = epochs ? ((const double *)epochs->data)[at] : NAN);
}

static void rates_are_pytorchs(void **state)
{
    const golden_case *c = *state;
    tern_scope scope = tern_scope_open();
    run r = make_run(c);
    const int64_t steps = golden_find_array(c, "rates")->numel / GROUPS - 1;
    check_numbers(c, &r, 0);
    for (int64_t i = 0; i < steps; i++) {
        if (i == 3 || i == 25 || i == steps / 2)
            resume(c, &r);
        assert_int_equal(step(c, &r, i), TERN_OK);
        check_numbers(c, &r, i + 1);
    }
    free_run(&r);
    tern_scope_close(scope);
}

int main(void)
{
    return golden_run("sched", rates_are_pytorchs);
}
