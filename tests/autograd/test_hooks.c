// SPDX-License-Identifier: Apache-2.0
#include "support/tensor_check.h"

// What hooks did, in order.
static char journal[200];

typedef struct hook_state {
    const char *name;
    uint64_t number; // removes this one when it runs
    tern_tensor *replacement;
    tern_status failure;
} hook_state;

static tern_status react(tern_module *module, hook_state *hook, tern_tensors *tensors)
{
    strcat(journal, hook->name);
    if (hook->number)
        tern_module_remove_hook(module, hook->number);
    if (hook->replacement)
        tensors->at[0] = hook->replacement;
    return hook->failure ? tern_error_raise(hook->failure, "%s says no", hook->name) : TERN_OK;
}

static tern_status before(tern_module *module, tern_tensors *in, void *user)
{
    return react(module, user, in);
}

static tern_status after(tern_module *module, const tern_tensors *in, tern_tensors *out, void *user)
{
    assert_int_equal(in->count, 1);
    return react(module, user, out);
}

static void hooks_run_in_the_order_in_which_they_were_added(void **state)
{
    (void)state;
    hook_state a = {.name = "a"}, b = {.name = "b"}, c = {.name = "c"}, d = {.name = "d"};
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    journal[0] = 0;
    assert_true(tern_module_add_forward_hook(m, after, &a) > 0);
    assert_true(tern_module_add_forward_pre_hook(m, before, &b) > 0);
    assert_true(tern_module_add_forward_hook(m, after, &c) > 0);
    assert_true(tern_module_add_forward_pre_hook(m, before, &d) > 0);
    assert_ptr_equal(tern_forward(m, x), x);
    assert_string_equal(journal, "bdac");
    tern_module_free(m);
}

static void hooks_replace_what_goes_in_and_what_comes_out(void **state)
{
    (void)state;
    tern_module *m = tern_nn_relu();
    hook_state input = {.name = "i", .replacement = tern_full(tern_dims(2), 7)};
    tern_tensor *x = tern_ones(tern_dims(1));
    uint64_t first = tern_module_add_forward_pre_hook(m, before, &input);
    assert_tensor(tern_forward(m, x), tern_dims(2), 7, 7);
    hook_state output = {.name = "o", .replacement = tern_full(tern_dims(1), -5)};
    uint64_t second = tern_module_add_forward_hook(m, after, &output);
    assert_tensor(tern_forward(m, x), tern_dims(1), -5);
    tern_module_remove_hook(m, first);
    tern_module_remove_hook(m, second);
    tern_module_remove_hook(m, 12345); // not there: fine
    assert_tensor(tern_forward(m, x), tern_dims(1), 1);
    tern_module_free(m);
}

static void a_failing_hook_fails_the_forward(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    hook_state no = {.name = "no", .failure = TERN_ERR_NUMERIC}, other = {.name = "x"};
    journal[0] = 0;
    uint64_t number = tern_module_add_forward_pre_hook(m, before, &no);
    assert_true(tern_module_add_forward_hook(m, after, &other) > 0);
    assert_null_with(tern_forward(m, x), TERN_ERR_NUMERIC, "no says no [in Identity]");
    assert_string_equal(journal, "no");
    tern_module_remove_hook(m, number);
    assert_true(tern_module_add_forward_hook(m, after, &no) > 0);
    assert_null_with(tern_forward(m, x), TERN_ERR_NUMERIC, "no says no");
    assert_string_equal(journal, "noxno");
    tern_module_free(m);
}

static void of_several_hooks_the_one_that_is_meant_is_removed(void **state)
{
    (void)state;
    static const char *const left[] = {"bcxyz", "acxyz", "abxyz", "abcyz", "abcxz", "abcxy"};
    for (int gone = 0; gone < 6; gone++) {
        hook_state hooks[] = {{.name = "a"}, {.name = "b"}, {.name = "c"},
                              {.name = "x"}, {.name = "y"}, {.name = "z"}};
        uint64_t number[6];
        tern_module *m = tern_nn_identity();
        for (int i = 0; i < 6; i++)
            number[i] = i < 3 ? tern_module_add_forward_pre_hook(m, before, &hooks[i])
                              : tern_module_add_forward_hook(m, after, &hooks[i]);
        tern_module_remove_hook(m, number[gone]);
        journal[0] = 0;
        assert_non_null(tern_forward(m, tern_ones(tern_dims(1))));
        assert_string_equal(journal, left[gone]);
        tern_module_free(m);
    }
}

