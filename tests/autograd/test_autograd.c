// SPDX-License-Identifier: Apache-2.0
// The graph and its backward. Expected gradients are derived by hand.
#include <pthread.h>

#include "support/tensor_check.h"

static tern_tensor *leaf(double a, double b)
{
    const double values[] = {a, b};
    return tern_from_data(tern_dims(2), values, .dtype = TERN_FLOAT64, .requires_grad = true);
}

static tern_tensor *total(tern_tensor *t)
{
    return tern_sum(t, TERN_ALL_AXES, false);
}

static void a_product_sends_each_factor_the_other(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3), *b = leaf(5, 7);
    assert_int_equal(tern_backward(total(tern_mul(a, b))), TERN_OK);
    assert_values(tern_grad(a), 5, 7);
    assert_values(tern_grad(b), 2, 3);
}

static void gradients_add_up_until_they_are_zeroed(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    assert_null(tern_grad(a));
    assert_int_equal(tern_backward(total(tern_mul(a, a))), TERN_OK);
    tern_tensor *grad = tern_grad(a);
    assert_values(grad, 4, 6);
    assert_int_equal(tern_backward(total(tern_mul(a, a))), TERN_OK);
    assert_values(tern_grad(a), 8, 12);
    tern_zero_grad(a);
    assert_null(tern_grad(a));
    assert_int_equal(tern_backward(total(a)), TERN_OK);
    assert_values(tern_grad(a), 1, 1);
    assert_ptr_equal(tern_grad(a), grad);
}

static void a_tensor_used_twice_gets_the_sum(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    tern_tensor *b = tern_exp(tern_mul_scalar(a, 0)); // ones, with history
    tern_tensor *c = tern_add(tern_mul(b, a), tern_mul(b, b));
    assert_int_equal(tern_backward(total(c)), TERN_OK);
    assert_values(tern_grad(a), 1, 1);
}

static void a_matrix_times_itself_gets_both_sides(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4};
    tern_tensor *w =
        tern_from_data(tern_dims(2, 2), values, .dtype = TERN_FLOAT64, .requires_grad = true);
    assert_int_equal(tern_backward(total(tern_matmul(w, w))), TERN_OK);
    // ones W^T + W^T ones
    assert_values(tern_grad(w), 3 + 4, 7 + 4, 3 + 6, 7 + 6);
}

static void a_second_backward_needs_retain_graph(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    tern_tensor *loss = total(tern_mul(a, a));
    assert_int_equal(tern_backward(loss, .retain_graph = true), TERN_OK);
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_values(tern_grad(a), 8, 12);
    assert_int_equal(tern_backward(loss), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "freed by an earlier backward");
    assert_values(tern_grad(a), 8, 12);
}

static void two_losses_may_share_a_graph(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    tern_tensor *shared = tern_mul(a, a);
    tern_tensor *one = total(shared), *two = total(tern_mul_scalar(shared, 10));
    assert_int_equal(tern_backward(one, .retain_graph = true), TERN_OK);
    assert_int_equal(tern_backward(two), TERN_OK);
    assert_values(tern_grad(a), 44, 66);
}

static void a_loss_with_several_elements_needs_a_gradient(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    tern_tensor *y = tern_mul(a, a);
    assert_int_equal(tern_backward(y), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "float64 (2,) on cpu");
    const double weights[] = {1, -1};
    tern_tensor *g = tern_from_data(tern_dims(2), weights, .dtype = TERN_FLOAT64);
    assert_int_equal(tern_backward(y, .gradient = g), TERN_OK);
    assert_values(tern_grad(a), 4, -6);
}

// What a backward reads may be a view of the gradient that it writes.
static void a_gradient_of_a_leaf_may_be_the_gradient_of_a_loss(void **state)
{
    (void)state;
    tern_tensor *a = tern_set_requires_grad(
        tern_reshape(tern_arange(0, 16, 1, .dtype = TERN_FLOAT64), tern_dims(2, 8)), true);
    assert_int_equal(tern_backward(total(tern_mul(a, a))), TERN_OK);
    tern_tensor *part = tern_narrow(tern_grad(a), 1, 2, 4), *before = tern_clone(part);
    tern_zero_grad(a);
    assert_int_equal(tern_backward(tern_glu(a, 1), .gradient = part), TERN_OK);
    tern_tensor *shared = tern_clone(tern_grad(a));
    tern_zero_grad(a);
    assert_int_equal(tern_backward(tern_glu(a, 1), .gradient = before), TERN_OK);
    for (int i = 0; i < 16; i++)
        assert_near(value_at(shared, i), value_at(tern_grad(a), i), 0, 0);
}

static void a_loss_without_history_says_so(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2));
    assert_int_equal(tern_backward(total(x)), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "no history");
}

static void a_needed_value_changed_in_place_is_caught(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3), *b = tern_mul_scalar(leaf(5, 7), 1);
    tern_tensor *loss = total(tern_mul(a, b));
    assert_non_null(tern_add_scalar_(b, 1));
    assert_int_equal(tern_backward(loss), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "changed in place after the forward");
}

