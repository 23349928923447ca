// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"
#include "device/backend.h"

// ---- who owns what ------------------------------------------------------------------------------

static void batch_and_temporaries_live_until_the_next_call(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_batch first, second;
    assert_true(tern_loader_next(loader, &first));
    tern_tensor *made = tern_neg(first.x);
    tern_tensor *kept = tern_retain(tern_abs(first.x));
    assert_false(is_dead(first.x));
    assert_true(tern_loader_next(loader, &second));
    assert_true(is_dead(first.x));
    assert_true(is_dead(made));
    assert_false(is_dead(kept));
    assert_false(is_dead(second.x));
    tern_loader_free(loader);
    assert_true(is_dead(second.x));
    assert_false(is_dead(kept));
    tern_release(kept);
    tern_dataset_free(set);
}

static void a_retained_batch_lives_on(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    tern_tensor *kept = tern_retain(b.x);
    while (tern_loader_next(loader, &b))
        continue;
    tern_loader_free(loader);
    assert_memory_equal(tern_data(kept), ((int64_t[]){0, 1}), 16);
    tern_release(kept);
    tern_dataset_free(set);
}

static void a_scope_of_the_user_does_not_end_the_batch(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_scope inner = tern_scope_open();
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    tern_scope_close(inner);
    assert_memory_equal(tern_data(b.x), ((int64_t[]){0, 1}), 16);
    assert_next(loader, 2, (int64_t[]){2, 3});
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void two_loaders_in_lockstep_leave_each_others_tensors_alone(void **state)
{
    (void)state;
    tern_dataset *left = numbers(6), *right = numbers(4);
    tern_loader *a = tern_loader_new(left, .batch_size = 2);
    tern_loader *b = tern_loader_new(right, .batch_size = 1);
    tern_batch of_a, of_b;
    tern_tensor *with_b = NULL, *with_a = NULL;
    int steps = 0;
    while (tern_loader_next(a, &of_a)) {
        assert_true(steps == 0 || (is_dead(with_a) && !is_dead(with_b) && !is_dead(of_b.x)));
        with_a = tern_neg(of_a.x);
        assert_true(tern_loader_next(b, &of_b));
        assert_true(steps == 0 || is_dead(with_b));
        assert_false(is_dead(of_a.x) || is_dead(with_a));
        with_b = tern_neg(of_b.x);
        assert_int_equal(*(int64_t *)tern_data(of_a.x), 2 * steps);
        assert_int_equal(*(int64_t *)tern_data(of_b.x), steps);
        steps++;
    }
    assert_int_equal(steps, 3);
    assert_false(is_dead(with_b));
    tern_loader_free(a);
    assert_false(is_dead(with_b) || is_dead(of_b.x));
    tern_loader_free(b);
    assert_true(is_dead(with_b));
    tern_dataset_free(left);
    tern_dataset_free(right);
}

static void an_inner_loop_keeps_what_the_outer_one_made(void **state)
{
    (void)state;
    tern_dataset *set = numbers(4);
    tern_loader *outer = tern_loader_new(set, .batch_size = 2);
    tern_loader *inner = tern_loader_new(set, .batch_size = 1);
    tern_batch b, c;
    int64_t rounds = 0;
    while (tern_loader_next(outer, &b)) {
        tern_tensor *made = tern_neg(b.x);
        while (tern_loader_next(inner, &c))
            rounds++;
        assert_false(is_dead(made) || is_dead(b.x));
    }
    assert_int_equal(rounds, 8);
    tern_loader_free(outer);
    tern_loader_free(inner);
    tern_dataset_free(set);
}

static void loader_and_dataset_may_be_freed_in_any_order(void **state)
{
    (void)state;
    for (int dataset_first = 0; dataset_first < 2; dataset_first++) {
        tern_dataset *set = numbers(4);
        tern_loader *loader = tern_loader_new(set, .batch_size = 3, .shuffle = true);
        if (dataset_first)
            tern_dataset_free(set);
        tern_batch b;
        assert_true(tern_loader_next(loader, &b));
        tern_loader_free(loader);
        if (!dataset_first)
            tern_dataset_free(set);
    }
    tern_loader_free(NULL);
}

// ---- failures -----------------------------------------------------------------------------------

static void while_an_error_is_pending_there_is_no_batch(void **state)
{
    (void)state;
    tern_dataset *set = numbers(6);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    assert_next(loader, 2, (int64_t[]){0, 1});
    assert_null(tern_neg(NULL));
    tern_batch b = {.size = 9};
    assert_false(tern_loader_next(loader, &b));
    assert_int_equal(b.size, 0);
    assert_error(TERN_ERR_NULL, "neg");
    assert_next(loader, 2, (int64_t[]){2, 3});
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// Fails when asked for sample `bad`.
typedef struct moody {
    tern_dataset base;
    int64_t bad;
} moody;

static int64_t moody_size(const tern_dataset *self)
{
    (void)self;
    return 6;
}

static tern_status moody_get(const tern_dataset *self, const tern_sample_context *context,
                             const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    for (int64_t i = 0; i < count; i++)
        if (index[i] == ((const moody *)self)->bad)
            return TERN_ERR_IO;
    (void)tern_scope_open(); // forgotten: the loader closes it
    out->at[out->count++] = tern_from_data(tern_dims(count), index, .dtype = TERN_INT64);
    return TERN_OK;
}

static const tern_dataset_class moody_class = {
    .name = "moody", .size = sizeof(moody), .count = moody_size, .get = moody_get};

static void after_a_failed_batch_the_same_one_is_next(void **state)
{
    (void)state;
    tern_dataset *set = tern_dataset_new(&moody_class);
    ((moody *)set)->bad = 3;
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    assert_next(loader, 2, (int64_t[]){0, 1});
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_IO, "loader_next: moody failed to make a batch");
    assert_int_equal(tern_loader_position(loader), 1);
    ((moody *)set)->bad = -1;
    assert_next(loader, 2, (int64_t[]){2, 3});
    assert_next(loader, 2, (int64_t[]){4, 5});
    assert_end(loader);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// As a kernel on a device leaves it.
static void leave_a_fault(tern_device device)
{
    tern_exec exec = tern_exec_of(device);
    *exec.fault =
        (tern_fault){.set = 1,
                     .location = tern_fault_location("cross_entropy", "label of sample", 10),
                     .element = 3,
                     .value = 12};
}

static void a_value_error_of_a_kernel_is_reported_by_the_next_call(void **state)
{
    (void)state;
    tern_dataset *set = numbers(4);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    assert_next(loader, 2, (int64_t[]){0, 1});
    leave_a_fault(tern_cpu(0));
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_INDEX, "cross_entropy: label of sample 3 is 12, but must be 0 to 9");
    tern_fault_clear_raised(tern_cpu(0));
    assert_next(loader, 2, (int64_t[]){2, 3});
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void no_memory_at_any_allocation_leaves_the_order_as_it_was(void **state)
{
    (void)state;
    if (test_workers() > 0)
        skip(); // where a thread cannot be started there is none, and no error
    tern_dataset *set = numbers(9);
    for (int64_t n = 1;; n++) {
        tern_memory_trim();
        tern_manual_seed(0);
        int64_t before = tern_memory_live_bytes();
        fail_nth_allocation(n);
        tern_loader *loader = tern_loader_new(set, .batch_size = 9, .shuffle = true);
        tern_batch b;
        bool made = loader && tern_loader_next(loader, &b);
        bool failed = memory.calls >= n;
        fail_nth_allocation(0);
        assert_int_equal(made, !failed);
        if (failed)
            assert_error(TERN_ERR_NOMEM, "no memory");
        if (loader && failed)
            assert_true(tern_loader_next(loader, &b));
        if (loader) {
            tern_manual_seed(0);
            tern_loader *same = tern_loader_new(set, .batch_size = 9, .shuffle = true);
            assert_next(same, 9, b.index);
            tern_loader_free(same);
        }
        tern_loader_free(loader);
        assert_int_equal(tern_memory_live_bytes(), before);
        if (!failed) {
            assert_true(n > 3);
            break;
        }
    }
    tern_dataset_free(set);
}

static void batches_are_counted_as_they_come(void **state)
{
    (void)state;
    const int64_t samples[] = {0, 1, 3, 4, 5, 8};
    const int64_t counts[][2] = {{0, 0}, {1, 0}, {1, 0}, {1, 1}, {2, 1}, {2, 2}}; // by drop_last
    for (int k = 0; k < 2 * 6; k++) {
        tern_dataset *set = numbers(samples[k / 2]);
        tern_loader *loader = tern_loader_new(set, .batch_size = 4, .drop_last = k % 2);
        assert_int_equal(tern_loader_batches(loader), counts[k / 2][k % 2]);
        int64_t seen = 0;
        for (tern_batch b; tern_loader_next(loader, &b);)
            seen++;
        assert_int_equal(seen, counts[k / 2][k % 2]);
        tern_loader_free(loader);
        tern_dataset_free(set);
    }
}

static void a_loader_that_cannot_be_is_refused(void **state)
{
    (void)state;
    tern_dataset *set = numbers(4);
    assert_null(tern_loader_new(NULL));
    assert_error(TERN_ERR_NULL, "loader_new: dataset is NULL");
    assert_null(tern_loader_new_with(NULL));
    assert_error(TERN_ERR_NULL, "options is NULL");
    assert_null(tern_loader_new(set, .batch_size = 0));
    assert_error(TERN_ERR_ARG, "batch_size is 0, but must be at least 1");
    assert_null(tern_loader_new(set, .device = tern_cpu(7)));
    assert_error(TERN_ERR_DEVICE, "no device cpu:7");
    assert_null(tern_loader_new(tern_data_mnist("/nowhere", TERN_TRAIN), .batch_size = 2));
    assert_error(TERN_ERR_IO, "/nowhere"); // of what failed first
    tern_dataset_free(set);
}

static void calls_without_a_loader_are_errors(void **state)
{
    (void)state;
    tern_batch b = {.size = 9};
    assert_false(tern_loader_next(NULL, &b));
    assert_int_equal(b.size, 0);
    assert_error(TERN_ERR_NULL, "loader_next: loader is NULL");
    tern_dataset *set = numbers(4);
    tern_loader *loader = tern_loader_new(set);
    assert_false(tern_loader_next(loader, NULL));
    assert_error(TERN_ERR_NULL, "loader_next: batch is NULL");
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_loader_reset(NULL);
    assert_error(TERN_ERR_NULL, "loader_reset: loader is NULL");
    assert_int_equal(tern_loader_batches(NULL), -1);
    assert_error(TERN_ERR_NULL, "loader_batches: loader is NULL");
    assert_int_equal(tern_loader_epoch(NULL), -1);
    assert_error(TERN_ERR_NULL, "loader_epoch: loader is NULL");
    assert_int_equal(tern_loader_position(NULL), -1);
    assert_error(TERN_ERR_NULL, "loader_position: loader is NULL");
}

// ---- devices ------------------------------------------------------------------------------------

static void batches_go_to_the_loaders_device(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_tensors(tern_ones(tern_dims(4, 2)),
                                          tern_zeros(tern_dims(4), .device = tern_cpu(1)));
    tern_loader *loader = tern_loader_new(set, .batch_size = 3, .device = tern_cpu(1));
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_true(tern_device_equal(tern_device_of(b.x), tern_cpu(1)));
    assert_true(tern_device_equal(tern_device_of(b.y), tern_cpu(1)));
    assert_ptr_equal(b.x, b.at[0]);
    assert_true(tern_item(tern_sum(b.x, TERN_ALL_AXES, false)) == 6);
    leave_a_fault(tern_cpu(1));
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_INDEX, "cross_entropy");
    tern_fault_clear_raised(tern_cpu(1));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void without_a_device_batches_stay_where_the_dataset_makes_them(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(4), .device = tern_cpu(1));
    tern_dataset *set = tern_data_tensors(x);
    tern_loader *loader = tern_loader_new(set, .batch_size = 3);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_true(tern_device_equal(tern_device_of(b.x), tern_cpu(1)));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_default_device_that_was_set_counts(void **state)
{
    (void)state;
    tern_dataset *set = numbers(4);
    assert_int_equal(tern_set_default_device(tern_cpu(1)), TERN_OK);
    tern_loader *loader = tern_loader_new(set, .batch_size = 3);
    assert_int_equal(tern_set_default_device(tern_cpu(0)), TERN_OK);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    assert_true(tern_device_equal(tern_device_of(b.x), tern_cpu(1)));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

int main(void)
{
    setenv("TERN_CACHE", "1", 1); // one test is about reuse
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(batch_and_temporaries_live_until_the_next_call),
        DATA_TEST(a_retained_batch_lives_on),
        DATA_TEST(a_scope_of_the_user_does_not_end_the_batch),
        DATA_TEST(two_loaders_in_lockstep_leave_each_others_tensors_alone),
        DATA_TEST(an_inner_loop_keeps_what_the_outer_one_made),
        DATA_TEST(loader_and_dataset_may_be_freed_in_any_order),
        DATA_TEST(while_an_error_is_pending_there_is_no_batch),
        DATA_TEST(after_a_failed_batch_the_same_one_is_next),
        DATA_TEST(a_value_error_of_a_kernel_is_reported_by_the_next_call),
        DATA_TEST(no_memory_at_any_allocation_leaves_the_order_as_it_was),
        DATA_TEST(batches_are_counted_as_they_come),
        DATA_TEST(a_loader_that_cannot_be_is_refused),
        DATA_TEST(calls_without_a_loader_are_errors),
        DATA_TEST(batches_go_to_the_loaders_device),
        DATA_TEST(without_a_device_batches_stay_where_the_dataset_makes_them),
        DATA_TEST(a_default_device_that_was_set_counts),
    };
    return cmocka_run_group_tests_name("loader", tests, start_group, end_group);
}
