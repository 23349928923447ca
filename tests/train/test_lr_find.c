// SPDX-License-Identifier: Apache-2.0
// The learning rate finder: its curve, what it suggests, and that it leaves everything as it was.
#include "fit_test.h"
#include "train/fit/lr_suggest.h"

// ---- suggestions --------------------------------------------------------------------------------

enum { LONGEST = 100, MORE_STEPS = 12 };

// Rates that grow by about 2 every four steps, and a bowl of losses with noise: numbers that any
// language computes alike.
static void make_curve(uint32_t seed, int count, double *lr, double *loss)
{
    static const double quarters[] = {1, 1.1875, 1.4375, 1.6875};
    uint32_t x = seed;
    for (int i = 0; i < count; i++) {
        x = (x * 1103515245u + 12345u) % 2147483648u;
        lr[i] = ldexp(quarters[i % 4], i / 4 - 10);
        loss[i] = (i > 20 ? (i - 60) * (i - 60) : 1600) / 1024.0 + (x >> 16) / 65536.0;
    }
}

// What fastai 2.8.12's valley gives, as its lr_find calls it, and Lightning 2.6.6's suggestion, in
// float64, where there are enough points for them.
static void suggestions_are_those_of_fastai_and_lightning(void **state)
{
    static const struct {
        uint32_t seed;
        int count, steps;
        double valley, steepest;
    } cases[] = {
        {1, 100, 100, 32.0, 0.01318359375},
        {1, 70, 100, 3.375, 0.01318359375},
        {1, 20, 40, 0.0028076171875, 0.01318359375},
        {1, 12, 100, NAN, NAN},
        {1, 13, 20, 0.0023193359375, 0.005615234375},
        {2, 100, 100, 4.75, 0.0078125},
        {2, 70, 100, 4.75, 0.0078125},
        {2, 20, 40, 0.005615234375, 0.0078125},
        {2, 12, 100, NAN, NAN},
        {2, 13, 20, 0.0023193359375, 0.005615234375},
        {3, 100, 100, 19.0, 0.01318359375},
        {3, 70, 100, 4.75, 0.01318359375},
        {3, 20, 40, 0.001953125, 0.01318359375},
        {3, 12, 100, NAN, NAN},
        {3, 13, 20, 0.001953125, 0.005615234375},
        {4, 100, 100, 27.0, 0.015625},
        {4, 70, 100, 4.75, 0.015625},
        {4, 20, 40, 0.005615234375, 0.015625},
        {4, 12, 100, NAN, NAN},
        {4, 13, 20, 0.0023193359375, 0.005615234375},
        {5, 100, 100, 9.5, 0.005615234375},
        {5, 70, 100, 3.375, 0.005615234375},
        {5, 20, 40, 0.005615234375, 0.005615234375},
        {5, 12, 100, NAN, NAN},
        {5, 13, 20, 0.001953125, 0.005615234375},
        {6, 100, 100, 16.0, 0.005615234375},
        {6, 70, 100, 5.75, 0.005615234375},
        {6, 20, 40, 0.0028076171875, 0.005615234375},
        {6, 12, 100, NAN, NAN},
        {6, 13, 20, 0.0023193359375, 0.005615234375},
    };
    (void)state;
    double lr[LONGEST], loss[LONGEST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_curve(cases[i].seed, cases[i].count, lr, loss);
        assert_near(tern_lr_suggest(TERN_LR_VALLEY, lr, loss, cases[i].count, cases[i].steps),
                    cases[i].valley, 0, 0);
        assert_near(tern_lr_suggest(TERN_LR_STEEPEST, lr, loss, cases[i].count, cases[i].steps),
                    cases[i].steepest, 0, 0);
    }
}

