// SPDX-License-Identifier: Apache-2.0
// Checkpoints: what is in them, which files stay, and that a resumed run has the bits of one that
// was never stopped.
#include <math.h>
#include <tern/io.h>

#include "train/folder.h"
#include "train_test.h"

enum { STEPS = 12 };

// ---- going on -----------------------------------------------------------------------------------

static void check_stopped_after(int before)
{
    const int after = STEPS - before;
    float past[STEPS], whole[STEPS], rest[STEPS];
    int64_t step = -1;
    run first = run_begin(1);
    run_train(&first, before, past);
    tern_checkpoint *ck = checkpoint_of(&first);
    assert_int_equal(tern_checkpoint_save(ck, before), TERN_OK);
    tern_checkpoint_free(ck);
    run_train(&first, after, whole);
    tern_state *expected = tern_state_of(visit_run, &first);

    run second = run_begin(2);
    run_train(&second, 2, past); // it has a history of its own
    ck = checkpoint_of(&second);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(step, before);
    assert_int_equal(tern_checkpoint_passed_over(ck), 0);
    run_train(&second, after, rest);
    assert_memory_equal(rest, whole, (size_t)after * sizeof *rest);
    tern_state *found = tern_state_of(visit_run, &second);
    check_states(found, expected, true);
    assert_int_equal(unlink(path_of_step(before)), 0);
    tern_checkpoint_free(ck);
    tern_state_free(found);
    tern_state_free(expected);
    run_end(&first);
    run_end(&second);
}

static void a_resumed_run_has_the_bits_of_one_that_went_on(void **state)
{
    (void)state;
    check_stopped_after(0);
    check_stopped_after(3);
    check_stopped_after(BATCHES);
    check_stopped_after(8);
}

static void an_empty_folder_is_nothing_to_resume(void **state)
{
    (void)state;
    int64_t step = 7;
    run r = run_begin(1);
    tern_checkpoint *ck = checkpoint_of(&r);
    tern_state *before = tern_state_of(visit_run, &r), *kept = tern_state_copy(before);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 0);
    assert_int_equal(step, 7);
    check_states(before, kept, true);
    assert_no_error();
    tern_state_free(before);
    tern_state_free(kept);
    tern_checkpoint_free(ck);
    run_end(&r);
}

// ---- parts --------------------------------------------------------------------------------------

typedef struct schedule {
    int64_t bad_epochs;
    char phase[16];
} schedule;

static tern_status visit_schedule(void *object, tern_state_visitor *visitor)
{
    schedule *self = object;
    if (tern_visit_int(visitor, "bad_epochs", &self->bad_epochs))
        return tern_error_code();
    return tern_visit_text(visitor, "phase", self->phase, sizeof self->phase);
}

static void numbers_tensors_generators_and_objects_come_back(void **state)
{
    (void)state;
    double best = 0x1.999999999999ap-4;
    int64_t step, seen = INT64_MIN;
    schedule sched = {3, "warm-up"};
    tern_tensor *ema = tern_full(tern_dims(2), 1.5);
    tern_generator *generator = tern_generator_new(5);
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_number(ck, "best", &best), TERN_OK);
    assert_int_equal(tern_checkpoint_int(ck, "seen", &seen), TERN_OK);
    assert_int_equal(tern_checkpoint_tensor(ck, "ema", ema), TERN_OK);
    assert_int_equal(tern_checkpoint_generator(ck, "noise", generator), TERN_OK);
    assert_int_equal(tern_checkpoint_add(ck, "sched", visit_schedule, &sched), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 4), TERN_OK);
    const double drawn = tern_item(tern_rand(tern_dims(), .generator = generator));
    const double own = tern_item(tern_rand(tern_dims()));

    best = 2;
    seen = 9;
    sched = (schedule){8, "cold"};
    tern_fill_(ema, 7);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_true(best == 0x1.999999999999ap-4);
    assert_true(seen == INT64_MIN);
    assert_values(ema, 1.5, 1.5);
    assert_int_equal(sched.bad_epochs, 3);
    assert_string_equal(sched.phase, "warm-up");
    assert_true(tern_item(tern_rand(tern_dims(), .generator = generator)) == drawn);
    assert_true(tern_item(tern_rand(tern_dims())) == own);
    tern_checkpoint_free(ck);
    tern_generator_free(generator);
}

