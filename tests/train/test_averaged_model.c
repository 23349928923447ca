// SPDX-License-Identifier: Apache-2.0
// Averages of weights on every kind of device: what an update does, and what it refuses. That the
// numbers are PyTorch's is tests/golden's.
#include "averaged_test.h"

static void updates_are_averaged_alike_or_by_decay(void **state)
{
    (void)state;
    static const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_BFLOAT16, TERN_FLOAT16};
    for (int i = 0; i < 4; i++) {
        tern_module *net = one_weight(dtypes[i]);
        tern_module *swa = tern_averaged_model_swa(net);
        tern_module *ema = tern_averaged_model_ema(net, .decay = 0.5);
        update_three_times(swa, net);
        update_three_times(ema, net);
        assert_tensor_near(tern_module_parameter(swa, "module.weight"), i < 2 ? 1e-6 : 0.05,
                           tern_dims(1, 2), 4, 4);
        assert_tensor(tern_module_parameter(ema, "module.weight"), tern_dims(1, 2), 5, 8);
        assert_tensor(tern_module_parameter(net, "weight"), tern_dims(1, 2), 8, 20);
        assert_true(tern_dtype_of(tern_module_parameter(ema, "module.weight")) == dtypes[i]);
        assert_counted(swa, 3);
        tern_free(swa, ema, net);
    }
}

static void decays_of_0_and_1_keep_the_last_and_the_first(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    tern_module *last = tern_averaged_model_ema(net, .decay = 0);
    tern_module *first = tern_averaged_model_ema(net, .decay = 1);
    update_three_times(last, net);
    update_three_times(first, net);
    assert_tensor(tern_module_parameter(last, "module.weight"), tern_dims(1, 2), 8, 20);
    assert_tensor(tern_module_parameter(first, "module.weight"), tern_dims(1, 2), 1, -8);
    tern_free(last, first, net);
}

// Whatever the model was when the average was made, infinities too.
static void the_first_update_copies(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    set_weight(net, INFINITY, NAN);
    tern_module *average = tern_averaged_model_swa(net);
    set_weight(net, 0.1, -0.0);
    assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    check_same(tern_module_parameter(average, "module.weight"),
               tern_module_parameter(net, "weight"), 0);
    assert_true(signbit(value_at(tern_module_parameter(average, "module.weight"), 1)));
    tern_free(average, net);
}

static void parameters_drawn_anew_begin_anew(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    tern_module *average = tern_averaged_model_swa(net);
    update_three_times(average, net);
    assert_int_equal(tern_module_reset_parameters(average, NULL), TERN_OK);
    assert_counted(average, 0);
    assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    assert_tensor(tern_module_parameter(average, "module.weight"), tern_dims(1, 2), 8, 20);
    tern_free(average, net);
}

static void a_pending_error_changes_nothing(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    tern_module *average = tern_averaged_model_swa(net);
    update_three_times(average, net);
    assert_null(tern_neg(NULL));
    assert_int_equal(tern_averaged_model_update(average, net), TERN_ERR_NULL);
    tern_error_clear();
    assert_counted(average, 3);
    tern_free(average, net);
}

// ---- of other dtypes, on other devices ----------------------------------------------------------

static void averages_may_be_of_another_dtype(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_BFLOAT16);
    tern_module *average = tern_averaged_model_swa(net);
    assert_non_null(tern_module_to_dtype(average, TERN_FLOAT32));
    update_three_times(average, net);
    assert_tensor_near(tern_module_parameter(average, "module.weight"), 1e-6, tern_dims(1, 2), 4,
                       4);
    tern_free(average, net);
}

static void averages_may_be_on_another_device(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    tern_module *average = tern_averaged_model_ema(net, .decay = 0.5, .device = tern_cpu(0));
    assert_true(is_on(tern_module_parameter(average, "module.weight"), tern_cpu(0)));
    assert_true(is_on(tern_module_buffer(average, "n_averaged"), tern_cpu(0)));
    assert_true(is_on(tern_module_parameter(net, "weight"), here));
    update_three_times(average, net);
    assert_tensor(tern_module_parameter(average, "module.weight"), tern_dims(1, 2), 5, 8);
    assert_non_null(tern_module_to(average, there));
    assert_true(is_on(tern_module_buffer(average, "n_averaged"), there));
    update_three_times(average, net);
    assert_tensor(tern_module_parameter(average, "module.weight"), tern_dims(1, 2), 5.5, 10);
    assert_counted(average, 6);
    tern_free(average, net);
}

