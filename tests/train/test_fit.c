// SPDX-License-Identifier: Apache-2.0
// tern_fit beside the same loop written by hand: the same bits of weights, optimizer and rates.
#include "fit_test.h"

// ---- the loop by hand ---------------------------------------------------------------------------

typedef struct wanted {
    int epochs, accumulate;
    double clip;
    bool each_step; // the scheduler steps
    tern_sched *sched;
    tern_module *average;
    tern_metric_list metrics;
} wanted;

// Of PyTorch's tutorials, with what tern_fit has options for. BATCHES is 5.
static void train_by_hand(const run *r, const wanted *w)
{
    for (int epoch = 0; epoch < w->epochs; epoch++) {
        int at = 0;
        tern_each_batch (b, r->loader) {
            const int left = BATCHES - at / w->accumulate * w->accumulate;
            if (at % w->accumulate == 0)
                assert_int_equal(
                    tern_optim_accumulate(r->optim, left < w->accumulate ? left : w->accumulate),
                    TERN_OK);
            at++;
            tern_tensor *loss = tern_loss(r->criterion, tern_forward(r->net, b.x), b.y);
            tern_optim_zero_grad(r->optim);
            assert_int_equal(tern_backward(loss), TERN_OK);
            if (w->clip > 0)
                assert_non_null(tern_clip_grad_norm(NULL, w->clip, .optim = r->optim));
            assert_int_equal(tern_optim_step(r->optim), TERN_OK);
            if (at % w->accumulate != 0 && at != BATCHES)
                continue;
            if (w->average)
                assert_int_equal(tern_averaged_model_update(w->average, r->net), TERN_OK);
            if (w->sched && w->each_step)
                assert_int_equal(tern_sched_step(w->sched), TERN_OK);
        }
        if (w->sched && !w->each_step)
            assert_int_equal(tern_sched_step(w->sched), TERN_OK);
        assert_no_error();
    }
    assert_int_equal(tern_optim_accumulate(r->optim, 1), TERN_OK);
}

static void check_same(const run *fitted, const run *by_hand)
{
    run a = *fitted, b = *by_hand;
    tern_state *found = tern_state_of(visit_run, &a), *expected = tern_state_of(visit_run, &b);
    check_states(found, expected, true);
    tern_state_free(found);
    tern_state_free(expected);
}

static void check_same_modules(tern_module *a, tern_module *b)
{
    tern_state *found = tern_module_state_dict(a), *expected = tern_module_state_dict(b);
    check_states(found, expected, true);
    tern_state_free(found);
    tern_state_free(expected);
}

// ---- the same bits ------------------------------------------------------------------------------

static void weights_are_those_of_the_loop_by_hand(void **state)
{
    (void)state;
    run by_hand = run_begin(1);
    train_by_hand(&by_hand, &(wanted){.epochs = 3, .accumulate = 1});
    run fitted = run_begin(1);
    fit_ok(tern_fit(fitted.net, fitted.criterion, fitted.optim, fitted.loader, .epochs = 3,
                    .quiet = true));
    check_same(&fitted, &by_hand);
    run_end(&fitted);
    run_end(&by_hand);
}

static void accumulation_and_clipping_are_those_of_the_loop_by_hand(void **state)
{
    (void)state;
    for (int k = 2; k <= 6; k++) { // 5 batches: what is left is 1, 2, 1, 0 and all of them
        run by_hand = run_begin(1);
        train_by_hand(&by_hand, &(wanted){.epochs = 2, .accumulate = k, .clip = 0.1});
        run fitted = run_begin(1);
        tern_fit_result r;
        fit_ok(tern_fit(fitted.net, fitted.criterion, fitted.optim, fitted.loader, .epochs = 2,
                        .accumulate = k, .clip_grad_norm = 0.1, .quiet = true, .result = &r));
        assert_int_equal(r.steps, 2 * ((BATCHES + k - 1) / k));
        check_same(&fitted, &by_hand);
        run_end(&fitted);
        run_end(&by_hand);
    }
}

