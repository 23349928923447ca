// SPDX-License-Identifier: Apache-2.0
// Workers change when batches are made and by whom, and nothing else.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "loader_test.h"

enum { COUNT = 41, WIDTH = 3 };

static void sleep_milliseconds(int64_t milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

// ---- a dataset that does what a test wants ------------------------------------------------------

// Sample i is i + noise, WIDTH times, after what is set here.
static struct {
    _Atomic int64_t fails_at; // this sample, -1: none
    _Atomic int64_t milliseconds;
    _Atomic int64_t made;
    _Atomic int inside, most; // calls at once
    _Atomic int workers;      // as the context says
    _Atomic uint64_t asked;   // a bit for each worker
    _Atomic int dtype;        // the default one of the thread
    pthread_mutex_t gate;     // held while a sample is made
    _Atomic bool gated;
} set_up = {.fails_at = -1, .gate = PTHREAD_MUTEX_INITIALIZER};

static void plain(void)
{
    set_up.fails_at = -1;
    set_up.milliseconds = set_up.made = 0;
    set_up.inside = set_up.most = set_up.workers = set_up.dtype = 0;
    set_up.asked = 0;
    set_up.gated = false;
}

static int64_t count_all(const tern_dataset *self)
{
    (void)self;
    return COUNT;
}

static tern_status make_sample(const tern_sample_context *context, int64_t index, tern_sample *out)
{
    if (index == set_up.fails_at)
        return tern_neg(NULL) ? TERN_OK : TERN_ERR_NULL;
    double noisy[WIDTH];
    for (int k = 0; k < WIDTH; k++)
        noisy[k] = (double)index + tern_sample_rand(context, index, k);
    out->at[out->count++] = tern_from_data(tern_dims(WIDTH), noisy, .dtype = TERN_FLOAT64);
    out->at[out->count++] = tern_full(tern_dims(), (double)index, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status item(const tern_dataset *self, const tern_sample_context *context, int64_t index,
                        tern_sample *out)
{
    (void)self;
    const int inside = ++set_up.inside;
    if (inside > set_up.most)
        set_up.most = inside;
    set_up.workers = context->workers;
    set_up.dtype = (int)tern_default_dtype();
    atomic_fetch_or(&set_up.asked, UINT64_C(1) << context->worker);
    if (set_up.gated) {
        pthread_mutex_lock(&set_up.gate);
        pthread_mutex_unlock(&set_up.gate);
    }
    if (set_up.milliseconds > 0)
        sleep_milliseconds(set_up.milliseconds);
    const tern_status status = make_sample(context, index, out);
    set_up.made++;
    set_up.inside--;
    return status;
}

static const tern_dataset_class noisy_class = {
    .name = "noisy", .size = sizeof(tern_dataset), .count = count_all, .item = item};
static const tern_dataset_class serial_class = {.name = "serial",
                                                .size = sizeof(tern_dataset),
                                                .count = count_all,
                                                .item = item,
                                                .serial = true};

#undef tern_loader_new
#define tern_loader_new(...)                                                                       \
    TERN_WITH_(tern_loader_new, tern_loader_new, TERN_LOADER_NEW, __VA_ARGS__)

// ---- the same bits ------------------------------------------------------------------------------

typedef struct epochs {
    double x[2][COUNT][WIDTH];
    int64_t order[2][COUNT];
    int64_t sizes[2][COUNT];
} epochs;

static void run(tern_loader *loader, epochs *seen)
{
    for (int epoch = 0; epoch < 2; epoch++) {
        int64_t done = 0, batches = 0;
        tern_each_batch (b, loader) {
            memcpy(seen->x[epoch][done], tern_data(b.x), (size_t)b.size * sizeof seen->x[0][0]);
            memcpy(seen->order[epoch] + done, b.index, (size_t)b.size * sizeof(int64_t));
            assert_memory_equal(tern_data(b.y), b.index, (size_t)b.size * sizeof(int64_t));
            seen->sizes[epoch][batches++] = b.size;
            done += b.size;
        }
        assert_false(tern_error_pending());
    }
}

static epochs run_with(int workers, int64_t prefetch, int64_t batch_size)
{
    epochs seen = {0};
    tern_manual_seed(5);
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = batch_size, .shuffle = true,
                                          .workers = workers, .prefetch = prefetch);
    run(loader, &seen);
    tern_loader_free(loader);
    tern_dataset_free(set);
    return seen;
}

static void any_number_of_workers_gives_the_same_batches(void **state)
{
    (void)state;
    plain();
    static const int numbers_of_workers[] = {1, 2, 3, 8};
    for (int64_t batch_size = 1; batch_size <= COUNT + 2; batch_size += 6) {
        const epochs alone = run_with(0, 2, batch_size);
        for (int i = 0; i < 4; i++)
            for (int64_t prefetch = 1; prefetch <= 3; prefetch += 2) {
                const epochs with = run_with(numbers_of_workers[i], prefetch, batch_size);
                assert_memory_equal(&alone, &with, sizeof alone);
            }
    }
}

static void batches_of_uneven_cost_come_in_order(void **state)
{
    (void)state;
    plain();
    const epochs alone = run_with(0, 2, 2);
    set_up.milliseconds = 1;
    const epochs with = run_with(4, 2, 2);
    assert_memory_equal(&alone, &with, sizeof alone);
    plain();
}

// ---- who works ----------------------------------------------------------------------------------

static void drain(tern_loader *loader)
{
    tern_each_batch (b, loader)
        continue;
    assert_false(tern_error_pending());
}

static void workers_make_batches_at_once(void **state)
{
    (void)state;
    plain();
    set_up.milliseconds = 2;
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .workers = 3);
    drain(loader);
    assert_int_equal(set_up.workers, 3);
    assert_in_range(set_up.most, 2, 3);
    assert_int_equal(set_up.asked, 7);
    tern_loader_free(loader);
    tern_dataset_free(set);
    plain();
}

static void a_serial_dataset_has_one_worker(void **state)
{
    (void)state;
    plain();
    set_up.milliseconds = 1;
    tern_dataset *set = tern_dataset_new(&serial_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .workers = 3);
    drain(loader);
    assert_int_equal(set_up.most, 1);
    assert_int_equal(set_up.workers, 1);
    assert_int_equal(set_up.asked, 1);
    tern_loader_free(loader);
    tern_dataset_free(set);
    plain();
}

static void a_worker_has_the_settings_of_who_asks(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 8, .workers = 2);
    assert_int_equal(tern_set_default_dtype(TERN_FLOAT64), TERN_OK);
    drain(loader);
    assert_int_equal(set_up.dtype, TERN_FLOAT64);
    assert_int_equal(tern_set_default_dtype(TERN_FLOAT32), TERN_OK);
    drain(loader);
    assert_int_equal(set_up.dtype, TERN_FLOAT32);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void as_many_batches_as_asked_for_are_made_ahead(void **state)
{
    (void)state;
    plain();
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 1, .workers = 2, .prefetch = 3);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    for (int i = 0; i < 2000 && set_up.made < 7; i++)
        sleep_milliseconds(1);
    sleep_milliseconds(20);
    assert_int_equal(set_up.made, 7); // the one in hand, and 2 * 3
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static struct {
    _Atomic int calls;
    _Atomic uint64_t seen;
    _Atomic int fails; // this worker
} init_of = {.fails = -1};

static tern_status note_worker(int worker, int workers, void *user)
{
    assert_int_equal(workers, 3);
    assert_ptr_equal(user, &init_of);
    init_of.calls++;
    atomic_fetch_or(&init_of.seen, UINT64_C(1) << worker);
    return worker == init_of.fails ? TERN_ERR_IO : TERN_OK;
}

static void each_worker_begins_with_init(void **state)
{
    (void)state;
    plain();
    init_of.fails = -1;
    tern_dataset *set = tern_dataset_new(&noisy_class);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .workers = 3,
                                          .worker_init = note_worker, .user = &init_of);
    drain(loader);
    assert_int_equal(init_of.calls, 3);
    assert_int_equal(init_of.seen, 7);
    init_of.fails = 1;
    tern_batch b;
    for (int i = 0; i < 2; i++) {
        assert_false(tern_loader_next(loader, &b));
        assert_error(TERN_ERR_IO, "loader_next: .worker_init failed and did not say why");
    }
    init_of.fails = -1;
    tern_loader_reset(loader);
    drain(loader);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

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
    assert_null(tern_loader_new(set, .worker_init = note_worker));
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
        DATA_TEST(any_number_of_workers_gives_the_same_batches),
        DATA_TEST(batches_of_uneven_cost_come_in_order),
        DATA_TEST(workers_make_batches_at_once),
        DATA_TEST(a_serial_dataset_has_one_worker),
        DATA_TEST(a_worker_has_the_settings_of_who_asks),
        DATA_TEST(as_many_batches_as_asked_for_are_made_ahead),
        DATA_TEST(each_worker_begins_with_init),
        DATA_TEST(an_error_of_a_worker_is_the_loops_at_its_batch),
        DATA_TEST(a_batch_that_takes_too_long_is_an_error),
        DATA_TEST(a_stuck_worker_keeps_its_memory_until_it_returns),
        DATA_TEST(what_a_loop_must_not_do_meanwhile_is_refused),
        DATA_TEST(what_makes_no_sense_is_refused),
        DATA_TEST(leaving_a_loop_early_leaves_nothing),
        DATA_TEST(loops_inside_each_other_have_workers_of_their_own),
        DATA_TEST(no_memory_anywhere_loses_no_batch),
        DATA_TEST(the_share_of_waiting_is_told),
    };
    return cmocka_run_group_tests_name("workers", tests, start_group, end_group);
}
