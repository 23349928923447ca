// SPDX-License-Identifier: Apache-2.0
// What fails in workers, what is refused beside them, and what they leave.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noisy_dataset.h"

// ---- errors -------------------------------------------------------------------------------------

static void an_error_of_a_worker_is_the_loops_at_its_batch(void **state)
{
    (void)state;
    plain();
    set_up.fails_at = 17;
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .workers = 3);
    tern_batch b;
    for (int i = 0; i < 4; i++)
        assert_true(tern_loader_next(loader, &b));
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_NULL, "neg: x is NULL [in sample 17 of noisy]");
    assert_int_equal(tern_loader_position(loader), 4);
    assert_false(tern_loader_next(loader, &b)); // made again, it fails again
    assert_error(TERN_ERR_NULL, "neg: x is NULL [in sample 17 of noisy]");
    set_up.fails_at = -1;
    assert_true(tern_loader_next(loader, &b));
    assert_memory_equal(tern_data(b.y), ((int64_t[]){16, 17, 18, 19}), 32);
    assert_true(tern_loader_next(loader, &b));
    assert_memory_equal(tern_data(b.y), ((int64_t[]){20, 21, 22, 23}), 32);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_batch_that_takes_too_long_is_an_error(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .workers = 1, .timeout = 0.05);
    set_up.gated = true;
    pthread_mutex_lock(&set_up.gate);
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE,
                 "loader_next: worker 0 has made no batch of noisy from sample 0 on "
                 "for 0.05 s (.timeout)");
    pthread_mutex_unlock(&set_up.gate);
    bool made = false;
    for (int i = 0; i < 400 && !made; i++) {
        made = tern_loader_next(loader, &b);
        tern_error_clear();
    }
    assert_true(made);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){0, 1, 2, 3}), 32);
    tern_loader_free(loader);
    tern_dataset_free(set);
    plain();
}

static void a_stuck_worker_keeps_its_memory_until_it_returns(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .workers = 1, .timeout = 0.02);
    set_up.gated = true;
    pthread_mutex_lock(&set_up.gate);
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE, "loader_next: worker 0 has made no batch");
    tern_loader_free(loader);
    assert_null(tern_dataset_to(set, tern_cpu(0)));
    assert_error(TERN_ERR_STATE, "dataset_to: 1 worker of a loader asks noisy for batches");
    tern_dataset_free(set);
    assert_int_equal(set_up.inside, 1);
    tern_shutdown();
    assert_error(TERN_ERR_STATE, "shutdown: a thread of the library's is at work");
    pthread_mutex_unlock(&set_up.gate);
    for (int i = 0; i < 2000 && set_up.made < 4; i++)
        sleep_milliseconds(1);
    assert_int_equal(set_up.made, 4);
    sleep_milliseconds(50); // and it lets go of what it has
    plain();
}

static void what_a_loop_must_not_do_meanwhile_is_refused(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = numbers(8);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .workers = 2);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_null(tern_dataset_to(set, tern_cpu(0)));
    assert_error(TERN_ERR_STATE, "dataset_to: 2 workers of a loader ask data_tensors for batches");
    tern_shutdown();
    assert_error(TERN_ERR_STATE, "shutdown: a thread of the library's is at work: end the epochs");
    tern_loader_reset(loader);
    assert_non_null(tern_dataset_to(set, tern_cpu(0)));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void what_workers_ask_through_others_is_not_moved(void **state)
{
    (void)state;
    tern_dataset *set = numbers(8), *other = numbers(8);
    tern_dataset *cached = tern_data_cache(set), *both = tern_data_concat(other, cached);
    tern_dataset *some = tern_data_subset(both, ((int64_t[]){1, 9, 2, 10}), 4);
    tern_loader *loader = tern_loader_new(some, .batch_size = 1, .workers = 2);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    tern_dataset *const asked[] = {set, other, cached};
    for (int i = 0; i < 3; i++) {
        assert_null(tern_dataset_to(asked[i], tern_cpu(0)));
        assert_error(TERN_ERR_STATE, "dataset_to: 2 workers of a loader ask data_");
    }
    tern_loader_reset(loader);
    for (int i = 0; i < 3; i++)
        assert_non_null(tern_dataset_to(asked[i], tern_cpu(0)));
    tern_loader_free(loader);
    tern_dataset_free(some);
    tern_dataset_free(both);
    tern_dataset_free(cached);
    tern_dataset_free(other);
    tern_dataset_free(set);
}

static tern_status no_init(int worker, int workers, void *user)
{
    (void)worker, (void)workers, (void)user;
    return TERN_OK;
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    tern_dataset *set = numbers(8);
    assert_null(tern_loader_new(set, .workers = -1));
    assert_error(TERN_ERR_ARG, "loader_new: workers is -1, but must be 0 to 256");
    assert_null(tern_loader_new(set, .workers = 257));
    assert_error(TERN_ERR_ARG, "loader_new: workers is 257, but must be 0 to 256");
    assert_null(tern_loader_new(set, .workers = 1, .prefetch = 0));
    assert_error(TERN_ERR_ARG, "loader_new: prefetch is 0, but must be 1 to 1000");
    assert_null(tern_loader_new(set, .timeout = 1));
    assert_error(TERN_ERR_ARG, "loader_new: .timeout is how long to wait for workers");
    assert_null(tern_loader_new(set, .workers = 1, .timeout = (double)NAN));
    assert_error(TERN_ERR_ARG, "loader_new: timeout is nan");
    assert_null(tern_loader_new(set, .worker_init = no_init));
    assert_error(TERN_ERR_ARG, "loader_new: .worker_init is for workers, and there are none");
    tern_dataset_free(set);
}

