// SPDX-License-Identifier: Apache-2.0
// Copies of modules: every module of nn.h, modules of the user's own, and what is refused.
#include "module_rows.h"

// ---- every module of nn.h -----------------------------------------------------------------------

static tern_status compare_entry(const tern_module_entry *entry, void *user)
{
    tern_module *copy = user;
    tern_tensor *same = entry->is_parameter ? tern_module_parameter(copy, entry->name)
                                            : tern_module_buffer(copy, entry->name);
    assert_non_null(same);
    assert_ptr_not_equal(same, entry->tensor);
    assert_ptr_not_equal(tern_data(same), tern_data(entry->tensor));
    assert_true(tern_dtype_of(same) == tern_dtype_of(entry->tensor));
    assert_true(tern_shape_equal(tern_shape_of(same), tern_shape_of(entry->tensor)));
    assert_memory_equal(tern_data(same), tern_data(entry->tensor),
                        (size_t)tern_numel(same) * tern_dtype_size(tern_dtype_of(same)));
    return TERN_OK;
}

static void check_copy(const public_module *row)
{
    tern_module *m = row->make();
    tern_module *copy = tern_module_copy(m);
    char before[2000] = "", after[2000] = "";
    assert_non_null(copy);
    assert_int_equal(tern_module_each_state(m, compare_entry, copy), TERN_OK);
    assert_int_equal(tern_module_num_parameters(copy), tern_module_num_parameters(m));
    assert_int_equal(tern_module_num_buffers(copy), tern_module_num_buffers(m));
    tern_tensor *y = run_row(row, m, tern_cpu(0));
    if (y)
        assert_true(tern_format(y, before, sizeof before) > 0);
    tern_module_free(m); // the copy has nothing of it
    tern_tensor *again = run_row(row, copy, tern_cpu(0));
    if (again)
        assert_true(tern_format(again, after, sizeof after) > 0);
    assert_string_equal(before, after);
    tern_module_free(copy);
}

static void every_module_of_the_header_is_copied(void **state)
{
    (void)state;
    for (int i = 0; i < MODULE_ROWS; i++) {
        const public_module row = module_row(i);
        check_copy(&row);
    }
}

// ---- what is copied -----------------------------------------------------------------------------

static void a_copy_of_a_users_module_has_members_of_its_own(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, scaled_new(2, NULL));
    tern_module *copy = tern_module_copy(m);
    scaled *self = (scaled *)copy;
    assert_ptr_equal(self->scale, tern_module_parameter(copy, "scale"));
    assert_ptr_equal(self->offset, tern_module_buffer(copy, "offset"));
    assert_ptr_equal(self->inner, tern_module_child(copy, "inner"));
    assert_ptr_not_equal(self->scale, ((scaled *)m)->scale);
    tern_no_grad {
        assert_non_null(tern_fill_(((scaled *)m)->scale, 100));
    }
    tern_module_free(m);
    assert_tensor(tern_forward(copy, tern_full(tern_dims(2), 5)), tern_dims(2), 34, 34);
    tern_module_free(copy);
}

static void what_is_tied_and_shared_stays_so_in_the_copy(void **state)
{
    (void)state;
    tern_module *twice = scaled_new(3, NULL), *tied = scaled_new(1, NULL);
    assert_int_equal(tern_module_tie(tied, "scale", twice, "scale"), TERN_OK);
    tern_module *m = tern_nn_sequential(tern_module_retain(twice), twice, tied);
    tern_module *copy = tern_module_copy(m);
    assert_ptr_equal(tern_module_child(copy, "0"), tern_module_child(copy, "1"));
    assert_ptr_not_equal(tern_module_child(copy, "0"), tern_module_child(m, "0"));
    assert_ptr_equal(tern_module_parameter(copy, "0.scale"),
                     tern_module_parameter(copy, "2.scale"));
    assert_int_equal(tern_module_num_parameters(copy), 1);
    assert_ptr_equal(((scaled *)tern_module_child(copy, "2"))->scale,
                     tern_module_parameter(copy, "0.scale"));
    tern_module_free(m);
    tern_module_free(copy);
}

static void views_of_one_storage_share_it_in_the_copy(void **state)
{
    (void)state;
    tern_tensor *whole = tern_arange(0, 8, 1, .dtype = TERN_FLOAT32);
    tern_module *m = tern_module_new(&odd_class);
    assert_non_null(tern_module_add_parameter(m, "a", NULL, tern_narrow(whole, 0, 0, 5)));
    assert_non_null(tern_module_add_buffer(
        m, "b", NULL, tern_transpose(tern_reshape(whole, tern_dims(2, 4)), 0, 1), true));
    m = tern_module_done(m);
    tern_module *copy = tern_module_copy(m);
    tern_no_grad {
        assert_non_null(tern_fill_(tern_module_parameter(copy, "a"), 9));
    }
    assert_tensor(tern_module_buffer(copy, "b"), tern_dims(4, 2), 9, 9, 9, 5, 9, 6, 9, 7);
    assert_tensor(whole, tern_dims(8), 0, 1, 2, 3, 4, 5, 6, 7);
    tern_module_free(m);
    tern_module_free(copy);
}

