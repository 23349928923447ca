// SPDX-License-Identifier: Apache-2.0
// Who owns a tensor, and when it dies.
#include <pthread.h>

#include "support/check.h"
#include "ops/op.h"
#include "tensor/scope.h"

static int64_t live_before;

static int remember_live(void **state)
{
    (void)state;
    live_before = tern_live_tensors();
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    tern_error_clear();
    return tern_live_tensors() == live_before ? 0 : -1;
}

static void a_temporary_dies_when_its_scope_closes(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_ones(tern_dims(2, 3));
    assert_int_equal(tern_live_tensors(), live_before + 1);
    tern_scope_close(scope);
    assert_int_equal(tern_live_tensors(), live_before);
    assert_null(tern_neg(x));
    assert_error(TERN_ERR_STATE, "died when its scope closed; tern_retain it");
}

static void using_a_dead_tensor_names_it(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_zeros(tern_dims(4, 5), .dtype = TERN_INT64);
    tern_scope_close(scope);
    assert_null(tern_neg(x));
    assert_error(TERN_ERR_STATE, "neg: x (int64 (4, 5), made by zeros) died");
}

static void a_retained_tensor_outlives_its_scope(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_retain(tern_full(tern_dims(2), 3));
    tern_scope_close(scope);
    assert_values(tern_scope_close_keep(0, x), 3, 3);
    tern_release(x);
    assert_no_error();
    assert_int_equal(tern_live_tensors(), live_before);
}

static void a_tensor_let_go_by_its_last_holder_says_so(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_retain(tern_ones(tern_dims(2)));
    tern_scope_close(scope);
    tern_release(x);
    tern_release(x);
    assert_error(TERN_ERR_STATE, "was released for the last time");
}

static void one_release_too_many_is_an_error(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_ones(tern_dims(2));
    tern_release(x);
    assert_error(TERN_ERR_STATE, "would be released more often than retained");
    assert_values(x, 1, 1);
    tern_scope_close(scope);
}

static void closing_a_scope_closes_those_above_it(void **state)
{
    (void)state;
    tern_scope outer = tern_scope_open();
    tern_ones(tern_dims(1));
    tern_scope inner = tern_scope_open();
    tern_ones(tern_dims(1));
    tern_scope_close(outer);
    assert_int_equal(tern_live_tensors(), live_before);
    tern_scope fresh = tern_scope_open();
    tern_tensor *x = tern_ones(tern_dims(1));
    tern_scope_close(inner);
    assert_values(x, 1);
    tern_scope_close(fresh);
}

static void closing_a_closed_scope_does_nothing(void **state)
{
    (void)state;
    tern_scope closed = tern_scope_open();
    tern_scope_close(closed);
    tern_scope open = tern_scope_open();
    tern_tensor *x = tern_ones(tern_dims(1));
    tern_scope_close(closed);
    tern_scope_close(0);
    assert_values(x, 1);
    tern_scope_close(open);
}

static void close_keep_moves_a_tensor_outside(void **state)
{
    (void)state;
    tern_scope outer = tern_scope_open();
    tern_scope inner = tern_scope_open();
    tern_tensor *a = tern_full(tern_dims(2), 2);
    tern_tensor *b = tern_mul(a, a);
    assert_ptr_equal(tern_scope_close_keep(inner, b), b);
    assert_int_equal(tern_live_tensors(), live_before + 1);
    assert_values(b, 4, 4);
    tern_scope_close(outer);
    assert_int_equal(tern_live_tensors(), live_before);
}

static void close_keep_leaves_a_tensor_of_an_outer_scope_there(void **state)
{
    (void)state;
    tern_scope outer = tern_scope_open();
    tern_tensor *a = tern_full(tern_dims(2), 2);
    tern_scope middle = tern_scope_open();
    tern_scope inner = tern_scope_open();
    assert_ptr_equal(tern_scope_close_keep(inner, a), a);
    tern_scope_close(middle);
    assert_values(a, 2, 2);
    tern_scope_close(outer);
}

static void assign_replaces_what_a_slot_holds(void **state)
{
    (void)state;
    tern_tensor *slot = NULL;
    for (int i = 0; i < 3; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *next = tern_full(tern_dims(1), i);
        if (slot)
            next = tern_add(next, slot);
        tern_assign(&slot, next);
        tern_assign(&slot, slot);
        tern_scope_close(scope);
        assert_int_equal(tern_live_tensors(), live_before + 1);
    }
    assert_values(slot, 3);
    tern_assign(&slot, NULL);
    assert_null(slot);
    assert_int_equal(tern_live_tensors(), live_before);
}