static void schedulers_step_as_in_the_loop_by_hand(void **state)
{
    (void)state;
    for (int each_step = 0; each_step < 2; each_step++) {
        run by_hand = run_begin(1), fitted;
        train_by_hand(&by_hand, &(wanted){.epochs = 2,
                                          .accumulate = 2,
                                          .sched = by_hand.sched,
                                          .each_step = each_step});
        fitted = run_begin(1);
        fit_ok(tern_fit(fitted.net, fitted.criterion, fitted.optim, fitted.loader, .epochs = 2,
                        .accumulate = 2, .scheduler = fitted.sched, .quiet = true,
                        .scheduler_unit = each_step ? TERN_FIT_STEP : TERN_FIT_UNIT_UNSPECIFIED));
        assert_int_equal(tern_sched_last_epoch(fitted.sched), each_step ? 6 : 2);
        check_same(&fitted, &by_hand);
        run_end(&fitted);
        run_end(&by_hand);
    }
}

static void averages_are_those_of_the_loop_by_hand(void **state)
{
    (void)state;
    run by_hand = run_begin(1);
    tern_module *expected = tern_averaged_model_ema(by_hand.net, .decay = 0.9);
    train_by_hand(&by_hand, &(wanted){.epochs = 2, .accumulate = 2, .average = expected});
    run fitted = run_begin(1);
    tern_module *average = tern_averaged_model_ema(fitted.net, .decay = 0.9);
    fit_ok(tern_fit(fitted.net, fitted.criterion, fitted.optim, fitted.loader, .epochs = 2,
                    .accumulate = 2, .average = average, .quiet = true));
    check_same_modules(average, expected);
    tern_module_free(average);
    tern_module_free(expected);
    run_end(&fitted);
    run_end(&by_hand);
}

// ---- losses and metrics -------------------------------------------------------------------------

static void losses_are_means_over_samples(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_fit_result result;
    double sum = 0, valid = 0;
    tern_loader *same = valid_loader();
    tern_module_train(tern_module_child(r.net, "2"), false); // dropout draws nothing
    assert_int_equal(tern_optim_set_lr(r.optim, TERN_ALL_GROUPS, 0), TERN_OK); // and all stays
    tern_loader *data = valid_loader();
    tern_each_batch (b, same)
        sum += (double)b.size * tern_item(tern_loss(r.criterion, tern_forward(r.net, b.x), b.y));
    assert_int_equal(tern_evaluate(r.net, same, .criterion = r.criterion, .loss = &valid), TERN_OK);
    fit_ok(tern_fit(r.net, r.criterion, r.optim, data, .valid = same, .epochs = 2, .quiet = true,
                    .result = &result));
    assert_near(result.train_loss, sum / SAMPLES, 1e-6, 0);
    assert_near(result.valid_loss, valid, 0, 0);
    assert_near(result.train_loss, result.valid_loss, 1e-6, 0);
    assert_int_equal(result.epochs, 2);
    assert_int_equal(result.steps, 2 * BATCHES);
    assert_int_equal(result.end, TERN_FIT_FINISHED);
    tern_loader_free(data);
    tern_loader_free(same);
    run_end(&r);
}

static void metrics_are_of_the_epochs_samples(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_loader *valid = valid_loader();
    tern_fit_result result;
    double right = 0, all = 0;
    fit_ok(tern_fit(r.net, r.criterion, r.optim, r.loader, .epochs = 2, .valid = valid,
                    .metrics = tern_metrics(accuracy), .quiet = true, .result = &result));
    tern_module_eval(r.net);
    tern_each_batch (b, valid) {
        tern_tensor *guess = tern_argmax(tern_forward(r.net, b.x), 1, false);
        right += tern_item(tern_sum_all(tern_eq(guess, b.y)));
        all += (double)b.size;
    }
    assert_near(result.valid_metrics[0], right / all, 1e-6, 0);
    assert_true(result.train_metrics[0] > 0 && result.train_metrics[0] <= 1);
    const double in_samples = result.train_metrics[0] * SAMPLES; // of one epoch alone
    assert_near(in_samples, round(in_samples), 1e-5, 0);
    assert_true(isnan(result.train_metrics[1]));
    tern_metric_free(accuracy);
    tern_loader_free(valid);
    run_end(&r);
}

// ---- steps --------------------------------------------------------------------------------------

static tern_status count_allocations(tern_fit_event *event, void *user)
{
    int64_t *calls = user;
    calls[event->epoch - 1] = memory.calls;
    return TERN_OK;
}

static void steps_whose_shapes_were_seen_allocate_nothing(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_loader *plain = valid_loader(); // of a dataset of tensors
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    int64_t begins[6] = {0};
    fit_ok(tern_fit(r.net, r.criterion, r.optim, plain, .epochs = 6, .quiet = true,
                    .metrics = tern_metrics(accuracy), .clip_grad_norm = 1,
                    .callbacks = {.epoch_begin = count_allocations, .user = begins}));
    assert_int_equal(begins[5] - begins[4], 0);
    tern_metric_free(accuracy);
    tern_loader_free(plain);
    run_end(&r);
}

