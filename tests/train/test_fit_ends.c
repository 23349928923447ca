// SPDX-License-Identifier: Apache-2.0
// What ends a run of tern_fit, what its callbacks see, and which epoch is the best.
#include <signal.h>

#include "fit_test.h"
#include "processes.h"

// ---- values of a hand-made sequence -------------------------------------------------------------

// A metric that is what the test says, epoch by epoch: each resets it twice, for training and for
// validation.
typedef struct scripted {
    tern_metric base;
    tern_tensor *updates;
} scripted;

static const double *script;
static int resets;

static tern_status update_scripted(tern_metric *self, tern_tensor *preds, tern_tensor *target)
{
    (void)preds;
    (void)target;
    return tern_add_scalar_(((scripted *)self)->updates, 1) ? TERN_OK : tern_error_code();
}

static tern_tensor *compute_scripted(tern_metric *self)
{
    (void)self;
    return tern_full(tern_dims(), script[(resets + 1) / 2 - 1]);
}

static void reset_scripted(tern_metric *self)
{
    (void)self;
    resets++;
}

static const tern_metric_class scripted_class = {.name = "scripted",
                                                 .size = sizeof(scripted),
                                                 .update = update_scripted,
                                                 .compute = compute_scripted,
                                                 .reset = reset_scripted};

static tern_metric *scripted_new(const double *values)
{
    scripted *self = (scripted *)tern_metric_new(&scripted_class, NULL);
    assert_int_equal(
        tern_metric_add_state(&self->base, "batches", &self->updates, tern_dims(), TERN_INT64),
        TERN_OK);
    script = values;
    resets = 0;
    return &self->base;
}

typedef struct scripted_run {
    run r;
    tern_loader *valid;
    tern_metric *metric;
} scripted_run;

static scripted_run scripted_begin(const double *values)
{
    scripted_run s = {run_begin(1), valid_loader(), scripted_new(values)};
    return s;
}

static void scripted_end(scripted_run *s)
{
    tern_metric_free(s->metric);
    tern_loader_free(s->valid);
    run_end(&s->r);
}

static tern_fit_result fit_scripted(tern_metric_mode mode, int64_t patience, double min_delta,
                                    const double *values)
{
    scripted_run s = scripted_begin(values);
    tern_fit_result r;
    fit_ok(tern_fit(s.r.net, s.r.criterion, s.r.optim, s.r.loader, .epochs = 8, .valid = s.valid,
                    .metrics = tern_metrics(s.metric), .monitor = "valid/scripted", .mode = mode,
                    .patience = patience, .min_delta = min_delta, .quiet = true, .result = &r));
    scripted_end(&s);
    return r;
}

static void patience_ends_a_run_that_gets_no_better(void **state)
{
    (void)state;
    const double values[] = {5, 4, 4.5, 3, 3, 3.5, 3, 1};
    tern_fit_result r = fit_scripted(TERN_MIN, 3, 0, values);
    assert_int_equal(r.end, TERN_FIT_STOPPED_EARLY);
    assert_int_equal(r.epochs, 7); // 3 in epoch 4, then three that are no better
    assert_int_equal(r.best_epoch, 4);
    assert_near(r.best, 3, 0, 0);
    assert_near(r.valid_metrics[0], 3, 0, 0);
    r = fit_scripted(TERN_MIN, 4, 0, values);
    assert_int_equal(r.end, TERN_FIT_FINISHED);
    assert_int_equal(r.best_epoch, 8);
    r = fit_scripted(TERN_MAX, 2, 0, values);
    assert_int_equal(r.end, TERN_FIT_STOPPED_EARLY);
    assert_int_equal(r.epochs, 3);
    assert_int_equal(r.best_epoch, 1);
    r = fit_scripted(TERN_MIN, 0, 0, values);
    assert_int_equal(r.epochs, 8);
}

static void better_by_less_than_min_delta_is_not_waited_for_but_is_the_best(void **state)
{
    (void)state;
    const double values[] = {5, 4.9, 4.8, 4.7, 1, 1, 1, 1};
    tern_fit_result r = fit_scripted(TERN_MIN, 3, 0.5, values);
    assert_int_equal(r.epochs, 4);
    assert_int_equal(r.best_epoch, 4);
    r = fit_scripted(TERN_MIN, 3, 0.25, values); // 4.7 is better than 5 by 0.3
    assert_int_equal(r.epochs, 8);
    assert_int_equal(r.end, TERN_FIT_FINISHED);
}

static void nan_is_no_better_than_anything(void **state)
{
    (void)state;
    const double values[] = {NAN, 4, NAN, NAN, 5, NAN, 3, 3};
    tern_fit_result r = fit_scripted(TERN_MIN, 4, 0, values);
    assert_int_equal(r.epochs, 6);
    assert_int_equal(r.best_epoch, 2);
    const double none[] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    r = fit_scripted(TERN_MAX, 3, 0, none);
    assert_int_equal(r.epochs, 3);
    assert_int_equal(r.best_epoch, 0);
    assert_true(isnan(r.best));
}

