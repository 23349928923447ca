// SPDX-License-Identifier: Apache-2.0
// A thread that is cancelled while a call of the library waits, writes or runs a function of the
// program's ends after the call: nothing is left locked, held or counted.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread_pool_size.h"
#include "support/lifetime_check.h"

static atomic_int reached;  // cancellation points in functions that the library called
static atomic_int returned; // calls

static void reach_a_cancellation_point(void)
{
    pthread_testcancel();
    atomic_fetch_add(&reached, 1);
}

typedef void call_fn(void);

static void *be_cancelled_in(void *call)
{
    pthread_cancel(pthread_self()); // takes effect at the first cancellation point
    (*(call_fn **)call)();
    atomic_fetch_add(&returned, 1);
    pthread_testcancel();
    return NULL;
}

static void check_cancelled_after(call_fn *call)
{
    pthread_t thread;
    void *result = NULL;
    atomic_store(&returned, 0);
    atomic_store(&reached, 0);
    assert_int_equal(pthread_create(&thread, NULL, be_cancelled_in, &call), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&returned), 1);
}

// And that this thread can make the same call afterwards.
static void check_call(call_fn *call)
{
    check_cancelled_after(call);
    int points = atomic_load(&reached);
    assert_true(points > 0);
    call();
    assert_int_equal(atomic_load(&reached), 2 * points);
}

// ---- the log ------------------------------------------------------------------------------------

static sem_t waiting;
static atomic_int lines;

static void count_lines(tern_log_level level, const char *line, void *user)
{
    (void)level, (void)line, (void)user;
    atomic_fetch_add(&lines, 1);
}

static void wait_a_little(tern_log_level level, const char *line, void *user)
{
    count_lines(level, line, user);
    sem_post(&waiting);
    for (int i = 0; i < 20; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); // where it can be cancelled
    reach_a_cancellation_point();
}

static void *fail_twice(void *unused)
{
    (void)unused;
    (void)tern_error_raise(TERN_ERR_ARG, "a failure");
    (void)tern_error_raise(TERN_ERR_ARG, "a second one");
    atomic_fetch_add(&returned, tern_error_code() == TERN_ERR_ARG);
    pthread_testcancel();
    return NULL;
}

static void a_thread_cancelled_in_the_log_callback_ends_after_it(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    atomic_store(&lines, 0);
    atomic_store(&reached, 0);
    atomic_store(&returned, 0);
    assert_int_equal(sem_init(&waiting, 0, 0), 0);
    tern_set_log(wait_a_little, NULL);
    assert_int_equal(pthread_create(&thread, NULL, fail_twice, NULL), 0);
    sem_wait(&waiting);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&reached), 2); // once for each failure
    assert_int_equal(atomic_load(&returned), 1);
    tern_set_log(count_lines, NULL);
    (void)tern_error_raise(TERN_ERR_SHAPE, "a failure of another thread");
    (void)tern_error_raise(TERN_ERR_ARG, "its second one");
    assert_error(TERN_ERR_SHAPE, "a failure of another thread");
    assert_int_equal(atomic_load(&lines), 4);
    tern_set_log(NULL, NULL);
    sem_destroy(&waiting);
}

static void warn(void)
{
    tern_log_send(TERN_LOG_WARN, "a warning");
}

static void warn_again(void)
{
    tern_log_send(TERN_LOG_WARN, "another warning");
}

static void a_thread_cancelled_while_a_warning_is_printed_prints_it_whole(void **state)
{
    (void)state;
    char words[100] = "";
    FILE *file = tmpfile();
    int own = dup(STDERR_FILENO);
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    check_cancelled_after(warn);
    warn_again();
    dup2(own, STDERR_FILENO);
    close(own);
    rewind(file);
    assert_true(fread(words, 1, sizeof words - 1, file) > 0);
    fclose(file);
    assert_string_equal(words, "tern: warning: a warning\ntern: warning: another warning\n");
}

// ---- files --------------------------------------------------------------------------------------

static FILE *stream;

static ssize_t slow_write(void *cookie, const char *bytes, size_t count)
{
    (void)cookie, (void)bytes;
    reach_a_cancellation_point();
    return (ssize_t)count;
}

