// SPDX-License-Identifier: Apache-2.0
// Two CPU devices stand for two devices. The allocator is the test's own, so that it can fail.
#include "support/memory_hook.h"
#include "support/tensor_check.h"

static tern_status call_nothing(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    *out = *in;
    return TERN_OK;
}

static const tern_module_class box_class = {
    .name = "Box", .size = sizeof(tern_module), .call = call_nothing};

static bool is_on(tern_tensor *t, tern_device device)
{
    return tern_device_equal(tern_device_of(t), device);
}

// (2, 3): 0 1 .. 5, owned by the test's scope.
static tern_tensor *counting(tern_dtype dtype)
{
    return tern_to_dtype(tern_reshape(tern_arange(0, 6, 1), tern_dims(2, 3)), dtype);
}

// A box with a parameter, a persistent buffer and one that is not.
static tern_module *box_new(void)
{
    tern_module *m = tern_module_new(&box_class);
    if (!m)
        return NULL;
    (void)tern_module_add_parameter(m, "weight", NULL, counting(TERN_FLOAT32));
    (void)tern_module_add_buffer(m, "mean", NULL, tern_full(tern_dims(2), 0.5), true);
    (void)tern_module_add_buffer(m, "count", NULL, counting(TERN_INT64), false);
    return tern_module_done(m);
}

