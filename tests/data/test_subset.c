// SPDX-License-Identifier: Apache-2.0
// Subsets of datasets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compose_test.h"

static void a_subset_has_the_samples_of_its_numbers(void **state)
{
    (void)state;
    tern_dataset *all = numbers(10, 6);
    tern_dataset *some = tern_data_subset(all, (int64_t[]){4, 0, 4}, 3);
    tern_dataset_free(all); // the subset holds it
    assert_int_equal(tern_dataset_count(some), 3);
    assert_batch(some, (int64_t[]){2, 1, 0, 0}, 4, (int64_t[]){14, 10, 14, 14});
    assert_true(value(some, 1) == 10);
    assert_false(tern_dataset_is_serial(some));
    tern_dataset_free(some);
}

static void a_subset_of_a_subset_counts_in_that(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 6);
    tern_dataset *odd = tern_data_subset(all, (int64_t[]){1, 3, 5}, 3);
    tern_dataset *last = tern_data_subset(odd, (int64_t[]){2}, 1);
    assert_batch(last, (int64_t[]){0}, 1, (int64_t[]){5});
    tern_dataset_free(last);
    tern_dataset_free(odd);
    tern_dataset_free(all);
}

static void a_subset_may_be_empty(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 6);
    tern_dataset *none = tern_data_subset(all, NULL, 0);
    assert_int_equal(tern_dataset_count(none), 0);
    tern_dataset_free(none);
    tern_dataset_free(all);
}

static void a_subset_forwards_what_it_does_not_change(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_subset(&p->base, (int64_t[]){3, 1}, 2);
    tern_dataset_free(&p->base);
    check_forwarded(over, 1, "file 1");
}

static void a_subset_draws_what_the_dataset_draws(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *some = tern_data_subset(&p->base, (int64_t[]){3}, 1);
    (void)value(&p->base, 3);
    const double drawn = p->last;
    (void)value(some, 0);
    assert_true(p->last == drawn);
    tern_dataset_free(some);
    tern_dataset_free(&p->base);
}

static void a_dataset_that_lost_samples_is_noticed(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *some = tern_data_subset(&p->base, (int64_t[]){3, 1}, 2);
    p->count = 2;
    tern_batch b;
    tern_sample s;
    assert_int_equal(tern_dataset_get(some, (int64_t[]){1, 0}, 2, &b), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "data_subset: probe has 2 samples now, and no number 3");
    assert_int_equal(tern_dataset_item(some, 0, &s), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "no number 3");
    assert_true(value(some, 1) == 1.5);
    tern_dataset_free(some);
    tern_dataset_free(&p->base);
}

static void the_inner_reference_is_not_the_users(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 6);
    tern_dataset *some = tern_data_subset(all, (int64_t[]){1}, 1);
    tern_dataset_free(all);
    tern_dataset_free(all);
    assert_error(TERN_ERR_STATE, "was freed already");
    assert_true(value(some, 0) == 1);
    tern_dataset_free(some);
}

static void a_state_of_another_subset_is_refused(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 6);
    tern_dataset *a = tern_data_subset(all, (int64_t[]){1, 2}, 2);
    tern_dataset *b = tern_data_subset(all, (int64_t[]){1, 3}, 2);
    tern_state *saved = state_of(a);
    assert_int_equal(load(a, saved), TERN_OK);
    assert_true(load(b, saved) != TERN_OK);
    assert_error(tern_error_code(), "is of a subset of other samples");
    tern_state_free(saved);
    tern_dataset_free(b);
    tern_dataset_free(a);
    tern_dataset_free(all);
}

static tern_dataset *subset_of(tern_dataset *inner)
{
    return tern_data_subset(inner, (int64_t[]){2, 3}, 2);
}

static void what_the_inner_dataset_saves_is_saved_and_loaded(void **state)
{
    (void)state;
    check_state_goes_through(subset_of);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    check_without_memory(subset_of);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_subset_has_the_samples_of_its_numbers),
        DATA_TEST(a_subset_of_a_subset_counts_in_that),
        DATA_TEST(a_subset_may_be_empty),
        DATA_TEST(a_subset_forwards_what_it_does_not_change),
        DATA_TEST(a_subset_draws_what_the_dataset_draws),
        DATA_TEST(a_dataset_that_lost_samples_is_noticed),
        DATA_TEST(the_inner_reference_is_not_the_users),
        DATA_TEST(a_state_of_another_subset_is_refused),
        DATA_TEST(what_the_inner_dataset_saves_is_saved_and_loaded),
        DATA_TEST(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("subset", tests, start_group, end_group);
}
