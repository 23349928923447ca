// SPDX-License-Identifier: Apache-2.0
// Steps that evaluate a loss, and L-BFGS beyond PyTorch's steps, which golden has.
#include "optim_check.h"
#include "support/state_check.h"

// A least-squares problem, a logarithm that is not finite below 0, or what a test sets.
typedef struct problem {
    tern_module *net;
    tern_optim *optim;
    tern_tensor *x, *y;
    int evaluations;
    int fails_at;            // this evaluation, from 1; 0: none
    tern_tensor *instead;    // returned by that one, with no error
    bool barrier, recording; // recording: what the closure found
} problem;

static tern_tensor *loss_of(problem *of)
{
    tern_tensor *out = tern_forward(of->net, of->x);
    if (of->barrier) // the sum of v - log v
        return tern_sum(tern_sub(out, tern_log(out)), TERN_ALL_AXES, false);
    return tern_mse_loss(tern_tanh(out), of->y, TERN_REDUCTION_MEAN);
}

static tern_tensor *closure(void *user)
{
    problem *of = user;
    of->recording = tern_grad_enabled();
    tern_optim_zero_grad(of->optim);
    tern_tensor *loss = loss_of(of);
    if (tern_backward(loss))
        return NULL;
    if (++of->evaluations != of->fails_at)
        return loss;
    return of->instead ? of->instead : tern_reshape(of->x, tern_dims(1000));
}

static problem problem_of(double weight)
{
    problem of = {.net = tern_nn_linear(3, 1)};
    assert_non_null(tern_module_to_dtype(of.net, TERN_FLOAT64));
    tern_no_grad {
        tern_fill_(tern_module_parameter(of.net, "weight"), weight);
        tern_fill_(tern_module_parameter(of.net, "bias"), 0.1);
    }
    of.x = tern_reshape(tern_linspace(0.2, 2, 12, .dtype = TERN_FLOAT64), tern_dims(4, 3));
    of.y = tern_reshape(tern_linspace(-0.5, 0.7, 4, .dtype = TERN_FLOAT64), tern_dims(4, 1));
    return of;
}

static void end(problem *of)
{
    tern_optim_free(of->optim);
    tern_module_free(of->net);
}

static double weight_of(const problem *of, int64_t at)
{
    double values[3];
    assert_int_equal(tern_to_host(tern_module_parameter(of->net, "weight"), values, sizeof values),
                     TERN_OK);
    return values[at];
}

static tern_state *snapshot(const problem *of)
{
    tern_state *state = tern_optim_state_dict(of->optim), *copy = tern_state_copy(state);
    tern_state_free(state);
    return copy;
}

// ---- any optimizer ------------------------------------------------------------------------------

static void another_optimizer_takes_the_step_that_its_gradient_asks_for(void **state)
{
    (void)state;
    problem by_closure = problem_of(0.5), by_hand = problem_of(0.5);
    by_closure.optim = tern_optim_adam(by_closure.net, .lr = 0.1);
    by_hand.optim = tern_optim_adam(by_hand.net, .lr = 0.1);
    for (int i = 0; i < 3; i++) {
        tern_tensor *loss = NULL;
        tern_no_grad
            loss = tern_optim_step_closure(by_closure.optim, closure, &by_closure);
        tern_tensor *same = closure(&by_hand);
        assert_true(by_closure.recording);
        assert_int_equal(tern_optim_step(by_hand.optim), TERN_OK);
        assert_true(tern_item(loss) == tern_item(same));
        assert_true(weight_of(&by_closure, 1) == weight_of(&by_hand, 1));
    }
    assert_int_equal(by_closure.evaluations, 3);
    end(&by_closure);
    end(&by_hand);
}

static void all_but_the_loss_of_a_closure_dies(void **state)
{
    (void)state;
    problem of = problem_of(0.5);
    of.optim = tern_optim_sgd(of.net);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    const int64_t before = tern_live_tensors();
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_int_equal(tern_live_tensors(), before + 1);
    end(&of);
}

static void what_is_no_loss_is_refused(void **state)
{
    (void)state;
    problem of = problem_of(0.5);
    of.optim = tern_optim_sgd(of.net);
    of.fails_at = 1;
    of.instead = of.y;
    assert_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_error(TERN_ERR_SHAPE, "the closure returned float64 (4, 1)");
    of.fails_at = 2;
    of.instead = tern_zeros(tern_dims(), .dtype = TERN_INT64);
    assert_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_error(TERN_ERR_SHAPE, "the closure returned int64 ()");
    assert_true(weight_of(&of, 0) == 0.5);
    end(&of);
}

static tern_tensor *nothing(void *user)
{
    (void)user;
    return NULL;
}

static void a_closure_that_returns_nothing_is_refused(void **state)
{
    (void)state;
    problem of = problem_of(0.5);
    of.optim = tern_optim_lbfgs(of.net);
    assert_null(tern_optim_step_closure(of.optim, nothing, NULL));
    assert_error(TERN_ERR_NULL, "what the closure returned is NULL");
    end(&of);
}

