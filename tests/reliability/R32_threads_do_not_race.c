// SPDX-License-Identifier: Apache-2.0
// What several threads may do at once. Here results are checked; under ThreadSanitizer, whose every
// report ends the program with failure, that nothing races.
#include <pthread.h>
#include <stdatomic.h>

#include "support/check.h"
#include "support/instrumented.h"
#include "nn/module/module.h"
#include "training.h"

#define THREADS 3

typedef void *thread_fn(void *);

// Runs `fn` on `count` threads, thread i with items + i * size; returns how many gave non-NULL.
static int run_threads(thread_fn *fn, int count, void *items, size_t size)
{
    pthread_t threads[THREADS];
    int failed = 0;
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fn, (char *)items + (size_t)i * size),
                         0);
    for (int i = 0; i < count; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        failed += result != NULL;
    }
    return failed;
}

// ---- trainings ----------------------------------------------------------------------------------

typedef struct run {
    uint64_t seed, hash;
} run;

static void *train(void *item)
{
    run *r = item;
    r->hash = training_run(r->seed);
    return r->hash ? NULL : item;
}

// Each has a net, an optimizer, a loader and a generator of its own.
static void threads_train_nets_of_their_own(void **state)
{
    (void)state;
    run together[THREADS] = {{1, 0}, {2, 0}, {3, 0}};
    int64_t live = tern_live_tensors();
    assert_int_equal(run_threads(train, THREADS, together, sizeof *together), 0);
    assert_int_equal(tern_live_tensors(), live);
    for (int i = 0; i < THREADS; i++)
        assert_true(together[i].hash == training_run(together[i].seed));
}

// Draws of the default generator and of dropout come from what the process shares.
static void *train_with_shared_draws(void *failed)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(50, 100), tern_nn_relu(),
                                          tern_nn_dropout(.p = 0.1), tern_nn_linear(100, 10));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9);
    for (int step = 0; step < 10; step++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_randn(tern_dims(200, 50));
        tern_tensor *y = tern_randint(0, 10, tern_dims(200));
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
        tern_optim_zero_grad(optim);
        if (tern_backward(loss) || tern_optim_step(optim))
            break;
        tern_scope_close(scope);
    }
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
    return tern_error_pending() ? failed : NULL;
}

static void threads_train_while_they_share_the_random_numbers(void **state)
{
    (void)state;
    char items[THREADS];
    int64_t live = tern_live_tensors();
    assert_int_equal(run_threads(train_with_shared_draws, THREADS, items, 1), 0);
    assert_int_equal(tern_live_tensors(), live);
}

// ---- one net for all ----------------------------------------------------------------------------

#define EVALUATIONS 500

typedef struct evaluation {
    tern_module *net;
    tern_tensor *x, *expected;
} evaluation;

static tern_status count_call(tern_module *module, const tern_tensors *in, tern_tensors *out,
                              void *calls)
{
    (void)module;
    (void)in;
    (void)out;
    atomic_fetch_add((atomic_int *)calls, 1);
    return TERN_OK;
}

static void *evaluate(void *item)
{
    const evaluation *e = item;
    bool same = true;
    for (int i = 0; i < EVALUATIONS && same; i++) {
        tern_scope scope = tern_scope_open();
        bool before = tern_set_grad_enabled(i % 2 == 0); // graphs of all threads share the leaves
        tern_tensor *other = tern_ne(tern_forward(e->net, e->x), e->expected);
        same = other && tern_item(tern_sum(other, TERN_ALL_AXES, false)) == 0;
        (void)tern_set_grad_enabled(before);
        tern_scope_close(scope);
    }
    return same ? NULL : item;
}

static void threads_evaluate_one_net_at_the_same_time(void **state)
{
    (void)state;
    atomic_int calls = 0;
    tern_scope scope = tern_scope_open();
    tern_module *net = tern_module_eval(tern_nn_sequential(tern_nn_linear(5, 7), tern_nn_dropout(),
                                                           tern_nn_gelu(), tern_nn_linear(7, 3)));
    uint64_t hook = tern_module_add_forward_hook(net, count_call, &calls);
    evaluation e = {.net = net, .x = tern_randn(tern_dims(4, 5))};
    e.expected = tern_detach(tern_forward(net, e.x));
    assert_int_equal(run_threads(evaluate, THREADS, &e, 0), 0);
    assert_int_equal(atomic_load(&calls), 1 + THREADS * EVALUATIONS);
    tern_module_remove_hook(net, hook);
    assert_int_equal(net->private_->hook_count, 0); // no forward counts as still running
    tern_module_free(net);
    tern_scope_close(scope);
}

