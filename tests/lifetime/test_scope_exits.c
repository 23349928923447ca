// SPDX-License-Identifier: Apache-2.0
// Loops and scopes that are left in every way that C has: what dies, what stays, and that nothing
// piles up. Scopes one by one: test_scope.c; one loader: test_loader.c.
#include "support/lifetime_check.h"
#include "support/own_module.h"

static tern_loader *loader_of(int64_t count, int64_t batch_size)
{
    tern_dataset *set = numbers(count);
    tern_loader *loader = tern_loader_new(set, .batch_size = batch_size);
    tern_dataset_free(set);
    assert_non_null(loader);
    return loader;
}

// ---- break, continue and return -----------------------------------------------------------------

static void what_is_made_after_a_break_lives_until_the_loader_goes_on(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(6, 2);
    tern_tensor *inside = NULL;
    tern_batch b;
    while (tern_loader_next(loader, &b)) {
        (void)tern_scope_open(); // left open
        inside = tern_neg(b.x);
        break;
    }
    tern_tensor *after = tern_add(inside, b.x);
    assert_tensor(after, tern_dims(2, 1), 0, 0);
    assert_true(tern_loader_next(loader, &b));
    assert_dead(inside, DIED_WITH_ITS_SCOPE);
    assert_dead(after, DIED_WITH_ITS_SCOPE);
    assert_tensor(b.x, tern_dims(2, 1), 2, 3);
    tern_loader_free(loader);
}

static void scopes_that_continue_leaves_open_do_not_pile_up(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(20, 1);
    int64_t live = tern_live_tensors(), bytes = 0;
    tern_batch b;
    for (int step = 0; tern_loader_next(loader, &b); step++) {
        assert_int_equal(tern_live_tensors(), live + 1); // the batch
        if (step == 2)
            bytes = tern_memory_live_bytes();
        if (step > 2)
            assert_int_equal(tern_memory_live_bytes(), bytes);
        tern_scope outer = tern_scope_open();
        (void)!tern_neg(b.x);
        (void)tern_scope_open();
        (void)!tern_neg(b.x);
        if (step % 2)
            continue;
        tern_scope_close(outer);
    }
    assert_int_equal(tern_live_tensors(), live);
    tern_loader_free(loader);
}

// The tensor belongs to the scope of the loader's batch, as everything made since the batch.
static tern_tensor *first_above(tern_loader *loader, double limit)
{
    tern_batch b;
    while (tern_loader_next(loader, &b)) {
        tern_tensor *twice = tern_mul_scalar(b.x, 2);
        if (tern_item(twice) > limit)
            return twice;
    }
    return NULL;
}

static void a_function_may_return_from_inside_a_loop(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(9, 1);
    tern_tensor *found = first_above(loader, 5);
    assert_tensor(found, tern_dims(1, 1), 6);
    tern_tensor *next = first_above(loader, 5);
    assert_dead(found, DIED_WITH_ITS_SCOPE);
    assert_tensor(next, tern_dims(1, 1), 8);
    tern_loader_free(loader);
    assert_dead(next, DIED_WITH_ITS_SCOPE);
}

// A loader of the helper's own: its scope is closed with the scope, or by freeing it.
static tern_tensor *mean_of_first_batch(tern_dataset *set, bool loader_first)
{
    tern_scope scope = tern_scope_open();
    tern_loader *loader = tern_loader_new(set, .batch_size = 4);
    tern_batch b;
    if (!tern_loader_next(loader, &b))
        fail();
    tern_tensor *mean = tern_mean(b.x, TERN_ALL_AXES, false);
    if (loader_first)
        tern_loader_free(loader);
    mean = tern_scope_close_keep(scope, mean);
    if (!loader_first)
        tern_loader_free(loader);
    return mean;
}

static void a_helper_closes_its_scope_before_it_frees_its_loader(void **state)
{
    (void)state;
    tern_dataset *set = numbers(8);
    assert_tensor(mean_of_first_batch(set, false), tern_dims(), 1.5);
    assert_null_with(mean_of_first_batch(set, true), TERN_ERR_STATE,
                     "scope_close_keep: t (float32 (), made by mean) " DIED_WITH_ITS_SCOPE);
    tern_dataset_free(set);
}

// ---- loops inside loops -------------------------------------------------------------------------

