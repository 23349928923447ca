// SPDX-License-Identifier: Apache-2.0
// Scopes, references and loaders that more than one thread sees.
#include <pthread.h>

#include "support/child.h"
#include "support/lifetime_check.h"

// ---- scopes belong to their thread --------------------------------------------------------------

static void *run_on_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    pthread_join(thread, &result);
    return result;
}

// A test that fails on another thread would end that thread: it says what it saw instead.
typedef struct visit {
    tern_scope of_main;
    tern_tensor *given; // to keep
    tern_tensor *kept;  // by tern_scope_close_keep
    int64_t live;
    bool fine;
} visit;

static void *close_and_keep_elsewhere(void *argument)
{
    visit *v = argument;
    v->kept = tern_scope_close_keep(v->of_main, v->given);
    return NULL;
}

static void the_scope_of_another_thread_is_no_scope(void **state)
{
    (void)state;
    visit v = {.of_main = tern_scope_open()};
    v.given = tern_ones(tern_dims(2));
    run_on_thread(close_and_keep_elsewhere, &v);
    assert_ptr_equal(v.kept, v.given);
    assert_tensor(v.given, tern_dims(2), 1, 1); // it did not go over to a scope of that thread
    tern_scope_close(v.of_main);
    assert_dead(v.given, DIED_WITH_ITS_SCOPE);
}

static void *leave_everything_open(void *argument)
{
    visit *v = argument;
    for (int i = 0; i < 5; i++) {
        (void)tern_scope_open();
        for (int k = 0; k < 300; k++)
            tern_ones(tern_dims(3));
    }
    tern_tensor *w = tern_ones(tern_dims(3), .requires_grad = true);
    v->fine = !tern_backward(total(tern_mul(w, w))) && tern_grad(w);
    tern_set_grad_enabled(false);
    (void)!tern_neg(NULL); // an error is left pending too
    v->live = tern_live_tensors();
    return NULL;
}

static void a_thread_that_ends_with_open_scopes_leaves_nothing(void **state)
{
    (void)state;
    visit v = {0};
    int64_t live = tern_live_tensors(), bytes = tern_memory_live_bytes();
    run_on_thread(leave_everything_open, &v);
    assert_true(v.fine);
    assert_true(v.live > live + 1500);
    assert_int_equal(tern_live_tensors(), live);
    run_on_thread(leave_everything_open, &v); // what only a first thread takes is there now
    int64_t once = tern_memory_live_bytes();
    run_on_thread(leave_everything_open, &v);
    assert_int_equal(tern_memory_live_bytes(), once);
    assert_true(once >= bytes);
    assert_true(tern_grad_enabled());
}

// ---- keys ---------------------------------------------------------------------------------------

static int warnings;

static void count_warnings(tern_log_level level, const char *line, void *user)
{
    (void)user;
    warnings += level == TERN_LOG_WARN && strstr(line, "thread-specific keys") != NULL;
}

static void *make_something(void *fine)
{
    tern_scope scope = tern_scope_open();
    *(bool *)fine = tern_ones(tern_dims(3)) != NULL;
    tern_scope_close(scope);
    return NULL;
}

static int use_the_library_without_a_key(void)
{
    pthread_key_t keys[4096]; // more than there are
    int count = 0, mine = 42;
    bool fine = false, others_fine = false;
    while (count < 4096 && pthread_key_create(&keys[count], NULL) == 0)
        pthread_setspecific(keys[count++], &mine);
    tern_set_log(count_warnings, NULL);
    make_something(&fine);
    run_on_thread(make_something, &others_fine);
    bool kept = count > 0 && count < 4096;
    for (int i = 0; i < count; i++)
        kept = kept && pthread_getspecific(keys[i]) == &mine;
    return kept && fine && others_fine && warnings == 2 ? 0 : 1;
}

// Before the library is used here: it takes its key once.
static void without_a_thread_key_those_of_the_program_stay_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(status_of_child(use_the_library_without_a_key), 0);
}

// ---- stacks -------------------------------------------------------------------------------------

// Sanitizers want more for themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define SMALLEST_STACK (1 << 20)
#else
#define SMALLEST_STACK (128 << 10) // threads.h
#endif

static tern_module *deepest_module(void)
{
    tern_module *net = tern_nn_linear(8, 8);
    while (net) {
        tern_module *outer = tern_nn_sequential(tern_module_retain(net), tern_nn_gelu());
        if (!outer) // and `net` is the deepest one
            break;
        tern_module_free(net);
        net = outer;
    }
    tern_error_clear();
    return net;
}

static bool train_and_print(tern_module *net, FILE *file)
{
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *optim = tern_optim_adam(net);
    tern_tensor *x = tern_randn(tern_dims(300, 8)), *y = tern_randint(0, 8, tern_dims(300));
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
    bool failed = tern_backward(loss) || tern_optim_step(optim) || tern_print(loss, file) ||
                  tern_module_summary_print(net, tern_dims(300, 8), file);
    tern_optim_free(optim);
    tern_module_free(criterion);
    return !failed;
}

static void *use_the_deepest_module(void *argument)
{
    visit *v = argument;
    FILE *file = fopen("/dev/null", "w");
    tern_module *net = deepest_module();
    v->fine = file && net && train_and_print(net, file);
    v->fine = v->fine && !tern_forward(net, tern_ones(tern_dims(3))) && // with the longest path
              tern_error_code() == TERN_ERR_SHAPE && tern_error_print(file);
    tern_module_free(net);
    if (file)
        fclose(file);
    return NULL;
}

