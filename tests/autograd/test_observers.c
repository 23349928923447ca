// SPDX-License-Identifier: Apache-2.0
// Observers of operations.
#include "autograd/op.h"
#include "support/tensor_check.h"

static int seen;

// Told of one call, makes others.
static void look(const tern_op_call *call, tern_tensor *const *y, int outputs, void *user)
{
    (void)call;
    assert_int_equal(outputs, 1);
    assert_ptr_equal(user, &seen);
    assert_true(tern_item(tern_sum(tern_relu(y[0]), TERN_ALL_AXES, false)) >= 0);
    seen++;
}

static void an_observer_may_call_operations(void **state)
{
    (void)state;
    const tern_op_observer observer = {.ended = look, .user = &seen};
    tern_tensor *x = tern_ones(tern_dims(2, 3));
    seen = 0;
    const tern_op_observer *before = tern_op_observe(&observer);
    tern_tensor *y = tern_exp(tern_neg(x));
    assert_int_equal(seen, 2);
    tern_op_observe(before);
    assert_non_null(tern_exp(y));
    assert_int_equal(seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_TEST(an_observer_may_call_operations)};
    return cmocka_run_group_tests_name("observers", tests, NULL, NULL);
}
