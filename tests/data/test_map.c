// SPDX-License-Identifier: Apache-2.0
// Datasets whose samples go through a function.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compose_test.h"

static tern_status keep_sample(const tern_sample_context *context, int64_t index,
                               tern_sample *sample, void *user)
{
    (void)context;
    (void)index;
    (void)sample;
    (void)user;
    return TERN_OK;
}

static tern_status scale(const tern_sample_context *context, int64_t index, tern_sample *sample,
                         void *user)
{
    assert_non_null(context);
    assert_int_equal(sample->index, index);
    assert_false(tern_grad_enabled());
    sample->x = tern_mul_scalar(sample->x, *(double *)user);
    return tern_error_code();
}

static void a_function_changes_each_sample(void **state)
{
    (void)state;
    double factor = 3;
    tern_dataset *all = numbers(0, 6), *scaled = tern_data_map(all, scale, .user = &factor);
    tern_dataset_free(all);
    assert_int_equal(tern_dataset_count(scaled), 6);
    assert_batch(scaled, (int64_t[]){5, 0, 2}, 3, (int64_t[]){15, 0, 6});
    tern_sample s;
    assert_int_equal(tern_dataset_item(scaled, 4, &s), TERN_OK);
    assert_int_equal(s.count, 2);
    assert_true(tern_item(s.x) == 12);
    tern_dataset_free(scaled);
}

static tern_status add_label(const tern_sample_context *context, int64_t index, tern_sample *sample,
                             void *user)
{
    (void)context;
    (void)user;
    sample->y = tern_full(tern_dims(), (double)index, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status drop_label(const tern_sample_context *context, int64_t index,
                              tern_sample *sample, void *user)
{
    (void)context;
    (void)index;
    (void)user;
    sample->count = 1;
    return TERN_OK;
}

static tern_status put_at(const tern_sample_context *context, int64_t index, tern_sample *sample,
                          void *user)
{
    (void)context;
    (void)index;
    (void)user;
    sample->at[0] = tern_neg(sample->at[0]);
    sample->at[sample->count++] = sample->at[0];
    return tern_error_code();
}

static void a_function_may_add_and_drop_tensors(void **state)
{
    (void)state;
    tern_dataset *x = tern_data_tensors(tern_arange(0, 4, 1)), *xy = tern_data_map(x, add_label);
    tern_dataset *three = tern_data_map(xy, put_at), *one = tern_data_map(three, drop_label);
    tern_sample s;
    assert_int_equal(tern_dataset_item(xy, 3, &s), TERN_OK);
    assert_int_equal(s.count, 2);
    assert_true(tern_item(s.y) == 3);
    assert_int_equal(tern_dataset_item(three, 3, &s), TERN_OK);
    assert_int_equal(s.count, 3);
    assert_true(tern_item(s.x) == -3 && tern_item(s.at[2]) == -3);
    assert_int_equal(tern_dataset_item(one, 3, &s), TERN_OK);
    assert_int_equal(s.count, 1);
    assert_null(s.y);
    tern_dataset_free(one);
    tern_dataset_free(three);
    tern_dataset_free(xy);
    tern_dataset_free(x);
}

static tern_status draw(const tern_sample_context *context, int64_t index, tern_sample *sample,
                        void *user)
{
    (void)user;
    sample->x = tern_full(tern_dims(), tern_sample_rand(context, index, 0), .dtype = TERN_FLOAT64);
    return tern_error_code();
}

static void the_function_draws_other_numbers_than_the_dataset(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_map(&p->base, draw);
    tern_sample s;
    assert_int_equal(tern_dataset_item(over, 2, &s), TERN_OK);
    assert_true(tern_item(s.x) != tern_item(s.y));
    // Zeros outside of a loader: the words of Philox for them, as the function was told.
    const tern_sample_context zeros = {0};
    assert_true(tern_item(s.x) == tern_sample_rand(&zeros, 2, 0));
    tern_dataset_free(over);
    tern_dataset_free(&p->base);
}

static void map_forwards_what_it_does_not_change(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_map(&p->base, keep_sample);
    tern_dataset_free(&p->base);
    check_forwarded(over, 4, "file 4");
    tern_dataset *all = numbers(0, 3);
    tern_dataset *serial = tern_data_map(all, keep_sample, .serial = true);
    tern_dataset *free_threaded = tern_data_map(all, keep_sample);
    assert_true(tern_dataset_is_serial(serial));
    assert_false(tern_dataset_is_serial(free_threaded));
    tern_dataset_free(free_threaded);
    tern_dataset_free(serial);
    tern_dataset_free(all);
}

static void count_free(void *user)
{
    ++*(int *)user;
}

static void the_users_pointer_is_freed_once(void **state)
{
    (void)state;
    int freed = 0;
    tern_dataset *all = numbers(0, 3);
    tern_dataset *over = tern_data_map(all, keep_sample, .user = &freed, .free = count_free);
    tern_dataset_free(over);
    assert_int_equal(freed, 1);
    assert_null(tern_data_map(all, NULL, .user = &freed, .free = count_free));
    assert_error(TERN_ERR_NULL, "data_map: fn is NULL");
    assert_int_equal(freed, 2);
    tern_dataset_free(all);
}

static tern_status refuse_two(const tern_sample_context *context, int64_t index,
                              tern_sample *sample, void *user)
{
    (void)context;
    (void)user;
    if (index == 2)
        sample->x = tern_matmul(sample->x, sample->x);
    return index == 3 ? TERN_ERR_ARG : TERN_OK;
}

static void a_function_that_fails_names_its_sample(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 6), *over = tern_data_map(all, refuse_two);
    tern_batch b;
    assert_true(tern_dataset_get(over, (int64_t[]){1, 2}, 2, &b) != TERN_OK);
    assert_error(tern_error_code(), "[in sample 2 of data_map]");
    assert_int_equal(tern_dataset_get(over, (int64_t[]){3}, 1, &b), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "data_map failed to make a sample and did not say why");
    assert_batch(over, (int64_t[]){4, 0}, 2, (int64_t[]){4, 0}); // others are not lost
    tern_dataset_free(over);
    tern_dataset_free(all);
}

static tern_dataset *map_of(tern_dataset *inner)
{
    return tern_data_map(inner, keep_sample);
}

static tern_status negate(const tern_sample_context *context, int64_t index, tern_sample *sample,
                          void *user)
{
    (void)context;
    (void)index;
    (void)user;
    sample->x = tern_neg(sample->x);
    return tern_error_code();
}

static tern_dataset *negated(tern_dataset *inner)
{
    return tern_data_map(inner, negate);
}

static void what_the_inner_dataset_saves_is_saved_and_loaded(void **state)
{
    (void)state;
    check_state_goes_through(map_of);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    check_without_memory(negated);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_function_changes_each_sample),
        DATA_TEST(a_function_may_add_and_drop_tensors),
        DATA_TEST(the_function_draws_other_numbers_than_the_dataset),
        DATA_TEST(map_forwards_what_it_does_not_change),
        DATA_TEST(the_users_pointer_is_freed_once),
        DATA_TEST(a_function_that_fails_names_its_sample),
        DATA_TEST(what_the_inner_dataset_saves_is_saved_and_loaded),
        DATA_TEST(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("map", tests, start_group, end_group);
}