static void too_few_points_suggest_nothing(void **state)
{
    (void)state;
    const double lr[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
    const double flat[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int count = 0; count < 7; count++)
        assert_true(isnan(tern_lr_suggest(TERN_LR_VALLEY, lr, flat, count, 0)));
    assert_near(tern_lr_suggest(TERN_LR_VALLEY, lr, flat, 12, 0), 1, 0, 0); // it falls nowhere
    assert_true(isnan(tern_lr_suggest(TERN_LR_STEEPEST, lr, flat, 7, 0)));
}

// ---- the curve ----------------------------------------------------------------------------------

// One weight w, x = 1, y = 0: the loss is w^2, its gradient 2 w, and a step makes w (1 - 2 lr).
static void the_curve_is_that_of_a_parabola(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    tern_module *net = tern_nn_linear(1, 1, .bias = false);
    tern_module *criterion = tern_nn_mse_loss();
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.25);
    tern_dataset *set = tern_data_tensors(tern_from_data(tern_dims(1, 1), &one),
                                          tern_from_data(tern_dims(1, 1), &zero));
    tern_loader *loader = tern_loader_new(set);
    tern_no_grad
        tern_fill_(tern_module_parameter(net, "weight"), 1);
    tern_lr_curve *curve = tern_lr_find(net, criterion, optim, loader, .start_lr = 0.01,
                                        .end_lr = 0.16, .steps = 5, .smooth = 0.5);
    assert_no_error();
    assert_int_equal(curve->count, 5);
    assert_false(curve->diverged);
    double w = 1, average = 0;
    for (int i = 0; i < 5; i++) {
        const double lr = 0.01 * pow(2, i);
        average = 0.5 * average + 0.5 * w * w;
        assert_near(curve->lr[i], lr, 1e-12, 0);
        assert_near(curve->loss[i], w * w, 1e-6, 0);
        assert_near(curve->smoothed[i], average / (1 - pow(0.5, i + 1)), 1e-6, 0);
        w *= 1 - 2 * lr;
    }
    assert_true(isnan(curve->suggestion));
    tern_lr_curve_free(curve);
    // From lr = 1 on it diverges: w, 3 w, ..
    curve = tern_lr_find(net, criterion, optim, loader, .start_lr = 2, .end_lr = 4, .steps = 50,
                         .smooth = 0);
    assert_no_error();
    assert_int_equal(curve->count, 2); // 1, 9: more than 4 times 1
    assert_true(curve->diverged);
    tern_lr_curve_free(curve);
    curve = tern_lr_find(net, criterion, optim, loader, .start_lr = 1e20, .end_lr = 2e20,
                         .steps = 50, .divergence = 0);
    assert_no_error();
    assert_int_equal(curve->count, 1); // the second is infinite
    assert_true(curve->diverged);
    tern_lr_curve_free(curve);
    assert_tensor(tern_module_parameter(net, "weight"), tern_dims(1, 1), 1);
    assert_near(tern_optim_lr(optim, 0), 0.25, 0, 0);
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
}

// exp(w) - 20 w from w = 1 on, which is -17 and falls to -40.
static void losses_below_0_diverge_where_they_rise(void **state)
{
    (void)state;
    const float one = 1, many = 20;
    tern_module *net = tern_nn_linear(1, 1, .bias = false), *criterion = tern_nn_poisson_nll_loss();
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.25);
    tern_dataset *set = tern_data_tensors(tern_from_data(tern_dims(1, 1), &one),
                                          tern_from_data(tern_dims(1, 1), &many));
    tern_loader *loader = tern_loader_new(set);
    tern_no_grad
        tern_fill_(tern_module_parameter(net, "weight"), 1);
    tern_lr_curve *curve =
        tern_lr_find(net, criterion, optim, loader, .start_lr = 1e-3, .end_lr = 0.01, .steps = 8);
    assert_no_error();
    assert_false(curve->diverged);
    assert_int_equal(curve->count, 8);
    assert_true(curve->loss[0] < 0 && curve->loss[7] < curve->loss[0]);
    tern_lr_curve_free(curve);
    curve = tern_lr_find(net, criterion, optim, loader, .start_lr = 1, .end_lr = 2, .steps = 8);
    assert_no_error();
    assert_true(curve->diverged);
    assert_int_equal(curve->count, 2);
    tern_lr_curve_free(curve);
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
}

