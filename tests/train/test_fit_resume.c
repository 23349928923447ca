// SPDX-License-Identifier: Apache-2.0
// Runs of tern_fit that are stopped and go on, in objects made anew.
#include "fit_test.h"

enum { EPOCHS = 3 };

// All that a run of tern_fit is made of.
typedef struct whole {
    run r;
    tern_loader *valid;
    tern_module *average;
    tern_metric *accuracy, *f1;
    tern_fit_result result;
    int stop_after; // batches; 0: never
    int batches;
} whole;

static whole whole_begin(uint64_t seed)
{
    whole w = {.r = run_begin(seed), .valid = valid_loader()};
    w.average = tern_averaged_model_ema(w.r.net, .decay = 0.9);
    w.accuracy = tern_metric_accuracy(.num_classes = 3);
    w.f1 = tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO);
    assert_no_error();
    return w;
}

static void whole_end(whole *w)
{
    tern_metric_free(w->f1);
    tern_metric_free(w->accuracy);
    tern_module_free(w->average);
    tern_loader_free(w->valid);
    run_end(&w->r);
}

static tern_status count_batch(tern_fit_event *event, void *user)
{
    whole *w = user;
    event->stop = ++w->batches == w->stop_after;
    return TERN_OK;
}

static tern_status fit_whole(whole *w, int accumulate, const char *where, bool resume)
{
    w->batches = 0;
    return tern_fit(w->r.net, w->r.criterion, w->r.optim, w->r.loader, .epochs = EPOCHS,
                    .valid = w->valid, .metrics = tern_metrics(w->accuracy, w->f1),
                    .scheduler = w->r.sched, .scheduler_unit = TERN_FIT_STEP, .average = w->average,
                    .accumulate = accumulate, .clip_grad_norm = 1, .checkpoint = where,
                    .resume = resume, .quiet = true,
                    .callbacks = {.step_end = count_batch, .user = w}, .result = &w->result);
}

static tern_status visit_whole(void *object, tern_state_visitor *v)
{
    whole *w = object;
    if (visit_run(&w->r, v) || tern_visit_module(v, "average", w->average) ||
        tern_visit_metric(v, "accuracy", w->accuracy) || tern_visit_loader(v, "valid", w->valid))
        return tern_error_code();
    return tern_visit_metric(v, "f1", w->f1);
}

static void check_same_whole(whole *a, whole *b, const tern_state *random)
{
    tern_state *found = tern_state_of(visit_whole, a), *expected = tern_state_of(visit_whole, b);
    tern_state *now = tern_random_state_dict();
    check_states(found, expected, true);
    check_states(now, random, true);
    assert_memory_equal(&a->result, &b->result, sizeof a->result);
    tern_state_free(now);
    tern_state_free(found);
    tern_state_free(expected);
}

static void check_stopped_after(int batches, int accumulate, whole *expected,
                                const tern_state *random)
{
    char where[96];
    snprintf(where, sizeof where, "%s/%d-%d", folder, accumulate, batches);
    whole first = whole_begin(1);
    first.stop_after = batches;
    fit_ok(fit_whole(&first, accumulate, where, false));
    assert_int_equal(first.result.end, TERN_FIT_STOPPED_BY_CALLBACK);
    whole_end(&first);
    whole second = whole_begin(2); // with another history
    fit_ok(fit_whole(&second, accumulate, where, true));
    assert_int_equal(second.result.end, TERN_FIT_FINISHED);
    check_same_whole(&second, expected, random);
    fit_ok(fit_whole(&second, accumulate, where, true)); // there is nothing left to do
    assert_int_equal(second.batches, 0);
    assert_memory_equal(&second.result, &expected->result, sizeof second.result);
    whole_end(&second);
}

static void check_every_stop(int accumulate)
{
    whole expected = whole_begin(1);
    fit_ok(fit_whole(&expected, accumulate, NULL, false));
    tern_state *random = tern_random_state_dict();
    for (int batches = 1; batches < EPOCHS * BATCHES; batches++)
        check_stopped_after(batches, accumulate, &expected, random);
    tern_state_free(random);
    whole_end(&expected);
}