// ---- logs ---------------------------------------------------------------------------------------

// How often a text is in the log.
static int count_in_log(const char *text)
{
    size_t size;
    int count = 0;
    char *log = read_bytes(path_of("log.jsonl"), &size);
    log[size] = 0;
    for (const char *at = log; (at = strstr(at, text)); at++)
        count++;
    free(log);
    return count;
}

static void losses_rates_and_metrics_are_logged(void **state)
{
    (void)state;
    run r = run_begin(1);
    tern_loader *valid = valid_loader();
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_metric *confusion = tern_metric_confusion_matrix(.num_classes = 3);
    tern_logger *log = tern_logger_new(folder, .tensorboard = false);
    assert_int_equal(tern_optim_set_lr(r.optim, TERN_ALL_GROUPS, 0.5), TERN_OK);
    tern_sched *sched = tern_sched_step_lr(r.optim, 4, .gamma = 0.5);
    fit_ok(tern_fit(r.net, r.criterion, r.optim, r.loader, .epochs = 2, .valid = valid,
                    .metrics = tern_metrics(accuracy, confusion), .logger = log, .log_every = 2,
                    .scheduler = sched, .scheduler_unit = TERN_FIT_STEP, .quiet = true));
    tern_logger_free(log);
    assert_int_equal(count_in_log("\"tag\":\"train/loss\""), 5); // 2, 4, .. of 10 steps
    assert_int_equal(count_in_log("\"tag\":\"lr\""), 5);
    assert_int_equal(count_in_log("\"tag\":\"lr\",\"value\":0.5"), 2); // made steps 2 and 4
    assert_int_equal(count_in_log("\"tag\":\"lr\",\"value\":0.25"), 2);
    assert_int_equal(count_in_log("\"tag\":\"train/accuracy\""), 2);
    assert_int_equal(count_in_log("\"tag\":\"valid/accuracy\""), 2);
    assert_int_equal(count_in_log("\"tag\":\"valid/loss\""), 2);
    assert_int_equal(count_in_log("\"kind\":\"matrix\""), 4);
    tern_sched_free(sched);
    tern_metric_free(confusion);
    tern_metric_free(accuracy);
    tern_loader_free(valid);
    run_end(&r);
}

// ---- without memory -----------------------------------------------------------------------------

static tern_status fit_all(run *r, tern_loader *valid, const char *where)
{
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_status status =
        tern_fit(r->net, r->criterion, r->optim, r->loader, .valid = valid, .accumulate = 2,
                 .metrics = tern_metrics(accuracy), .scheduler = r->sched, .checkpoint = where,
                 .restore_best = true, .clip_grad_norm = 1, .quiet = true);
    tern_metric_free(accuracy);
    return status;
}

static void without_memory_it_fails_and_keeps_nothing(void **state)
{
    (void)state;
    int failed = 0;
    for (int64_t n = 1; n < 600; n += 17) {
        char where[96];
        snprintf(where, sizeof where, "%s/%d", folder, (int)n);
        run r = run_begin(1);
        tern_loader *valid = valid_loader();
        fail_nth_allocation(n);
        memory.fail_onwards = true;
        const tern_status status = fit_all(&r, valid, n % 2 ? where : NULL);
        memory.fail_onwards = false;
        fail_nth_allocation(0);
        failed += status != TERN_OK;
        if (status)
            assert_error(TERN_ERR_NOMEM, "");
        tern_loader_free(valid);
        run_end(&r); // check_close looks for tensors that are left
    }
    assert_true(failed > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(weights_are_those_of_the_loop_by_hand),
        CHECK_TEST(accumulation_and_clipping_are_those_of_the_loop_by_hand),
        CHECK_TEST(schedulers_step_as_in_the_loop_by_hand),
        CHECK_TEST(averages_are_those_of_the_loop_by_hand),
        CHECK_TEST(losses_are_means_over_samples),
        CHECK_TEST(metrics_are_of_the_epochs_samples),
        CHECK_TEST(steps_whose_shapes_were_seen_allocate_nothing),
        FOLDER_TEST(losses_rates_and_metrics_are_logged),
        FOLDER_TEST(without_memory_it_fails_and_keeps_nothing),
    };
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests_name("fit", tests, NULL, check_shutdown);
}