static void a_leaf_that_collects_is_not_changed_in_place(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    assert_null(tern_add_scalar_(a, 1));
    assert_error(TERN_ERR_STATE, "tern_no_grad");
    tern_no_grad {
        assert_non_null(tern_add_scalar_(a, 1));
    }
    assert_values(a, 3, 4);
}

static void gradients_flow_through_a_change_in_place(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3), *b = leaf(5, 7);
    tern_tensor *y = tern_mul_scalar(a, 2);
    assert_ptr_equal(tern_add_(y, b, 3), y);
    assert_values(y, 19, 27);
    assert_int_equal(tern_backward(total(tern_mul(y, y))), TERN_OK);
    assert_values(tern_grad(a), 2 * 19 * 2, 2 * 27 * 2);
    assert_values(tern_grad(b), 2 * 19 * 3, 2 * 27 * 3);
}

static void a_change_through_another_view_is_caught(void **state)
{
    (void)state;
    tern_tensor *y = tern_mul_scalar(leaf(2, 3), 1);
    tern_tensor *plain = tern_detach(y);
    assert_non_null(tern_zero_(plain));
    assert_null(tern_mul(y, y));
    assert_error(TERN_ERR_STATE, "changed in place through another view");
}

static void a_view_from_before_a_recorded_change_is_refused(void **state)
{
    (void)state;
    tern_tensor *w = leaf(2, 3);
    tern_tensor *base = tern_zeros(tern_dims(2), .dtype = TERN_FLOAT64);
    tern_tensor *before = tern_reshape(base, tern_dims(2, 1));
    tern_tensor *values = tern_detach(base);
    assert_ptr_equal(tern_add_(base, w, 1), base);
    assert_null(tern_mul_scalar(before, 2));
    assert_error(TERN_ERR_STATE, "changed in place through another view");
    assert_values(tern_mul_scalar(values, 2), 4, 6);
    assert_int_equal(tern_backward(total(tern_mul(tern_reshape(base, tern_dims(2, 1)),
                                                  tern_reshape(base, tern_dims(2, 1))))),
                     TERN_OK);
    assert_values(tern_grad(w), 4, 6);
}

// The values of the view are those of y, whose history has gone on.
static void a_backward_from_a_view_changed_through_its_base_is_refused(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3), *b = leaf(5, 7);
    tern_tensor *y = tern_mul_scalar(a, 1);
    tern_tensor *v = tern_select(y, 0, 0);
    assert_ptr_equal(tern_mul_(y, b), y);
    assert_int_equal(tern_backward(v), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "changed in place through another view");
    assert_int_equal(tern_backward(v, .gradient = tern_ones_like(v)), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "changed in place through another view");
    assert_null(tern_grad(a));
    assert_int_equal(tern_backward(tern_select(y, 0, 0)), TERN_OK);
    assert_values(tern_grad(a), 5, 0);
    assert_values(tern_grad(b), 2, 0);
}

static void a_change_under_no_grad_does_not_renew_the_history_of_a_view(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3), *b = leaf(5, 7);
    tern_tensor *y = tern_mul_scalar(a, 1);
    tern_tensor *v = tern_reshape(y, tern_dims(2, 1));
    assert_ptr_equal(tern_mul_(y, b), y);
    tern_no_grad {
        assert_ptr_equal(tern_mul_scalar_(v, 2), v);
    }
    assert_null(tern_mul_scalar(v, 1));
    assert_error(TERN_ERR_STATE, "changed in place through another view");
}

static void nothing_is_recorded_under_no_grad(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    tern_tensor *y = NULL;
    tern_no_grad {
        y = tern_mul(a, a);
        if (y)
            break;
        fail();
    }
    assert_true(tern_grad_enabled());
    assert_false(tern_requires_grad(y));
    assert_true(tern_is_leaf(y));
}

static bool leave_by_return(void)
{
    tern_no_grad {
        return !tern_grad_enabled();
    }
    return false;
}

static void no_grad_ends_however_its_block_is_left(void **state)
{
    (void)state;
    assert_true(leave_by_return());
    assert_true(tern_grad_enabled());
}

// ---- operations of the user's own --------------------------------------------------------------

static tern_status cube_backward(tern_backward_context *context)
{
    const double *factor = tern_context_data(context);
    tern_tensor *x = tern_context_saved(context, 0);
    tern_tensor *slope = tern_mul_scalar(tern_mul(x, x), 3 * *factor);
    return tern_context_set_grad(context, 0, tern_mul(tern_context_grad(context), slope));
}

static const tern_function cube_function = {"cube", cube_backward};

static tern_tensor *cube(tern_tensor *x, double factor)
{
    tern_tensor *y = NULL;
    tern_no_grad {
        y = tern_mul_scalar(tern_mul(x, tern_mul(x, x)), factor);
    }
    return tern_record(&cube_function, y, &x, 1, &x, 1, &factor, sizeof factor);
}

static void an_operation_of_the_users_own_is_differentiated(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    assert_int_equal(tern_backward(total(cube(tern_mul_scalar(a, 2), 0.5))), TERN_OK);
    assert_values(tern_grad(a), 3 * 0.5 * 16 * 2, 3 * 0.5 * 36 * 2);
}