static void a_hook_may_remove_itself(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    hook_state once = {.name = "1"}, always = {.name = "n"};
    journal[0] = 0;
    once.number = tern_module_add_forward_hook(m, after, &once);
    assert_true(tern_module_add_forward_hook(m, after, &always) > 0);
    assert_ptr_equal(tern_forward(m, x), x);
    assert_ptr_equal(tern_forward(m, x), x);
    assert_string_equal(journal, "1nn");
    tern_module_free(m);
}

static tern_status add_another(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    strcat(journal, "+");
    return tern_module_add_forward_pre_hook(module, before, user) ? TERN_OK : tern_error_code();
}

static void hooks_may_be_added_by_a_hook(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    hook_state added = {.name = "a"};
    journal[0] = 0;
    uint64_t number = tern_module_add_forward_pre_hook(m, add_another, &added);
    for (int i = 0; i < 6; i++) // the list moves while it is walked
        assert_ptr_equal(tern_forward(m, x), x);
    assert_string_equal(journal, "++a+aa+aaa+aaaa+aaaaa");
    tern_module_remove_hook(m, number);
    tern_module_free(m);
}

static tern_status add_itself(tern_module *module, const tern_tensors *in, tern_tensors *out,
                              void *user)
{
    (void)in;
    (void)out;
    strcat(journal, "+");
    return tern_module_add_forward_hook(module, add_itself, user) ? TERN_OK : tern_error_code();
}

static tern_status add_itself_before(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    strcat(journal, "-");
    return tern_module_add_forward_pre_hook(module, add_itself_before, user) ? TERN_OK
                                                                             : tern_error_code();
}

static void a_hook_that_registers_its_successor_ends(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    journal[0] = 0;
    assert_true(tern_module_add_forward_hook(m, add_itself, NULL) > 0);
    assert_true(tern_module_add_forward_pre_hook(m, add_itself_before, NULL) > 0);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(tern_forward(m, x), x);
    assert_string_equal(journal, "-+--++----++++");
    tern_module_free(m);
}

// PyTorch 2.15 gives "ab" and then "a", before and after a forward.
static void a_hook_that_an_earlier_one_removes_runs_a_last_time(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    hook_state a = {.name = "a"}, b = {.name = "b"}, c = {.name = "c"}, d = {.name = "d"};
    journal[0] = 0;
    assert_true(tern_module_add_forward_pre_hook(m, before, &a) > 0);
    assert_true((a.number = tern_module_add_forward_pre_hook(m, before, &b)) > 0);
    assert_true(tern_module_add_forward_hook(m, after, &c) > 0);
    assert_true((c.number = tern_module_add_forward_hook(m, after, &d)) > 0);
    assert_ptr_equal(tern_forward(m, x), x);
    assert_ptr_equal(tern_forward(m, x), x);
    assert_string_equal(journal, "abcdac");
    tern_module_free(m);
}

static tern_status add_one_after(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    return tern_module_add_forward_hook(module, after, user) ? TERN_OK : tern_error_code();
}

// PyTorch's are two lists: what runs after a forward is settled after it.
static void hooks_before_a_forward_decide_what_runs_after_it(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(1));
    hook_state added = {.name = "n"}, removed = {.name = "o"}, remove = {.name = "p"};
    journal[0] = 0;
    assert_true((remove.number = tern_module_add_forward_hook(m, after, &removed)) > 0);
    assert_true(tern_module_add_forward_pre_hook(m, before, &remove) > 0);
    assert_true(tern_module_add_forward_pre_hook(m, add_one_after, &added) > 0);
    assert_ptr_equal(tern_forward(m, x), x);
    assert_string_equal(journal, "pn");
    tern_module_free(m);
}

static int freed_users;

