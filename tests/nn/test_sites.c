// SPDX-License-Identifier: Apache-2.0
// What errors say of the module after its forward: in a backward, in a step, without memory.
#include <pthread.h>

#include "support/memory_hook.h"
#include "support/own_module.h"

// Runs its only child, whose name the test chooses.
typedef struct box {
    tern_module base;
    tern_module *child;
} box;

static tern_status call_box(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_forward(((box *)module)->child, in->at[0]);
    return tern_error_code();
}

static const tern_module_class box_class = {.name = "Box", .size = sizeof(box), .call = call_box};

static tern_module *box_new(const char *name, tern_module *child)
{
    box *self = (box *)tern_module_new(&box_class);
    assert_non_null(self);
    tern_module_add_child(&self->base, name, &self->child, child);
    return tern_module_done(&self->base);
}

static tern_tensor *total(tern_tensor *x)
{
    return tern_sum(x, TERN_ALL_AXES, false);
}

static tern_tensor *input(void)
{
    return tern_ones(tern_dims(2, 2), .requires_grad = true);
}

// A call of Odd: x * x, and what it read.
static tern_tensor *read_by_square;

static tern_status square(const tern_tensors *in, tern_tensors *out)
{
    read_by_square = in->at[0];
    out->at[out->count++] = tern_mul(in->at[0], in->at[0]);
    return tern_error_code();
}

// A call of Odd whose gradient cannot be had.
static tern_status refuse_gradient(tern_backward_context *context)
{
    (void)context;
    return tern_error_raise(TERN_ERR_NUMERIC, "no gradient today");
}

static tern_status refuse(const tern_tensors *in, tern_tensors *out)
{
    static const tern_function refusing = {"refusing", refuse_gradient};
    tern_tensor *y = NULL, *x = in->at[0];
    tern_no_grad {
        y = tern_mul_scalar(x, 2);
    }
    out->at[out->count++] = tern_record(&refusing, y, &x, 1, NULL, 0, NULL, 0);
    return tern_error_code();
}

static tern_status raise_from_inside(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_ARG, "odd: no");
}

// Odd as "0.fc1".
static tern_module *odd_in_fc1(void)
{
    return tern_nn_sequential(box_new("fc1", odd_new()), tern_nn_tanh());
}

// ---- in a backward ------------------------------------------------------------------------------

static void a_changed_value_is_that_of_the_layer_that_kept_it(void **state)
{
    (void)state;
    odd_call = square;
    tern_module *net = odd_in_fc1();
    tern_tensor *x = tern_mul_scalar(input(), 2), *y = tern_forward(net, x);
    tern_no_grad {
        assert_non_null(tern_fill_(read_by_square, 0));
    }
    assert_status(tern_backward(total(y)), TERN_ERR_STATE, " [in 0.fc1 (Odd)]");
    tern_error_raise(TERN_ERR_ARG, "outside");
    assert_string_equal(tern_error_message(), "outside");
    tern_error_clear();
    tern_module_free(net);
}

static void an_error_of_a_users_backward_names_the_layer(void **state)
{
    (void)state;
    odd_call = refuse;
    tern_module *net = odd_in_fc1();
    assert_status(tern_backward(total(tern_forward(net, input()))), TERN_ERR_NUMERIC,
                  "no gradient today [in 0.fc1 (Odd)]");
    tern_module_free(net);
}

static void a_graph_that_was_freed_is_that_of_its_layer(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(box_new("fc1", tern_nn_linear(2, 2)), tern_nn_identity());
    tern_tensor *y = tern_forward(net, input());
    assert_int_equal(tern_backward(total(y)), TERN_OK);
    assert_status(tern_backward(total(y)), TERN_ERR_STATE,
                  "the graph of linear was freed by an earlier backward; give that one "
                  ".retain_graph = true [in 0.fc1 (Linear(in_features=2, out_features=2, "
                  "bias=True))]");
    tern_module_free(net);
}

static void an_operation_outside_every_module_is_in_none(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 2);
    tern_tensor *loss = total(tern_forward(net, input()));
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_int_equal(tern_backward(loss), TERN_ERR_STATE);
    const char *end = "give that one .retain_graph = true", *sentence = tern_error_message();
    assert_string_equal(sentence + strlen(sentence) - strlen(end), end);
    tern_error_clear();
    tern_module_free(net);
}

// ---- full names ---------------------------------------------------------------------------------

