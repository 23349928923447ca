// SPDX-License-Identifier: Apache-2.0
#include "support/own_module.h"

static tern_status raise_from_inside(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_ARG, "odd: no");
}

static tern_status give_two(const tern_tensors *in, tern_tensors *out)
{
    *out = (tern_tensors){.count = 2, .at = {in->at[1], in->at[0]}};
    return TERN_OK;
}

static tern_status give_null(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    out->count = 1;
    return TERN_OK;
}

static tern_status give_nine(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    out->count = 9;
    return TERN_OK;
}

static tern_status give_nothing(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    (void)out;
    return TERN_OK;
}

static tern_status fail_quietly(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    *out = (tern_tensors){.count = 1};
    return TERN_ERR_SHAPE;
}

static void several_tensors_go_in_and_come_out(void **state)
{
    (void)state;
    tern_module *m = odd_new();
    tern_tensor *a = tern_ones(tern_dims(1)), *b = tern_zeros(tern_dims(1));
    tern_tensors both = {.count = 2, .at = {a, b}};
    odd_call = give_two;
    assert_int_equal(tern_module_forward(m, &both, &both), TERN_OK); // in and out may be the same
    assert_int_equal(both.count, 2);
    assert_ptr_equal(both.at[0], b);
    assert_ptr_equal(both.at[1], a);
    assert_null_with(tern_loss(m, a, b), TERN_ERR_STATE,
                     "Odd gave 2 tensors; call tern_module_forward");
    tern_module_free(m);
}

static void what_a_call_gives_is_checked(void **state)
{
    (void)state;
    tern_module *m = odd_new();
    tern_tensor *x = tern_ones(tern_dims(1));
    tern_tensors in = {.count = 1, .at = {x}}, out = {.count = 5};
    odd_call = give_null;
    assert_null_with(tern_forward(m, x), TERN_ERR_STATE, "Odd gave NULL as output 0 [in Odd]");
    odd_call = give_nine;
    assert_null_with(tern_forward(m, x), TERN_ERR_ARG, "9 outputs, but 0 to 8");
    odd_call = give_nothing;
    assert_null_with(tern_forward(m, x), TERN_ERR_STATE, "Odd gave 0 tensors");
    assert_int_equal(tern_module_forward(m, &in, &out), TERN_OK);
    assert_int_equal(out.count, 0);
    odd_call = fail_quietly;
    out.count = 5;
    assert_status(tern_module_forward(m, &in, &out), TERN_ERR_SHAPE,
                  "Odd failed without saying why [in Odd]");
    assert_int_equal(out.count, 0);
    in.count = 9;
    assert_status(tern_module_forward(m, &in, &out), TERN_ERR_ARG, "9 inputs, but 0 to 8");
    in.count = -1;
    assert_status(tern_module_forward(m, &in, &out), TERN_ERR_ARG, "-1 inputs");
    tern_module_free(m);
}

static void errors_name_the_module_by_its_path(void **state)
{
    (void)state;
    odd_call = raise_from_inside;
    tern_tensor *x = tern_ones(tern_dims(1));
    tern_module *odd = odd_new();
    tern_module *m =
        tern_nn_sequential(tern_nn_relu(), scaled_new(1, tern_module_retain(odd)), odd);
    assert_null_with(tern_forward(m, x), TERN_ERR_ARG, "odd: no [in 1.inner (Odd)]");
    assert_null_with(tern_forward(odd, x), TERN_ERR_ARG, "odd: no [in Odd]");
    tern_error_raise(TERN_ERR_ARG, "outside");
    assert_string_equal(tern_error_message(), "outside");
    tern_error_clear();
    tern_module_free(m);
}

// Runs the second module of a list that it holds.
typedef struct picker {
    tern_module base;
    tern_module *blocks;
} picker;

static tern_status call_picker(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    picker *self = (picker *)module;
    out->at[out->count++] = tern_forward(tern_module_child_at(self->blocks, 1), in->at[0]);
    return tern_error_code();
}