static void count_user(void *user)
{
    (void)user;
    freed_users++;
}

static tern_status expect_no_user_freed(tern_module *module, const tern_tensors *in,
                                        tern_tensors *out, void *user)
{
    (void)module;
    (void)in;
    (void)out;
    (void)user;
    strcat(journal, "u");
    assert_int_equal(freed_users, 0);
    return TERN_OK;
}

static void the_user_of_a_hook_that_runs_a_last_time_lives_until_then(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    hook_state remove = {.name = "r"};
    journal[0] = 0;
    freed_users = 0;
    assert_true(tern_module_add_forward_hook(m, after, &remove) > 0);
    assert_true((remove.number = tern_module_add_forward_hook(m, expect_no_user_freed, m)) > 0);
    assert_int_equal(tern_module_set_hook_free(m, remove.number, count_user), TERN_OK);
    assert_non_null(tern_forward(m, tern_ones(tern_dims(1))));
    assert_string_equal(journal, "ru");
    tern_module_remove_hook(m, 0); // the next call about its hooks
    assert_int_equal(freed_users, 1);
    assert_int_equal(tern_module_set_hook_free(m, remove.number, count_user), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "has no hook");
    tern_module_free(m);
}

static tern_status let_go(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)in;
    tern_module_free(user);
    return TERN_OK;
}

static void a_module_freed_by_its_hook_finishes_its_forward(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 1);
    assert_true(tern_module_add_forward_pre_hook(m, let_go, m) > 0);
    assert_non_null(tern_forward(m, tern_ones(tern_dims(2))));
}

static void hooks_of_children_see_every_layer_of_a_sequential(void **state)
{
    (void)state;
    hook_state linear = {.name = "l"}, relu = {.name = "r"};
    tern_module *m = tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_relu(), tern_nn_linear(2, 2));
    journal[0] = 0;
    assert_true(tern_module_add_forward_hook(tern_module_child(m, "0"), after, &linear) > 0);
    assert_true(tern_module_add_forward_hook(tern_module_child(m, "1"), after, &relu) > 0);
    assert_non_null(tern_forward(m, tern_ones(tern_dims(2))));
    assert_string_equal(journal, "lr");
    tern_module_free(m);
}

static void null_is_refused(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    assert_int_equal(tern_module_add_forward_hook(NULL, after, NULL), 0);
    assert_error(TERN_ERR_NULL, "module_add_forward_hook: module is NULL");
    assert_int_equal(tern_module_add_forward_hook(m, NULL, NULL), 0);
    assert_error(TERN_ERR_NULL, "module_add_forward_hook: hook is NULL");
    assert_int_equal(tern_module_add_forward_pre_hook(NULL, before, NULL), 0);
    assert_error(TERN_ERR_NULL, "module_add_forward_pre_hook: module is NULL");
    assert_int_equal(tern_module_add_forward_pre_hook(m, NULL, NULL), 0);
    assert_error(TERN_ERR_NULL, "module_add_forward_pre_hook: hook is NULL");
    tern_module_remove_hook(NULL, 1);
    assert_error(TERN_ERR_NULL, "module_remove_hook: module is NULL");
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(hooks_run_in_the_order_in_which_they_were_added),
        CHECK_TEST(hooks_replace_what_goes_in_and_what_comes_out),
        CHECK_TEST(a_failing_hook_fails_the_forward),
        CHECK_TEST(of_several_hooks_the_one_that_is_meant_is_removed),
        CHECK_TEST(a_hook_may_remove_itself),
        CHECK_TEST(hooks_may_be_added_by_a_hook),
        CHECK_TEST(a_hook_that_registers_its_successor_ends),
        CHECK_TEST(a_hook_that_an_earlier_one_removes_runs_a_last_time),
        CHECK_TEST(hooks_before_a_forward_decide_what_runs_after_it),
        CHECK_TEST(the_user_of_a_hook_that_runs_a_last_time_lives_until_then),
        CHECK_TEST(a_module_freed_by_its_hook_finishes_its_forward),
        CHECK_TEST(hooks_of_children_see_every_layer_of_a_sequential),
        CHECK_TEST(null_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