static void an_unusable_gradient_is_called_by_its_full_name(void **state)
{
    (void)state;
    odd_call = refuse;
    tern_module *net =
        tern_nn_sequential(odd_new(), box_new("fc1", tern_nn_linear(2, 2, .bias = false)));
    tern_tensor *weight = tern_module_parameter(net, "1.fc1.weight");
    assert_string_equal(tern_name(weight), "weight");
    tern_optim *o = tern_optim_sgd(net);
    assert_string_equal(tern_name(weight), "1.fc1.weight");
    assert_status(tern_backward(total(tern_forward(net, input()))), TERN_ERR_NUMERIC, "today");
    assert_status(tern_optim_step(o), TERN_ERR_STATE,
                  "optim_step: the gradient of 1.fc1.weight was left unusable");
    assert_null_with(tern_clip_grad_norm(net, 1), TERN_ERR_STATE,
                     "the gradient of 1.fc1.weight was left unusable");
    assert_null_with(tern_grad(weight), TERN_ERR_STATE, "grad: the gradient of 1.fc1.weight was");
    odd_call = square;
    assert_status(tern_backward(total(tern_forward(net, input()))), TERN_ERR_STATE,
                  "the gradient of 1.fc1.weight was left unusable by a failed backward; call "
                  "zero_grad [in 1.fc1 (Linear(in_features=2, out_features=2, bias=False))]");
    tern_optim_free(o);
    tern_module_free(net);
}

static void an_optimizer_of_a_part_keeps_the_names_of_the_whole(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(box_new("fc1", tern_nn_linear(2, 2)));
    tern_tensor *bias = tern_module_parameter(net, "0.fc1.bias");
    tern_optim *part = tern_optim_sgd(tern_module_child(net, "0"));
    assert_string_equal(tern_name(bias), "fc1.bias");
    tern_optim *whole = tern_optim_sgd(net);
    assert_string_equal(tern_name(bias), "0.fc1.bias");
    tern_optim *again = tern_optim_sgd(tern_module_child(net, "0"));
    assert_string_equal(tern_name(bias), "0.fc1.bias");
    tern_optim_free(again);
    tern_optim_free(whole);
    tern_optim_free(part);
    tern_module_free(net);
}

static void an_optimizer_that_is_refused_leaves_the_names(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 2));
    tern_optim *o = tern_optim_sgd(tern_module_child(net, "0"));
    assert_status(tern_optim_add_group(o, net), TERN_ERR_ARG, "in the optimizer already");
    assert_string_equal(tern_name(tern_module_parameter(net, "0.bias")), "bias");
    tern_optim_free(o);
    tern_module_free(net);
}

static void a_long_name_keeps_its_end(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 2);
    for (int i = 0; i < 9; i++)
        net = box_new("longish", net);
    tern_optim *o = tern_optim_sgd(net);
    const char *name = tern_name(tern_module_parameter(
        net, "longish.longish.longish.longish.longish.longish.longish.longish.longish.weight"));
    assert_string_equal(name, ".longish.longish.longish.longish.longish.weight");
    tern_optim_free(o);
    tern_module_free(net);
}

// ---- one class, several names -------------------------------------------------------------------

static void assert_path(tern_module *net, const char *path)
{
    assert_null_with(tern_forward(net, input()), TERN_ERR_ARG, path);
}

static void nets_of_one_class_keep_the_names_of_their_children(void **state)
{
    (void)state;
    odd_call = raise_from_inside;
    tern_module *shared = odd_new();
    tern_module *left = box_new("left", tern_module_retain(shared));
    tern_module *right = box_new("right", tern_module_retain(shared));
    for (int i = 0; i < 3; i++) {
        assert_path(left, "odd: no [in left (Odd)]");
        assert_path(right, "odd: no [in right (Odd)]");
        assert_path(shared, "odd: no [in Odd]");
    }
    tern_module_free(left);
    tern_module *new_left = box_new("new", shared);
    assert_path(new_left, "odd: no [in new (Odd)]");
    assert_path(right, "odd: no [in right (Odd)]");
    tern_module_free(new_left);
    tern_module_free(right);
}

static void a_module_in_two_places_is_named_by_the_one_that_runs_it(void **state)
{
    (void)state;
    odd_call = square;
    tern_module *shared = box_new("fc1", odd_new());
    tern_module *one = box_new("one", tern_module_retain(shared)), *two = box_new("two", shared);
    for (int i = 0; i < 3; i++) {
        tern_tensor *x = tern_mul_scalar(input(), 2), *y = tern_forward(one, x);
        tern_tensor *z = tern_forward(two, y);
        tern_no_grad {
            assert_non_null(tern_fill_(i % 2 ? x : y, 0));
        }
        assert_status(tern_backward(total(z)), TERN_ERR_STATE,
                      i % 2 ? "[in one.fc1 (Odd)]" : "[in two.fc1 (Odd)]");
    }
    tern_module_free(one);
    tern_module_free(two);
}

static void a_module_that_outlives_a_shutdown_keeps_its_path(void **state)
{
    (void)state;
    odd_call = raise_from_inside;
    tern_module *net = odd_in_fc1();
    for (int i = 0; i < 2; i++) {
        const tern_scope scope = tern_scope_open();
        assert_path(net, "odd: no [in 0.fc1 (Odd)]");
        tern_scope_close(scope);
        tern_shutdown();
    }
    tern_module_free(net);
}