static tern_tensor *that_frees(void *user)
{
    problem *of = user;
    tern_tensor *loss = closure(user);
    tern_optim_free(of->optim);
    of->optim = NULL;
    return loss;
}

static void a_closure_may_free_the_optimizer(void **state)
{
    (void)state;
    problem of = problem_of(0.3);
    for (int i = 0; i < 2; i++) {
        of.optim = i ? tern_optim_lbfgs(of.net, .max_iter = 1) : tern_optim_sgd(of.net);
        assert_non_null(tern_optim_step_closure(of.optim, that_frees, &of));
    }
    end(&of);
}

// ---- L-BFGS -------------------------------------------------------------------------------------

static void it_finds_the_minimum_of_a_quadratic_in_few_evaluations(void **state)
{
    (void)state;
    problem of = problem_of(2);
    of.optim = tern_optim_lbfgs(of.net, .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE);
    const double first = tern_item(tern_optim_step_closure(of.optim, closure, &of));
    for (int i = 0; i < 4; i++)
        assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    const double last = tern_item(loss_of(&of));
    assert_true(first > 0.5);
    assert_true(last < 1e-3);
    assert_true(of.evaluations < 130);
    end(&of);
}

// Whatever fails, at whichever evaluation: parameters and state are as before, and the next step is
// the one that would have been.
static void a_closure_that_fails_at_any_evaluation_changes_nothing(void **state)
{
    (void)state;
    for (int search = 0; search < 2; search++)
        for (int at = 1; at <= 6; at++) {
            problem of = problem_of(0.3), other = problem_of(0.3);
            of.optim = tern_optim_lbfgs(of.net, .line_search_fn = search, .max_iter = 6,
                                        .tolerance_change = 0);
            other.optim = tern_optim_lbfgs(other.net, .line_search_fn = search, .max_iter = 6,
                                           .tolerance_change = 0);
            assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
            assert_non_null(tern_optim_step_closure(other.optim, closure, &other));
            const double before = weight_of(&of, 2);
            tern_state *saved = snapshot(&of);
            of.fails_at = of.evaluations + at;
            assert_null(tern_optim_step_closure(of.optim, closure, &of));
            assert_error(TERN_ERR_SHAPE, "reshape");
            assert_int_equal(of.evaluations, of.fails_at);
            assert_true(weight_of(&of, 2) == before);
            tern_state *now = snapshot(&of);
            check_states(saved, now, true);
            assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
            assert_non_null(tern_optim_step_closure(other.optim, closure, &other));
            assert_true(weight_of(&of, 2) == weight_of(&other, 2));
            tern_state_free(saved);
            tern_state_free(now);
            end(&of);
            end(&other);
        }
}

static void a_loss_that_is_not_finite_is_an_error_but_for_a_line_search(void **state)
{
    (void)state;
    problem of = problem_of(3);
    of.barrier = true;
    of.optim = tern_optim_lbfgs(of.net, .lr = 100);
    assert_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_error(TERN_ERR_NUMERIC, "at evaluation 2 the loss is nan");
    assert_true(weight_of(&of, 0) == 3);
    assert_int_equal(tern_optim_set(of.optim, 0, "line_search_fn", 1), TERN_OK);
    for (int i = 0; i < 3; i++)
        assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_true(tern_item(loss_of(&of)) < 4.5); // at least 4, where every v is 1
    tern_no_grad
        tern_fill_(tern_module_parameter(of.net, "weight"), -1);
    assert_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_error(TERN_ERR_NUMERIC, "the loss is nan");
    assert_true(weight_of(&of, 0) == -1);
    end(&of);
}

static void saved_and_loaded_it_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    problem of = problem_of(1.5), other = problem_of(0.5);
    of.optim = tern_optim_lbfgs(of.net, .max_iter = 3, .history_size = 4);
    other.optim = tern_optim_lbfgs(other.net, .max_iter = 7);
    for (int i = 0; i < 2; i++)
        assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_non_null(tern_optim_step_closure(other.optim, closure, &other)); // a longer history
    tern_state *optim = snapshot(&of), *net = tern_module_state_dict(of.net);
    assert_int_equal(tern_module_load_state_dict(other.net, net), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(other.optim, optim), TERN_OK);
    assert_true(tern_optim_get(other.optim, 0, "history_size") == 4);
    for (int i = 0; i < 3; i++) {
        tern_tensor *a = tern_optim_step_closure(of.optim, closure, &of);
        tern_tensor *b = tern_optim_step_closure(other.optim, closure, &other);
        assert_true(tern_item(a) == tern_item(b));
    }
    assert_true(weight_of(&of, 0) == weight_of(&other, 0));
    tern_state_free(optim);
    tern_state_free(net);
    end(&of);
    end(&other);
}