static const tern_module_class picker_class = {
    .name = "Picker", .size = sizeof(picker), .call = call_picker};

static void the_path_goes_through_a_module_list(void **state)
{
    (void)state;
    odd_call = raise_from_inside;
    picker *self = (picker *)tern_module_new(&picker_class);
    tern_module_add_child(&self->base, "blocks", &self->blocks,
                          tern_nn_module_list(tern_nn_relu(), odd_new()));
    tern_module *m = tern_nn_sequential(tern_module_done(&self->base));
    tern_tensor *x = tern_ones(tern_dims(1));
    assert_null_with(tern_forward(m, x), TERN_ERR_ARG, "odd: no [in 0.blocks.1 (Odd)]");
    assert_null_with(tern_forward(tern_module_child(m, "0.blocks"), x), TERN_ERR_STATE,
                     "ModuleList only holds modules");
    tern_module_free(m);
}

static void null_fails_every_call_and_names_the_argument(void **state)
{
    (void)state;
    tern_module *m = odd_new();
    tern_tensor *x = tern_ones(tern_dims(1));
    tern_tensors in = {.count = 1, .at = {x}}, out;
    assert_null_with(tern_forward(NULL, x), TERN_ERR_NULL, "forward: module is NULL");
    assert_null_with(tern_forward(m, NULL), TERN_ERR_NULL, "forward: x is NULL");
    assert_null_with(tern_loss(NULL, x, x), TERN_ERR_NULL, "loss: criterion is NULL");
    assert_null_with(tern_loss(m, NULL, x), TERN_ERR_NULL, "loss: input is NULL");
    assert_null_with(tern_loss(m, x, NULL), TERN_ERR_NULL, "loss: target is NULL");
    assert_status(tern_module_forward(NULL, &in, &out), TERN_ERR_NULL, "module is NULL");
    assert_status(tern_module_forward(m, NULL, &out), TERN_ERR_NULL, "in is NULL");
    assert_status(tern_module_forward(m, &in, NULL), TERN_ERR_NULL, "out is NULL");
    assert_null_with(tern_module_done(NULL), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_parameter(NULL, "a"), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_parameter(m, NULL), TERN_ERR_NULL, "name is NULL");
    assert_null_with(tern_module_buffer(NULL, "a"), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_buffer(m, NULL), TERN_ERR_NULL, "name is NULL");
    assert_null_with(tern_module_child(NULL, "a"), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_child(m, NULL), TERN_ERR_NULL, "name is NULL");
    assert_null_with(tern_module_child_at(NULL, 0), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_parameter_at(NULL, 0, NULL, 0), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_buffer_at(NULL, 0, NULL, 0), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_train(NULL, true), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_eval(NULL), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_requires_grad_(NULL, true), TERN_ERR_NULL, "module is NULL");
    tern_module_free(m);
}

static tern_status skip_entry(const tern_module_entry *entry, void *user)
{
    (void)entry;
    (void)user;
    return TERN_OK;
}

static tern_status skip_module(const char *name, tern_module *module, void *user)
{
    (void)name;
    (void)module;
    (void)user;
    return TERN_OK;
}

static void null_fails_counts_walks_and_modes(void **state)
{
    (void)state;
    tern_module *m = odd_new();
    assert_status(tern_module_each_parameter(NULL, skip_entry, NULL), TERN_ERR_NULL, "module");
    assert_status(tern_module_each_parameter(m, NULL, NULL), TERN_ERR_NULL, "visit is NULL");
    assert_status(tern_module_each_buffer(NULL, skip_entry, NULL), TERN_ERR_NULL, "module");
    assert_status(tern_module_each_buffer(m, NULL, NULL), TERN_ERR_NULL, "visit is NULL");
    assert_status(tern_module_each_state(NULL, skip_entry, NULL), TERN_ERR_NULL, "module");
    assert_status(tern_module_each_state(m, NULL, NULL), TERN_ERR_NULL, "visit is NULL");
    assert_status(tern_module_each_module(NULL, skip_module, NULL), TERN_ERR_NULL, "module");
    assert_status(tern_module_each_module(m, NULL, NULL), TERN_ERR_NULL, "visit is NULL");
    assert_status(tern_module_apply(NULL, skip_module, NULL), TERN_ERR_NULL, "module");
    assert_status(tern_module_apply(m, NULL, NULL), TERN_ERR_NULL, "visit is NULL");
    assert_int_equal(tern_module_num_parameters(NULL), -1);
    assert_int_equal(tern_module_num_buffers(NULL), -1);
    assert_int_equal(tern_module_num_children(NULL), -1);
    assert_int_equal(tern_module_num_elements(NULL, false), -1);
    assert_false(tern_module_is_training(NULL));
    assert_error(TERN_ERR_NULL, "module_num_parameters: module is NULL");
    tern_module_zero_grad(NULL);
    assert_error(TERN_ERR_NULL, "module_zero_grad: module is NULL");
    tern_module_free(m);
}