// ---- as it was ----------------------------------------------------------------------------------

typedef struct watched {
    run r;
    tern_module *frozen; // a BatchNorm in evaluation mode
    tern_generator *generator;
} watched;

static watched watched_begin(void)
{
    watched w = {.r = run_begin(1), .generator = tern_generator_new(5)};
    tern_loader_free(w.r.loader);
    tern_dataset *set = tern_dataset_new(&noisy_class);
    w.r.loader =
        tern_loader_new(set, .batch_size = BATCH, .shuffle = true, .generator = w.generator);
    tern_dataset_free(set);
    w.frozen = tern_nn_batch_norm1d(4);
    tern_module *norm = tern_nn_batch_norm1d(4);
    tern_module_free(w.r.net);
    tern_sched_free(w.r.sched);
    tern_optim_free(w.r.optim);
    w.r.net = tern_nn_sequential(w.frozen, norm, tern_nn_linear(4, 16), tern_nn_relu(),
                                 tern_nn_dropout(0.3), tern_nn_linear(16, 3));
    tern_module_train(w.frozen, false);
    w.r.optim = tern_optim_adam(w.r.net, .lr = 0.02, .amsgrad = true);
    w.r.sched = tern_sched_one_cycle_lr(w.r.optim, 0.02, .total_steps = 500);
    assert_no_error();
    return w;
}

static void watched_end(watched *w)
{
    run_end(&w->r);
    tern_generator_free(w->generator);
}

static tern_status visit_watched(void *object, tern_state_visitor *v)
{
    watched *w = object;
    if (visit_run(&w->r, v))
        return tern_error_code();
    return tern_visit_generator(v, "own", w->generator);
}

static void check_leaves_all(int steps_before)
{
    watched w = watched_begin(), other = watched_begin();
    float before[MORE_STEPS], after[MORE_STEPS], expected[MORE_STEPS];
    tern_manual_seed(3);
    run_train(&other.r, steps_before, before);
    run_train(&other.r, MORE_STEPS, expected);
    tern_manual_seed(3);
    run_train(&w.r, steps_before, before);
    tern_state *own = tern_state_of(visit_watched, &w), *kept = tern_state_copy(own);
    tern_state *random = tern_random_state_dict();
    tern_lr_curve *curve = tern_lr_find(w.r.net, w.r.criterion, w.r.optim, w.r.loader);
    assert_no_error();
    assert_true(curve->count > BATCHES);
    tern_lr_curve_free(curve);
    tern_state *now = tern_state_of(visit_watched, &w), *random_now = tern_random_state_dict();
    check_states(now, kept, true);
    check_states(random_now, random, true);
    assert_false(tern_module_is_training(w.frozen));
    assert_true(tern_module_is_training(w.r.net));
    assert_true(tern_module_is_training(tern_module_child(w.r.net, "1")));
    run_train(&w.r, MORE_STEPS, after);
    assert_memory_equal(after, expected, sizeof after);
    tern_state *const states[] = {own, kept, random, now, random_now};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        tern_state_free(states[i]);
    watched_end(&other);
    watched_end(&w);
}

static void everything_is_as_before_and_training_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    check_leaves_all(0);
    check_leaves_all(5);
    check_leaves_all(7);
}

static void assert_no_grad(const run *r)
{
    for (int64_t i = 0; i < tern_module_num_parameters(r->net); i++)
        assert_null(tern_grad(tern_module_parameter_at(r->net, i, NULL, 0)));
    assert_no_error();
}

