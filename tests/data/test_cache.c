// SPDX-License-Identifier: Apache-2.0
// Datasets that keep their samples.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compose_test.h"

static tern_status triple(const tern_sample_context *context, int64_t index, tern_sample *sample,
                          void *user)
{
    (void)context;
    (void)index;
    (void)user;
    sample->x = tern_mul_scalar(sample->x, 3);
    return tern_error_code();
}

static void a_sample_is_made_once(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_cache(&p->base);
    tern_batch b, again;
    assert_int_equal(tern_dataset_get(over, (int64_t[]){3, 1}, 2, &b), TERN_OK);
    assert_int_equal(p->asked, 2);
    assert_int_equal(tern_dataset_get(over, (int64_t[]){1, 3, 3}, 3, &again), TERN_OK);
    assert_int_equal(p->asked, 2);
    for (int i = 0; i < 3; i++) {
        assert_true(((double *)tern_data(again.x))[i] == (i == 0 ? 1.5 : 3.5));
        assert_true(((double *)tern_data(again.y))[i] == ((double *)tern_data(b.y))[i == 0]);
    }
    assert_true(value(over, 3) == 3.5);
    assert_int_equal(p->asked, 2);
    assert_int_equal(tern_dataset_get(over, (int64_t[]){1, 4}, 2, &b), TERN_OK);
    assert_int_equal(p->asked, 3);
    tern_dataset_free(over);
    tern_dataset_free(&p->base);
}

static void what_was_handed_out_is_not_what_is_kept(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 3), *over = tern_data_cache(all);
    for (int i = 0; i < 3; i++) {
        tern_sample s;
        assert_int_equal(tern_dataset_item(over, 2, &s), TERN_OK);
        assert_true(tern_item(s.x) == 2);
        assert_non_null(tern_zero_(s.x));
    }
    tern_dataset_free(over);
    tern_dataset_free(all);
}

static void beyond_the_limit_samples_are_made_each_time(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_cache(&p->base, .max_bytes = 0);
    for (int i = 0; i < 3; i++)
        assert_true(value(over, 1) == 1.5);
    assert_int_equal(p->asked, 3);
    tern_dataset_free(over);
    p->asked = 0;
    const int64_t before = memory.bytes;
    over = tern_data_cache(&p->base, .max_bytes = 400); // one of about 200 bytes fits, or two
    for (int i = 0; i < 10; i++)
        assert_true(value(over, i % 5) == i % 5 + 0.5);
    assert_true(p->asked > 5 && p->asked < 10);
    assert_true(memory.bytes - before < 400 + 1024);
    tern_dataset_free(over);
    tern_dataset_free(&p->base);
}

static void samples_of_any_shape_are_kept(void **state)
{
    (void)state;
    tern_tensor *x = tern_transpose(tern_rand(tern_dims(4, 3, 2)), 1, 2);
    tern_dataset *all = tern_data_tensors(x, tern_zeros(tern_dims(4, 0, 2)));
    tern_dataset *over = tern_data_cache(all);
    tern_batch b, kept;
    assert_int_equal(tern_dataset_get(all, (int64_t[]){2, 0}, 2, &b), TERN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tern_dataset_get(over, (int64_t[]){2, 0}, 2, &kept), TERN_OK);
        assert_true(tern_shape_equal(tern_shape_of(kept.x), tern_dims(2, 2, 3)));
        assert_memory_equal(tern_data(kept.x), tern_data(b.x), 12 * sizeof(float));
        assert_true(tern_shape_equal(tern_shape_of(kept.y), tern_dims(2, 0, 2)));
    }
    tern_dataset_free(over);
    tern_dataset_free(all);
}

static void cache_forwards_what_it_does_not_change(void **state)
{
    (void)state;
    probe *p = probe_new(5);
    tern_dataset *over = tern_data_cache(&p->base);
    tern_dataset_free(&p->base);
    check_forwarded(over, 4, "file 4");
}

static void moving_moves_the_inner_dataset_and_forgets(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 4), *over = tern_data_cache(all);
    const int64_t before = memory.bytes;
    assert_true(value(over, 1) == 1);
    assert_true(memory.bytes > before);
    assert_ptr_equal(tern_dataset_to(over, tern_cpu(1)), over);
    for (int i = 0; i < 2; i++) { // what is elsewhere is not kept
        tern_sample s;
        assert_int_equal(tern_dataset_item(over, 1, &s), TERN_OK);
        assert_true(tern_device_equal(tern_device_of(s.x), tern_cpu(1)));
        assert_true(tern_item(s.x) == 1);
    }
    probe *p = probe_new(3);
    tern_dataset *map = tern_data_map(&p->base, triple);
    assert_null(tern_dataset_to(map, tern_cpu(0)));
    assert_error(TERN_ERR_UNSUPPORTED, "dataset_to: probe cannot be moved to cpu");
    tern_dataset_free(map);
    tern_dataset_free(&p->base);
    tern_dataset_free(over);
    tern_dataset_free(all);
}

typedef struct reading {
    tern_dataset *over;
    bool fine;
} reading;

static void *read_all(void *argument)
{
    reading *r = argument;
    r->fine = true;
    for (int round = 0; round < 20; round++) {
        tern_scope inner = tern_scope_open();
        const int64_t index[] = {3, 1, 0, 2, 7, 6, 5, 4};
        tern_batch b;
        r->fine = r->fine && !tern_dataset_get(r->over, index, 8, &b);
        for (int i = 0; i < 8 && r->fine; i++)
            r->fine = ((int64_t *)tern_data(b.x))[i] == index[i] * 3;
        tern_scope_close(inner);
    }
    return NULL;
}

static void several_threads_ask_one_cache(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    reading readings[THREADS];
    tern_dataset *all = numbers(0, 8), *slow = tern_data_map(all, triple);
    tern_dataset *over = tern_data_cache(slow);
    for (int i = 0; i < THREADS; i++) {
        readings[i].over = over;
        assert_int_equal(pthread_create(&thread[i], NULL, read_all, &readings[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(readings[i].fine);
    }
    tern_dataset_free(over);
    tern_dataset_free(slow);
    tern_dataset_free(all);
}

static tern_dataset *cache_of(tern_dataset *inner)
{
    return tern_data_cache(inner);
}

static void what_the_inner_dataset_saves_is_saved_and_loaded(void **state)
{
    (void)state;
    check_state_goes_through(cache_of);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    check_without_memory(cache_of);
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_sample_is_made_once),
        DATA_TEST(what_was_handed_out_is_not_what_is_kept),
        DATA_TEST(beyond_the_limit_samples_are_made_each_time),
        DATA_TEST(samples_of_any_shape_are_kept),
        DATA_TEST(cache_forwards_what_it_does_not_change),
        DATA_TEST(moving_moves_the_inner_dataset_and_forgets),
        DATA_TEST(several_threads_ask_one_cache),
        DATA_TEST(what_the_inner_dataset_saves_is_saved_and_loaded),
        DATA_TEST(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests_name("cache", tests, start_group, end_group);
}