static void null_is_quiet_while_an_error_is_pending(void **state)
{
    (void)state;
    tern_error_raise(TERN_ERR_IO, "first");
    assert_null(tern_forward(NULL, NULL));
    assert_null(tern_module_to(NULL, tern_cpu(0)));
    assert_null(tern_module_eval(NULL));
    assert_int_equal(tern_module_num_parameters(NULL), -1);
    assert_int_equal(tern_error_code(), TERN_ERR_IO);
    assert_string_equal(tern_error_message(), "first");
    tern_error_clear();
}

// ---- calls --------------------------------------------------------------------------------------

static int calls;

// a - 10 b - 100 c; what is NULL counts 1.
static tern_status call_three(const tern_tensors *in, tern_tensors *out)
{
    calls++;
    tern_tensor *one = tern_ones(tern_dims(1)), *y = in->at[0];
    for (int i = 1; i < in->count; i++)
        y = tern_sub(y, tern_mul_scalar(in->at[i] ? in->at[i] : one, i == 1 ? 10 : 100));
    out->at[out->count++] = y;
    return tern_error_code();
}

static tern_tensor *number(double value)
{
    return tern_full(tern_dims(1), value);
}

static void calls_hand_on_their_tensors_in_order(void **state)
{
    (void)state;
    odd_call = call_three;
    tern_module *m = odd_new();
    assert_tensor(tern_call(m, number(2)), tern_dims(1), 2);
    assert_tensor(tern_call(m, number(2), number(3), number(4)), tern_dims(1), 2 - 30 - 400);
    assert_tensor(tern_call(m, number(2), NULL, number(4)), tern_dims(1), 2 - 10 - 400);
    assert_tensor(tern_call(m, tern_call(m, number(2), number(3)), tern_call(m, number(4))),
                  tern_dims(1), 2 - 30 - 40);
    tern_module_free(m);
}

static void a_call_with_what_failed_fails_quietly(void **state)
{
    (void)state;
    odd_call = call_three;
    calls = 0;
    tern_module *m = odd_new();
    assert_null_with(tern_call(m, number(2), tern_zeros(tern_dims(-1))), TERN_ERR_SHAPE, "-1");
    assert_int_equal(calls, 0);
    assert_null_with(tern_call_n(m, 9, NULL), TERN_ERR_NULL, "call: inputs is NULL");
    tern_tensor *many[9] = {NULL};
    assert_null_with(tern_call_n(m, 9, many), TERN_ERR_ARG, "call: 9 inputs, but 0 to 8");
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(several_tensors_go_in_and_come_out),
        CHECK_TEST(what_a_call_gives_is_checked),
        CHECK_TEST(errors_name_the_module_by_its_path),
        CHECK_TEST(the_path_goes_through_a_module_list),
        CHECK_TEST(null_fails_every_call_and_names_the_argument),
        CHECK_TEST(null_fails_counts_walks_and_modes),
        CHECK_TEST(null_is_quiet_while_an_error_is_pending),
        CHECK_TEST(calls_hand_on_their_tensors_in_order),
        CHECK_TEST(a_call_with_what_failed_fails_quietly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