static void moving_takes_everything_along_and_keeps_the_tensors(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(box_new(), box_new());
    tern_tensor *weight = tern_module_parameter(m, "1.weight");
    tern_tensor *mean = tern_module_buffer(m, "0.mean"), *count = tern_module_buffer(m, "0.count");
    assert_ptr_equal(tern_module_to(m, tern_cpu(1)), m);
    assert_ptr_equal(tern_module_parameter(m, "1.weight"), weight);
    assert_true(is_on(weight, tern_cpu(1)) && is_on(mean, tern_cpu(1)) &&
                is_on(count, tern_cpu(1)));
    assert_true(tern_requires_grad(weight));
    assert_tensor(weight, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    assert_tensor(mean, tern_dims(2), 0.5, 0.5);
    assert_tensor(count, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    assert_ptr_equal(tern_module_to(m, tern_cpu(0)), m);
    assert_true(is_on(weight, tern_cpu(0)));
    tern_module_free(m);
}

static void moving_to_where_a_module_is_changes_nothing(void **state)
{
    (void)state;
    tern_module *m = box_new();
    const void *before = tern_data(tern_module_parameter(m, "weight"));
    assert_ptr_equal(tern_module_to(m, tern_cpu(0)), m);
    assert_ptr_equal(tern_data(tern_module_parameter(m, "weight")), before);
    assert_ptr_equal(tern_module_to_dtype(m, TERN_FLOAT32), m);
    assert_ptr_equal(tern_data(tern_module_parameter(m, "weight")), before);
    tern_module_free(m);
}

static void moving_a_module_keeps_tied_weights_tied(void **state)
{
    (void)state;
    tern_tensor *tied = counting(TERN_FLOAT32);
    tern_module *a = tern_module_new(&box_class), *b;
    assert_non_null(tern_module_add_parameter(a, "weight", NULL, tied));
    a = tern_module_done(a);
    b = tern_module_new(&box_class);
    assert_non_null(tern_module_add_parameter(b, "weight", NULL, tied));
    tern_module *m = tern_nn_sequential(a, tern_module_done(b));
    assert_non_null(tern_module_to(m, tern_cpu(1)));
    assert_ptr_equal(tern_module_parameter(m, "0.weight"), tern_module_parameter(m, "1.weight"));
    assert_true(is_on(tied, tern_cpu(1)));
    assert_tensor(tied, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    tern_module_free(m);
}

static void views_of_one_storage_share_it_after_a_move(void **state)
{
    (void)state;
    tern_tensor *whole = tern_arange(0, 8, 1, .dtype = TERN_FLOAT32);
    tern_module *m = tern_module_new(&box_class);
    assert_non_null(tern_module_add_parameter(m, "a", NULL, tern_narrow(whole, 0, 0, 5)));
    assert_non_null(tern_module_add_parameter(m, "b", NULL, tern_narrow(whole, 0, 3, 5)));
    m = tern_module_done(m);
    assert_non_null(tern_module_to(m, tern_cpu(1)));
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT64));
    tern_no_grad {
        assert_non_null(tern_fill_(tern_narrow(tern_module_parameter(m, "b"), 0, 0, 2), 9));
    }
    assert_tensor(tern_module_parameter(m, "a"), tern_dims(5), 0, 1, 2, 9, 9);
    assert_tensor(tern_module_parameter(m, "b"), tern_dims(5), 9, 9, 5, 6, 7);
    assert_tensor(whole, tern_dims(8), 0, 1, 2, 3, 4, 5, 6, 7); // nobody asked it to move
    assert_true(is_on(whole, tern_cpu(0)));
    tern_module_free(m);
}

static void gradients_move_with_their_parameters(void **state)
{
    (void)state;
    tern_module *m = box_new();
    tern_tensor *weight = tern_module_parameter(m, "weight");
    tern_tensor *loss = tern_sum(tern_mul(weight, weight), TERN_ALL_AXES, false);
    assert_int_equal(tern_backward(loss), TERN_OK);
    tern_tensor *grad = tern_grad(weight);
    assert_non_null(tern_module_to(m, tern_cpu(1)));
    assert_ptr_equal(tern_grad(weight), grad);
    assert_true(is_on(grad, tern_cpu(1)));
    assert_tensor(grad, tern_dims(2, 3), 0, 2, 4, 6, 8, 10);
    loss = tern_sum(tern_mul(weight, weight), TERN_ALL_AXES, false);
    assert_int_equal(tern_backward(loss), TERN_OK); // adds to what came along
    assert_tensor(tern_grad(weight), tern_dims(2, 3), 0, 4, 8, 12, 16, 20);
    tern_module_free(m);
}

static void an_absent_gradient_is_made_anew_where_the_parameter_went(void **state)
{
    (void)state;
    tern_module *m = box_new();
    tern_tensor *weight = tern_module_parameter(m, "weight");
    assert_int_equal(tern_backward(tern_sum(weight, TERN_ALL_AXES, false)), TERN_OK);
    tern_module_zero_grad(m);
    assert_non_null(tern_module_to(m, tern_cpu(1)));
    assert_null(tern_grad(weight));
    assert_int_equal(tern_backward(tern_sum(weight, TERN_ALL_AXES, false)), TERN_OK);
    assert_true(is_on(tern_grad(weight), tern_cpu(1)));
    assert_tensor(tern_grad(weight), tern_dims(2, 3), 1, 1, 1, 1, 1, 1);
    tern_module_free(m);
}

static void a_graph_from_before_the_move_is_refused(void **state)
{
    (void)state;
    tern_module *m = box_new();
    tern_tensor *weight = tern_module_parameter(m, "weight");
    for (int saves = 0; saves < 2; saves++) { // with and without the weight kept for the backward
        tern_tensor *loss =
            tern_sum(saves ? tern_mul(weight, weight) : weight, TERN_ALL_AXES, false);
        assert_non_null(tern_module_to(m, tern_cpu(1)));
        assert_status(tern_backward(loss), TERN_ERR_STATE,
                      "backward: weight moved to float32 on cpu:1 after the forward");
        tern_module_zero_grad(m);
        loss = tern_sum(saves ? tern_mul(weight, weight) : weight, TERN_ALL_AXES, false);
        assert_non_null(tern_module_to_dtype(m, TERN_FLOAT64));
        assert_status(tern_backward(loss), TERN_ERR_STATE, "moved to float64 on cpu:1");
        tern_module_zero_grad(m);
        assert_non_null(tern_module_to(tern_module_to_dtype(m, TERN_FLOAT32), tern_cpu(0)));
    }
    tern_module_free(m);
}

// The engine sees that a leaf moved; what a node saved it knows by the version alone.
static void a_graph_that_saved_a_frozen_weight_is_refused_after_a_move_and_back(void **state)
{
    (void)state;
    tern_module *m = box_new();
    tern_tensor *weight = tern_module_parameter(m, "weight");
    tern_tensor *x = tern_ones(tern_dims(2, 3), .requires_grad = true);
    assert_non_null(tern_set_requires_grad(weight, false));
    tern_tensor *loss = tern_sum(tern_mul(x, weight), TERN_ALL_AXES, false);
    assert_non_null(tern_module_to(tern_module_to(m, tern_cpu(1)), tern_cpu(0)));
    assert_status(tern_backward(loss), TERN_ERR_STATE, "was changed in place after the forward");
    tern_module_free(m);
}

static void casting_changes_floating_tensors_only(void **state)
{
    (void)state;
    tern_module *m = box_new();
    tern_tensor *weight = tern_module_parameter(m, "weight");
    assert_int_equal(tern_backward(tern_sum(weight, TERN_ALL_AXES, false)), TERN_OK);
    assert_ptr_equal(tern_module_to_dtype(m, TERN_FLOAT64), m);
    assert_int_equal(tern_dtype_of(weight), TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_grad(weight)), TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_module_buffer(m, "mean")), TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_module_buffer(m, "count")), TERN_INT64);
    assert_tensor(weight, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    assert_tensor(tern_grad(weight), tern_dims(2, 3), 1, 1, 1, 1, 1, 1);
    assert_non_null(tern_module_to_dtype(m, TERN_BFLOAT16));
    assert_tensor(weight, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    assert_tensor(tern_module_buffer(m, "mean"), tern_dims(2), 0.5, 0.5);
    assert_null_with(tern_module_to_dtype(m, TERN_INT64), TERN_ERR_DTYPE,
                     "int64 is not a floating dtype");
    assert_null_with(tern_module_to_dtype(m, TERN_DTYPE_UNSPECIFIED), TERN_ERR_DTYPE,
                     "not a floating dtype");
    tern_module_free(m);
}

static void a_device_that_is_not_there_is_refused(void **state)
{
    (void)state;
    tern_module *m = box_new();
    assert_null_with(tern_module_to(m, tern_cpu(2)), TERN_ERR_DEVICE, "there is no device cpu:2");
    assert_null_with(tern_module_to(m, tern_cpu(-1)), TERN_ERR_DEVICE, "module_to");
    assert_null_with(tern_module_to(NULL, tern_cpu(0)), TERN_ERR_NULL, "module is NULL");
    assert_null_with(tern_module_to_dtype(NULL, TERN_FLOAT64), TERN_ERR_NULL, "module is NULL");
    assert_true(is_on(tern_module_parameter(m, "weight"), tern_cpu(0)));
    tern_module_free(m);
}

static void the_unspecified_device_is_the_default_one(void **state)
{
    (void)state;
    tern_module *m = box_new();
    assert_int_equal(tern_set_default_device(tern_cpu(1)), TERN_OK);
    assert_non_null(tern_module_to(m, (tern_device){0}));
    assert_int_equal(tern_set_default_device(tern_cpu(0)), TERN_OK);
    assert_true(is_on(tern_module_parameter(m, "weight"), tern_cpu(1)));
    tern_module_free(m);
}

static void assert_untouched(tern_module *m, const void *data)
{
    tern_tensor *weight = tern_module_parameter(m, "0.weight");
    assert_true(is_on(weight, tern_cpu(0)) && is_on(tern_grad(weight), tern_cpu(0)));
    assert_ptr_equal(tern_data(weight), data);
    assert_int_equal(tern_dtype_of(weight), TERN_FLOAT32);
    assert_true(is_on(tern_module_buffer(m, "1.count"), tern_cpu(0)));
    assert_int_equal(tern_dtype_of(tern_module_buffer(m, "1.mean")), TERN_FLOAT32);
}

// Fails every allocation of a move in turn.
static void fail_each_allocation(tern_module *(*move)(tern_module *m))
{
    tern_module *m = tern_nn_sequential(box_new(), box_new());
    tern_tensor *weight = tern_module_parameter(m, "0.weight");
    assert_int_equal(tern_backward(tern_sum(weight, TERN_ALL_AXES, false)), TERN_OK);
    const void *data = tern_data(weight);
    int64_t live = tern_memory_live_bytes();
    int failures = 0;
    for (;; failures++) {
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_module *moved = move(m);
        memory.fail_at = 0;
        if (moved)
            break;
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_untouched(m, data);
        assert_int_equal(tern_memory_live_bytes(), live);
    }
    print_message("%d allocations failed\n", failures);
    assert_true(failures >=
                10); // storages and their bytes of two weights, four buffers, one gradient
    assert_tensor(weight, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    tern_module_free(m);
}

static tern_module *to_other_device(tern_module *m)
{
    return tern_module_to(m, tern_cpu(1));
}

static tern_module *to_double(tern_module *m)
{
    return tern_module_to_dtype(m, TERN_FLOAT64);
}

static void a_move_that_fails_leaves_everything_as_it_was(void **state)
{
    (void)state;
    fail_each_allocation(to_other_device);
}

static void a_cast_that_fails_leaves_everything_as_it_was(void **state)
{
    (void)state;
    fail_each_allocation(to_double);
}

static void the_memory_of_the_old_home_is_freed(void **state)
{
    (void)state;
    tern_module *m = box_new();
    int64_t live = tern_memory_live_bytes();
    assert_non_null(tern_module_to(m, tern_cpu(1)));
    assert_int_equal(tern_memory_live_bytes(), live);
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT64)); // 4 bytes more for 6 + 2 elements
    assert_true(tern_memory_live_bytes() >= live);
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT32));
    assert_int_equal(tern_memory_live_bytes(), live);
    tern_module_free(m);
}