// The mean output over the first batches of `test`; leaves its loop and tern_no_grad by return.
static double evaluate(tern_module *net, tern_loader *test, int batches)
{
    tern_batch b;
    double sum = 0;
    tern_no_grad {
        for (int n = 1; tern_loader_next(test, &b); n++) {
            assert_false(tern_requires_grad(tern_forward(net, b.x)));
            sum += tern_item(tern_mean(tern_forward(net, b.x), TERN_ALL_AXES, false));
            if (n == batches)
                return sum / n;
        }
    }
    return -1;
}

static void evaluation_inside_training_disturbs_nothing(void **state)
{
    (void)state;
    tern_loader *train = loader_of(30, 1), *test = loader_of(5, 1);
    tern_module *net = scaled_new(3, NULL); // y = 3 x + 1
    tern_optim *optim = tern_optim_sgd(net, .lr = 0);
    int64_t most = 0;
    int step = 0;
    tern_batch b;
    for (; tern_loader_next(train, &b); step++) {
        tern_tensor *loss = total(tern_forward(net, b.x));
        assert_near(evaluate(net, test, 2), 1 + 3 * 0.5, 0, 0);
        tern_loader_reset(test);
        assert_true(tern_grad_enabled());
        tern_optim_zero_grad(optim);
        assert_int_equal(tern_backward(loss), TERN_OK);
        assert_values(tern_grad(tern_module_parameter(net, "scale")), step);
        assert_int_equal(tern_optim_step(optim), TERN_OK);
        if (step < 3)
            most = tern_live_tensors() > most ? tern_live_tensors() : most;
        assert_true(tern_live_tensors() <= most);
    }
    assert_int_equal(step, 30);
    tern_loader_free(test);
    tern_loader_free(train);
    tern_optim_free(optim);
    tern_module_free(net);
}

static void a_shorter_loader_starts_again_beside_a_longer_one(void **state)
{
    (void)state;
    tern_loader *labeled = loader_of(3, 1), *unlabeled = loader_of(10, 1);
    int64_t live = tern_live_tensors();
    tern_batch a, b;
    for (int step = 0; tern_loader_next(unlabeled, &b); step++) {
        if (!tern_loader_next(labeled, &a))
            assert_true(tern_loader_next(labeled, &a));
        tern_tensor *pair = tern_add(a.x, b.x);
        assert_tensor(pair, tern_dims(1, 1), step + step % 3);
        assert_true(tern_live_tensors() <= live + 8);
    }
    assert_int_equal(tern_loader_epoch(labeled), 4);
    tern_loader_free(unlabeled);
    tern_loader_free(labeled);
}

// A loader is in one place: both loops take batches of the same epoch, and the outer one's batch
// ends where the inner one begins.
static void loops_over_the_same_loader_share_its_epoch(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(4, 1);
    tern_batch outer, inner;
    int64_t seen = 0;
    assert_true(tern_loader_next(loader, &outer));
    tern_tensor *made = tern_neg(outer.x);
    while (tern_loader_next(loader, &inner))
        assert_tensor(inner.x, tern_dims(1, 1), (double)++seen);
    assert_int_equal(seen, 3);
    assert_dead(outer.x, "died when its loader went on");
    assert_dead(made, DIED_WITH_ITS_SCOPE);
    assert_int_equal(tern_loader_epoch(loader), 1);
    assert_true(tern_loader_next(loader, &outer));
    assert_int_equal(tern_loader_epoch(loader), 2);
    assert_tensor(outer.x, tern_dims(1, 1), 0);
    tern_loader_free(loader);
}

// ---- state carried from batch to batch ----------------------------------------------------------

static void a_hidden_state_outlives_its_batch_and_nothing_else_does(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(10, 1);
    tern_tensor *w = tern_full(tern_dims(1, 1), 0.5, .requires_grad = true), *hidden = NULL;
    int64_t live = tern_live_tensors();
    double expected = 0;
    tern_batch b;
    tern_assign(&hidden, tern_zeros(tern_dims(1, 1)));
    for (int step = 0; tern_loader_next(loader, &b); step++) {
        assert_true(tern_live_tensors() <= live + 4); // hidden, w's gradient, the batch, the zeros
        tern_tensor *next = tern_add(tern_mul(w, hidden), b.x);
        tern_zero_grad(w);
        assert_int_equal(tern_backward(total(next)), TERN_OK);
        assert_values(tern_grad(w), expected); // d (w h + x) / dw = h, and no further back
        tern_assign(&hidden, tern_detach(next));
        expected = expected / 2 + step;
        assert_values(hidden, expected);
    }
    tern_assign(&hidden, NULL);
    tern_loader_free(loader);
}

