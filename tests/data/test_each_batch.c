// SPDX-License-Identifier: Apache-2.0
// The loop over the batches of an epoch. Samples are their own numbers and batches have one, so
// that what a loop saw is a list of numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"

static int64_t number(tern_batch b)
{
    return *(int64_t *)tern_data(b.x);
}

static tern_loader *loader_of(int64_t count)
{
    tern_dataset *set = numbers(count);
    tern_loader *loader = tern_loader_new(set, .batch_size = 1);
    assert_non_null(loader);
    tern_dataset_free(set);
    return loader;
}

// All batches of an epoch come, from the first on.
static void assert_whole_epoch(tern_loader *loader)
{
    int64_t next = 0;
    tern_each_batch (b, loader)
        assert_int_equal(number(b), next++);
    assert_false(tern_error_pending());
    assert_int_equal(next, tern_loader_batches(loader));
}

// ---- each way out -------------------------------------------------------------------------------

static void leave_by_break(tern_loader *loader, tern_tensor **made)
{
    tern_each_batch (b, loader) {
        *made = tern_neg(b.x);
        if (number(b) == 1)
            break;
    }
}

static void leave_by_return(tern_loader *loader, tern_tensor **made)
{
    tern_each_batch (b, loader) {
        *made = tern_neg(b.x);
        if (number(b) == 1)
            return;
    }
}

static void leave_by_goto(tern_loader *loader, tern_tensor **made)
{
    tern_each_batch (b, loader) {
        *made = tern_neg(b.x);
        if (number(b) == 1)
            goto out;
    }
out:
    return;
}

static void leave_by_an_error(tern_loader *loader, tern_tensor **made)
{
    tern_each_batch (b, loader) {
        *made = tern_neg(b.x);
        if (number(b) == 1)
            assert_null(tern_neg(NULL));
    }
    assert_int_equal(tern_error_take(NULL, 0), TERN_ERR_NULL);
}

static void leave_by_a_reset(tern_loader *loader, tern_tensor **made)
{
    tern_each_batch (b, loader) {
        *made = tern_neg(b.x);
        if (number(b) == 1)
            tern_loader_reset(loader);
    }
}

static void leave_at_the_end(tern_loader *loader, tern_tensor **made)
{
    tern_each_batch (b, loader)
        *made = tern_neg(b.x);
}

typedef void leave_fn(tern_loader *loader, tern_tensor **made);
static leave_fn *const ways_out[] = {leave_by_break,    leave_by_return,  leave_by_goto,
                                     leave_by_an_error, leave_by_a_reset, leave_at_the_end};

static void however_a_loop_is_left_the_next_one_begins_anew(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(4);
    const int64_t live = tern_live_tensors();
    for (size_t i = 0; i < sizeof ways_out / sizeof *ways_out; i++) {
        tern_tensor *made = NULL;
        ways_out[i](loader, &made);
        assert_int_equal(tern_live_tensors(), live);
        assert_true(is_dead(made));
        assert_int_equal(tern_loader_epoch(loader), 2 * (int)i + 1);
        assert_whole_epoch(loader);
    }
    tern_loader_free(loader);
}

static void continue_goes_on_with_the_next_batch(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(5);
    int64_t odd = 0;
    tern_each_batch (b, loader) {
        if (number(b) % 2 == 0)
            continue;
        odd += number(b);
    }
    assert_int_equal(odd, 1 + 3);
    tern_loader_free(loader);
}

static void temporaries_of_a_round_die_with_it_and_what_was_retained_stays(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(3);
    tern_tensor *last = NULL, *kept = NULL;
    tern_each_batch (b, loader) {
        assert_true(last == NULL || is_dead(last));
        last = tern_neg(b.x);
        tern_assign(&kept, last);
        last = tern_abs(b.x);
    }
    assert_true(is_dead(last));
    assert_int_equal(tern_item_int(kept), -2);
    tern_release(kept);
    tern_loader_free(loader);
}

// ---- loops inside each other --------------------------------------------------------------------

static void loops_over_two_loaders_leave_each_other_alone(void **state)
{
    (void)state;
    tern_loader *outer = loader_of(3), *inner = loader_of(4);
    int64_t rounds = 0, next = 0;
    tern_each_batch (b, outer) {
        tern_tensor *made = tern_neg(b.x);
        tern_each_batch (c, inner) {
            rounds++;
            if (number(c) == 1)
                break;
        }
        assert_false(is_dead(made) || is_dead(b.x));
        assert_int_equal(number(b), next++);
    }
    assert_int_equal(next, 3);
    assert_int_equal(rounds, 3 * 2);
    tern_loader_free(outer);
    tern_loader_free(inner);
}

static void loops_over_one_loader_have_epochs_of_their_own(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(3);
    int64_t pairs[9], count = 0;
    tern_each_batch (b, loader) {
        tern_tensor *made = tern_neg(b.x);
        tern_each_batch (c, loader)
            pairs[count++] = 10 * number(b) + number(c);
        assert_false(is_dead(made) || is_dead(b.x));
        assert_int_equal(tern_loader_position(loader), number(b) + 1);
    }
    assert_int_equal(count, 9);
    assert_memory_equal(pairs, ((int64_t[]){0, 1, 2, 10, 11, 12, 20, 21, 22}), sizeof pairs);
    assert_int_equal(tern_loader_epoch(loader), 1 + 3);
    tern_loader_free(loader);
}

