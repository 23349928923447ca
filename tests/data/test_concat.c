// SPDX-License-Identifier: Apache-2.0
// Datasets one after the other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compose_test.h"

static void datasets_follow_one_another(void **state)
{
    (void)state;
    tern_dataset *a = numbers(0, 3), *b = numbers(0, 0), *c = numbers(100, 2);
    tern_dataset *all = tern_data_concat(a, b, c, a);
    assert_int_equal(tern_dataset_count(all), 8);
    assert_batch(all, (int64_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8,
                 (int64_t[]){0, 1, 2, 100, 101, 0, 1, 2});
    assert_batch(all, (int64_t[]){7, 3, 0, 4, 3}, 5, (int64_t[]){2, 100, 0, 101, 100});
    assert_batch(all, (int64_t[]){2, 0}, 2, (int64_t[]){2, 0});
    assert_true(value(all, 4) == 101);
    assert_true(value(all, 5) == 0);
    tern_dataset_free(all);
    tern_dataset_free(a);
    tern_dataset_free(b);
    tern_dataset_free(c);
}

static void both_tensors_of_joined_samples_belong_together(void **state)
{
    (void)state;
    tern_dataset *a = numbers(0, 3), *b = numbers(3, 3), *all = tern_data_concat(a, b);
    const int64_t index[] = {5, 0, 3, 1};
    tern_batch batch;
    assert_int_equal(tern_dataset_get(all, index, 4, &batch), TERN_OK);
    for (int i = 0; i < 4; i++) {
        tern_sample s;
        assert_int_equal(tern_dataset_item(all, index[i], &s), TERN_OK);
        assert_memory_equal(tern_data(s.y), (float *)tern_data(batch.y) + 2 * i, 8);
    }
    tern_dataset_free(all);
    tern_dataset_free(a);
    tern_dataset_free(b);
}

static void concat_forwards_what_it_does_not_change(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *a = numbers(0, 3);
    tern_dataset *over = tern_data_concat(&p->base, &p->base);
    tern_dataset *mixed = tern_data_concat(&p->base, a);
    tern_dataset_free(&p->base);
    assert_int_equal(tern_dataset_class_count(mixed), 0); // the other knows none
    assert_true(tern_dataset_is_serial(mixed));
    check_forwarded(over, 7, "file 2");
    tern_dataset_free(mixed);
    tern_dataset_free(a);
}

static void the_same_dataset_twice_draws_two_numbers(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_concat(&p->base, &p->base);
    (void)value(over, 1);
    const double first = p->last;
    (void)value(over, 6);
    assert_true(p->last != first);
    tern_batch b;
    assert_int_equal(tern_dataset_get(over, (int64_t[]){6, 1}, 2, &b), TERN_OK);
    assert_true(((double *)tern_data(b.y))[1] == first); // a batch draws what a sample does
    tern_dataset_free(over);
    tern_dataset_free(&p->base);
}

static void samples_that_do_not_stack_are_named(void **state)
{
    (void)state;
    tern_dataset *a = numbers(0, 3),
                 *b = tern_data_tensors(tern_ones(tern_dims(2, 5)), tern_rand(tern_dims(2, 2)));
    tern_dataset *c = tern_data_tensors(tern_arange(0, 2, 1)), *all = tern_data_concat(a, b, c);
    tern_batch batch;
    assert_int_equal(tern_dataset_get(all, (int64_t[]){0, 3}, 2, &batch), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "data_concat: data_tensors gave tensor 0 as float32 (1, 5)");
    assert_int_equal(tern_dataset_get(all, (int64_t[]){0, 5}, 2, &batch), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "have 1 tensors, but others of the batch have 2");
    tern_dataset_free(all);
    tern_dataset_free(a);
    tern_dataset_free(b);
    tern_dataset_free(c);
}

static void a_concat_that_lost_samples_is_noticed(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *all = tern_data_concat(&p->base, &p->base);
    p->count = 3;
    tern_batch b;
    assert_int_equal(tern_dataset_get(all, (int64_t[]){8, 0}, 2, &b), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "data_concat: probe has 3 samples now, and no number 3");
    tern_dataset_free(all);
    tern_dataset_free(&p->base);
}

static tern_dataset *alone(tern_dataset *inner)
{
    return tern_data_concat(inner);
}

static tern_dataset *joined(tern_dataset *inner)
{
    return tern_data_concat(inner, inner);
}

static void what_the_inner_dataset_saves_is_saved_and_loaded(void **state)
{
    (void)state;
    check_state_goes_through(alone);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    check_without_memory(joined);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(datasets_follow_one_another),
        DATA_TEST(both_tensors_of_joined_samples_belong_together),
        DATA_TEST(concat_forwards_what_it_does_not_change),
        DATA_TEST(the_same_dataset_twice_draws_two_numbers),
        DATA_TEST(samples_that_do_not_stack_are_named),
        DATA_TEST(a_concat_that_lost_samples_is_noticed),
        DATA_TEST(what_the_inner_dataset_saves_is_saved_and_loaded),
        DATA_TEST(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("concat", tests, start_group, end_group);
}