static void a_run_stopped_after_any_batch_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    check_every_stop(1);
}

static void so_does_one_that_accumulates(void **state)
{
    (void)state;
    check_every_stop(2);
}

// Two epochs with a scheduler that steps after each of them, by a loader with a generator of its
// own, or without.
typedef struct two_epochs {
    run r;
    tern_generator *generator;
    whole stop;
} two_epochs;

static two_epochs two_epochs_begin(uint64_t seed, bool own)
{
    two_epochs t = {.r = run_begin(seed), .generator = own ? tern_generator_new(seed) : NULL};
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader_free(t.r.loader);
    t.r.loader =
        tern_loader_new(set, .batch_size = BATCH, .shuffle = true, .generator = t.generator);
    tern_dataset_free(set);
    assert_no_error();
    return t;
}

static void two_epochs_run(two_epochs *t, const char *where, bool resume)
{
    fit_ok(tern_fit(t->r.net, t->r.criterion, t->r.optim, t->r.loader, .epochs = 2,
                    .scheduler = t->r.sched, .checkpoint = where, .resume = resume, .quiet = true,
                    .callbacks = {.step_end = count_batch, .user = &t->stop}));
}

static void two_epochs_end(two_epochs *t)
{
    run_end(&t->r);
    tern_generator_free(t->generator);
}

static void check_two_epochs(int stop_after, bool own)
{
    two_epochs expected = two_epochs_begin(1, own);
    two_epochs_run(&expected, NULL, false);
    two_epochs first = two_epochs_begin(1, own);
    first.stop.stop_after = stop_after;
    two_epochs_run(&first, folder, false);
    two_epochs_end(&first);
    two_epochs second = two_epochs_begin(2, own); // with another history
    two_epochs_run(&second, folder, true);
    tern_state *found = tern_state_of(visit_run, &second.r);
    tern_state *wanted = tern_state_of(visit_run, &expected.r);
    check_states(found, wanted, true);
    tern_state_free(wanted);
    tern_state_free(found);
    two_epochs_end(&second);
    two_epochs_end(&expected);
}

// The optimizer has made steps, but not the one that the scheduler of the second process sees.
static void one_stopped_by_the_last_batch_of_an_epoch_goes_on_with_its_scheduler(void **state)
{
    (void)state;
    check_two_epochs(BATCHES, false);
}

static void a_loader_with_a_generator_of_its_own_goes_on_with_the_same_samples(void **state)
{
    (void)state;
    check_two_epochs(3, true);
}

static void a_run_saved_every_few_steps_goes_on_from_the_last_of_them(void **state)
{
    (void)state;
    whole w = whole_begin(1);
    fit_ok(tern_fit(w.r.net, w.r.criterion, w.r.optim, w.r.loader, .checkpoint = folder,
                    .checkpoint_every = 2, .keep_last = 0, .quiet = true));
    assert_true(step_exists(2) && step_exists(4) && step_exists(5) && !step_exists(3));
    assert_true(exists(path_of("best.safetensors")));
    whole_end(&w);
}

static void the_folder_of_another_run_is_refused_unless_it_is_resumed(void **state)
{
    (void)state;
    whole w = whole_begin(1);
    fit_ok(tern_fit(w.r.net, w.r.criterion, w.r.optim, w.r.loader, .checkpoint = folder,
                    .quiet = true));
    assert_status(tern_fit(w.r.net, w.r.criterion, w.r.optim, w.r.loader, .checkpoint = folder,
                           .quiet = true),
                  TERN_ERR_STATE, "has the checkpoints of a run: .resume = true goes on with it");
    whole_end(&w);
}

static void resuming_where_nothing_is_begins(void **state)
{
    (void)state;
    whole w = whole_begin(1);
    fit_ok(fit_whole(&w, 1, folder, true));
    assert_int_equal(w.batches, EPOCHS * BATCHES);
    whole_end(&w);
}

