// SPDX-License-Identifier: Apache-2.0
// What several hold: modules in two places, tied weights, views of one storage, a tensor in a
// module, an optimizer and a dataset. Nobody's end is another's, in whatever order.
#include "support/lifetime_check.h"
#include "support/own_module.h"

static void swap(int *a, int *b)
{
    int before = *a;
    *a = *b;
    *b = before;
}

// The next order of different numbers, from ascending to descending; false after the last.
static bool next_order(int *order, int count)
{
    int i = count - 2, k = count - 1;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[k] < order[i])
        k--;
    swap(&order[i], &order[k]);
    for (int a = i + 1, b = count - 1; a < b; a++, b--)
        swap(&order[a], &order[b]);
    return true;
}

// ---- orders of freeing --------------------------------------------------------------------------

enum { NET, CRITERION, OPTIM, DATASET, LOADER, OBJECTS };

typedef struct run {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_dataset *dataset;
    tern_loader *loader;
    tern_tensor *loss, *weight; // retained
} run;

static run make_run(void)
{
    run r = {0};
    tern_module *inner = tern_nn_linear(3, 3);
    tern_scope scope = tern_scope_open();
    tern_tensor *labels = tern_arange(0, 3, 1);
    r.net = tern_nn_sequential(tern_module_retain(inner), tern_nn_dropout(.p = 0.25), inner);
    r.criterion = tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3)));
    r.optim = tern_optim_adam(r.net);
    r.dataset = tern_data_tensors(tern_ones(tern_dims(3, 3)), labels);
    r.loader = tern_loader_new(r.dataset, .batch_size = 3, .shuffle = true);
    tern_scope_close(scope);
    tern_batch b;
    assert_true(tern_loader_next(r.loader, &b));
    r.weight = tern_retain(tern_module_parameter(r.net, "0.weight"));
    r.loss = tern_retain(tern_loss(r.criterion, tern_forward(r.net, b.x), b.y));
    assert_no_error();
    return r;
}

static void free_one(run *r, int which)
{
    switch (which) {
    case NET:
        tern_module_free(r->net);
        break;
    case CRITERION:
        tern_module_free(r->criterion);
        break;
    case OPTIM:
        tern_optim_free(r->optim);
        break;
    case DATASET:
        tern_dataset_free(r->dataset);
        break;
    case LOADER:
        tern_loader_free(r->loader);
        break;
    default:
        fail();
    }
}

static double sum_of_squares(tern_tensor *t)
{
    tern_scope scope = tern_scope_open();
    double sum = tern_item(total(tern_mul(t, t)));
    tern_scope_close(scope);
    return sum;
}

// The graph holds what a backward needs: the gradient is the same bits as with everything alive.
static double gradient_after(const int *order)
{
    tern_manual_seed(3);
    run r = make_run();
    for (int i = 0; order && i < OBJECTS; i++)
        free_one(&r, order[i]);
    assert_int_equal(tern_backward(r.loss), TERN_OK);
    double result = sum_of_squares(tern_grad(r.weight));
    for (int i = 0; !order && i < OBJECTS; i++)
        free_one(&r, i);
    tern_release(r.loss);
    tern_release(r.weight);
    assert_no_error();
    return result;
}

static void a_loss_runs_backward_after_all_else_was_freed_in_any_order(void **state)
{
    (void)state;
    int order[OBJECTS] = {0, 1, 2, 3, 4}, orders = 0;
    double expected = gradient_after(NULL);
    int64_t bytes = tern_memory_live_bytes();
    assert_true(expected > 0);
    do {
        assert_near(gradient_after(order), expected, 0, 0);
        assert_int_equal(tern_live_tensors(), check_live);
        assert_int_equal(tern_memory_live_bytes(), bytes);
        orders++;
    } while (next_order(order, OBJECTS));
    assert_int_equal(orders, 120);
}

// ---- one tensor, many holders -------------------------------------------------------------------

enum { BY_MODULE, BY_OPTIM, BY_DATASET, BY_USER, HOLDERS };