static void an_empty_parameter_moves_too(void **state)
{
    (void)state;
    tern_module *m = tern_module_new(&box_class);
    tern_tensor *none = tern_module_add_parameter(m, "none", NULL, tern_zeros(tern_dims(0, 3)));
    m = tern_module_done(m);
    assert_non_null(tern_module_to(m, tern_cpu(1)));
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT64));
    assert_true(is_on(none, tern_cpu(1)));
    assert_empty(none, tern_dims(0, 3));
    tern_module_free(m);
}

// ---- no memory elsewhere -----------------------------------------------------------------------

static void a_net_that_finds_no_memory_leaves_nothing(void **state)
{
    (void)state;
    int64_t live = tern_memory_live_bytes(), tensors = tern_live_tensors();
    int failures = 0;
    for (;; failures++) {
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_module *m =
            tern_nn_sequential(tern_nn_linear(2, 2), tern_nn_sequential(box_new(), tern_nn_relu()));
        memory.fail_at = 0;
        bool made = m && !tern_error_pending();
        tern_module_free(m);
        assert_int_equal(tern_live_tensors(), tensors);
        assert_int_equal(tern_memory_live_bytes(), live);
        if (made)
            break;
        assert_error(TERN_ERR_NOMEM, "no memory");
    }
    print_message("%d allocations failed\n", failures);
    assert_true(failures > 30);
}