static void a_run_that_does_not_fit_is_refused_and_nothing_changes(void **state)
{
    (void)state;
    whole w = whole_begin(1);
    fit_ok(fit_whole(&w, 1, folder, false));
    tern_module *other = tern_nn_linear(4, 3);
    tern_optim *optim = tern_optim_sgd(other, .lr = 0.1);
    tern_state *own = tern_module_state_dict(other), *before = tern_state_copy(own);
    assert_status(tern_fit(other, w.r.criterion, optim, w.r.loader, .checkpoint = folder,
                           .resume = true, .quiet = true),
                  TERN_ERR_ARG, "checkpoint_resume: step-00000015.safetensors");
    check_states(own, before, true);
    tern_state_free(before);
    tern_state_free(own);
    tern_optim_free(optim);
    tern_module_free(other);
    whole_end(&w);
}

static tern_status lose(tern_fit_event *event, void *user)
{
    (void)user;
    return tern_error_raise(TERN_ERR_ARG, "lost in epoch %d", (int)event->epoch);
}

// As after a power cut: what was done since the checkpoint is done again.
static void a_run_that_failed_goes_on_from_its_last_checkpoint(void **state)
{
    (void)state;
    whole expected = whole_begin(1), w = whole_begin(1);
    fit_ok(fit_whole(&expected, 1, NULL, false));
    tern_state *random = tern_random_state_dict();
    tern_manual_seed(1);
    whole_end(&w);
    w = whole_begin(1);
    w.stop_after = 7;
    fit_ok(fit_whole(&w, 1, folder, false));
    assert_status(tern_fit(w.r.net, w.r.criterion, w.r.optim, w.r.loader, .epochs = EPOCHS,
                           .valid = w.valid, .metrics = tern_metrics(w.accuracy, w.f1),
                           .scheduler = w.r.sched, .scheduler_unit = TERN_FIT_STEP,
                           .average = w.average, .checkpoint = folder, .resume = true,
                           .quiet = true, .callbacks = {.epoch_end = lose}),
                  TERN_ERR_ARG, "lost in epoch 2");
    whole_end(&w);
    w = whole_begin(3);
    fit_ok(fit_whole(&w, 1, folder, true));
    check_same_whole(&w, &expected, random);
    tern_state_free(random);
    whole_end(&w);
    whole_end(&expected);
}

// What is logged there would come again after a checkpoint of the same step.
static void the_last_step_of_an_epoch_is_saved_with_its_end(void **state)
{
    (void)state;
    whole w = whole_begin(1);
    assert_status(tern_fit(w.r.net, w.r.criterion, w.r.optim, w.r.loader, .checkpoint = folder,
                           .checkpoint_every = 1, .quiet = true, .callbacks = {.epoch_end = lose}),
                  TERN_ERR_ARG, "lost in epoch 1");
    assert_true(step_exists(BATCHES - 1) && !step_exists(BATCHES));
    fit_ok(tern_fit(w.r.net, w.r.criterion, w.r.optim, w.r.loader, .checkpoint = folder,
                    .checkpoint_every = 1, .resume = true, .quiet = true));
    assert_true(step_exists(BATCHES));
    whole_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_run_stopped_after_any_batch_goes_on_with_the_same_bits),
        FOLDER_TEST(so_does_one_that_accumulates),
        FOLDER_TEST(one_stopped_by_the_last_batch_of_an_epoch_goes_on_with_its_scheduler),
        FOLDER_TEST(a_loader_with_a_generator_of_its_own_goes_on_with_the_same_samples),
        FOLDER_TEST(a_run_saved_every_few_steps_goes_on_from_the_last_of_them),
        FOLDER_TEST(the_folder_of_another_run_is_refused_unless_it_is_resumed),
        FOLDER_TEST(resuming_where_nothing_is_begins),
        FOLDER_TEST(a_run_that_does_not_fit_is_refused_and_nothing_changes),
        FOLDER_TEST(a_run_that_failed_goes_on_from_its_last_checkpoint),
        FOLDER_TEST(the_last_step_of_an_epoch_is_saved_with_its_end),
    };
    return cmocka_run_group_tests_name("fit, resumed", tests, NULL, check_shutdown);
}