// Which of the inputs -1 .. 2 of an operation of two need a gradient, one bit each.
static unsigned needed;

static tern_status needing_backward(tern_backward_context *context)
{
    needed = 0;
    for (int i = -1; i <= 2; i++)
        needed |= (unsigned)tern_context_needs(context, i) << (i + 1);
    for (int i = 0; i < 2; i++)
        if (tern_context_needs(context, i) &&
            tern_context_set_grad(context, i, tern_context_grad(context)))
            return tern_error_code();
    return TERN_OK;
}

static void a_backward_is_told_which_inputs_need_a_gradient(void **state)
{
    (void)state;
    static const tern_function first_of = {"first_of", needing_backward};
    for (unsigned wanted = 1; wanted <= 3; wanted++) {
        tern_tensor *in[] = {leaf(2, 3), leaf(4, 5)}, *y = NULL;
        for (int i = 0; i < 2; i++)
            assert_non_null(tern_set_requires_grad(in[i], wanted >> i & 1));
        tern_no_grad {
            y = tern_clone(in[0]);
        }
        y = tern_record(&first_of, y, in, 2, NULL, 0, NULL, 0);
        assert_int_equal(tern_backward(total(y)), TERN_OK);
        assert_int_equal(needed, wanted << 1);
    }
}

static tern_status wrong_backward(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, tern_ones(tern_dims(3), .dtype = TERN_FLOAT64));
}

static void a_failed_backward_frees_its_graph_and_spoils_the_gradients(void **state)
{
    (void)state;
    static const tern_function wrong = {"wrong", wrong_backward};
    tern_tensor *a = leaf(2, 3), *y = NULL;
    tern_no_grad {
        y = tern_mul(a, a);
    }
    tern_tensor *loss = total(tern_record(&wrong, y, &a, 1, NULL, 0, NULL, 0));
    assert_int_equal(tern_backward(loss), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "backward of wrong: the gradient of input 0 is float64 (3,)");
    assert_null(tern_grad(a));
    assert_error(TERN_ERR_STATE, "unusable");
    assert_int_equal(tern_backward(total(a)), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "zero_grad");
    tern_zero_grad(a);
    assert_int_equal(tern_backward(loss), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "freed by an earlier backward");
    assert_int_equal(tern_backward(total(a)), TERN_OK);
    assert_values(tern_grad(a), 1, 1);
}

// ---- threads -----------------------------------------------------------------------------------

static void *backward_elsewhere(void *loss)
{
    return tern_backward((tern_tensor *)loss) == TERN_OK ? loss : NULL;
}

static void backward_runs_on_another_thread(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    tern_tensor *loss = total(tern_mul(a, a));
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, backward_elsewhere, loss), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, loss);
    assert_values(tern_grad(a), 4, 6);
}

static void only_leaves_can_be_told_to_collect(void **state)
{
    (void)state;
    tern_tensor *a = leaf(2, 3);
    assert_null(tern_set_requires_grad(tern_mul(a, a), false));
    assert_error(TERN_ERR_STATE, "has a history");
    assert_null(tern_set_requires_grad(tern_zeros(tern_dims(2), .dtype = TERN_INT32), true));
    assert_error(TERN_ERR_DTYPE, "not floating");
    assert_ptr_equal(tern_set_requires_grad(a, false), a);
    assert_false(tern_requires_grad(tern_mul(a, a)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_product_sends_each_factor_the_other),
        CHECK_TEST(gradients_add_up_until_they_are_zeroed),
        CHECK_TEST(a_tensor_used_twice_gets_the_sum),
        CHECK_TEST(a_matrix_times_itself_gets_both_sides),
        CHECK_TEST(a_second_backward_needs_retain_graph),
        CHECK_TEST(two_losses_may_share_a_graph),
        CHECK_TEST(a_loss_with_several_elements_needs_a_gradient),
        CHECK_TEST(a_gradient_of_a_leaf_may_be_the_gradient_of_a_loss),
        CHECK_TEST(a_loss_without_history_says_so),
        CHECK_TEST(a_needed_value_changed_in_place_is_caught),
        CHECK_TEST(a_leaf_that_collects_is_not_changed_in_place),
        CHECK_TEST(gradients_flow_through_a_change_in_place),
        CHECK_TEST(a_change_through_another_view_is_caught),
        CHECK_TEST(a_view_from_before_a_recorded_change_is_refused),
        CHECK_TEST(a_backward_from_a_view_changed_through_its_base_is_refused),
        CHECK_TEST(a_change_under_no_grad_does_not_renew_the_history_of_a_view),
        CHECK_TEST(nothing_is_recorded_under_no_grad),
        CHECK_TEST(no_grad_ends_however_its_block_is_left),
        CHECK_TEST(an_operation_of_the_users_own_is_differentiated),
        CHECK_TEST(a_backward_is_told_which_inputs_need_a_gradient),
        CHECK_TEST(a_failed_backward_frees_its_graph_and_spoils_the_gradients),
        CHECK_TEST(backward_runs_on_another_thread),
        CHECK_TEST(only_leaves_can_be_told_to_collect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