// ---- what is left -------------------------------------------------------------------------------

static void leaving_a_loop_early_leaves_nothing(void **state)
{
    (void)state;
    plain();
    set_up.milliseconds = 1;
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .workers = 3, .prefetch = 2);
    for (int round = 0; round < 3; round++) {
        tern_each_batch (b, loader)
            break;
        assert_int_equal(set_up.inside, 0);
        const int64_t made = set_up.made;
        sleep_milliseconds(5);
        assert_int_equal(set_up.made, made);
        assert_int_equal(tern_live_tensors(), 0);
    }
    tern_loader_free(loader);
    tern_dataset_free(set);
    plain();
}

static void loops_inside_each_other_have_workers_of_their_own(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 10, .workers = 2);
    int64_t outer = 0, inner = 0;
    tern_each_batch (b, loader) {
        assert_int_equal(b.index[0], outer);
        outer += b.size;
        tern_each_batch (c, loader)
            inner += c.size;
    }
    assert_int_equal(outer, COUNT);
    assert_int_equal(inner, 5 * COUNT);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// What the child of a process with workers has of a loader: none of its threads.
static int use_in_child(tern_loader *loader)
{
    tern_batch b;
    alarm(10);
    if (tern_loader_next(loader, &b) || tern_error_code() != TERN_ERR_STATE)
        return 1;
    tern_error_clear();
    tern_loader_free(loader);
    return 0;
}

static void a_forked_child_gets_an_error_and_may_free_the_loader(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .workers = 2);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    const pid_t child = fork();
    if (child == 0)
        _exit(use_in_child(loader));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    int64_t samples = b.size;
    while (tern_loader_next(loader, &b)) // the parent notices nothing
        samples += b.size;
    assert_int_equal(samples, COUNT);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// An allocation that fails is an error or one thread less, wherever it is.
static void no_memory_anywhere_loses_no_batch(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    int failures = 0;
    for (int64_t n = 1; n < 120; n++) {
        tern_workers_shutdown();
        tern_memory_trim();
        const int64_t before = tern_memory_live_bytes();
        fail_nth_allocation(n);
        tern_loader *loader = tern_loader_new(set, .batch_size = 10, .workers = 2);
        int64_t next = 0;
        tern_batch b;
        bool more = loader != NULL;
        while (more) {
            more = tern_loader_next(loader, &b);
            for (int64_t i = 0; more && i < b.size; i++)
                assert_int_equal(b.index[i], next++);
            if (!more && tern_error_pending()) {
                fail_nth_allocation(0);
                assert_int_equal(tern_error_take(NULL, 0), TERN_ERR_NOMEM);
                failures++;
                more = true;
            }
        }
        fail_nth_allocation(0);
        if (!loader)
            assert_int_equal(tern_error_take(NULL, 0), TERN_ERR_NOMEM);
        else
            assert_int_equal(next, COUNT);
        tern_loader_free(loader);
        tern_workers_shutdown();
        assert_int_equal(tern_memory_live_bytes(), before);
    }
    assert_true(failures > 20);
    tern_dataset_free(set);
}

// ---- time ---------------------------------------------------------------------------------------

static void the_share_of_waiting_is_told(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *alone = tern_loader_new(set, .batch_size = 8);
    assert_true(tern_loader_wait_share(alone) == 0);
    set_up.milliseconds = 2;
    drain(alone);
    assert_true(tern_loader_wait_share(alone) > 0.8 && tern_loader_wait_share(alone) <= 1);
    set_up.milliseconds = 0;
    tern_loader *ahead = tern_loader_new(set, .batch_size = 8, .workers = 1);
    tern_each_batch (b, ahead)
        sleep_milliseconds(20);
    const double share = tern_loader_wait_share(ahead);
    assert_true(share >= 0 && share < 0.3);
    sleep_milliseconds(30);
    assert_true(tern_loader_wait_share(ahead) == share); // that of the last epoch
    tern_loader_free(alone);
    tern_loader_free(ahead);
    tern_dataset_free(set);
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(an_error_of_a_worker_is_the_loops_at_its_batch),
        DATA_TEST(a_batch_that_takes_too_long_is_an_error),
        DATA_TEST(a_stuck_worker_keeps_its_memory_until_it_returns),
        DATA_TEST(what_a_loop_must_not_do_meanwhile_is_refused),
        DATA_TEST(what_workers_ask_through_others_is_not_moved),
        DATA_TEST(what_makes_no_sense_is_refused),
        DATA_TEST(leaving_a_loop_early_leaves_nothing),
        DATA_TEST(loops_inside_each_other_have_workers_of_their_own),
        DATA_TEST(a_forked_child_gets_an_error_and_may_free_the_loader),
        DATA_TEST(no_memory_anywhere_loses_no_batch),
        DATA_TEST(the_share_of_waiting_is_told),
    };
    return cmocka_run_group_tests_name("workers_end", tests, start_group, end_group);
}