static void a_loss_that_is_nan_ends_nothing_and_is_said_once(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_fit_result result;
    tern_tensor *bias = tern_module_parameter(r.net, "3.bias");
    tern_no_grad
        tern_add_scalar_(bias, (double)NAN);
    watch_log();
    fit_ok(tern_fit(r.net, r.criterion, r.optim, r.loader, .epochs = 3, .quiet = true,
                    .result = &result));
    tern_set_log(NULL, NULL);
    assert_int_equal(result.epochs, 3);
    assert_true(isnan(result.train_loss));
    assert_int_equal(result.best_epoch, 0);
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "fit: train/loss is NaN in epoch 1"));
    run_end(&r);
}

static void gradients_that_are_not_finite_end_it_where_they_are_clipped(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_no_grad
        tern_add_scalar_(tern_module_parameter(r.net, "3.bias"), (double)NAN);
    assert_status(
        tern_fit(r.net, r.criterion, r.optim, r.loader, .clip_grad_norm = 1, .quiet = true),
        TERN_ERR_NUMERIC, "clip_grad_norm");
    run_end(&r);
}

// ---- the best epoch -----------------------------------------------------------------------------

typedef struct kept_weights {
    int64_t epoch;
    tern_state *net, *optim;
} kept_weights;

static tern_status keep_weights(tern_fit_event *event, void *user)
{
    kept_weights *k = user;
    if (event->epoch != k->epoch)
        return TERN_OK;
    tern_state *net = tern_module_state_dict(event->net),
               *optim = tern_optim_state_dict(event->optim);
    k->net = tern_state_copy(net);
    k->optim = tern_state_copy(optim);
    tern_state_free(net);
    tern_state_free(optim);
    return tern_error_code();
}

static void check_restores_best(const char *where)
{
    const double values[] = {5, 4, 3, 4, 5, 6, 7, 8};
    scripted_run s = scripted_begin(values);
    kept_weights k = {.epoch = 3};
    tern_fit_result r;
    fit_ok(tern_fit(s.r.net, s.r.criterion, s.r.optim, s.r.loader, .epochs = 8, .valid = s.valid,
                    .metrics = tern_metrics(s.metric), .monitor = "valid/scripted",
                    .mode = TERN_MIN, .patience = 2, .restore_best = true, .checkpoint = where,
                    .keep_last = 1, .quiet = true, .result = &r,
                    .callbacks = {.epoch_end = keep_weights, .user = &k}));
    assert_int_equal(r.epochs, 5);
    assert_int_equal(r.best_epoch, 3);
    tern_state *net = tern_module_state_dict(s.r.net), *optim = tern_optim_state_dict(s.r.optim);
    check_states(net, k.net, true);
    check_states(optim, k.optim, true);
    tern_state *const states[] = {net, optim, k.net, k.optim};
    for (int i = 0; i < 4; i++)
        tern_state_free(states[i]);
    scripted_end(&s);
}

static void the_best_epoch_comes_back_from_memory_and_from_the_folder(void **state)
{
    (void)state;
    check_restores_best(NULL);
    check_restores_best(folder);
    assert_true(step_exists(25) && !step_exists(20));
}

static void without_a_best_epoch_the_last_one_stays(void **state)
{
    (void)state;
    const double values[] = {NAN};
    scripted_run s = scripted_begin(values);
    fit_ok(tern_fit(s.r.net, s.r.criterion, s.r.optim, s.r.loader, .valid = s.valid,
                    .metrics = tern_metrics(s.metric), .monitor = "valid/scripted",
                    .mode = TERN_MIN, .restore_best = true, .quiet = true));
    scripted_end(&s);
}

static void a_scheduler_of_a_metric_takes_the_monitored_value(void **state)
{
    (void)state;
    const double values[] = {5, 5, 5, 5, 4, 4, 4, 4};
    scripted_run s = scripted_begin(values);
    tern_optim *optim = tern_optim_sgd(s.r.net, .lr = 1);
    tern_sched *plateau = tern_sched_reduce_lr_on_plateau(optim, .patience = 1, .factor = 0.5);
    fit_ok(tern_fit(s.r.net, s.r.criterion, optim, s.r.loader, .epochs = 8, .valid = s.valid,
                    .metrics = tern_metrics(s.metric), .monitor = "valid/scripted",
                    .mode = TERN_MIN, .scheduler = plateau, .quiet = true));
    assert_near(tern_optim_lr(optim, 0), 0.25, 0, 0); // in epochs 3 and 7
    tern_sched_free(plateau);
    tern_optim_free(optim);
    scripted_end(&s);
}