static tern_module *holding(tern_tensor *a, tern_tensor *b)
{
    tern_module *m = tern_module_new(&odd_class);
    (void)tern_module_add_parameter(m, "a", NULL, a);
    (void)tern_module_add_parameter(m, "b", NULL, b);
    return tern_module_done(m);
}

static void a_tensor_dies_with_the_last_of_its_holders(void **state)
{
    (void)state;
    int order[HOLDERS] = {0, 1, 2, 3}, orders = 0;
    do {
        tern_scope scope = tern_scope_open();
        tern_tensor *t = tern_retain(tern_ones(tern_dims(2)));
        tern_module *m = holding(t, t);
        tern_optim *o = tern_optim_sgd(m);
        tern_dataset *d = tern_data_tensors(t);
        tern_scope_close(scope);
        for (int i = 0; i < HOLDERS; i++) {
            assert_tensor(t, tern_dims(2), 1, 1);
            tern_module_free(order[i] == BY_MODULE ? m : NULL);
            tern_optim_free(order[i] == BY_OPTIM ? o : NULL);
            tern_dataset_free(order[i] == BY_DATASET ? d : NULL);
            tern_release(order[i] == BY_USER ? t : NULL);
        }
        assert_dead(t, order[HOLDERS - 1] == BY_USER
                           ? "(\"a\", float32 (2,)) died when it was released for the last time"
                           : "(\"a\", float32 (2,)) died when the module, optimizer, dataset");
        orders++;
    } while (next_order(order, HOLDERS));
    assert_int_equal(orders, 24);
}

static void a_state_that_was_retained_outlives_its_optimizer(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(1, 1, .bias = false);
    tern_optim *optim = tern_optim_sgd(net, .lr = 1, .momentum = 0.5);
    assert_int_equal(tern_backward(total(tern_module_parameter(net, "weight"))), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    tern_tensor *momentum = tern_optim_state(optim, 0, "momentum_buffer");
    tern_tensor *kept = tern_retain(momentum);
    tern_optim_free(optim);
    assert_tensor(kept, tern_dims(1, 1), 1);
    tern_release(kept);
    assert_dead(momentum, "died when it was released");
    tern_module_free(net);
}

// ---- modules in two places ----------------------------------------------------------------------

static void a_module_used_twice_gets_both_gradients_and_one_update(void **state)
{
    (void)state;
    tern_module *shared = scaled_new(3, NULL); // s x + 1
    tern_module *net = tern_nn_sequential(tern_module_retain(shared), shared);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.5);
    tern_tensor *s = tern_module_parameter(net, "1.scale");
    tern_tensor *y = tern_forward(net, tern_full(tern_dims(1), 2));
    assert_values(y, 3 * (3 * 2 + 1) + 1);
    assert_int_equal(tern_backward(total(y)), TERN_OK);
    assert_values(tern_grad(s), 2 * 3 * 2 + 1); // d (s (s x + 1) + 1) / ds
    assert_int_equal(tern_module_num_parameters(net), 1);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    assert_values(s, 3 - 0.5 * 13);
    tern_module_free(net);
    tern_optim_free(optim);
}

static void two_trees_share_a_module_until_the_second_is_freed(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        tern_module *shared = scaled_new(2, NULL);
        tern_module *trees[] = {
            tern_nn_sequential(tern_nn_identity(), tern_module_retain(shared)),
            scaled_new(5, shared), // 5 (2 x + 1) + 1
        };
        tern_tensor *s = tern_module_parameter(trees[0], "1.scale");
        assert_ptr_equal(tern_module_parameter(trees[1], "inner.scale"), s);
        assert_ptr_equal(tern_module_to(trees[0], tern_cpu(1)), trees[0]);
        assert_true(tern_device_equal(tern_device_of(s), tern_cpu(1)));
        tern_tensor *x = tern_ones(tern_dims(1)), *far = tern_to(x, tern_cpu(1));
        tern_no_grad {
            assert_null_with(tern_forward(trees[1], far), TERN_ERR_DEVICE, "cpu:0"); // not all went
            assert_ptr_equal(tern_module_to(trees[1], tern_cpu(0)), trees[1]);
            tern_module_free(trees[first]);
            assert_values(tern_forward(trees[1 - first], x), first == 0 ? 16 : 3);
        }
        tern_module_free(trees[1 - first]);
        assert_dead(s, "(\"scale\", float32 (1,)) died when the module");
    }
}