static void the_file_is_one_that_state_read_opens(void **state)
{
    (void)state;
    int64_t number;
    run r = run_begin(1);
    tern_checkpoint *ck = tern_checkpoint_new(folder, .keep_best = "accuracy", .mode = TERN_MAX);
    add_run(ck, &r);
    assert_int_equal(tern_checkpoint_save(ck, 1200, .metric = 0.75), TERN_OK);
    tern_state *file = tern_state_read(path_of("step-00001200.safetensors"));
    assert_non_null(file);
    assert_int_equal(tern_state_get_int(file, "checkpoint.version", &number), TERN_OK);
    assert_int_equal(number, 1);
    assert_int_equal(tern_state_get_int(file, "checkpoint.step", &number), TERN_OK);
    assert_int_equal(number, 1200);
    assert_string_equal(tern_state_text(file, "checkpoint.tern"), tern_version());
    assert_string_equal(tern_state_text(file, "checkpoint.metric_name"), "accuracy");
    const char *saved = tern_state_text(file, "checkpoint.saved");
    assert_int_equal(strlen(saved), strlen("2026-11-22T09:50:00Z"));
    assert_true(saved[4] == '-' && saved[10] == 'T' && saved[19] == 'Z');
    assert_int_equal(tern_state_type_of(file, "model.0.weight"), TERN_STATE_TENSOR);
    assert_int_equal(tern_state_type_of(file, "optim.0.weight.step"), TERN_STATE_INT);
    assert_int_equal(tern_state_type_of(file, "train.position"), TERN_STATE_INT);
    assert_int_equal(tern_state_type_of(file, "generators.cpu"), TERN_STATE_BYTES);
    tern_state_free(file);
    tern_checkpoint_free(ck);
    run_end(&r);
}

// The module and the optimizer are freed before the checkpoint, which has them still.
static void it_holds_modules_optimizers_and_tensors(void **state)
{
    (void)state;
    int64_t step;
    tern_module *net = tern_nn_linear(3, 2);
    tern_optim *optim = tern_optim_sgd(net, .momentum = 0.9);
    tern_scope scope = tern_scope_open();
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_module(ck, "model", net), TERN_OK);
    assert_int_equal(tern_checkpoint_optim(ck, "optim", optim), TERN_OK);
    assert_int_equal(tern_checkpoint_tensor(ck, "t", tern_ones(tern_dims(2))), TERN_OK);
    tern_scope_close(scope);
    tern_optim_free(optim);
    tern_module_free(net);
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_OK);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    tern_checkpoint_free(ck);
}

static void a_name_is_given_once_and_some_are_its_own(void **state)
{
    (void)state;
    double number = 0;
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_number(ck, "best", &number), TERN_OK);
    assert_int_equal(tern_checkpoint_number(ck, "best", &number), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "checkpoint_number: there is a part \"best\" already");
    static const char *const own[] = {"checkpoint", "generators", "checkpoint.step"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tern_checkpoint_number(ck, own[i], &number), TERN_ERR_ARG);
        assert_error(TERN_ERR_ARG, "is a name of the checkpoint's own");
    }
    assert_int_equal(tern_checkpoint_number(ck, "checkpoints", &number), TERN_OK);
    assert_int_equal(tern_checkpoint_number(ck, "a\nb", &number), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "checkpoint_number: \"a?b\" cannot be a name");
    assert_int_equal(tern_checkpoint_save(ck, 0), TERN_OK);
    tern_checkpoint_free(ck);
}

// ---- which files stay ---------------------------------------------------------------------------

static void the_last_ones_stay(void **state)
{
    (void)state;
    tern_checkpoint *ck = tern_checkpoint_new(folder, .keep_last = 2);
    for (int64_t step = 98; step < 103; step++)
        assert_int_equal(tern_checkpoint_save(ck, step), TERN_OK);
    assert_int_equal(count_files(), 2);
    assert_true(step_exists(101) && step_exists(102));
    assert_int_equal(tern_checkpoint_save(ck, 50), TERN_OK); // the new one always does
    assert_true(step_exists(50) && step_exists(102) && count_files() == 2);
    tern_checkpoint_free(ck);
    ck = tern_checkpoint_new(folder);
    for (int64_t step = 1; step < 6; step++)
        assert_int_equal(tern_checkpoint_save(ck, step), TERN_OK);
    assert_int_equal(count_files(), 7);
    tern_checkpoint_free(ck);
}

static void files_of_other_names_are_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"step-1.safetensors", "step-00000001.safetensors.old",
                                        "step-99999999999999999999.safetensors", "notes.txt",
                                        "step--0000001.safetensors"};
    for (size_t i = 0; i < 5; i++)
        write_bytes(path_of(names[i]), "x", 1);
    int64_t step;
    tern_checkpoint *ck = tern_checkpoint_new(folder, .keep_last = 1);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 0);
    assert_int_equal(tern_checkpoint_save(ck, 2), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 3), TERN_OK);
    assert_int_equal(count_files(), 6);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(step, 3);
    tern_checkpoint_free(ck);
}

