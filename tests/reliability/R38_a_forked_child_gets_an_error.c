// SPDX-License-Identifier: Apache-2.0
// A child of a process that uses the library is told so by every call that computes, allocates or
// draws, and never waits for a thread or a lock that stayed with its parent.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "support/child.h"
#include "training.h"

#define SEED 11

static tern_tensor *x, *y; // of the parent, retained
static training t;

static int children;
static double slowest; // milliseconds, fork and all

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// The status of a child that runs `body`, which is timed.
static int timed_status(int (*body)(void))
{
    double start = milliseconds();
    int status = status_of_child(body);
    children++;
    slowest = fmax(slowest, milliseconds() - start);
    return status;
}

// ---- what a child is told -----------------------------------------------------------------------

// Each returns true where the call failed, as it should.
typedef bool call_fn(void);

// clang-format off
static bool makes_a_tensor(void) { return !tern_zeros(tern_dims(2)); }
static bool draws(void) { return !tern_rand(tern_dims(2)); }
static bool draws_from_its_own(void) { return !tern_uniform_(x, 0, 1, t.generator); }
static bool adds(void) { return !tern_add(x, y); }
static bool adds_in_place(void) { return !tern_add_(x, y, 1); }
static bool multiplies(void) { return !tern_matmul(x, y); }
static bool makes_a_view(void) { return !tern_transpose(x, 0, 1); }
static bool retains(void) { return !tern_retain(x); }
static bool reads(void) { float to[9]; return tern_to_host(x, to, sizeof to) != TERN_OK; }
static bool prints(void) { return tern_print(x, stderr) != TERN_OK; }
static bool makes_a_layer(void) { return !tern_nn_linear(2, 2); }
static bool runs_a_module(void) { return !tern_forward(t.net, x); }
static bool moves_a_module(void) { return !tern_module_to_dtype(t.net, TERN_FLOAT64); }
static bool computes_a_loss(void) { return !tern_loss(t.criterion, x, y); }
static bool goes_backward(void) { return tern_backward(x) != TERN_OK; }
static bool clips(void) { return !tern_clip_grad_norm(t.net, 1); }
static bool steps(void) { return tern_optim_step(t.optim) != TERN_OK; }
static bool zeroes(void) { tern_optim_zero_grad(t.optim); return tern_error_pending(); }
static bool makes_an_optimizer(void) { return !tern_optim_adam(t.net); }
static bool loads(void) { tern_batch b; return !tern_loader_next(t.loader, &b); }
static bool makes_a_dataset(void) { return !tern_data_tensors(x, y); }
static bool moves_a_dataset(void) { return !tern_dataset_to(t.dataset, tern_cpu(0)); }
static bool opens_files(void) { return !tern_data_mnist("/nowhere", TERN_TRAIN); }
static bool seeds(void) { tern_manual_seed(1); return tern_error_pending(); }
static bool makes_a_generator(void) { return !tern_generator_new(1); }
static bool asks_the_generator(void) { return !tern_default_generator(tern_cpu(0)); }
static bool sets_threads(void) { return tern_set_num_threads(2) != TERN_OK; }
static bool sets_an_allocator(void) { return tern_set_allocator(NULL) != TERN_OK; }
// clang-format on

#define CALL(name)                                                                                 \
    {                                                                                              \
        name, #name                                                                                \
    }
static const struct {
    call_fn *fails;
    const char *name;
} calls[] = {
    CALL(makes_a_tensor),
    CALL(draws),
    CALL(draws_from_its_own),
    CALL(adds),
    CALL(adds_in_place),
    CALL(multiplies),
    CALL(makes_a_view),
    CALL(retains),
    CALL(reads),
    CALL(prints),
    CALL(makes_a_layer),
    CALL(runs_a_module),
    CALL(moves_a_module),
    CALL(computes_a_loss),
    CALL(goes_backward),
    CALL(clips),
    CALL(steps),
    CALL(zeroes),
    CALL(makes_an_optimizer),
    CALL(loads),
    CALL(makes_a_dataset),
    CALL(moves_a_dataset),
    CALL(opens_files),
    CALL(seeds),
    CALL(makes_a_generator),
    CALL(asks_the_generator),
    CALL(sets_threads),
    CALL(sets_an_allocator),
};
#define CALLS ((int)(sizeof calls / sizeof *calls))

// The exit status: 0, or 1 + the first call that was not refused as it should be.
static int try_every_call(void)
{
    for (int i = 0; i < CALLS; i++) {
        bool failed = calls[i].fails();
        const char *told = strstr(tern_error_message(), "in use when this process was forked");
        if (!failed || tern_error_code() != TERN_ERR_STATE || !told)
            return 1 + i;
        tern_error_clear();
    }
    return 0;
}

// What a child may do: look, print, and let go of everything.
static int try_every_call_and_free(void)
{
    int status = try_every_call();
    FILE *sink = fopen("/dev/null", "w");
    (void)tern_zeros(tern_dims(2));
    (void)tern_zeros(tern_dims(2)); // the second error goes to the log, which is silent here
    if (!sink || tern_error_print(sink) != 1)
        status = 100;
    if (tern_live_tensors() <= 0 || tern_memory_live_bytes() <= 0 || tern_num_threads() != 1)
        status = 101;
    tern_set_log(NULL, NULL);
    tern_memory_trim();
    tern_release(x);
    training_free(&t);
    tern_shutdown();
    if (tern_error_pending())
        status = 102;
    return status;
}