// Halves on two devices: each is averaged where it is.
static void a_model_may_lie_on_several_devices(void **state)
{
    (void)state;
    tern_module *first = one_weight(TERN_FLOAT32), *second = one_weight(TERN_FLOAT32);
    assert_non_null(tern_module_to(second, there));
    tern_module *net = tern_nn_module_list(first, second);
    tern_module *average = tern_averaged_model_swa(net);
    static const double values[] = {2, 4};
    for (int i = 0; i < 2; i++) {
        set_weight(first, values[i], 0);
        set_weight(second, -values[i], 1);
        assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    }
    assert_tensor(tern_module_parameter(average, "module.0.weight"), tern_dims(1, 2), 3, 0);
    assert_tensor(tern_module_parameter(average, "module.1.weight"), tern_dims(1, 2), -3, 1);
    assert_true(is_on(tern_module_parameter(average, "module.1.weight"), there));
    tern_free(average, net);
}

// ---- what is averaged ---------------------------------------------------------------------------

static void buffers_follow_or_are_averaged(void **state)
{
    (void)state;
    tern_module *net = make_with_buffers();
    tern_module *average = tern_averaged_model_swa(net);
    update_buffers(average, net);
    assert_values(tern_module_buffer(average, "module.mean"), 10);
    assert_values(tern_module_buffer(average, "module.count"), 10);
    assert_values(tern_module_buffer(average, "module.columns"), 10, 10, 10, 10);
    tern_module_free(average);

    average = tern_averaged_model_swa(net, .use_buffers = true);
    update_buffers(average, net);
    assert_values(tern_module_buffer(average, "module.mean"), 5);
    assert_values(tern_module_buffer(average, "module.count"), 4); // of 1 and 4: 2.5 becomes 2
    assert_values(tern_module_buffer(average, "module.columns"), 5, 5, 5, 5);
    tern_module_free(average);

    average = tern_averaged_model_ema(net, .decay = 0.5, .use_buffers = true);
    update_buffers(average, net);
    assert_values(tern_module_buffer(average, "module.mean"), 6.25);
    assert_values(tern_module_buffer(average, "module.count"), 6); // of 2, of 2.5, and 10
    tern_free(average, net);
}

static void the_first_update_copies_integers_that_float32_rounds(void **state)
{
    (void)state;
    tern_module *net = make_with_buffers();
    tern_module *average = tern_averaged_model_swa(net, .use_buffers = true);
    tern_fill_(((with_buffers *)net)->count, ((int64_t)1 << 40) + 1);
    assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    assert_values(tern_module_buffer(average, "module.count"), 0x1p40 + 1);
    tern_free(average, net);
}

static void a_tied_weight_is_averaged_once(void **state)
{
    (void)state;
    tern_module *first = one_weight(TERN_FLOAT32), *second = one_weight(TERN_FLOAT32);
    assert_int_equal(tern_module_tie(second, "weight", first, "weight"), TERN_OK);
    tern_module *net = tern_nn_module_list(first, second);
    tern_module *average = tern_averaged_model_ema(net, .decay = 0.5);
    static const double values[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        set_weight(first, values[i], 0);
        assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    }
    assert_ptr_equal(tern_module_parameter(average, "module.0.weight"),
                     tern_module_parameter(average, "module.1.weight"));
    assert_tensor(tern_module_parameter(average, "module.1.weight"), tern_dims(1, 2), 2, 0);
    tern_free(average, net);
}

// ---- a module as any other ----------------------------------------------------------------------

static void it_runs_the_averages_and_prints_as_pytorchs(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), here);
    tern_module *average = tern_averaged_model_swa(net);
    tern_tensor *x = tern_to(small_input(4), here);
    check_same(tern_forward(average, x), tern_forward(net, x), 0);
    tern_module_zero_grad(net);
    tern_no_grad
        tern_fill_(tern_module_parameter(net, "2.bias"), 100);
    assert_true(value_at(tern_forward(average, x), 0) < 50);
    FILE *file = tmpfile();
    char text[400] = "";
    assert_int_equal(tern_module_print(average, file), TERN_OK);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "AveragedModel(\n"
                              "  (module): Sequential(\n"
                              "    (0): Linear(in_features=6, out_features=8, bias=True)\n"
                              "    (1): ReLU()\n"
                              "    (2): Linear(in_features=8, out_features=3, bias=True)\n"
                              "  )\n"
                              ")\n");
    tern_free(average, net);
}