static double metric_of_best(void)
{
    double metric = -1;
    tern_state *best = tern_state_read(path_of("best.safetensors"));
    assert_non_null(best);
    assert_int_equal(tern_state_get_double(best, "checkpoint.metric", &metric), TERN_OK);
    tern_state_free(best);
    return metric;
}

static tern_checkpoint *keeping_best(tern_metric_mode mode)
{
    tern_checkpoint *ck =
        tern_checkpoint_new(folder, .keep_last = 1, .keep_best = "accuracy", .mode = mode);
    assert_non_null(ck);
    return ck;
}

static void the_best_one_stays_when_its_first_name_goes(void **state)
{
    (void)state;
    static const double metrics[] = {0.5, 0.9, NAN, 0.7, 0.9};
    tern_checkpoint *ck = keeping_best(TERN_MAX);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(tern_checkpoint_save(ck, i, .metric = metrics[i]), TERN_OK);
    assert_int_equal(count_files(), 2);
    assert_true(step_exists(4));
    assert_true(metric_of_best() == 0.9);
    struct stat best, last;
    assert_true(!stat(path_of("best.safetensors"), &best) && !stat(path_of_step(4), &last));
    assert_true(best.st_ino != last.st_ino); // equal is not better
    tern_checkpoint_free(ck);

    ck = keeping_best(TERN_MAX); // as a new process
    assert_int_equal(tern_checkpoint_save(ck, 5, .metric = 0.8), TERN_OK);
    assert_true(metric_of_best() == 0.9);
    assert_int_equal(tern_checkpoint_save(ck, 6, .metric = INFINITY), TERN_OK);
    assert_true(metric_of_best() == INFINITY);
    assert_true(!stat(path_of("best.safetensors"), &best) && !stat(path_of_step(6), &last));
    assert_true(best.st_ino == last.st_ino); // a hard link, no copy
    assert_int_equal(tern_checkpoint_save(ck, 6), TERN_OK);
    assert_true(metric_of_best() == INFINITY);
    tern_checkpoint_free(ck);
}

static void the_smallest_metric_is_the_best_of_min(void **state)
{
    (void)state;
    tern_checkpoint *ck = keeping_best(TERN_MIN);
    assert_int_equal(tern_checkpoint_save(ck, 1, .metric = NAN), TERN_OK);
    assert_false(exists(path_of("best.safetensors")));
    assert_int_equal(tern_checkpoint_save(ck, 2, .metric = 0.5), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 3, .metric = 0.6), TERN_OK);
    assert_true(metric_of_best() == 0.5);
    assert_int_equal(tern_checkpoint_save(ck, 4, .metric = -1), TERN_OK);
    assert_true(metric_of_best() == -1);
    tern_checkpoint_free(ck);
}

// As where a process was killed between the names of a file.
static void a_best_one_without_its_second_name_gets_it_from_the_next_process(void **state)
{
    (void)state;
    size_t size;
    int64_t step = -1;
    tern_checkpoint *ck = keeping_best(TERN_MAX);
    assert_int_equal(tern_checkpoint_save(ck, 1, .metric = 0.5), TERN_OK);
    char *before = read_bytes(path_of("best.safetensors"), &size);
    assert_int_equal(tern_checkpoint_save(ck, 2, .metric = 0.9), TERN_OK);
    write_bytes(path_of("best.safetensors"), before, size);
    free(before);
    tern_checkpoint_free(ck);
    ck = keeping_best(TERN_MAX);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(step, 2);
    assert_true(metric_of_best() == 0.9);
    assert_int_equal(tern_checkpoint_save(ck, 3, .metric = 0.8), TERN_OK);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(step, 3);
    assert_true(metric_of_best() == 0.9);
    tern_checkpoint_free(ck);
}

// As where two processes find the same one the best.
static void a_file_that_has_the_best_name_already_keeps_it(void **state)
{
    (void)state;
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_OK);
    for (int i = 0; i < 2; i++)
        assert_true(tern_folder_link_best(folder, "step-00000001.safetensors"));
    assert_int_equal(count_files(), 2);
    assert_false(tern_folder_link_best(folder, "step-00000002.safetensors"));
    assert_int_equal(count_files(), 2);
    tern_checkpoint_free(ck);
}