static void a_header_is_not_reused_before_4096_others_died(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *first = tern_ones(tern_dims(1));
    tern_scope_close(scope);
    for (int i = 0; i < 4096; i++) {
        scope = tern_scope_open();
        assert_ptr_not_equal(tern_ones(tern_dims(1)), first);
        tern_scope_close(scope);
    }
    assert_null(tern_neg(first));
    assert_error(TERN_ERR_STATE, "died when its scope closed");
}

static void a_loaders_next_batch_closes_the_scope_of_the_last_and_those_inside(void **state)
{
    (void)state;
    tern_scope loader = tern_scope_next_batch(0);
    tern_ones(tern_dims(1));
    tern_scope_open();
    tern_ones(tern_dims(1));
    loader = tern_scope_next_batch(loader);
    assert_int_equal(tern_live_tensors(), live_before);
    tern_scope_end_batch(loader);
}

static void a_loader_leaves_the_scope_of_another_loaders_batch_and_those_inside(void **state)
{
    (void)state;
    tern_scope a = tern_scope_next_batch(0);
    tern_tensor *of_a = tern_ones(tern_dims(1));
    tern_scope helper = tern_scope_open();
    tern_tensor *of_helper = tern_ones(tern_dims(1));
    tern_scope b = tern_scope_next_batch(0);
    tern_tensor *of_b = tern_full(tern_dims(1), 2);
    tern_scope above = tern_scope_open();
    tern_tensor *of_above = tern_full(tern_dims(1), 3);
    a = tern_scope_next_batch(a);
    assert_null(tern_neg(of_a));
    assert_error(TERN_ERR_STATE, "died");
    assert_null(tern_neg(of_helper));
    assert_error(TERN_ERR_STATE, "died");
    assert_values(of_b, 2);
    assert_values(of_above, 3);
    tern_scope_close(helper);
    tern_scope_end_batch(a);
    tern_scope_close(above);
    tern_scope_end_batch(b);
    assert_int_equal(tern_live_tensors(), live_before);
}

static void *close_elsewhere(void *scope)
{
    tern_scope_close(*(tern_scope *)scope);
    tern_ones(tern_dims(3));
    return NULL;
}

static void a_scope_of_another_thread_stays_open_and_a_thread_frees_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_ones(tern_dims(1));
    assert_int_equal(pthread_create(&thread, NULL, close_elsewhere, &scope), 0);
    pthread_join(thread, NULL);
    assert_values(x, 1);
    tern_scope_close(scope);
    assert_int_equal(tern_live_tensors(), live_before);
}

static void *release_elsewhere(void *t)
{
    tern_release(t);
    return NULL;
}

static void a_tensor_may_be_released_by_another_thread(void **state)
{
    (void)state;
    pthread_t thread;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_retain(tern_ones(tern_dims(1)));
    tern_scope_close(scope);
    assert_int_equal(pthread_create(&thread, NULL, release_elsewhere, x), 0);
    pthread_join(thread, NULL);
    assert_int_equal(tern_live_tensors(), live_before);
}

#define scope_test(name) cmocka_unit_test_setup_teardown(name, remember_live, nothing_is_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scope_test(a_temporary_dies_when_its_scope_closes),
        scope_test(using_a_dead_tensor_names_it),
        scope_test(a_retained_tensor_outlives_its_scope),
        scope_test(a_tensor_let_go_by_its_last_holder_says_so),
        scope_test(one_release_too_many_is_an_error),
        scope_test(closing_a_scope_closes_those_above_it),
        scope_test(closing_a_closed_scope_does_nothing),
        scope_test(close_keep_moves_a_tensor_outside),
        scope_test(close_keep_leaves_a_tensor_of_an_outer_scope_there),
        scope_test(assign_replaces_what_a_slot_holds),
        scope_test(a_header_is_not_reused_before_4096_others_died),
        scope_test(a_loaders_next_batch_closes_the_scope_of_the_last_and_those_inside),
        scope_test(a_loader_leaves_the_scope_of_another_loaders_batch_and_those_inside),
        scope_test(a_scope_of_another_thread_stays_open_and_a_thread_frees_its_own),
        scope_test(a_tensor_may_be_released_by_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