static void a_copy_goes_on_alone(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    tern_module *average = tern_averaged_model_ema(net, .decay = 0.5);
    update_three_times(average, net);
    tern_module *copy = tern_module_copy(average);
    update_three_times(copy, net);
    assert_tensor(tern_module_parameter(copy, "module.weight"), tern_dims(1, 2), 5.5, 10);
    assert_counted(copy, 6);
    assert_tensor(tern_module_parameter(average, "module.weight"), tern_dims(1, 2), 5, 8);
    assert_counted(average, 3);
    tern_free(average, copy, net);
}

// Into an average of another net, which has updates behind it.
static void a_loaded_state_goes_on(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32), *other = one_weight(TERN_FLOAT32);
    tern_module *average = tern_averaged_model_swa(net), *later = tern_averaged_model_swa(other);
    update_three_times(average, net);
    set_weight(other, 1000, 1000);
    assert_int_equal(tern_averaged_model_update(later, other), TERN_OK);
    tern_state *own = tern_module_state_dict(average), *saved = tern_state_copy(own);
    assert_int_equal(tern_module_load_state_dict(later, saved), TERN_OK);
    update_three_times(average, net);
    update_three_times(later, other);
    tern_state *found = tern_module_state_dict(later);
    check_states(found, own, true);
    tern_free(own, saved, found, average, later, net, other);
}

// ---- what is refused ----------------------------------------------------------------------------

static void another_structure_is_refused_by_name(void **state)
{
    (void)state;
    tern_module *net = small_net(), *average = tern_averaged_model_swa(net);
    tern_module *narrow =
        tern_nn_sequential(tern_nn_linear(6, 7), tern_nn_relu(), tern_nn_linear(7, 3));
    tern_module *plain = tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_relu(),
                                            tern_nn_linear(8, 3, .bias = false));
    tern_module *shorter = tern_nn_sequential(tern_nn_linear(6, 8));
    tern_module *normed =
        tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_batch_norm1d(8), tern_nn_linear(8, 3));
    tern_module *deeper = tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_relu(),
                                             tern_nn_linear(8, 3), tern_nn_linear(3, 3));
    refuses(average, narrow, TERN_ERR_SHAPE,
            "averaged_model_update: \"0.weight\" is float32 (7, 6)");
    refuses(average, plain, TERN_ERR_ARG, "\"2.bias\" of the average is absent in the model");
    refuses(average, shorter, TERN_ERR_ARG, "Sequential has no parameter \"2.weight\"");
    refuses(average, normed, TERN_ERR_ARG, "Sequential has no parameter \"1.weight\"");
    refuses(average, deeper, TERN_ERR_ARG, "Sequential has no parameter \"3.weight\"");
    refuses(average, tern_module_child(average, "module"), TERN_ERR_ARG,
            "\"0.weight\" of the model is in the average too");
    tern_free(average, net, narrow, plain, shorter, normed, deeper);
}

static void a_model_of_more_buffers_is_refused(void **state)
{
    (void)state;
    tern_module *net = tern_nn_batch_norm1d(3, .track_running_stats = false);
    tern_module *tracked = tern_nn_batch_norm1d(3);
    tern_module *average = tern_averaged_model_swa(net);
    refuses(average, tracked, TERN_ERR_ARG, "\"running_mean\" of the model is absent");
    tern_free(average, net, tracked);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(updates_are_averaged_alike_or_by_decay),
        CHECK_TEST(decays_of_0_and_1_keep_the_last_and_the_first),
        CHECK_TEST(the_first_update_copies),
        CHECK_TEST(parameters_drawn_anew_begin_anew),
        CHECK_TEST(a_pending_error_changes_nothing),
        CHECK_TEST(averages_may_be_of_another_dtype),
        CHECK_TEST(averages_may_be_on_another_device),
        CHECK_TEST(a_model_may_lie_on_several_devices),
        CHECK_TEST(buffers_follow_or_are_averaged),
        CHECK_TEST(the_first_update_copies_integers_that_float32_rounds),
        CHECK_TEST(a_tied_weight_is_averaged_once),
        CHECK_TEST(it_runs_the_averages_and_prints_as_pytorchs),
        CHECK_TEST(a_copy_goes_on_alone),
        CHECK_TEST(a_loaded_state_goes_on),
        CHECK_TEST(another_structure_is_refused_by_name),
        CHECK_TEST(a_model_of_more_buffers_is_refused),
    };
    return cmocka_run_group_tests_name("averaged_model", tests, NULL, check_shutdown);
}