static void a_state_with_its_history_reaches_back_through_every_batch(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(3, 1);
    tern_tensor *w = tern_full(tern_dims(1, 1), 0.5, .requires_grad = true), *hidden = NULL;
    tern_batch b;
    tern_assign(&hidden, tern_ones(tern_dims(1, 1)));
    while (tern_loader_next(loader, &b))
        tern_assign(&hidden, tern_mul(w, hidden));
    tern_loader_free(loader);
    assert_values(hidden, 0.125);
    assert_int_equal(tern_backward(total(hidden)), TERN_OK);
    assert_values(tern_grad(w), 3 * 0.25); // d w^3 / dw
    tern_release(hidden);
}

// ---- helpers with scopes of their own -----------------------------------------------------------

// x + 1 + ... + 1: each level has a scope and hands its result on.
static tern_tensor *climb(tern_tensor *x, int levels)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *y = tern_add_scalar(x, 1);
    (void)!tern_neg(y);
    return tern_scope_close_keep(scope, levels > 1 ? climb(y, levels - 1) : y);
}

static void a_result_passes_through_the_scopes_of_many_helpers(void **state)
{
    (void)state;
    tern_tensor *x = tern_full(tern_dims(2), 0.5, .requires_grad = true);
    int64_t live = tern_live_tensors();
    tern_tensor *y = climb(x, 20);
    assert_int_equal(tern_live_tensors(), live + 1);
    assert_tensor(y, tern_dims(2), 20.5, 20.5);
    assert_int_equal(tern_backward(total(y)), TERN_OK); // what it was made of died, its graph not
    assert_tensor(tern_grad(x), tern_dims(2), 1, 1);
}

static void a_scope_that_is_closed_already_has_nothing_to_keep(void **state)
{
    (void)state;
    tern_scope outer = tern_scope_open();
    tern_scope inner = tern_scope_open();
    tern_tensor *t = tern_ones(tern_dims(1));
    assert_ptr_equal(tern_scope_close_keep(inner, t), t);
    assert_ptr_equal(tern_scope_close_keep(inner, t), t);
    tern_scope_close(outer);
    assert_null_with(tern_scope_close_keep(inner, t), TERN_ERR_STATE, DIED_WITH_ITS_SCOPE);
}

static void scopes_may_be_closed_in_any_order(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int64_t live = tern_live_tensors();
    for (int k = 0; k < 6; k++) {
        tern_scope scopes[3];
        int64_t left = 3;
        for (int i = 0; i < 3; i++) {
            scopes[i] = tern_scope_open();
            tern_ones(tern_dims(1));
        }
        for (int i = 0; i < 3; i++) {
            tern_scope_close(scopes[orders[k][i]]);
            left = orders[k][i] < left ? orders[k][i] : left; // those above close with it
            assert_int_equal(tern_live_tensors(), live + left);
        }
    }
}

static tern_tensor *fail_in_a_scope(tern_tensor *x)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *y = tern_matmul(tern_neg(x), x); // (2, 3) by (2, 3)
    if (!y)
        return NULL; // the scope stays open
    return tern_scope_close_keep(scope, y);
}

static void a_scope_left_open_by_a_failure_closes_with_the_one_outside(void **state)
{
    (void)state;
    int64_t live = tern_live_tensors();
    tern_scope outer = tern_scope_open();
    assert_null_with(fail_in_a_scope(check_2x3(false)), TERN_ERR_SHAPE, "matmul");
    assert_int_equal(tern_live_tensors(), live + 2);
    tern_scope_close(outer);
    assert_int_equal(tern_live_tensors(), live);
}

static void a_failure_inside_a_loop_ends_it_and_what_its_step_made(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(6, 1);
    int64_t live = tern_live_tensors();
    int steps = 0;
    tern_batch b;
    for (; tern_loader_next(loader, &b); steps++)
        if (steps == 2)
            assert_null(fail_in_a_scope(check_2x3(false)));
    assert_error(TERN_ERR_SHAPE, "matmul");
    assert_int_equal(steps, 3);
    assert_int_equal(tern_live_tensors(), live);
    assert_true(tern_loader_next(loader, &b)); // the same epoch goes on
    assert_tensor(b.x, tern_dims(1, 1), 3);
    tern_loader_free(loader);
}

// ---- scopes that modules, hooks and backwards leave open ----------------------------------------

static tern_status leave_a_scope_open(const tern_tensors *in, tern_tensors *out)
{
    (void)tern_scope_open();
    out->at[out->count++] = tern_mul_scalar(in->at[0], 2);
    return TERN_OK;
}