static void assert_child_was_told(int status)
{
    assert_true(WIFEXITED(status));
    int code = WEXITSTATUS(status);
    if (code > 0 && code <= CALLS)
        fail_msg("a child %s without the error", calls[code - 1].name);
    assert_int_equal(code, 0);
}

// ---- cases --------------------------------------------------------------------------------------

static void every_call_of_a_child_is_refused_and_it_can_free(void **state)
{
    (void)state;
    assert_child_was_told(timed_status(try_every_call_and_free));
}

// A child of the child is no better off.
static int fork_again(void)
{
    return WEXITSTATUS(timed_status(try_every_call_and_free));
}

static void a_grandchild_is_refused_too(void **state)
{
    (void)state;
    assert_child_was_told(timed_status(fork_again));
}

static atomic_bool forking;

static void take_line(tern_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

// Keeps every lock of the library busy: kernels, draws, the log, threads started and joined.
static void *work_hard(void *seed)
{
    char state[8192];
    while (atomic_load(&forking)) {
        (void)training_run(*(uint64_t *)seed);
        tern_set_log(take_line, NULL);
        (void)tern_error_raise(TERN_ERR_ARG, "one");
        (void)tern_error_raise(TERN_ERR_ARG, "another");
        tern_error_clear();
        tern_scope scope = tern_scope_open();
        (void)tern_dropout(tern_rand(tern_dims(100)), 0.5, true);
        tern_scope_close(scope);
        tern_memory_trim();
        (void)!tern_generator_save(tern_default_generator(tern_cpu(0)), state, sizeof state);
        (void)!tern_set_num_threads(3);
    }
    return NULL;
}

static void a_child_does_not_hang_when_every_lock_may_be_held(void **state)
{
    (void)state;
    static uint64_t seeds[2] = {1, 2};
    const int forks = getenv("TERN_TEST_LONG") ? 2000 : 30;
    pthread_t threads[2];
    atomic_store(&forking, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_hard, &seeds[i]), 0);
    int bad = 0;
    for (int i = 0; i < forks && !bad; i++)
        bad = timed_status(try_every_call_and_free);
    atomic_store(&forking, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_child_was_told(bad);
}

static void the_parent_trains_on_with_the_same_bits(void **state)
{
    (void)state;
    uint64_t without = training_run(SEED);
    training with;
    assert_true(training_make(&with, SEED));
    assert_child_was_told(timed_status(try_every_call));
    assert_true(training_epoch(&with));
    assert_child_was_told(timed_status(try_every_call));
    assert_true(training_epoch(&with));
    assert_true(training_hash(&with) == without);
    training_free(&with);
    assert_no_error();
}

static int run_again(void)
{
    execl("/proc/self/exe", "R38", "train", (char *)NULL);
    return 99;
}

static void a_child_that_execs_starts_anew(void **state)
{
    (void)state;
    assert_int_equal(timed_status(run_again), 0);
}

static int train(void)
{
    return training_run(SEED) ? 0 : 1;
}

static int status_of_the_first; // of a child that was forked before the first call

static void a_child_forked_before_the_first_call_can_train(void **state)
{
    (void)state;
    assert_int_equal(status_of_the_first, 0);
}

static int refuse_a_tensor(void)
{
    return makes_a_tensor() && tern_error_code() == TERN_ERR_STATE ? 0 : 1;
}

static void a_child_forked_after_a_shutdown_can_train(void **state)
{
    (void)state;
    tern_release(x);
    tern_release(y);
    training_free(&t);
    tern_shutdown();
    assert_int_equal(timed_status(train), 0);
    assert_true(training_run(SEED) != 0); // and so can the parent, which counts as in use again
    assert_int_equal(timed_status(refuse_a_tensor), 0);
}

static int make(void **state)
{
    (void)state;
    if (tern_set_num_threads(3) || !training_make(&t, SEED))
        return -1;
    tern_scope scope = tern_scope_open();
    tern_assign(&x, tern_ones(tern_dims(3, 3)));
    tern_assign(&y, tern_ones(tern_dims(3, 3)));
    tern_scope_close(scope);
    return training_epoch(&t) ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "train") == 0)
        return train();
    pid_t child = fork();
    if (child == 0)
        _exit(train());
    waitpid(child, &status_of_the_first, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_forked_before_the_first_call_can_train),
        cmocka_unit_test(every_call_of_a_child_is_refused_and_it_can_free),
        cmocka_unit_test(a_grandchild_is_refused_too),
        cmocka_unit_test(a_child_does_not_hang_when_every_lock_may_be_held),
        cmocka_unit_test(the_parent_trains_on_with_the_same_bits),
        cmocka_unit_test(a_child_that_execs_starts_anew),
        cmocka_unit_test(a_child_forked_after_a_shutdown_can_train),
    };
    int failed = cmocka_run_group_tests(tests, make, NULL);
    print_message("the slowest of %d children took %.1f ms\n", children, slowest);
    tern_shutdown();
    return failed;
}
