// SPDX-License-Identifier: Apache-2.0
// Tensors that are changed in place by what was computed from them: nothing holds itself, and no
// gradient is lost or wrong without a word.
#include "support/lifetime_check.h"

static tern_tensor *weight(void)
{
    return tern_full(tern_dims(2), 3, .requires_grad = true);
}

// The graph of each step keeps h, which takes the step's history.
static void a_state_that_its_net_overwrites_is_freed(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 4), tern_nn_gelu());
    tern_tensor *h = tern_ones(tern_dims(3, 4)), *kept = tern_retain(tern_zeros(tern_dims(3, 4)));
    for (int i = 0; i < 5; i++) {
        assert_non_null(tern_copy_(h, tern_forward(net, h)));
        assert_non_null(tern_add_(kept, tern_mul(kept, tern_add_scalar(h, i)), 1));
        assert_non_null(tern_mul_(h, tern_mul(h, h)));
    }
    tern_release(kept);
    tern_module_free(net);
}

static void two_states_that_overwrite_each_other_are_freed(void **state)
{
    (void)state;
    tern_tensor *w = weight(), *a = tern_ones(tern_dims(2)), *b = tern_ones(tern_dims(2));
    tern_tensor *of_a = tern_mul(a, w), *of_b = tern_mul(b, w);
    assert_non_null(tern_copy_(a, of_b));
    assert_non_null(tern_copy_(b, of_a));
}

static void a_backward_that_needs_the_old_values_says_so(void **state)
{
    (void)state;
    tern_tensor *w = weight();
    tern_tensor *h = tern_mul_scalar(w, 1);
    assert_non_null(tern_add_(h, tern_mul(h, h), 1));
    assert_status(tern_backward(total(h)), TERN_ERR_STATE,
                  "backward: a value that mul needs was changed in place, by what was computed "
                  "from it; clone it before the change");
    tern_zero_grad(w);
}

// d/dw of h = w + 2 w and, squared first, of h = w + w^2 with a copy kept.
static void what_does_not_need_the_old_values_goes_backward(void **state)
{
    (void)state;
    tern_tensor *w = weight();
    tern_tensor *h = tern_mul_scalar(w, 1);
    assert_non_null(tern_add_(h, tern_mul_scalar(h, 2), 1));
    assert_int_equal(tern_backward(total(h)), TERN_OK);
    assert_tensor(tern_grad(w), tern_dims(2), 3, 3);
    tern_zero_grad(w);
    h = tern_mul_scalar(w, 1);
    tern_tensor *copy = tern_clone(h);
    assert_non_null(tern_add_(h, tern_mul(copy, copy), 1));
    assert_int_equal(tern_backward(total(h)), TERN_OK);
    assert_tensor(tern_grad(w), tern_dims(2), 7, 7);
}

// Another graph that kept h keeps it: its own backward names the tensor.
static void a_graph_beside_it_keeps_the_tensor(void **state)
{
    (void)state;
    tern_tensor *w = weight();
    tern_tensor *h = tern_mul_scalar(w, 1), *beside = tern_mul(h, h);
    assert_non_null(tern_add_(h, w, 1));
    assert_int_equal(tern_backward(total(h), .retain_graph = true), TERN_OK);
    assert_tensor(tern_grad(w), tern_dims(2), 2, 2);
    tern_zero_grad(w);
    assert_status(tern_backward(total(beside)), TERN_ERR_STATE, "that mul needs (float32 (2,) on");
    tern_zero_grad(w);
}

// As PyTorch, which says at the backward that the leaf has moved into the graph.
static void a_leaf_that_its_own_graph_overwrites_is_freed(void **state)
{
    (void)state;
    tern_tensor *w = weight(), *b = tern_full(tern_dims(2), 5, .requires_grad = true);
    tern_tensor *y = tern_mul_scalar(tern_add_scalar(w, 1), 2);
    assert_non_null(tern_set_requires_grad(w, false));
    assert_non_null(tern_mul_(w, b));
    assert_non_null(tern_add_(w, y, 1));
    assert_status(tern_backward(total(w)), TERN_ERR_STATE,
                  "backward: a leaf that add_scalar passes a gradient on to was changed in place, "
                  "by what was computed from it; clone it before the change");
    tern_zero_grad(b);
    tern_tensor *v = weight(), *twice = tern_mul_scalar(v, 2);
    assert_non_null(tern_set_requires_grad(v, false));
    assert_non_null(tern_copy_(v, twice));
}

// What does not lead back to the leaf goes backward, and a graph beside it keeps the leaf.
static void a_leaf_that_another_graph_overwrites_is_that_graphs(void **state)
{
    (void)state;
    tern_tensor *w = weight(), *b = tern_full(tern_dims(2), 5, .requires_grad = true);
    tern_tensor *beside = tern_mul_scalar(w, 2);
    assert_non_null(tern_set_requires_grad(w, false));
    assert_non_null(tern_mul_scalar_(w, 2));
    assert_non_null(tern_add_(w, b, 1));
    assert_int_equal(tern_backward(total(w)), TERN_OK);
    assert_tensor(tern_grad(b), tern_dims(2), 1, 1);
    assert_tensor(w, tern_dims(2), 11, 11);
    assert_tensor(beside, tern_dims(2), 6, 6);
}

static tern_status pass_on(tern_backward_context *context)
{
    return tern_context_set_grad(context, 0, tern_context_grad(context));
}

static void an_output_that_was_used_before_is_not_recorded(void **state)
{
    (void)state;
    static const tern_function function = {"late", pass_on};
    tern_tensor *w = weight(), *y;
    tern_no_grad {
        y = tern_mul_scalar(w, 2);
    }
    tern_tensor *used = tern_mul(y, w);
    assert_null_with(tern_record(&function, y, &used, 1, NULL, 0, NULL, 0), TERN_ERR_STATE,
                     "record: the output of late was used by a recorded operation before");
    tern_tensor *leaf = weight();
    used = tern_mul_scalar(leaf, 2);
    assert_non_null(tern_set_requires_grad(leaf, false));
    assert_null_with(tern_record(&function, leaf, &used, 1, NULL, 0, NULL, 0), TERN_ERR_STATE,
                     "record: the output of late was used by a recorded operation before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(a_state_that_its_net_overwrites_is_freed),
        LIFETIME_TEST(two_states_that_overwrite_each_other_are_freed),
        LIFETIME_TEST(a_backward_that_needs_the_old_values_says_so),
        LIFETIME_TEST(what_does_not_need_the_old_values_goes_backward),
        LIFETIME_TEST(a_graph_beside_it_keeps_the_tensor),
        LIFETIME_TEST(a_leaf_that_its_own_graph_overwrites_is_freed),
        LIFETIME_TEST(a_leaf_that_another_graph_overwrites_is_that_graphs),
        LIFETIME_TEST(an_output_that_was_used_before_is_not_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