static void a_scope_that_a_module_leaves_open_ends_with_the_batch(void **state)
{
    (void)state;
    tern_loader *loader = loader_of(10, 1);
    odd_call = leave_a_scope_open;
    tern_module *net = odd_new();
    int64_t live = tern_live_tensors();
    tern_batch b;
    for (int step = 0; tern_loader_next(loader, &b); step++) {
        assert_int_equal(tern_live_tensors(), live + 1);
        assert_tensor(tern_forward(net, b.x), tern_dims(1, 1), 2 * step);
    }
    tern_module_free(net);
    tern_loader_free(loader);
}

static void a_constructor_closes_the_scopes_that_it_left_open(void **state)
{
    (void)state;
    int64_t live = tern_live_tensors();
    tern_module *m = tern_module_new(&odd_class);
    (void)tern_scope_open();
    (void)tern_module_add_parameter(m, "w", NULL, tern_ones(tern_dims(2)));
    (void)tern_scope_open();
    tern_ones(tern_dims(2));
    m = tern_module_done(m);
    assert_int_equal(tern_live_tensors(), live + 1);
    assert_tensor(tern_module_parameter(m, "w"), tern_dims(2), 1, 1);
    tern_module_free(m);
}

static tern_status backward_with_open_scopes(tern_backward_context *context)
{
    (void)tern_scope_open();
    tern_tensor *dx = tern_mul_scalar(tern_context_grad(context), 5);
    (void)tern_scope_open();
    (void)!tern_neg(dx);
    return tern_context_set_grad(context, 0, dx);
}

static void a_backward_closes_the_scopes_that_a_function_left_open(void **state)
{
    (void)state;
    static const tern_function five = {"five", backward_with_open_scopes};
    tern_tensor *x = tern_ones(tern_dims(1), .requires_grad = true), *y = NULL;
    tern_no_grad
        y = tern_mul_scalar(x, 5);
    tern_tensor *loss = total(tern_record(&five, y, &x, 1, NULL, 0, NULL, 0));
    int64_t live = tern_live_tensors();
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_int_equal(tern_live_tensors(), live + 1); // the gradient
    assert_values(tern_grad(x), 5);
}

// ---- gradient mode ------------------------------------------------------------------------------

static bool leave_two_by_goto(void)
{
    tern_no_grad {
        tern_no_grad
            goto out;
    }
    return false;
out:
    return true;
}

static void gradient_mode_comes_back_when_nested_blocks_are_left(void **state)
{
    (void)state;
    assert_true(leave_two_by_goto());
    assert_true(tern_grad_enabled());
    int rounds = 0;
    for (; rounds < 3; rounds++) {
        tern_no_grad {
            tern_no_grad {
                if (rounds == 1)
                    continue; // leaves the inner block only
            }
            assert_false(tern_grad_enabled());
        }
        assert_true(tern_grad_enabled());
    }
    assert_int_equal(rounds, 3);
    tern_no_grad {
        bool before = tern_set_grad_enabled(true);
        assert_false(before);
    }
    assert_true(tern_grad_enabled());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(what_is_made_after_a_break_lives_until_the_loader_goes_on),
        LIFETIME_TEST(scopes_that_continue_leaves_open_do_not_pile_up),
        LIFETIME_TEST(a_function_may_return_from_inside_a_loop),
        LIFETIME_TEST(a_helper_closes_its_scope_before_it_frees_its_loader),
        LIFETIME_TEST(evaluation_inside_training_disturbs_nothing),
        LIFETIME_TEST(a_shorter_loader_starts_again_beside_a_longer_one),
        LIFETIME_TEST(loops_over_the_same_loader_share_its_epoch),
        LIFETIME_TEST(a_hidden_state_outlives_its_batch_and_nothing_else_does),
        LIFETIME_TEST(a_state_with_its_history_reaches_back_through_every_batch),
        LIFETIME_TEST(a_result_passes_through_the_scopes_of_many_helpers),
        LIFETIME_TEST(a_scope_that_is_closed_already_has_nothing_to_keep),
        LIFETIME_TEST(scopes_may_be_closed_in_any_order),
        LIFETIME_TEST(a_scope_left_open_by_a_failure_closes_with_the_one_outside),
        LIFETIME_TEST(a_failure_inside_a_loop_ends_it_and_what_its_step_made),
        LIFETIME_TEST(a_scope_that_a_module_leaves_open_ends_with_the_batch),
        LIFETIME_TEST(a_constructor_closes_the_scopes_that_it_left_open),
        LIFETIME_TEST(a_backward_closes_the_scopes_that_a_function_left_open),
        LIFETIME_TEST(gradient_mode_comes_back_when_nested_blocks_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