static void another_metric_is_not_compared(void **state)
{
    (void)state;
    tern_checkpoint *ck = tern_checkpoint_new(folder, .keep_best = "loss", .mode = TERN_MIN);
    assert_int_equal(tern_checkpoint_save(ck, 1, .metric = 0.1), TERN_OK);
    tern_checkpoint_free(ck);
    ck = keeping_best(TERN_MIN);
    assert_int_equal(tern_checkpoint_save(ck, 2, .metric = 0.9), TERN_OK);
    assert_true(metric_of_best() == 0.9);
    tern_checkpoint_free(ck);
}

// The name of its metric is a number, or is not there.
static void a_best_one_of_no_metric_is_replaced(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        tern_state *other = tern_state_new();
        if (named)
            assert_int_equal(tern_state_set_int(other, "checkpoint.metric_name", 1), TERN_OK);
        assert_int_equal(tern_state_set_double(other, "checkpoint.metric", 2), TERN_OK);
        assert_int_equal(tern_state_write(other, path_of("best.safetensors")), TERN_OK);
        tern_state_free(other);
        tern_checkpoint *ck = keeping_best(TERN_MAX);
        assert_int_equal(tern_checkpoint_save(ck, 1, .metric = 0.5), TERN_OK);
        assert_true(metric_of_best() == 0.5);
        tern_checkpoint_free(ck);
    }
}

static void a_best_one_that_is_damaged_is_said_and_replaced(void **state)
{
    (void)state;
    tern_checkpoint *ck = keeping_best(TERN_MAX);
    write_bytes(path_of("best.safetensors"), "damaged", 7);
    watch_log();
    assert_int_equal(tern_checkpoint_save(ck, 1, .metric = 0.1), TERN_OK);
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "the best checkpoint cannot be read"));
    assert_int_equal(logged.errors, 0);
    assert_true(metric_of_best() == 0.1);
    tern_checkpoint_free(ck);
}

// ---- steps --------------------------------------------------------------------------------------

static void steps_go_to_the_largest_integer(void **state)
{
    (void)state;
    int64_t step;
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    static const int64_t steps[] = {0, 99999999, 100000000, INT64_MAX - 1, INT64_MAX};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tern_checkpoint_save(ck, steps[i]), TERN_OK);
        assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
        assert_true(step == steps[i]);
    }
    assert_int_equal(count_files(), 5);
    assert_int_equal(tern_checkpoint_save(ck, -1), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "checkpoint_save: step is -1, not 0 or more");
    tern_checkpoint_free(ck);
}

// ---- weights alone ------------------------------------------------------------------------------

static void weights_are_saved_and_loaded_alone(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(3, 2), *other = tern_nn_linear(3, 2);
    assert_int_equal(tern_module_save(net, path_of("net.safetensors")), TERN_OK);
    assert_int_equal(tern_module_load(other, path_of("net.safetensors")), TERN_OK);
    tern_state *a = tern_module_state_dict(net), *b = tern_module_state_dict(other);
    check_states(a, b, true);
    tern_state_free(a);
    tern_state_free(b);
    tern_module *wide = tern_nn_linear(4, 2);
    assert_int_equal(tern_module_load(wide, path_of("net.safetensors")), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "net.safetensors: mismatched 1: \"weight\" is");
    assert_int_equal(tern_module_load(net, path_of("none.safetensors")), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "none.safetensors");
    tern_module_free(net);
    tern_module_free(other);
    tern_module_free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_resumed_run_has_the_bits_of_one_that_went_on),
        FOLDER_TEST(an_empty_folder_is_nothing_to_resume),
        FOLDER_TEST(numbers_tensors_generators_and_objects_come_back),
        FOLDER_TEST(the_file_is_one_that_state_read_opens),
        FOLDER_TEST(it_holds_modules_optimizers_and_tensors),
        FOLDER_TEST(a_name_is_given_once_and_some_are_its_own),
        FOLDER_TEST(the_last_ones_stay),
        FOLDER_TEST(files_of_other_names_are_left_alone),
        FOLDER_TEST(the_best_one_stays_when_its_first_name_goes),
        FOLDER_TEST(a_best_one_without_its_second_name_gets_it_from_the_next_process),
        FOLDER_TEST(the_smallest_metric_is_the_best_of_min),
        FOLDER_TEST(a_file_that_has_the_best_name_already_keeps_it),
        FOLDER_TEST(another_metric_is_not_compared),
        FOLDER_TEST(a_best_one_of_no_metric_is_replaced),
        FOLDER_TEST(a_best_one_that_is_damaged_is_said_and_replaced),
        FOLDER_TEST(steps_go_to_the_largest_integer),
        FOLDER_TEST(weights_are_saved_and_loaded_alone),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, check_shutdown);
}