static void a_reference_is_given_to_one_place_only(void **state)
{
    (void)state;
    int64_t live = tern_live_tensors();
    tern_module *child = tern_nn_linear(2, 2);
    assert_null_with(tern_nn_sequential(child, child), TERN_ERR_STATE,
                     "module_add_child: \"1\" (Linear) belongs to Sequential already; give the "
                     "second place a tern_module_retain of it");
    assert_int_equal(tern_live_tensors(), live); // the container took the one that there was
    tern_module *parent = tern_nn_sequential(tern_nn_linear(2, 2));
    child = tern_module_child(parent, "0");
    assert_null_with(scaled_new(1, child), TERN_ERR_STATE, "belongs to Sequential already");
    tern_module_free(child);
    assert_error(TERN_ERR_STATE, "module_free: Linear belongs to Sequential, which frees it");
    assert_int_equal(tern_live_tensors(), live + 2);
    assert_ptr_equal(tern_module_retain(child), child);
    tern_module_free(parent);
    assert_int_equal(tern_live_tensors(), live + 2);
    tern_module_free(child);
    assert_int_equal(tern_live_tensors(), live);
}

static void depth_of_sharing_does_not_matter(void **state)
{
    (void)state;
    tern_module *at = scaled_new(2, NULL); // 2 x + 1
    tern_tensor *s = tern_module_parameter(at, "scale");
    for (int level = 0; level < 10; level++) // each level has the one below twice
        at = tern_nn_sequential(tern_module_retain(at), at);
    assert_int_equal(tern_module_num_parameters(at), 1);
    tern_no_grad {
        tern_mul_scalar_(s, 0.5);
        assert_values(tern_forward(at, tern_zeros(tern_dims(1))), 1024);
    }
    tern_module_free(at);
    assert_dead(s, "\"scale\"");
}

// ---- tied weights and views of one storage ------------------------------------------------------

static void a_tied_weight_has_one_state_and_moves_once(void **state)
{
    (void)state;
    tern_tensor *w = tern_full(tern_dims(2), 4);
    tern_module *left = holding(w, tern_ones(tern_dims(2))), *right = holding(w, w);
    tern_module *net = tern_nn_module_list(left, right);
    tern_optim *optim = tern_optim_sgd(net, .lr = 1, .momentum = 0.5);
    assert_int_equal(tern_module_num_parameters(net), 2);
    assert_int_equal(tern_optim_num_parameters(optim), 2);
    assert_int_equal(tern_backward(total(w)), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    assert_ptr_equal(tern_module_to(net, tern_cpu(1)), net);
    assert_ptr_equal(tern_module_parameter(net, "1.b"), w);
    assert_ptr_equal(tern_module_parameter(net, "0.a"), w);
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_backward(total(w)), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    assert_values(w, 4 - 1 - 1.5, 4 - 1 - 1.5); // the momentum followed
    tern_optim_free(optim);
    tern_module_free(net);
}

static void parameters_that_are_views_learn_each_its_part(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *whole = tern_retain(tern_arange(0, 5, 1, .dtype = TERN_FLOAT32));
    tern_tensor *front = tern_narrow(whole, 0, 0, 3), *back = tern_narrow(whole, 0, 3, 2);
    tern_module *net = holding(front, back);
    tern_scope_close(scope);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.25);
    for (int step = 0; step < 2; step++) {
        tern_tensor *loss =
            tern_add(total(tern_mul(front, front)), total(tern_mul_scalar(back, 2)));
        tern_optim_zero_grad(optim);
        assert_int_equal(tern_backward(loss), TERN_OK);
        assert_int_equal(tern_optim_step(optim), TERN_OK);
    }
    assert_values(whole, 0, 0.25, 0.5, 3 - 1, 4 - 1); // f -= f / 2, b -= 1 / 2, twice
    tern_release(whole);
    assert_dead(whole, "died when it was released");
    assert_values(front, 0, 0.25, 0.5); // the storage is its views' too
    tern_module_free(net);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    tern_optim_free(optim);
    assert_dead(back, "\"b\"");
}