static void a_state_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    problem of = problem_of(0.3);
    of.optim = tern_optim_lbfgs(of.net, .max_iter = 3);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    tern_state *saved = snapshot(&of);
    const double before = weight_of(&of, 0);
    assert_int_equal(tern_state_set_int(saved, "weight.n_iter", -1), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(of.optim, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "\"weight.n_iter\" is -1");
    assert_int_equal(tern_state_set_int(saved, "weight.n_iter", 3), TERN_OK);
    assert_int_equal(tern_state_set_double(saved, "weight.t", NAN), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(of.optim, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "\"weight.t\" is nan");
    assert_int_equal(tern_state_set_double(saved, "weight.t", 1), TERN_OK);
    assert_int_equal(tern_state_remove(saved, "weight.old_stps.0"), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(of.optim, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "\"weight.old_stps.0\" is no tensor, though there were iterations");
    tern_tensor *wrong = tern_zeros(tern_dims(5), .dtype = TERN_FLOAT64);
    assert_int_equal(tern_state_set_tensor(saved, "weight.old_stps.0", wrong), TERN_OK);
    assert_int_equal(tern_optim_load_state_dict(of.optim, saved), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "\"weight.old_stps.0\" is float64 (5,)");
    assert_true(weight_of(&of, 0) == before);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    tern_state_free(saved);
    end(&of);
}

static void its_state_follows_the_parameters(void **state)
{
    (void)state;
    problem of = problem_of(0.3), other = problem_of(0.3);
    const tern_device second = tern_cpu(1);
    of.optim = tern_optim_lbfgs(of.net, .max_iter = 3);
    other.optim = tern_optim_lbfgs(other.net, .max_iter = 3);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_non_null(tern_optim_step_closure(other.optim, closure, &other));
    assert_non_null(tern_module_to(of.net, second));
    of.x = tern_to(of.x, second);
    of.y = tern_to(of.y, second);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_non_null(tern_optim_step_closure(other.optim, closure, &other));
    assert_true(weight_of(&of, 0) == weight_of(&other, 0));
    end(&of);
    end(&other);
}

static void a_parameter_without_a_gradient_stays(void **state)
{
    (void)state;
    problem of = problem_of(0.3);
    tern_tensor *unused = leaf((double[]){7}, 1);
    tern_tensor *params[] = {unused, tern_module_parameter(of.net, "weight")};
    of.optim = tern_optim_lbfgs(NULL, .params = params, .param_count = 2, .max_iter = 4);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    assert_true(tern_item(unused) == 7);
    assert_true(weight_of(&of, 0) != 0.3);
    end(&of);
}

static void a_shorter_history_is_taken_from_the_next_step_on(void **state)
{
    (void)state;
    problem of = problem_of(0.3);
    of.optim = tern_optim_lbfgs(of.net, .max_iter = 8, .tolerance_change = 0);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    tern_state *saved = snapshot(&of);
    assert_int_equal(tern_state_type_of(saved, "weight.old_dirs.3"), TERN_STATE_TENSOR);
    assert_int_equal(tern_optim_set(of.optim, 0, "history_size", 2), TERN_OK);
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    tern_state *shorter = snapshot(&of);
    assert_int_equal(tern_state_type_of(shorter, "weight.old_dirs.1"), TERN_STATE_TENSOR);
    assert_int_equal(tern_state_type_of(shorter, "weight.old_dirs.2"), TERN_STATE_UNSPECIFIED);
    assert_int_equal(tern_optim_load_state_dict(of.optim, saved), TERN_OK); // longer again
    assert_non_null(tern_optim_step_closure(of.optim, closure, &of));
    tern_state_free(shorter);
    tern_state_free(saved);
    end(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(another_optimizer_takes_the_step_that_its_gradient_asks_for),
        CHECK_TEST(all_but_the_loss_of_a_closure_dies),
        CHECK_TEST(what_is_no_loss_is_refused),
        CHECK_TEST(a_closure_that_returns_nothing_is_refused),
        CHECK_TEST(a_closure_may_free_the_optimizer),
        CHECK_TEST(it_finds_the_minimum_of_a_quadratic_in_few_evaluations),
        CHECK_TEST(a_closure_that_fails_at_any_evaluation_changes_nothing),
        CHECK_TEST(a_loss_that_is_not_finite_is_an_error_but_for_a_line_search),
        CHECK_TEST(saved_and_loaded_it_goes_on_with_the_same_bits),
        CHECK_TEST(a_state_that_makes_no_sense_is_refused),
        CHECK_TEST(its_state_follows_the_parameters),
        CHECK_TEST(a_parameter_without_a_gradient_stays),
        CHECK_TEST(a_shorter_history_is_taken_from_the_next_step_on),
    };
    if (optim_check_begin())
        return 1;
    return cmocka_run_group_tests_name("closures", tests, NULL, NULL);
}
