// SPDX-License-Identifier: Apache-2.0
// A training with data parallel, a captured step and a checkpoint, in which every call of CUDA,
// cuBLAS and cuRAND fails in turn, in every way. None crashes or hangs; what fails says so and
// leaves weights, optimizers and step counts as they were; and tried again, or resumed by a new run
// where the device is broken, the training ends with the bits of one that nothing disturbed.
//
//     test_failing_calls cuda 40 [FAILURE [FIRST]]     each 40th call; of one kind, from a first on
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "failing.h"
#include "train/train_test.h"

enum { ROWS = 8, GENERATORS = 3 };

typedef struct training {
    tern_module *net, *parallel, *single; // `single` is trained by the graph
    tern_optim *optim, *single_optim;
    tern_tensor *x, *y; // fixed, of the graph; held
    tern_dataset *data;
    tern_cuda_graph *graph;
    tern_checkpoint *checkpoint;
    tern_state *first; // of `net`, on the CPU
} training;

static void training_free(training *t)
{
    tern_cuda_graph_free(t->graph);
    tern_checkpoint_free(t->checkpoint);
    tern_state_free(t->first);
    tern_dataset_free(t->data);
    tern_optim_free(t->optim);
    tern_optim_free(t->single_optim);
    tern_module_free(t->parallel);
    tern_module_free(t->single);
    tern_release(t->x);
    tern_release(t->y);
    *t = (training){.net = NULL};
}

// ---- what the training does ---------------------------------------------------------------------

static tern_module *new_net(void)
{
    return tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_relu(), tern_nn_dropout(0.25),
                              tern_nn_linear(8, 3));
}

static bool make(training *t)
{
    tern_manual_seed(5);
    tern_tensor *samples[2] = {small_input(ROWS), small_labels(ROWS)};
    const tern_device devices[2] = {here, there};
    return (t->data = tern_data_tensors_new(2, samples)) && (t->single = new_net()) &&
           (t->net = new_net()) &&
           (t->parallel = tern_nn_data_parallel(t->net, .devices = devices, .count = 2)) &&
           (t->optim = tern_optim_adam(t->parallel, .lr = 0.05)) &&
           (t->single_optim = tern_optim_adam(t->single, .lr = 0.05)) &&
           tern_module_to(t->parallel, here) && tern_module_to(t->single, here) &&
           (t->x = tern_retain(tern_zeros(tern_dims(ROWS, 6), .device = here))) &&
           (t->y = tern_retain(tern_zeros(tern_dims(ROWS), .dtype = TERN_INT64, .device = here)));
}

static tern_status copy_first(training *t)
{
    tern_state *state = tern_module_state_dict(t->net);
    t->first = state ? tern_state_copy(state, .device = tern_cpu(0)) : NULL;
    tern_state_free(state);
    return t->first ? TERN_OK : tern_error_code();
}

static bool save_to_folder(training *t)
{
    t->checkpoint = tern_checkpoint_new(folder);
    return t->checkpoint && !tern_checkpoint_module(t->checkpoint, "net", t->parallel) &&
           !tern_checkpoint_optim(t->checkpoint, "optim", t->optim) &&
           !tern_checkpoint_module(t->checkpoint, "single", t->single) &&
           !tern_checkpoint_optim(t->checkpoint, "single_optim", t->single_optim);
}

// Seeds again when the devices are open.
static tern_status begin(training *t)
{
    training_free(t);
    if (!make(t) || copy_first(t) || !save_to_folder(t))
        return tern_error_code();
    tern_manual_seed(11);
    return tern_error_code();
}

static tern_status learn(tern_module *net, tern_optim *optim, tern_tensor *x, tern_tensor *y)
{
    tern_optim_zero_grad(optim);
    tern_status status = tern_backward(tern_cross_entropy(tern_forward(net, x), y));
    return status ? status : tern_optim_step(optim);
}

static tern_status step_on_two_devices(training *t)
{
    tern_batch batch;
    tern_status status = TERN_ERR_STATE;
    tern_loader *loader = tern_loader_new(t->data, .batch_size = ROWS, .device = here);
    if (loader && tern_loader_next(loader, &batch)) {
        tern_tensor *noise = tern_randn(tern_dims(ROWS, 6), .device = here);
        status = learn(t->parallel, t->optim, tern_add(batch.x, noise), batch.y);
    }
    tern_loader_free(loader);
    return tern_error_pending() ? tern_error_code() : status;
}