static void device_dtype_modes_and_frozen_parameters_are_copied(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(
        tern_nn_linear(2, 2, .dtype = TERN_FLOAT64, .device = tern_cpu(1)), tern_nn_dropout());
    (void)tern_module_eval(tern_module_child(m, "1"));
    assert_non_null(tern_set_requires_grad(tern_module_parameter(m, "0.bias"), false));
    tern_module *copy = tern_module_copy(m);
    tern_tensor *weight = tern_module_parameter(copy, "0.weight");
    assert_true(tern_device_equal(tern_device_of(weight), tern_cpu(1)));
    assert_true(tern_dtype_of(weight) == TERN_FLOAT64);
    assert_true(tern_requires_grad(weight));
    assert_false(tern_requires_grad(tern_module_parameter(copy, "0.bias")));
    assert_true(tern_module_is_training(copy));
    assert_false(tern_module_is_training(tern_module_child(copy, "1")));
    assert_string_equal(tern_name(weight), "weight");
    tern_module_free(m);
    tern_module_free(copy);
}

static tern_tensor *total(tern_module *m)
{
    return tern_sum(tern_forward(m, tern_full(tern_dims(1), 2)), TERN_ALL_AXES, false);
}

static void gradients_are_copied_and_new_ones_do_not_reach_the_original(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, NULL); // dy / dscale is x
    assert_int_equal(tern_backward(total(m)), TERN_OK);
    tern_module *copy = tern_module_copy(m);
    tern_tensor *scale = tern_module_parameter(m, "scale");
    tern_tensor *copied = tern_module_parameter(copy, "scale");
    assert_tensor(tern_grad(copied), tern_dims(1), 2);
    assert_int_equal(tern_backward(total(copy)), TERN_OK);
    assert_tensor(tern_grad(copied), tern_dims(1), 4);
    assert_tensor(tern_grad(scale), tern_dims(1), 2);
    tern_module_zero_grad(copy);
    assert_null(tern_grad(copied));
    assert_tensor(tern_grad(scale), tern_dims(1), 2);
    assert_no_error();
    tern_module_free(m);
    tern_module_free(copy);
}

static void an_optimizer_goes_on_with_the_original(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, NULL);
    tern_optim *o = tern_optim_sgd(m, .lr = 0.5);
    tern_module *copy = tern_module_copy(m);
    assert_int_equal(tern_backward(total(m)), TERN_OK);
    assert_int_equal(tern_optim_step(o), TERN_OK);
    assert_tensor(tern_module_parameter(m, "scale"), tern_dims(1), 2); // 3 - 0.5 * 2
    assert_tensor(tern_module_parameter(copy, "scale"), tern_dims(1), 3);
    tern_optim_free(o);
    tern_module_free(m);
    tern_module_free(copy);
}

static tern_status count_runs(tern_module *module, const tern_tensors *in, tern_tensors *out,
                              void *user)
{
    (void)module, (void)in, (void)out;
    ++*(int *)user;
    return TERN_OK;
}

static void hooks_are_not_copied(void **state)
{
    (void)state;
    int runs = 0;
    tern_module *m = scaled_new(3, NULL);
    assert_true(tern_module_add_forward_hook(m, count_runs, &runs) > 0);
    tern_module *copy = tern_module_copy(m);
    assert_non_null(tern_forward(copy, tern_ones(tern_dims(1))));
    assert_int_equal(runs, 0);
    tern_module_free(m);
    tern_module_free(copy);
}

static void absent_tensors_are_absent_in_the_copy(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 3, .bias = false);
    tern_module *copy = tern_module_copy(m);
    assert_int_equal(tern_module_num_parameters(copy), 1);
    assert_int_equal(tern_module_set_parameter(copy, "bias", tern_ones(tern_dims(3))), TERN_OK);
    assert_int_equal(tern_module_num_parameters(copy), 2);
    assert_int_equal(tern_module_num_parameters(m), 1);
    tern_module_free(m);
    tern_module_free(copy);
}

static void a_part_of_a_net_is_copied_alone(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(scaled_new(3, scaled_new(2, NULL)));
    tern_module *copy = tern_module_copy(tern_module_child(m, "0.inner"));
    tern_module_free(m);
    assert_tensor(tern_forward(copy, tern_ones(tern_dims(1))), tern_dims(1), 3);
    tern_module *outer = tern_nn_sequential(copy); // it has no parent yet
    assert_non_null(outer);
    tern_module_free(outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(every_module_of_the_header_is_copied),
        CHECK_TEST(a_copy_of_a_users_module_has_members_of_its_own),
        CHECK_TEST(what_is_tied_and_shared_stays_so_in_the_copy),
        CHECK_TEST(views_of_one_storage_share_it_in_the_copy),
        CHECK_TEST(device_dtype_modes_and_frozen_parameters_are_copied),
        CHECK_TEST(gradients_are_copied_and_new_ones_do_not_reach_the_original),
        CHECK_TEST(an_optimizer_goes_on_with_the_original),
        CHECK_TEST(hooks_are_not_copied),
        CHECK_TEST(absent_tensors_are_absent_in_the_copy),
        CHECK_TEST(a_part_of_a_net_is_copied_alone),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