// ---- callbacks ----------------------------------------------------------------------------------

typedef struct calls {
    char seen[256];
    const char *stop_at, *fail_at;
    tern_status failure;
    bool raises;
} calls;

static tern_status record_call(tern_fit_event *event, calls *c, const char *what)
{
    const bool in_step = what[0] == 's', at_end = what[1] == 'e';
    const size_t length = strlen(c->seen);
    snprintf(c->seen + length, sizeof c->seen - length, "%s%d ", what, (int)event->epoch);
    assert_true((event->batch != NULL) == in_step);
    assert_true((event->loss != NULL) == (in_step && at_end));
    assert_true((event->output != NULL) == (in_step && at_end));
    assert_non_null(event->net);
    assert_non_null(event->optim);
    if (c->stop_at && strstr(c->seen, c->stop_at))
        event->stop = true;
    if (!c->fail_at || !strstr(c->seen, c->fail_at))
        return TERN_OK;
    return c->raises ? tern_error_raise(c->failure, "the callback's own") : c->failure;
}

static tern_status epoch_begin(tern_fit_event *event, void *user)
{
    return record_call(event, user, "eb");
}

static tern_status epoch_end(tern_fit_event *event, void *user)
{
    assert_false(isnan(event->result->train_loss));
    assert_int_equal(event->result->epochs, event->epoch);
    return record_call(event, user, "ee");
}

static tern_status step_begin(tern_fit_event *event, void *user)
{
    return record_call(event, user, "sb");
}

static tern_status step_end(tern_fit_event *event, void *user)
{
    return record_call(event, user, "se");
}

static tern_status fit_with_calls(calls *c, int64_t epochs, tern_fit_result *r)
{
    run own = run_begin(1);
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *big = tern_loader_new(set, .batch_size = 12); // two batches
    tern_dataset_free(set);
    tern_status status =
        tern_fit(own.net, own.criterion, own.optim, big, .epochs = epochs, .quiet = true,
                 .result = r, .callbacks = {epoch_begin, epoch_end, step_begin, step_end, c});
    tern_loader_free(big);
    run_end(&own);
    return status;
}

static void callbacks_are_called_in_order(void **state)
{
    (void)state;
    calls c = {0};
    tern_fit_result r;
    fit_ok(fit_with_calls(&c, 2, &r));
    assert_string_equal(c.seen, "eb1 sb1 se1 sb1 se1 ee1 eb2 sb2 se2 sb2 se2 ee2 ");
}

static void check_stops(const char *at, const char *seen, int64_t epochs, int64_t steps)
{
    calls c = {.stop_at = at};
    tern_fit_result r;
    fit_ok(fit_with_calls(&c, 3, &r));
    assert_string_equal(c.seen, seen);
    assert_int_equal(r.end, TERN_FIT_STOPPED_BY_CALLBACK);
    assert_int_equal(r.epochs, epochs);
    assert_int_equal(r.steps, steps);
}

static void a_callback_may_end_the_run(void **state)
{
    (void)state;
    check_stops("eb1", "eb1 ", 0, 0);
    check_stops("sb1", "eb1 sb1 se1 ", 0, 1);
    check_stops("se1", "eb1 sb1 se1 ", 0, 1);
    check_stops("ee1", "eb1 sb1 se1 sb1 se1 ee1 ", 1, 2);
    check_stops("eb2", "eb1 sb1 se1 sb1 se1 ee1 eb2 ", 1, 2);
}

static void check_fails(const char *at, const char *name)
{
    calls c = {.fail_at = at, .failure = TERN_ERR_FORMAT, .raises = true};
    tern_fit_result r;
    char sentence[64];
    assert_status(fit_with_calls(&c, 3, &r), TERN_ERR_FORMAT, "the callback's own");
    assert_int_equal(r.end, TERN_FIT_END_UNSPECIFIED);
    c = (calls){.fail_at = at, .failure = TERN_ERR_FORMAT};
    snprintf(sentence, sizeof sentence, "fit: the callback %s failed without an error", name);
    assert_status(fit_with_calls(&c, 3, &r), TERN_ERR_FORMAT, sentence);
    assert_true(strlen(c.seen) >= strlen(at) &&
                strstr(c.seen + strlen(c.seen) - strlen(at) - 1, at));
}

static void a_callback_that_fails_ends_the_run_there(void **state)
{
    (void)state;
    check_fails("eb1", "epoch_begin");
    check_fails("sb1", "step_begin");
    check_fails("se1", "step_end");
    check_fails("ee1", "epoch_end");
}

// ---- interrupts ---------------------------------------------------------------------------------

static tern_status interrupt_at_step_7(tern_fit_event *event, void *user)
{
    if (event->result->steps == 7)
        kill(getpid(), SIGINT);
    if (event->result->steps == 7 && user)
        kill(getpid(), SIGINT);
    return TERN_OK;
}