static void print_an_error(void)
{
    (void)tern_error_raise(TERN_ERR_ARG, "a failure");
    assert_int_equal(tern_error_print(stream), 1);
    assert_false(tern_error_pending());
}

static void print_a_tensor(void)
{
    assert_int_equal(tern_print(tern_ones(tern_dims(2, 2)), stream), TERN_OK);
}

static void print_a_summary(void)
{
    tern_module *net = tern_nn_linear(2, 1);
    assert_int_equal(tern_module_summary_print(net, tern_dims(3, 2), stream), TERN_OK);
    tern_module_free(net);
}

static void a_thread_cancelled_while_it_prints_ends_after_the_call(void **state)
{
    (void)state;
    stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = slow_write});
    assert_non_null(stream);
    setvbuf(stream, NULL, _IONBF, 0);
    check_call(print_an_error);
    check_call(print_a_tensor);
    check_call(print_a_summary);
    fclose(stream);
}

static char path[] = "/tmp/tern-cancellation-XXXXXX";

static void read_a_file(void)
{
    assert_values(tern_idx_read(path), 5, 6);
}

// Files that a read leaves open are found at the end of the program.
static void a_thread_cancelled_while_it_reads_ends_after_the_call(void **state)
{
    (void)state;
    const unsigned char idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, idx, sizeof idx), sizeof idx);
    close(file);
    check_cancelled_after(read_a_file);
    read_a_file();
    unlink(path);
}

static void ask_for_the_processors(void)
{
    assert_true(tern_pool_cpus() > 0);
}

static void a_thread_cancelled_while_threads_are_counted_ends_after_it(void **state)
{
    (void)state;
    check_cancelled_after(ask_for_the_processors);
}

// ---- memory -------------------------------------------------------------------------------------

static void *slow_alloc(size_t nbytes, size_t align, void *user)
{
    (void)user;
    void *memory = NULL;
    reach_a_cancellation_point();
    return posix_memalign(&memory, align, nbytes) == 0 ? memory : NULL;
}

static void slow_free(void *memory, size_t nbytes, void *user)
{
    (void)nbytes, (void)user;
    reach_a_cancellation_point();
    free(memory);
}

static void take_and_trim(void)
{
    tern_scope scope = tern_scope_open();
    assert_non_null(tern_ones(tern_dims(1000)));
    tern_scope_close(scope);
    tern_memory_trim();
}

static void a_thread_cancelled_in_the_allocator_ends_after_the_call(void **state)
{
    (void)state;
    const tern_allocator slow = {slow_alloc, slow_free, NULL};
    tern_shutdown();
    assert_int_equal(tern_set_allocator(&slow), TERN_OK);
    check_cancelled_after(take_and_trim);
    assert_true(atomic_load(&reached) > 0);
    take_and_trim();
    tern_shutdown();
    assert_int_equal(tern_memory_live_bytes(), 0);
    assert_int_equal(tern_set_allocator(NULL), TERN_OK);
}

// ---- hooks, modules, datasets, visitors, backward functions -------------------------------------

static tern_status slow_hook(tern_module *module, tern_tensors *in, void *user)
{
    (void)module, (void)in, (void)user;
    reach_a_cancellation_point();
    return TERN_OK;
}

static void run_a_module(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 1));
    assert_true(tern_module_add_forward_pre_hook(net, slow_hook, NULL) > 0);
    assert_true(tern_module_add_forward_pre_hook(tern_module_child(net, "0"), slow_hook, NULL) > 0);
    assert_non_null(tern_forward(net, tern_ones(tern_dims(3, 2))));
    tern_module_free(net);
}

// The second one runs on another thread, for which this one waits.
static void run_two_modules(void)
{
    tern_module *nets[2];
    tern_tensors in[2], out[2];
    for (int i = 0; i < 2; i++) {
        nets[i] = tern_nn_linear(2, 1);
        assert_true(tern_module_add_forward_pre_hook(nets[i], slow_hook, NULL) > 0);
        in[i] = (tern_tensors){.count = 1, .at = {tern_ones(tern_dims(3, 2))}};
    }
    assert_int_equal(tern_parallel_apply(nets, in, out, 2), TERN_OK);
    for (int i = 0; i < 2; i++)
        tern_module_free(nets[i]);
}