static void gradients_are_absent_also_of_what_the_optimizer_does_not_step(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_optim *head = tern_optim_sgd(tern_module_child(r.net, "3"), .lr = 0.1);
    tern_sched *s = tern_sched_exponential_lr(head, 0.5);
    tern_lr_curve_free(tern_lr_find(r.net, r.criterion, head, r.loader, .steps = 5));
    assert_no_error();
    assert_no_grad(&r);
    assert_status(tern_sched_step(s), TERN_ERR_STATE, "has made no step yet");
    tern_sched_free(s);
    tern_optim_free(head);
    run_end(&r);
}

static void an_accumulation_that_has_not_acted_is_dropped(void **state)
{
    (void)state;
    run r = run_begin(1);
    assert_int_equal(tern_optim_accumulate(r.optim, 4), TERN_OK);
    tern_lr_curve_free(tern_lr_find(r.net, r.criterion, r.optim, r.loader, .steps = 6));
    assert_no_error();
    assert_no_grad(&r);
    tern_state_free(tern_optim_state_dict(r.optim)); // which none of the four has
    assert_no_error();
    assert_int_equal(tern_optim_accumulate(r.optim, 1), TERN_OK);
    run_end(&r);
}

static int fails_in;

static tern_status fail_soon(const tern_dataset *self, const tern_sample_context *context,
                             int64_t index, tern_sample *out)
{
    if (--fails_in == 0)
        return tern_error_raise(TERN_ERR_IO, "sample %d is gone", (int)index);
    return make_noisy(self, context, index, out);
}

static void so_it_is_after_a_failure(void **state)
{
    (void)state;
    tern_dataset_class failing = noisy_class;
    run r = run_begin(1);
    failing.item = fail_soon;
    tern_dataset *set = tern_dataset_new(&failing);
    tern_loader_free(r.loader);
    r.loader = tern_loader_new(set, .batch_size = BATCH, .shuffle = true);
    tern_dataset_free(set);
    tern_module_eval(r.net);
    tern_state *own = tern_state_of(visit_run, &r), *kept = tern_state_copy(own);
    tern_state *random = tern_random_state_dict();
    fails_in = 40;
    assert_null_with(tern_lr_find(r.net, r.criterion, r.optim, r.loader), TERN_ERR_IO, "is gone");
    tern_state *now = tern_state_of(visit_run, &r), *random_now = tern_random_state_dict();
    check_states(now, kept, true);
    check_states(random_now, random, true);
    assert_false(tern_module_is_training(r.net));
    tern_state *const states[] = {own, kept, random, now, random_now};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        tern_state_free(states[i]);
    run_end(&r);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    int64_t failed = 0;
    run r = run_begin(1);
    for (int64_t n = 1; n < 400; n += 7) {
        fail_nth_allocation(n);
        memory.fail_onwards = true;
        tern_lr_curve *curve = tern_lr_find(r.net, r.criterion, r.optim, r.loader, .steps = 3);
        memory.fail_onwards = false;
        fail_nth_allocation(0);
        failed += !curve;
        if (!curve)
            assert_error(TERN_ERR_NOMEM, "");
        tern_lr_curve_free(curve);
    }
    assert_true(failed > 0);
    run_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(suggestions_are_those_of_fastai_and_lightning),
        CHECK_TEST(too_few_points_suggest_nothing),
        CHECK_TEST(the_curve_is_that_of_a_parabola),
        CHECK_TEST(losses_below_0_diverge_where_they_rise),
        CHECK_TEST(gradients_are_absent_also_of_what_the_optimizer_does_not_step),
        CHECK_TEST(an_accumulation_that_has_not_acted_is_dropped),
        CHECK_TEST(everything_is_as_before_and_training_goes_on_with_the_same_bits),
        CHECK_TEST(so_it_is_after_a_failure),
        CHECK_TEST(without_memory_nothing_is_left),
    };
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests_name("lr_find", tests, NULL, check_shutdown);
}
