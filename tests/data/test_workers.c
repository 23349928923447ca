// SPDX-License-Identifier: Apache-2.0
// Workers change when batches are made and by whom, and nothing else.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "noisy_dataset.h"

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

static void a_serial_dataset_is_asked_by_one_of_the_workers_of_all_loops(void **state)
{
    (void)state;
    plain();
    set_up.milliseconds = 1;
    tern_dataset *set = tern_dataset_new(&serial_class), *parts[2];
    assert_int_equal(
        tern_data_random_split(set, 2, parts, .lengths = ((int64_t[]){20, COUNT - 20})), TERN_OK);
    tern_loader *train = tern_loader_new(parts[0], .batch_size = 5, .workers = 3);
    tern_loader *test = tern_loader_new(parts[1], .batch_size = 5, .workers = 3);
    int64_t samples = 0;
    tern_each_batch (b, train) {
        tern_each_batch (c, test)
            samples += c.size;
        tern_each_batch (c, train)
            samples += c.size;
        tern_sample one;
        assert_int_equal(tern_dataset_item(set, 3, &one), TERN_OK);
    }
    assert_int_equal(samples, 4 * COUNT);
    assert_int_equal(set_up.most, 1);
    tern_loader_free(train);
    tern_loader_free(test);
    tern_dataset_free(parts[0]);
    tern_dataset_free(parts[1]);
    tern_dataset_free(set);
    plain();
}

// Sample i is (how many were made before).
typedef struct counted {
    tern_dataset base;
    int64_t made;
} counted;

static tern_status count_up(const tern_dataset *self, const tern_sample_context *context,
                            int64_t index, tern_sample *out)
{
    (void)context, (void)index;
    counted *set = (counted *)(uintptr_t)self;
    out->at[out->count++] = tern_full(tern_dims(), (double)set->made++, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status visit_count(tern_dataset *self, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "made", &((counted *)self)->made);
}

static void a_saved_dataset_that_changes_is_where_the_loop_is(void **state)
{
    (void)state;
    static const tern_dataset_class klass = {.name = "counted",
                                             .size = sizeof(counted),
                                             .count = count_all,
                                             .item = count_up,
                                             .visit = visit_count,
                                             .serial = true};
    tern_dataset *set = tern_dataset_new(&klass), *other = numbers(2);
    tern_dataset *both = tern_data_concat(other, set);
    for (int over = 0; over < 2; over++) {
        tern_loader *loader = tern_loader_new(over ? both : set, .batch_size = 4, .workers = 2);
        tern_batch b;
        ((counted *)set)->made = 0;
        assert_true(tern_loader_next(loader, &b));
        sleep_milliseconds(5);
        assert_int_equal(((counted *)set)->made, over ? 2 : 4);
        tern_loader_free(loader);
    }
    tern_dataset_free(both);
    tern_dataset_free(other);
    tern_dataset_free(set);
}

// Sample i is the sum of the numbers below i, by a loader with a worker.
static tern_status sum_by_loader(const tern_sample_context *context, int64_t index,
                                 tern_sample *sample, void *user)
{
    (void)context, (void)user;
    tern_dataset *set = numbers(index + 1);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .workers = 1);
    tern_dataset_free(set);
    int64_t sum = 0;
    tern_each_batch (b, loader)
        for (int64_t i = 0; i < b.size; i++)
            sum += b.index[i];
    tern_loader_free(loader);
    sample->x = tern_full(tern_dims(), (double)sum, .dtype = TERN_INT64);
    return tern_error_code();
}

static void a_dataset_may_ask_a_loader_of_its_own(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6), *sums = tern_data_map(set, sum_by_loader);
    for (int workers = 0; workers <= 2; workers++) {
        tern_loader *loader = tern_loader_new(sums, .batch_size = 6, .workers = workers);
        tern_each_batch (b, loader)
            assert_memory_equal(tern_data(b.x), ((int64_t[]){0, 1, 3, 6, 10, 15}), 48);
        assert_int_equal(tern_loader_position(loader), 1);
        assert_false(tern_error_pending());
        tern_loader_free(loader);
    }
    tern_dataset_free(sums);
    tern_dataset_free(set);
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
        DATA_TEST(a_serial_dataset_is_asked_by_one_of_the_workers_of_all_loops),
        DATA_TEST(a_saved_dataset_that_changes_is_where_the_loop_is),
        DATA_TEST(a_dataset_may_ask_a_loader_of_its_own),
        DATA_TEST(a_worker_has_the_settings_of_who_asks),
        DATA_TEST(as_many_batches_as_asked_for_are_made_ahead),
        DATA_TEST(each_worker_begins_with_init),
    };
    return cmocka_run_group_tests_name("workers", tests, start_group, end_group);
}