// ---- from one thread to another -----------------------------------------------------------------

typedef struct parcel {
    training t;
    tern_tensor *loss, *kept[100];
} parcel;

static void *make_parcel(void *item)
{
    parcel *p = item;
    tern_batch b;
    if (!training_make(&p->t, 9) || !tern_loader_next(p->t.loader, &b))
        return item;
    tern_assign(&p->loss, tern_loss(p->t.criterion, tern_forward(p->t.net, b.x), b.y));
    for (int i = 0; i < 100; i++)
        tern_assign(&p->kept[i], tern_full(tern_dims(50, i + 1), i));
    return tern_error_pending() ? item : NULL;
}

static void *go_backward(void *item)
{
    parcel *p = item;
    return tern_backward(p->loss) || tern_optim_step(p->t.optim) ? item : NULL;
}

static void *free_parcel(void *item)
{
    parcel *p = item;
    tern_assign(&p->loss, NULL);
    for (int i = 0; i < 100; i++)
        tern_release(p->kept[i]);
    training_free(&p->t);
    return tern_error_pending() ? item : NULL;
}

// The threads follow each other here; other ones work meanwhile.
static void tensors_go_backward_and_die_on_other_threads_than_their_makers(void **state)
{
    (void)state;
    static parcel parcels[THREADS];
    int64_t live = tern_live_tensors();
    assert_int_equal(run_threads(make_parcel, THREADS, parcels, sizeof *parcels), 0);
    assert_int_equal(run_threads(go_backward, THREADS, parcels, sizeof *parcels), 0);
    for (int i = 1; i < THREADS; i++)
        assert_true(training_hash(&parcels[i].t) == training_hash(&parcels[0].t));
    assert_near(value_at(parcels[1].kept[7], 3), 7, 0, 0);
    assert_int_equal(run_threads(free_parcel, THREADS, parcels, sizeof *parcels), 0);
    assert_int_equal(tern_live_tensors(), live);
}

// ---- what the process has -----------------------------------------------------------------------

static atomic_int lines;

static void take_line(tern_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
    atomic_fetch_add(&lines, 1);
}

static void *raise_errors(void *item)
{
    char expected[40], sentence[600];
    snprintf(expected, sizeof expected, "the error of %p", item);
    for (int i = 0; i < 300; i++) {
        (void)tern_error_raise(TERN_ERR_ARG, "%s", expected);
        (void)tern_error_raise(TERN_ERR_SHAPE, "a second one, for the log");
        if (tern_error_take(sentence, sizeof sentence) != TERN_ERR_ARG ||
            strcmp(sentence, expected) != 0)
            return item;
    }
    return NULL;
}

static void *change_settings(void *item)
{
    for (int i = 0; i < 200; i++) {
        tern_set_log(i % 2 ? take_line : NULL, NULL);
        tern_memory_trim();
        (void)tern_memory_live_bytes();
        (void)tern_memory_cached_bytes();
        (void)tern_live_tensors();
        if (tern_set_num_threads(1 + i % 4))
            return item;
        if (tern_set_allocator(NULL) == TERN_OK) // refused while anything lives
            return item;
        tern_error_clear();
    }
    return NULL;
}

static void *act(void *item)
{
    switch (*(int *)item) {
    case 0:
        return raise_errors(item);
    case 1:
        return change_settings(item);
    }
    return training_run(7) ? NULL : item;
}

static void settings_change_while_others_work(void **state)
{
    (void)state;
    int roles[THREADS] = {0, 1, 2};
    tern_tensor *alive = NULL;
    tern_scope scope = tern_scope_open();
    tern_assign(&alive, tern_ones(tern_dims(3)));
    assert_int_equal(run_threads(act, THREADS, roles, sizeof *roles), 0);
    tern_set_log(NULL, NULL);
    tern_release(alive);
    tern_scope_close(scope);
    assert_int_equal(tern_set_num_threads(4), TERN_OK);
}

#define OFTEN (INSTRUMENTED ? 60 : 2000)