static void the_deepest_module_fits_on_the_smallest_stack(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_attr_t small;
    visit v = {0};
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, SMALLEST_STACK), 0);
    assert_int_equal(pthread_create(&thread, &small, use_the_deepest_module, &v), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    assert_true(v.fine);
}

// ---- headers come from one pool -----------------------------------------------------------------

// Each tensor has a size and values of its own: no header may be given to two.
static void *make_and_end(void *argument)
{
    visit *v = argument;
    v->fine = true;
    for (int i = 0; i < 3000; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *at[8];
        for (int k = 0; k < 8; k++)
            at[k] = tern_full(tern_dims(k + 1), (double)(v->live + k));
        for (int k = 0; k < 8; k++)
            v->fine = v->fine && tern_numel(at[k]) == k + 1 &&
                      tern_item(tern_select(at[k], 0, k)) == (double)(v->live + k);
        tern_scope_close(scope);
    }
    return NULL;
}

static void threads_take_headers_from_one_pool(void **state)
{
    (void)state;
    const int64_t live = tern_live_tensors();
    visit visits[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        visits[i] = (visit){.live = 1000 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_end, &visits[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_true(visits[i].fine);
    assert_int_equal(tern_live_tensors(), live);
}

// ---- references ---------------------------------------------------------------------------------

#define REFERENCES 20000

static void *retain_and_release(void *t)
{
    for (int i = 0; i < REFERENCES; i++) {
        tern_retain(t);
        if (i % 2)
            tern_release(t);
    }
    return tern_error_pending() ? NULL : t;
}

static void *release_half(void *t)
{
    for (int i = 0; i < REFERENCES / 2; i++)
        tern_release(t);
    return tern_error_pending() ? NULL : t;
}

static void run_on_four_threads(void *(*function)(void *), void *argument)
{
    pthread_t threads[4];
    void *result;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, function, argument), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, argument);
    }
}

static void references_of_many_threads_are_all_counted(void **state)
{
    (void)state;
    tern_scope inner = tern_scope_open();
    tern_tensor *t = tern_full(tern_dims(2), 4);
    run_on_four_threads(retain_and_release, t);
    tern_scope_close(inner);
    assert_tensor(t, tern_dims(2), 4, 4);
    tern_retain(t);
    run_on_four_threads(release_half, t);
    assert_tensor(t, tern_dims(2), 4, 4);
    tern_release(t);
    assert_dead(t, "died when it was released for the last time");
}

static void *free_module(void *m)
{
    tern_module_free(m);
    return tern_error_pending() ? NULL : m;
}

static void modules_are_freed_by_whichever_thread_is_last(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        tern_module *m = tern_nn_linear(2, 2);
        for (int i = 0; i < 3; i++)
            assert_ptr_equal(tern_module_retain(m), m);
        run_on_four_threads(free_module, m);
    }
}

// ---- what goes from one thread to another -------------------------------------------------------

typedef struct hand_over {
    tern_loader *loader;
    tern_batch batch;
    tern_tensor *loss; // retained
    bool went_on;
    tern_status status;
} hand_over;

static void *go_on(void *argument)
{
    hand_over *h = argument;
    h->went_on = tern_loader_next(h->loader, &h->batch);
    (void)!tern_neg(h->batch.x);
    return NULL;
}

// The batch is the loader's; what a thread made since is that thread's.
static void a_loader_goes_on_on_another_thread(void **state)
{
    (void)state;
    tern_dataset *set = numbers(3);
    hand_over h = {.loader = tern_loader_new(set)};
    tern_batch first, last;
    assert_true(tern_loader_next(h.loader, &first));
    tern_tensor *made = tern_add_scalar(first.x, 5);
    run_on_thread(go_on, &h);
    assert_true(h.went_on);
    assert_dead(first.x, "died when its loader went on");
    assert_tensor(made, tern_dims(1, 1), 5);
    assert_tensor(h.batch.x, tern_dims(1, 1), 1);
    assert_true(tern_loader_next(h.loader, &last));
    assert_tensor(last.x, tern_dims(1, 1), 2);
    tern_loader_free(h.loader);
    tern_dataset_free(set);
}

static void *make_a_loss(void *argument)
{
    hand_over *h = argument;
    tern_tensor *w = tern_full(tern_dims(2), 3, .requires_grad = true);
    h->loss = tern_retain(total(tern_mul(w, w)));
    h->batch.x = tern_retain(w);
    return NULL;
}

static void a_retained_loss_keeps_its_graph_when_its_thread_ends(void **state)
{
    (void)state;
    hand_over h = {0};
    run_on_thread(make_a_loss, &h);
    assert_int_equal(tern_live_tensors(), check_live + 2);
    assert_int_equal(tern_backward(h.loss), TERN_OK);
    assert_tensor(tern_grad(h.batch.x), tern_dims(2), 6, 6);
    tern_release(h.loss);
    tern_release(h.batch.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_thread_key_those_of_the_program_stay_as_they_are),
        LIFETIME_TEST(the_scope_of_another_thread_is_no_scope),
        LIFETIME_TEST(a_thread_that_ends_with_open_scopes_leaves_nothing),
        LIFETIME_TEST(the_deepest_module_fits_on_the_smallest_stack),
        LIFETIME_TEST(threads_take_headers_from_one_pool),
        LIFETIME_TEST(references_of_many_threads_are_all_counted),
        LIFETIME_TEST(modules_are_freed_by_whichever_thread_is_last),
        LIFETIME_TEST(a_loader_goes_on_on_another_thread),
        LIFETIME_TEST(a_retained_loss_keeps_its_graph_when_its_thread_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
