// SPDX-License-Identifier: Apache-2.0
// Pointers of the program's that objects keep for its callbacks, and what frees them: once each.
#include "support/tensor_check.h"

static int freed[4]; // how often each was

static void count_freed(void *user)
{
    (*(int *)user)++;
}

static void setup_counts(void)
{
    memset(freed, 0, sizeof freed);
}

// ---- modules ------------------------------------------------------------------------------------

// Adds what its user points to.
static tern_status call_shift(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const int *shift = tern_module_user(module);
    out->at[out->count++] = tern_add_scalar(in->at[0], *shift);
    return tern_error_code();
}

static const tern_module_class shift_class = {
    .name = "Shift", .size = sizeof(tern_module), .call = call_shift};

static tern_module *shift_new(int *user)
{
    tern_module *module = tern_module_new(&shift_class);
    (void)!tern_module_set_user(module, user, count_freed);
    return tern_module_done(module);
}

static void modules_of_one_class_have_users_of_their_own(void **state)
{
    (void)state;
    setup_counts();
    freed[0] = 10;
    freed[1] = 20;
    tern_module *a = shift_new(&freed[0]), *b = shift_new(&freed[1]);
    tern_module *both = tern_nn_sequential(a, b);
    assert_tensor(tern_forward(both, tern_ones(tern_dims(2))), tern_dims(2), 31, 31);
    assert_ptr_equal(tern_module_user(b), &freed[1]);
    assert_null(tern_module_user(both));
    assert_no_error();
    tern_module_free(both);
    assert_true(freed[0] == 11 && freed[1] == 21);
}

static void a_user_is_freed_when_another_is_set_and_when_the_call_fails(void **state)
{
    (void)state;
    setup_counts();
    tern_module *m = tern_nn_identity();
    assert_int_equal(tern_module_set_user(m, &freed[0], count_freed), TERN_OK);
    assert_int_equal(tern_module_set_user(m, &freed[1], NULL), TERN_OK);
    assert_true(freed[0] == 1 && tern_module_user(m) == &freed[1]);
    assert_status(tern_module_set_user(NULL, &freed[2], count_freed), TERN_ERR_NULL, "module");
    assert_int_equal(freed[2], 1);
    tern_module_free(m);
    assert_true(freed[0] == 1 && freed[1] == 0);
}

// ---- hooks --------------------------------------------------------------------------------------

static tern_status pass(tern_module *module, const tern_tensors *in, tern_tensors *out, void *user)
{
    (void)module;
    (void)in;
    (void)out;
    (void)user;
    return TERN_OK;
}

static uint64_t add_freed(tern_module *m, int *user)
{
    uint64_t number = tern_module_add_forward_hook(m, pass, user);
    assert_int_equal(tern_module_set_hook_free(m, number, count_freed), TERN_OK);
    return number;
}

static void what_hooks_keep_is_freed_when_they_are_removed_or_their_module_freed(void **state)
{
    (void)state;
    setup_counts();
    tern_module *m = tern_nn_identity();
    uint64_t number[4];
    for (int i = 0; i < 3; i++)
        number[i] = add_freed(m, &freed[i]);
    number[3] = tern_module_add_forward_hook(m, pass, &freed[3]);
    tern_module_remove_hook(m, number[1]);
    assert_true(freed[0] == 0 && freed[1] == 1 && freed[2] == 0);
    tern_module_remove_hook(m, number[1]);
    assert_int_equal(freed[1], 1);
    assert_status(tern_module_set_hook_free(m, number[1], count_freed), TERN_ERR_ARG, "no hook");
    assert_non_null(tern_forward(m, tern_ones(tern_dims(1))));
    tern_module_remove_hook(m, number[3]);
    tern_module_free(m);
    assert_true(freed[0] == 1 && freed[1] == 1 && freed[2] == 1 && freed[3] == 0);
}

typedef struct removal {
    uint64_t number;
    int freed;
    bool in_forward;
} removal;

static void count_removal(void *user)
{
    removal *r = user;
    assert_false(r->in_forward);
    r->freed++;
}

static tern_status remove_itself(tern_module *module, tern_tensors *in, void *user)
{
    removal *r = user;
    (void)in;
    r->in_forward = true;
    tern_module_remove_hook(module, r->number);
    r->in_forward = false; // its user was there to the end
    return TERN_OK;
}

static void the_user_of_a_hook_that_removes_itself_is_there_until_it_ends(void **state)
{
    (void)state;
    removal r = {0};
    tern_module *m = tern_nn_identity();
    r.number = tern_module_add_forward_pre_hook(m, remove_itself, &r);
    assert_int_equal(tern_module_set_hook_free(m, r.number, count_removal), TERN_OK);
    assert_non_null(tern_forward(m, tern_ones(tern_dims(1))));
    tern_module_free(m);
    assert_int_equal(r.freed, 1);
}

// ---- operations ---------------------------------------------------------------------------------

static tern_status scale_backward(tern_backward_context *context)
{
    const int *factor = tern_context_user(context);
    tern_tensor *dx = tern_mul_scalar(tern_context_grad(context), factor ? *factor : 1);
    return tern_context_set_grad(context, 0, dx);
}

static const tern_function scale_function = {"scale", scale_backward};

static tern_tensor *scaled(tern_tensor *x, int *factor)
{
    tern_tensor *y = NULL;
    tern_no_grad
        y = tern_mul_scalar(x, *factor);
    y = tern_record(&scale_function, y, &x, 1, NULL, 0, NULL, 0);
    return tern_record_user(y, factor, count_freed);
}

static void a_backward_has_its_user_which_is_freed_with_the_graph(void **state)
{
    (void)state;
    setup_counts();
    freed[0] = 5;
    tern_tensor *x = tern_full(tern_dims(), 2, .requires_grad = true);
    tern_tensor *y = scaled(x, &freed[0]);
    assert_int_equal(tern_backward(y, .retain_graph = true), TERN_OK);
    assert_int_equal(freed[0], 5);
    assert_true(tern_item(tern_grad(x)) == 5);
    assert_int_equal(tern_backward(y), TERN_OK);
    assert_int_equal(freed[0], 6);
    tern_scope scope = tern_scope_open();
    assert_non_null(scaled(x, &freed[1]));
    assert_int_equal(freed[1], 0);
    tern_scope_close(scope);
    assert_true(freed[0] == 6 && freed[1] == 1);
}

static void where_nothing_is_recorded_the_user_is_freed_at_once(void **state)
{
    (void)state;
    setup_counts();
    tern_tensor *x = tern_full(tern_dims(), 2, .requires_grad = true);
    assert_non_null(scaled(tern_detach(x), &freed[0]));
    assert_int_equal(freed[0], 1);
    assert_null_with(tern_record_user(tern_mul(x, x), &freed[1], count_freed), TERN_ERR_STATE,
                     "no output of tern_record");
    assert_int_equal(freed[1], 1);
    assert_null_with(tern_record_user(NULL, &freed[2], count_freed), TERN_ERR_NULL, "output");
    assert_int_equal(freed[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(modules_of_one_class_have_users_of_their_own),
        CHECK_TEST(a_user_is_freed_when_another_is_set_and_when_the_call_fails),
        CHECK_TEST(what_hooks_keep_is_freed_when_they_are_removed_or_their_module_freed),
        CHECK_TEST(the_user_of_a_hook_that_removes_itself_is_there_until_it_ends),
        CHECK_TEST(a_backward_has_its_user_which_is_freed_with_the_graph),
        CHECK_TEST(where_nothing_is_recorded_the_user_is_freed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