// One module, run by two threads at once below parents of its own.
static void *run_box(void *net)
{
    const tern_scope scope = tern_scope_open();
    bool right = true;
    for (int i = 0; i < 500; i++) {
        char sentence[200], expected[80];
        snprintf(expected, sizeof expected, "odd: no [in %s.fc1 (Odd)]",
                 (const char *)tern_module_user(net));
        right = right && !tern_forward(net, tern_ones(tern_dims(1)));
        tern_error_take(sentence, sizeof sentence);
        right = right && strcmp(sentence, expected) == 0;
    }
    tern_scope_close(scope);
    return right ? net : NULL;
}

static void threads_that_run_one_module_have_paths_of_their_own(void **state)
{
    (void)state;
    static char names[2][4] = {"one", "two"};
    odd_call = raise_from_inside;
    tern_module *shared = box_new("fc1", odd_new()), *net[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        net[i] = box_new(names[i], i ? shared : tern_module_retain(shared));
        assert_int_equal(tern_module_set_user(net[i], names[i], NULL), TERN_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_box, net[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *result = NULL;
        pthread_join(thread[i], &result);
        assert_ptr_equal(result, net[i]);
        tern_module_free(net[i]);
    }
}

// ---- without memory -----------------------------------------------------------------------------

static tern_status backward_failing_at(tern_module *net, int64_t n)
{
    tern_module_zero_grad(net);
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = total(tern_forward(net, input()));
    fail_nth_allocation(n);
    tern_status status = tern_backward(loss);
    fail_nth_allocation(0);
    tern_scope_close(scope);
    return status;
}

static bool begins(const char *beginning)
{
    return strncmp(tern_error_message(), beginning, strlen(beginning)) == 0;
}

static bool ends(const char *end)
{
    const char *sentence = tern_error_message();
    const size_t length = strlen(sentence), last = strlen(end);
    return length >= last && strcmp(sentence + (length - last), end) == 0;
}

static void no_memory_in_a_backward_names_the_operation_and_the_layer(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(box_new("fc1", tern_nn_linear(2, 2)), tern_nn_tanh());
    const char *linear = " [in 0.fc1 (Linear(in_features=2, out_features=2, bias=True))]";
    int of_linear = 0, of_tanh = 0, outside = 0;
    for (int64_t n = 1; backward_failing_at(net, n); n++) {
        assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
        if (begins("backward of linear: ") && ends(linear))
            of_linear++;
        else if (begins("backward of tanh: ") && ends(" [in 1 (Tanh)]"))
            of_tanh++;
        else if (begins("backward of sum: ") || begins("ones_like: "))
            outside++;
        else
            fail_msg("\"%s\" does not say where", tern_error_message());
        tern_error_clear();
    }
    assert_true(of_linear >= 3 && of_tanh >= 1 && outside >= 1);
    tern_module_free(net);
}

static void a_forward_without_memory_for_its_path_is_refused(void **state)
{
    (void)state;
    odd_call = square;
    tern_module *net = box_new("a name not seen before", odd_new());
    tern_tensor *x = tern_ones(tern_dims(1));
    fail_nth_allocation(1);
    tern_tensor *y = tern_forward(net, x);
    fail_nth_allocation(0);
    assert_null_with(y, TERN_ERR_NOMEM, "no memory for the path");
    odd_call = raise_from_inside;
    assert_null_with(tern_forward(net, x), TERN_ERR_ARG, "[in a name not seen before (Odd)]");
    tern_module_free(net);
}

static int finish(void **state)
{
    (void)state;
    return all_given_back();
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1);
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_changed_value_is_that_of_the_layer_that_kept_it),
        CHECK_TEST(an_error_of_a_users_backward_names_the_layer),
        CHECK_TEST(a_graph_that_was_freed_is_that_of_its_layer),
        CHECK_TEST(an_operation_outside_every_module_is_in_none),
        CHECK_TEST(an_unusable_gradient_is_called_by_its_full_name),
        CHECK_TEST(an_optimizer_of_a_part_keeps_the_names_of_the_whole),
        CHECK_TEST(an_optimizer_that_is_refused_leaves_the_names),
        CHECK_TEST(a_long_name_keeps_its_end),
        CHECK_TEST(nets_of_one_class_keep_the_names_of_their_children),
        CHECK_TEST(a_module_in_two_places_is_named_by_the_one_that_runs_it),
        CHECK_TEST(threads_that_run_one_module_have_paths_of_their_own),
        CHECK_TEST(no_memory_in_a_backward_names_the_operation_and_the_layer),
        CHECK_TEST(a_forward_without_memory_for_its_path_is_refused),
        cmocka_unit_test(a_module_that_outlives_a_shutdown_keeps_its_path),
    };
    return cmocka_run_group_tests_name("sites", tests, NULL, finish);
}
