// SPDX-License-Identifier: Apache-2.0
// Graphs that are large or outlive the scope that made them.
#include <pthread.h>

#include "support/check.h"

static tern_tensor *leaf(void)
{
    const float values[] = {1, 2};
    return tern_from_data(tern_dims(2), values, .requires_grad = true);
}

static tern_tensor *total(tern_tensor *x)
{
    return tern_sum(x, TERN_ALL_AXES, false);
}

// ---- size --------------------------------------------------------------------------------------

// A stack frame for each node, or a call in each call, would not fit. Sanitizers want more for
// themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK (1 << 20)
#elif defined(__has_feature)
#define STACK (1 << 20)
#else
#define STACK (64 << 10)
#endif

typedef struct chain {
    double gradient[2];
    bool failed;
} chain;

// Backward over a million nodes with the graph kept, then its release all at once.
static void *run_a_long_chain(void *result)
{
    chain *c = result;
    tern_tensor *x = leaf(), *y = NULL;
    tern_assign(&y, tern_mul_scalar(x, 1));
    for (int i = 0; i < 1000000; i++) {
        tern_scope inner = tern_scope_open();
        tern_assign(&y, tern_add_scalar(y, 0));
        tern_scope_close(inner);
    }
    c->failed = tern_backward(total(y), .retain_graph = true) != TERN_OK;
    for (int i = 0; i < 2 && !c->failed; i++)
        c->gradient[i] = value_at(tern_grad(x), i);
    tern_assign(&y, NULL);
    c->failed = c->failed || tern_error_pending();
    return NULL;
}

static void a_chain_of_a_million_nodes_runs_and_is_freed_on_a_small_stack(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_attr_t small;
    chain c = {.failed = true};
    int64_t live = tern_live_tensors();
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK), 0);
    assert_int_equal(pthread_create(&thread, &small, run_a_long_chain, &c), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    assert_false(c.failed);
    assert_true(c.gradient[0] == 1 && c.gradient[1] == 1);
    assert_int_equal(tern_live_tensors(), live);
}

// ---- scopes ------------------------------------------------------------------------------------

static tern_tensor *retained_loss_of(tern_tensor *x)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_retain(total(tern_mul(x, x)));
    tern_scope_close(scope);
    return loss;
}

static void a_loss_kept_past_its_scope_still_has_its_graph(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = leaf(), *loss = retained_loss_of(x);
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_values(tern_grad(x), 2, 4);
    tern_release(loss);
    tern_scope_close(scope);
}

static void a_loss_that_died_with_its_scope_is_named(void **state)
{
    (void)state;
    tern_scope scope = tern_scope_open();
    tern_scope inner = tern_scope_open();
    tern_tensor *loss = total(leaf());
    tern_scope_close(inner);
    assert_int_equal(tern_backward(loss), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "died when its scope closed");
    tern_scope_close(scope);
}

// The one that is let go first leaves the shared part to the other.
static void of_two_losses_either_may_go_first(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *x = leaf(), *shared = tern_mul(x, x), *losses[2];
        losses[0] = tern_retain(total(shared));
        losses[1] = tern_retain(total(tern_mul_scalar(shared, 10)));
        tern_release(losses[first]);
        assert_int_equal(tern_backward(losses[1 - first]), TERN_OK);
        assert_values(tern_grad(x), first ? 2 : 20, first ? 4 : 40);
        tern_release(losses[1 - first]);
        tern_scope_close(scope);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_a_million_nodes_runs_and_is_freed_on_a_small_stack),
        cmocka_unit_test(a_loss_kept_past_its_scope_still_has_its_graph),
        cmocka_unit_test(a_loss_that_died_with_its_scope_is_named),
        cmocka_unit_test(of_two_losses_either_may_go_first),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