static void walks_and_summaries_say_that_there_is_no_memory(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(box_new(), tern_nn_linear(2, 2));
    int failures = 0;
    memory.fail_at = 1;
    memory.calls = 0;
    assert_int_equal(tern_module_num_parameters(m), -1);
    memory.fail_at = 0;
    assert_error(TERN_ERR_NOMEM, "no memory");
    for (;; failures++) {
        FILE *file = fopen("/dev/null", "w");
        assert_non_null(file);
        memory.calls = 0;
        memory.fail_at = failures + 1;
        tern_status status = tern_module_summary_print(m, tern_dims(3, 2), file);
        memory.fail_at = 0;
        fclose(file);
        assert_true(tern_module_is_training(m) && tern_grad_enabled());
        if (!status)
            break;
        assert_error(TERN_ERR_NOMEM, "no memory");
    }
    assert_true(failures > 5);
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(moving_takes_everything_along_and_keeps_the_tensors),
        CHECK_TEST(moving_to_where_a_module_is_changes_nothing),
        CHECK_TEST(moving_a_module_keeps_tied_weights_tied),
        CHECK_TEST(views_of_one_storage_share_it_after_a_move),
        CHECK_TEST(gradients_move_with_their_parameters),
        CHECK_TEST(an_absent_gradient_is_made_anew_where_the_parameter_went),
        CHECK_TEST(a_graph_from_before_the_move_is_refused),
        CHECK_TEST(a_graph_that_saved_a_frozen_weight_is_refused_after_a_move_and_back),
        CHECK_TEST(casting_changes_floating_tensors_only),
        CHECK_TEST(a_device_that_is_not_there_is_refused),
        CHECK_TEST(the_unspecified_device_is_the_default_one),
        CHECK_TEST(a_move_that_fails_leaves_everything_as_it_was),
        CHECK_TEST(a_cast_that_fails_leaves_everything_as_it_was),
        CHECK_TEST(the_memory_of_the_old_home_is_freed),
        CHECK_TEST(an_empty_parameter_moves_too),
        CHECK_TEST(a_net_that_finds_no_memory_leaves_nothing),
        CHECK_TEST(walks_and_summaries_say_that_there_is_no_memory),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    setenv("TERN_CACHE", "0", 1);
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