static tern_status fill(training *t)
{
    tern_no_grad {
        if (!tern_copy_(t->x, small_input(ROWS)) || !tern_copy_(t->y, small_labels(ROWS)))
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status step(training *t)
{
    tern_status status = fill(t);
    return status ? status : learn(t->single, t->single_optim, t->x, t->y);
}

static tern_status capture(training *t)
{
    tern_status status = tern_cuda_graph_begin(here.index);
    if (status)
        return status;
    status = learn(t->single, t->single_optim, t->x, t->y);
    t->graph = tern_cuda_graph_end();
    return t->graph ? status : tern_error_code();
}

static tern_status replay(training *t)
{
    return tern_cuda_graph_replay(t->graph);
}

static tern_status save(training *t)
{
    return tern_checkpoint_save(t->checkpoint, 1);
}

static tern_status resume(training *t)
{
    int64_t at = 0;
    return tern_checkpoint_resume(t->checkpoint, &at) == 1 ? TERN_OK : tern_error_code();
}

static tern_status load_first(training *t)
{
    return tern_module_load_state_dict(t->net, t->first);
}

// What is queued fails here at the latest.
static tern_status wait_for_both(training *t)
{
    (void)t;
    tern_status status = tern_synchronize(here);
    return status ? status : tern_synchronize(there);
}

static const struct {
    const char *name;
    tern_status (*run)(training *t);
    bool keeps_draws; // where it fails, random numbers go on as before it
} works[] = {
    {"begin", begin, false},
    {"step on two devices", step_on_two_devices, false},
    {"step", step, false},
    {"second step", step, false},
    {"capture", capture, true},
    {"replay", replay, true},
    {"save", save, true},
    {"second step on two devices", step_on_two_devices, false},
    {"second replay", replay, true},
    {"resume", resume, true},
    {"load", load_first, true},
    {"third replay", replay, true},
    {"third step on two devices", step_on_two_devices, false},
    {"wait", wait_for_both, true},
};
enum { WORKS = sizeof works / sizeof *works, CAPTURE = 4, SAVE = 6 };

static tern_status run_work(int which, training *t)
{
    tern_scope scope = tern_scope_open();
    tern_status status = works[which].run(t);
    tern_scope_close(scope);
    return status;
}

// ---- what there is after each work --------------------------------------------------------------

typedef struct values {
    char *bytes; // of weights, optimizers and step counts
    size_t size;
    char *draws[GENERATORS];
} values;

static values expected[WORKS];

static tern_generator *generator_at(int i)
{
    return tern_default_generator(i == 0 ? tern_cpu(0) : i == 1 ? here : there);
}

static tern_status visit_training(void *object, tern_state_visitor *visitor)
{
    training *t = object;
    if (tern_visit_module(visitor, "net", t->parallel) ||
        tern_visit_optim(visitor, "optim", t->optim) ||
        tern_visit_module(visitor, "single", t->single) ||
        tern_visit_optim(visitor, "single_optim", t->single_optim))
        return tern_error_code();
    return TERN_OK;
}

static void append_value(values *v, const tern_state *state, const char *name)
{
    size_t size;
    char *bytes = state_bytes(state, name, &size);
    v->bytes = realloc(v->bytes, v->size + size + 1);
    assert_non_null(v->bytes);
    memcpy(v->bytes + v->size, bytes, size);
    v->size += size;
    free(bytes);
}

static values values_of(training *t)
{
    values v = {.bytes = NULL};
    tern_state *state = tern_state_of(visit_training, t);
    assert_non_null(state);
    for (int64_t i = 0; i < tern_state_count(state); i++)
        append_value(&v, state, tern_state_name_at(state, i));
    tern_state_free(state);
    for (int i = 0; i < GENERATORS; i++) {
        v.draws[i] = malloc(tern_generator_state_size());
        assert_int_equal(
            tern_generator_save(generator_at(i), v.draws[i], tern_generator_state_size()), TERN_OK);
    }
    return v;
}

static void values_free(values *v)
{
    free(v->bytes);
    for (int i = 0; i < GENERATORS; i++)
        free(v->draws[i]);
}

static char now[128]; // what fails, and where

static void check_values(training *t, int after, bool draws, const char *when)
{
    tern_scope scope = tern_scope_open();
    values v = values_of(t);
    tern_scope_close(scope);
    const values *e = &expected[after];
    if (v.size != e->size || memcmp(v.bytes, e->bytes, v.size) != 0)
        fail_msg("%s: %s: weights or optimizers are not those after \"%s\"", now, when,
                 works[after].name);
    for (int i = 0; draws && i < GENERATORS; i++)
        if (memcmp(v.draws[i], e->draws[i], tern_generator_state_size()) != 0)
            fail_msg("%s: %s: random numbers do not go on as after \"%s\"", now, when,
                     works[after].name);
    values_free(&v);
}

// ---- failures -----------------------------------------------------------------------------------

enum { KERNEL_FAULT = TERN_SIM_BROKEN + 1, FAILURES };
static const char *const failure_names[FAILURES] = {"no memory", "an invalid value", "a failure",
                                                    "a broken device", "a fault in a kernel"};

static bool is_final(int failure)
{
    return failure >= TERN_SIM_BROKEN;
}

static void begin_failing(int failure, long n)
{
    snprintf(now, sizeof now, "%s in call %ld", failure_names[failure], n);
    if (failure == KERNEL_FAULT)
        sim.fail_nth(TERN_SIM_FAULT, n, SIM_ILLEGAL_ADDRESS);
    else
        sim.fail_any(n, (enum tern_sim_failure)failure);
}

static void note_work(int which, int failure, long n)
{
    const char *function = failure == KERNEL_FAULT ? NULL : sim.failed();
    snprintf(now, sizeof now, "%s in call %ld (%s) of \"%s\"", failure_names[failure], n,
             function ? function : "a kernel", works[which].name);
}

// A failure is told by the status, and by a sentence of CUDA's error.
static void check_error(tern_status status)
{
    if (!tern_error_pending())
        fail_msg("%s: failed and says nothing", now);
    if (!status)
        fail_msg("%s: TERN_OK, but pending: %s", now, tern_error_message());
    if (status != TERN_ERR_DEVICE && status != TERN_ERR_NOMEM)
        fail_msg("%s: %s: %s", now, tern_status_name(status), tern_error_message());
    tern_error_clear();
}

static void run_again(int which, training *t)
{
    if (which > 0)
        check_values(t, which - 1, works[which].keeps_draws, "after the failure");
    for (int i = 0; which > 0 && i < GENERATORS; i++)
        assert_int_equal(tern_generator_load(generator_at(i), expected[which - 1].draws[i],
                                             tern_generator_state_size()),
                         TERN_OK);
    if (run_work(which, t))
        fail_msg("%s: the second time: %s", now, tern_error_message());
}

static void end_training(training *t)
{
    tern_sim_counts counts;
    training_free(t);
    tern_shutdown();
    sim.count(&counts);
    if (counts.live_blocks)
        fail_msg("%s: %ld blocks of device memory are left", now, counts.live_blocks);
}

// What is queued ends with the process, on the devices that are not broken as well.
static void end_process(void)
{
    const int devices[2] = {here.index, there.index};
    for (int i = 0; i < 2; i++)
        sim.break_device(devices[i], SIM_LAUNCH_FAILURE);
    for (int i = 0; i < 2; i++)
        sim.break_device(devices[i], 0);
}

// As a new process does when the device of the last one broke. Returns the last work that is done.
static int start_anew(int which, training *t)
{
    (void)!run_work(which, t); // fails again, or does not use the device
    tern_error_clear();
    training_free(t);
    end_process();
    end_training(t);
    if (run_work(0, t))
        fail_msg("%s: a new run: %s", now, tern_error_message());
    if (!step_exists(1))
        return 0;
    tern_scope scope = tern_scope_open();
    if (resume(t) || fill(t) || capture(t))
        fail_msg("%s: a new run: %s", now, tern_error_message());
    tern_scope_close(scope);
    return SAVE;
}

// False when the training has no such call.
static bool train_with_failure(int failure, long n)
{
    training t = {.net = NULL};
    bool failed = false;
    (void)remove(path_of_step(1));
    alarm(60);
    begin_failing(failure, n);
    for (int i = 0; i < WORKS; i++) {
        const tern_status status = run_work(i, &t);
        if (!status && !tern_error_pending()) {
            continue;
        }
        note_work(i, failure, n);
        if (failed)
            fail_msg("%s: and later: %s", now, tern_error_message());
        failed = true;
        check_error(status);
        if (is_final(failure))
            i = start_anew(i, &t);
        else
            run_again(i, &t);
    }
    const bool reached = failed || (failure == KERNEL_FAULT ? false : sim.failed() != NULL);
    sim.fail_none();
    sim.break_device(here.index, 0);
    sim.break_device(there.index, 0);
    check_values(&t, WORKS - 1, true, "at the end");
    end_training(&t);
    alarm(0);
    return reached;
}

// ---- the tests ----------------------------------------------------------------------------------

static long every = 40, first_call;
static int only_failure = -1; // -1: all

static void record_expected(void)
{
    training t = {.net = NULL};
    for (int i = 0; i < WORKS; i++) {
        if (run_work(i, &t))
            fail_msg("%s: %s", works[i].name, tern_error_message());
        tern_scope scope = tern_scope_open();
        expected[i] = values_of(&t);
        tern_scope_close(scope);
    }
    snprintf(now, sizeof now, "undisturbed");
    end_training(&t);
}

static void each_failing_call_is_an_error_and_the_training_ends_with_the_same_bits(void **state)
{
    (void)state;
    record_expected();
    for (int failure = 0; failure < FAILURES; failure++) {
        long n = first_call ? first_call : 1 + failure % every, count = 0;
        if (only_failure >= 0 && failure != only_failure)
            continue;
        for (; train_with_failure(failure, n); n += every)
            count++;
        print_message("%s: %ld calls of %ld\n", failure_names[failure], count, n);
        assert_true(count > 0);
    }
    for (int i = 0; i < WORKS; i++)
        values_free(&expected[i]);
}

static void say_where(int signal_number)
{
    if (write(STDERR_FILENO, now, strlen(now)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
        _exit(1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

int main(int argc, char **argv)
{
    const int nothing = choose_failing_device(argc, argv);
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_failing_call_is_an_error_and_the_training_ends_with_the_same_bits),
    };
    if (nothing)
        return nothing;
    every = argc > 2 ? atol(argv[2]) : every;
    only_failure = argc > 3 ? atoi(argv[3]) : -1;
    first_call = argc > 4 ? atol(argv[4]) : 0;
    tern_shutdown();
    signal(SIGALRM, say_where);
    signal(SIGABRT, say_where);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