static tern_status slow_visitor(const char *name, tern_module *module, void *user)
{
    (void)name, (void)module, (void)user;
    reach_a_cancellation_point();
    return TERN_OK;
}

static void visit_a_module(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 1));
    assert_int_equal(tern_module_apply(net, slow_visitor, NULL), TERN_OK);
    tern_module_free(net);
}

static int64_t slow_size(const tern_dataset *self)
{
    (void)self;
    reach_a_cancellation_point();
    return 2;
}

static tern_status slow_get(const tern_dataset *self, const tern_sample_context *context,
                            const int64_t *index, int64_t count, tern_batch *batch)
{
    (void)context;
    (void)self, (void)index;
    reach_a_cancellation_point();
    batch->at[batch->count++] = tern_ones(tern_dims(count, 1));
    return tern_error_code();
}

static void slow_dataset_free(tern_dataset *self)
{
    (void)self;
    reach_a_cancellation_point();
}

static const tern_dataset_class slow_class = {
    .name = "Slow",
    .size = sizeof(tern_dataset),
    .count = slow_size,
    .get = slow_get,
    .free = slow_dataset_free,
};

static void load_batches(void)
{
    tern_dataset *set = tern_dataset_new(&slow_class);
    tern_loader *loader = tern_loader_new(set);
    int batches = 0;
    tern_each_batch (b, loader)
        batches++;
    assert_int_equal(batches, 2);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static tern_status slow_backward(tern_backward_context *context)
{
    reach_a_cancellation_point();
    return tern_context_set_grad(context, 0, tern_context_grad(context));
}

static const tern_function slow_identity = {"slow_identity", slow_backward};

static void go_backward(void)
{
    tern_tensor *x = tern_ones(tern_dims(), .requires_grad = true), *y = NULL;
    tern_no_grad {
        y = tern_clone(x);
    }
    y = tern_record(&slow_identity, y, &x, 1, NULL, 0, NULL, 0);
    assert_int_equal(tern_backward(y), TERN_OK);
    assert_values(tern_grad(x), 1);
}

static void a_thread_cancelled_in_a_function_of_the_program_ends_after_the_call(void **state)
{
    (void)state;
    check_call(run_a_module);
    check_call(run_two_modules);
    check_call(visit_a_module);
    check_call(load_batches);
    check_call(go_backward);
}

// ---- what a thread has set ----------------------------------------------------------------------

static void *run_with_cancellation_disabled(void *fine)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    run_a_module();
    warn();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    *(bool *)fine = before == PTHREAD_CANCEL_DISABLE;
    run_a_module();
    warn();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    *(bool *)fine = *(bool *)fine && before == PTHREAD_CANCEL_ENABLE;
    return NULL;
}

static void a_call_leaves_cancellation_as_it_was_set(void **state)
{
    (void)state;
    pthread_t thread;
    bool fine = false;
    assert_int_equal(pthread_create(&thread, NULL, run_with_cancellation_disabled, &fine), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(fine);
}

int main(void)
{
    alarm(60); // a lock that stays taken ends the program
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(a_thread_cancelled_in_the_log_callback_ends_after_it),
        LIFETIME_TEST(a_thread_cancelled_while_a_warning_is_printed_prints_it_whole),
        LIFETIME_TEST(a_thread_cancelled_while_it_prints_ends_after_the_call),
        LIFETIME_TEST(a_thread_cancelled_while_it_reads_ends_after_the_call),
        LIFETIME_TEST(a_thread_cancelled_while_threads_are_counted_ends_after_it),
        LIFETIME_TEST(a_thread_cancelled_in_the_allocator_ends_after_the_call),
        LIFETIME_TEST(a_thread_cancelled_in_a_function_of_the_program_ends_after_the_call),
        LIFETIME_TEST(a_call_leaves_cancellation_as_it_was_set),
    };
    return cmocka_run_group_tests_name("cancellation", tests, NULL, NULL);
}