static void a_loop_in_a_function_leaves_the_callers_loop_alone(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(4);
    for (size_t i = 0; i < sizeof ways_out / sizeof *ways_out; i++) {
        int64_t next = 0;
        tern_each_batch (b, loader) {
            tern_tensor *made;
            assert_int_equal(number(b), next++);
            ways_out[i](loader, &made);
            assert_true(is_dead(made));
            assert_false(is_dead(b.x));
        }
        assert_int_equal(next, 4);
    }
    tern_loader_free(loader);
}

static void recursive_loops_shuffle_each_its_own_order(void **state)
{
    (void)state;
    tern_dataset *set = numbers(20);
    tern_loader *loader = tern_loader_new(set, .batch_size = 5, .shuffle = true);
    int64_t outer[20] = {0}, inner[20] = {0};
    int64_t rounds = 0;
    tern_each_batch (b, loader) {
        for (int64_t i = 0; i < b.size; i++)
            outer[b.index[i]]++;
        rounds++;
        tern_each_batch (c, loader)
            for (int64_t i = 0; i < c.size; i++)
                inner[c.index[i]]++;
        assert_memory_equal(tern_data(b.x), b.index, (size_t)b.size * sizeof *b.index);
    }
    assert_int_equal(rounds, 4);
    for (int i = 0; i < 20; i++)
        assert_true(outer[i] == 1 && inner[i] == 4);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void an_epoch_of_loader_next_goes_on_behind_the_loop(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(3);
    assert_next(loader, 1, (int64_t[]){0});
    assert_whole_epoch(loader);
    assert_next(loader, 1, (int64_t[]){1});
    tern_loader_reset(loader);
    assert_whole_epoch(loader);
    assert_next(loader, 1, (int64_t[]){0});
    tern_loader_free(loader);
}

static void loader_next_inside_takes_batches_of_the_loop(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(4);
    int64_t sum = 0;
    tern_each_batch (b, loader) {
        tern_batch second;
        sum += 10 * number(b);
        assert_true(tern_loader_next(loader, &second));
        sum += number(second);
    }
    assert_int_equal(sum, 10 * (0 + 2) + 1 + 3);
    tern_loader_free(loader);
}

// The inner loop's cleanup does not run: the outer one ends its epoch.
static void a_loop_left_by_longjmp_does_not_disturb_the_outer_one(void **state)
{
    (void)state;
    tern_loader *volatile loader = loader_of(3);
    volatile int64_t next = 0;
    tern_each_batch (b, loader) {
        assert_int_equal(number(b), next);
        next = next + 1;
        jmp_buf back;
        if (setjmp(back) == 0)
            tern_each_batch (c, loader)
                longjmp(back, 1);
    }
    assert_int_equal(next, 3);
    tern_loader_free(loader);
}

// ---- failures -----------------------------------------------------------------------------------

static void without_a_loader_there_is_no_round_but_an_error(void **state)
{
    (void)state;
    tern_each_batch (b, NULL)
        fail();
    assert_error(TERN_ERR_NULL, "each_batch: loader is NULL");
    tern_loader *loader = loader_of(2);
    assert_null(tern_neg(NULL));
    tern_each_batch (b, loader)
        fail();
    assert_error(TERN_ERR_NULL, "neg");
    assert_int_equal(tern_loader_epoch(loader), 0);
    tern_loader_free(loader);
}

static void a_loader_may_be_freed_in_loops_over_it(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(3);
    int rounds = 0;
    tern_each_batch (b, loader) {
        tern_each_batch (c, loader) {
            rounds++;
            tern_loader_free(loader);
            break;
        }
    }
    assert_int_equal(rounds, 1);
    assert_error(TERN_ERR_STATE, "each_batch: this loader was freed already");
}

static void no_memory_for_an_inner_loop_leaves_the_outer_one(void **state)
{
    (void)state;
    if (test_workers() > 0)
        skip(); // where a thread cannot be started there is none, and no error
    tern_dataset *set = numbers(4);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .shuffle = true);
    int failures = 0, rounds = 0;
    tern_each_batch (b, loader) {
        bool failed = true;
        for (int64_t n = 1; failed; n++) {
            tern_memory_trim();
            fail_nth_allocation(n);
            tern_each_batch (c, loader)
                continue;
            failed = memory.calls >= n;
            fail_nth_allocation(0);
            assert_int_equal(tern_error_take(NULL, 0), failed ? TERN_ERR_NOMEM : TERN_OK);
            failures += failed;
        }
        assert_memory_equal(tern_data(b.x), b.index, (size_t)b.size * sizeof *b.index);
        rounds++;
    }
    assert_int_equal(rounds, 2);
    assert_true(failures > 3);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

int main(void)
{
    setenv("TERN_CACHE", "1", 1);
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(however_a_loop_is_left_the_next_one_begins_anew),
        DATA_TEST(continue_goes_on_with_the_next_batch),
        DATA_TEST(temporaries_of_a_round_die_with_it_and_what_was_retained_stays),
        DATA_TEST(loops_over_two_loaders_leave_each_other_alone),
        DATA_TEST(loops_over_one_loader_have_epochs_of_their_own),
        DATA_TEST(a_loop_in_a_function_leaves_the_callers_loop_alone),
        DATA_TEST(recursive_loops_shuffle_each_its_own_order),
        DATA_TEST(an_epoch_of_loader_next_goes_on_behind_the_loop),
        DATA_TEST(loader_next_inside_takes_batches_of_the_loop),
        DATA_TEST(a_loop_left_by_longjmp_does_not_disturb_the_outer_one),
        DATA_TEST(without_a_loader_there_is_no_round_but_an_error),
        DATA_TEST(a_loader_may_be_freed_in_loops_over_it),
        DATA_TEST(no_memory_for_an_inner_loop_leaves_the_outer_one),
    };
    return cmocka_run_group_tests_name("each_batch", tests, start_group, end_group);
}