static int fit_in_child(bool twice, FILE *file)
{
    run r = run_begin(1);
    tern_fit_result result = {0};
    tern_status status =
        tern_fit(r.net, r.criterion, r.optim, r.loader, .epochs = 1000, .checkpoint = folder,
                 .file = file, .result = &result,
                 .callbacks = {.step_end = interrupt_at_step_7, .user = twice ? &r : NULL});
    const bool right = !status && result.end == TERN_FIT_INTERRUPTED && result.steps == 7 &&
                       result.epochs == 1 && tern_interrupted();
    run_end(&r);
    return right ? 42 : 1;
}

static int interrupt_once(int number)
{
    (void)number;
    FILE *said = fopen(path_of("said"), "w");
    const int status = said ? fit_in_child(false, said) : 1;
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) || now.sa_handler != SIG_DFL)
        return 2;
    return fclose(said) ? 1 : status;
}

static int interrupt_twice(int number)
{
    (void)number;
    return fit_in_child(true, stderr);
}

static tern_status interrupt_in_epoch_2(tern_fit_event *event, void *user)
{
    (void)user;
    return event->result->epochs == 2 && kill(getpid(), SIGINT) ? TERN_ERR_STATE : TERN_OK;
}

// Not in a step, but where the epoch is evaluated.
static int interrupt_between(int number)
{
    (void)number;
    FILE *said = fopen(path_of("said"), "w");
    run r = run_begin(1);
    tern_fit_result result = {0};
    tern_status status =
        tern_fit(r.net, r.criterion, r.optim, r.loader, .epochs = 1000, .checkpoint = folder,
                 .file = said, .result = &result, .callbacks = {.epoch_end = interrupt_in_epoch_2});
    const bool right = !status && result.end == TERN_FIT_INTERRUPTED && result.epochs == 2;
    run_end(&r);
    return fclose(said) || !right ? 1 : 42;
}

static int do_not_catch(int number)
{
    (void)number;
    run r = run_begin(1);
    (void)!tern_fit(r.net, r.criterion, r.optim, r.loader, .epochs = 1000, .interrupts = false,
                    .quiet = true, .callbacks = {.step_end = interrupt_at_step_7});
    return 1;
}

static void ctrl_c_ends_it_after_the_step_and_says_how_to_go_on(void **state)
{
    (void)state;
    size_t size;
    assert_int_equal(end_of(start(interrupt_once, 0)), 42);
    assert_true(step_exists(7));
    char *said = read_bytes(path_of("said"), &size);
    said[size] = 0;
    assert_memory_equal(said, "epoch 1/1000  loss ", 19);
    assert_non_null(strstr(said, "\nepoch 2/1000  stopped after 10 samples\n"));
    assert_non_null(strstr(said, ": .resume = true goes on from there\n"));
    free(said);
}

static void so_does_one_behind_the_last_step_of_an_epoch(void **state)
{
    (void)state;
    size_t size;
    assert_int_equal(end_of(start(interrupt_between, 0)), 42);
    assert_true(step_exists(2 * BATCHES));
    char *said = read_bytes(path_of("said"), &size);
    said[size] = 0;
    assert_null(strstr(said, "stopped"));
    assert_non_null(strstr(said, "saved after step 10 in "));
    assert_non_null(strstr(said, ": .resume = true goes on from there\n"));
    free(said);
}

static void a_second_one_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(interrupt_twice, 0)), 256 + SIGINT);
    assert_int_equal(end_of(start(do_not_catch, 0)), 256 + SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(ctrl_c_ends_it_after_the_step_and_says_how_to_go_on),
        FOLDER_TEST(so_does_one_behind_the_last_step_of_an_epoch),
        FOLDER_TEST(a_second_one_ends_the_process),
        CHECK_TEST(patience_ends_a_run_that_gets_no_better),
        CHECK_TEST(better_by_less_than_min_delta_is_not_waited_for_but_is_the_best),
        CHECK_TEST(nan_is_no_better_than_anything),
        CHECK_TEST(a_loss_that_is_nan_ends_nothing_and_is_said_once),
        CHECK_TEST(gradients_that_are_not_finite_end_it_where_they_are_clipped),
        FOLDER_TEST(the_best_epoch_comes_back_from_memory_and_from_the_folder),
        CHECK_TEST(without_a_best_epoch_the_last_one_stays),
        CHECK_TEST(a_scheduler_of_a_metric_takes_the_monitored_value),
        CHECK_TEST(callbacks_are_called_in_order),
        CHECK_TEST(a_callback_may_end_the_run),
        CHECK_TEST(a_callback_that_fails_ends_the_run_there),
    };
    return cmocka_run_group_tests_name("fit, how it ends", tests, NULL, check_shutdown);
}