// What shares before shares after within a tree; who is in another stays where he is.
static void a_view_in_another_tree_stays_behind(void **state)
{
    (void)state;
    tern_tensor *whole = tern_arange(0, 4, 1, .dtype = TERN_FLOAT32);
    tern_tensor *a = tern_narrow(whole, 0, 0, 2), *b = tern_narrow(whole, 0, 2, 2);
    tern_module *left = holding(a, b), *right = holding(tern_narrow(whole, 0, 1, 2), a);
    assert_ptr_equal(tern_module_to(left, tern_cpu(1)), left);
    tern_no_grad {
        tern_fill_(b, 9);
    }
    assert_values(a, 0, 1);
    assert_true(tern_device_equal(tern_device_of(a), tern_cpu(1)));
    tern_tensor *stayed = tern_module_parameter(right, "a");
    assert_true(tern_device_equal(tern_device_of(stayed), tern_cpu(0)));
    assert_values(stayed, 1, 2);
    assert_values(whole, 0, 1, 2, 3);
    tern_module_free(left);
    assert_values(tern_module_parameter(right, "b"), 0, 1);
    tern_module_free(right);
}

// ---- containers that fail -----------------------------------------------------------------------

// Takes its children, then fails at a parameter.
static tern_module *failing_new(tern_module *first, tern_module *second)
{
    tern_module *m = tern_module_new(&odd_class);
    (void)tern_module_add_child(m, "first", NULL, first);
    (void)tern_module_add_parameter(m, "w", NULL, tern_ones(tern_dims(2), .dtype = TERN_INT64));
    (void)tern_module_add_child(m, "second", NULL, second);
    return tern_module_done(m);
}

static void a_container_that_fails_takes_its_children_with_it(void **state)
{
    (void)state;
    int64_t live = tern_live_tensors();
    tern_module *kept = tern_nn_linear(2, 2);
    assert_null_with(failing_new(tern_nn_linear(2, 2), tern_module_retain(kept)), TERN_ERR_DTYPE,
                     "module_add_parameter: \"w\"");
    assert_null_with(
        tern_nn_module_list(tern_nn_linear(2, 2), tern_module_retain(kept), tern_nn_linear(2, -1)),
        TERN_ERR_ARG, "nn_linear: in_features is 2 and out_features -1");
    assert_null_with(tern_nn_sequential(failing_new(tern_nn_relu(), tern_module_retain(kept))),
                     TERN_ERR_DTYPE, "\"w\"");
    tern_scope scope = tern_scope_open();
    assert_non_null(tern_forward(kept, tern_ones(tern_dims(2))));
    tern_scope_close(scope);
    tern_module_free(kept);
    tern_scope_close(check_scope);
    assert_int_equal(tern_live_tensors(), live);
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(a_loss_runs_backward_after_all_else_was_freed_in_any_order),
        LIFETIME_TEST(a_tensor_dies_with_the_last_of_its_holders),
        LIFETIME_TEST(a_state_that_was_retained_outlives_its_optimizer),
        LIFETIME_TEST(a_module_used_twice_gets_both_gradients_and_one_update),
        LIFETIME_TEST(two_trees_share_a_module_until_the_second_is_freed),
        LIFETIME_TEST(a_reference_is_given_to_one_place_only),
        LIFETIME_TEST(depth_of_sharing_does_not_matter),
        LIFETIME_TEST(a_tied_weight_has_one_state_and_moves_once),
        LIFETIME_TEST(parameters_that_are_views_learn_each_its_part),
        LIFETIME_TEST(a_view_in_another_tree_stays_behind),
        LIFETIME_TEST(a_container_that_fails_takes_its_children_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