// Sums of y and of the gradients, whose memory is cut for so many threads.
static double convolve(void)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_arange(0, 4 * 8 * 40 * 40, 1, .dtype = TERN_FLOAT32);
    tern_tensor *w = tern_arange(0, 16 * 8 * 5 * 5, 1, .dtype = TERN_FLOAT32);
    x = tern_set_requires_grad(tern_reshape(tern_sin(x), tern_dims(4, 8, 40, 40)), true);
    w = tern_set_requires_grad(tern_reshape(tern_cos(w), tern_dims(16, 8, 5, 5)), true);
    tern_tensor *y = tern_conv2d(x, w, NULL, .padding = 2, .stride = 4);
    double sum = NAN;
    if (!tern_backward(tern_sum_all(y)))
        sum = tern_item(tern_sum_all(y)) + tern_item(tern_sum_all(tern_grad(x))) +
              tern_item(tern_sum_all(tern_grad(w)));
    tern_scope_close(scope);
    return sum;
}

static atomic_bool convolving;

static void *change_threads(void *item)
{
    for (int i = 0; atomic_load(&convolving); i++)
        if (tern_set_num_threads(i % 2 ? 32 : 1))
            return item;
    return NULL;
}

static void *convolve_often(void *item)
{
    const double first = convolve();
    bool same = first == first;
    for (int i = 0; i < OFTEN; i++)
        same = convolve() == first && same;
    atomic_store(&convolving, false);
    return same ? NULL : item;
}

static void *convolve_or_change(void *item)
{
    return *(int *)item ? change_threads(item) : convolve_often(item);
}

static void convolutions_run_while_the_number_of_threads_changes(void **state)
{
    (void)state;
    int roles[] = {0, 1};
    atomic_store(&convolving, true);
    assert_int_equal(run_threads(convolve_or_change, 2, roles, sizeof *roles), 0);
    assert_int_equal(tern_set_num_threads(4), TERN_OK);
}

static void errors_are_each_threads_own(void **state)
{
    (void)state;
    char items[THREADS];
    (void)tern_error_raise(TERN_ERR_IO, "the error of the first thread");
    tern_set_log(take_line, NULL);
    atomic_store(&lines, 0);
    assert_int_equal(run_threads(raise_errors, THREADS, items, 1), 0);
    tern_set_log(NULL, NULL);
    assert_int_equal(atomic_load(&lines),
                     2 * THREADS * 300); // the first errors and the second ones
    assert_error(TERN_ERR_IO, "the error of the first thread");
}

// ---- an allocator of the program's --------------------------------------------------------------

static atomic_llong taken;

static void *take(size_t nbytes, size_t align, void *user)
{
    (void)user;
    void *memory = NULL;
    if (posix_memalign(&memory, align, nbytes) != 0)
        return NULL;
    atomic_fetch_add(&taken, (long long)nbytes);
    return memory;
}

static void give(void *memory, size_t nbytes, void *user)
{
    (void)user;
    atomic_fetch_sub(&taken, (long long)nbytes);
    free(memory);
}

static void threads_train_with_an_allocator_of_the_programs(void **state)
{
    (void)state;
    tern_shutdown();
    assert_int_equal(tern_set_allocator(&(tern_allocator){take, give, NULL}), TERN_OK);
    run together[2] = {{5, 0}, {6, 0}};
    assert_int_equal(run_threads(train, 2, together, sizeof *together), 0);
    assert_true(atomic_load(&taken) > 0);
    tern_shutdown();
    assert_int_equal(atomic_load(&taken), 0);
    assert_int_equal(tern_set_allocator(NULL), TERN_OK);
    assert_true(together[0].hash == training_run(5));
}

static int use_workers(void **state)
{
    (void)state;
    return tern_set_num_threads(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_train_nets_of_their_own),
        cmocka_unit_test(threads_train_while_they_share_the_random_numbers),
        cmocka_unit_test(threads_evaluate_one_net_at_the_same_time),
        cmocka_unit_test(tensors_go_backward_and_die_on_other_threads_than_their_makers),
        cmocka_unit_test(settings_change_while_others_work),
        cmocka_unit_test(convolutions_run_while_the_number_of_threads_changes),
        cmocka_unit_test(errors_are_each_threads_own),
        cmocka_unit_test(threads_train_with_an_allocator_of_the_programs),
    };
    int failed = cmocka_run_group_tests(tests, use_workers, NULL);
    tern_shutdown();
    return failed;
}
