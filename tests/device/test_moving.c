// SPDX-License-Identifier: Apache-2.0
// A tensor's move makes a new tensor; a module's move happens in place.
#include "device_check.h"

static void a_moved_tensor_is_a_new_one_and_the_old_stays(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(false), *y = tern_to(x, here);
    assert_non_null(y);
    assert_ptr_not_equal(x, y);
    assert_true(is_on(x, tern_cpu(0)) && is_on(y, here));
    assert_tensor(y, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    assert_non_null(tern_fill_(y, 9));
    assert_tensor(x, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
}

static void a_tensor_that_is_there_already_is_the_same_one(void **state)
{
    (void)state;
    tern_tensor *y = tern_to(check_2x3(false), here);
    assert_ptr_equal(tern_to(y, here), y);
    assert_ptr_equal(tern_to_non_blocking(y, here), y);
    assert_ptr_equal(tern_to_dtype(y, TERN_FLOAT32), y);
}

static void tensors_of_any_strides_and_dtypes_move(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_tensor *x = tern_transpose(check_2x3(false), 0, 1);
    tern_tensor *y = tern_to(tern_to(x, here), there);
    assert_tensor(y, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    tern_tensor *part = tern_narrow(y, 0, 1, 2); // an offset
    assert_tensor(tern_to(part, tern_cpu(0)), tern_dims(2, 2), 1, 4, 2, 5);
    static const tern_dtype dtypes[] = {TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16, TERN_INT64,
                                        TERN_INT32,   TERN_UINT8,   TERN_BOOL};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tern_tensor *t =
            tern_to_dtype(tern_from_data(tern_dims(3), ((float[]){0, 1, 1})), dtypes[i]);
        t = tern_to(tern_to(t, here), there);
        assert_true(is_on(t, there));
        assert_int_equal(tern_dtype_of(t), dtypes[i]);
        assert_tensor(t, tern_dims(3), 0, 1, 1);
    }
    assert_empty(tern_to(tern_zeros(tern_dims(0, 4)), here), tern_dims(0, 4));
}

static void gradients_go_back_through_a_move(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(true), *y = tern_to(x, here);
    assert_int_equal(tern_backward(tern_sum(tern_mul(y, y), TERN_ALL_AXES, false)), TERN_OK);
    assert_true(is_on(tern_grad(x), tern_cpu(0)));
    assert_tensor(tern_grad(x), tern_dims(2, 3), 0, 2, 4, 6, 8, 10);
}

static void moving_a_module_keeps_it_its_tensors_and_their_numbers(void **state)
{
    (void)state;
    tern_module *net = small_net();
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    tern_tensor *before = tern_retain(tern_clone(tern_detach(weight)));
    assert_ptr_equal(tern_module_to(net, here), net);
    assert_ptr_equal(tern_module_parameter(net, "0.weight"), weight);
    assert_true(is_on(weight, here) && tern_requires_grad(weight));
    assert_true(is_on(tern_module_parameter(net, "2.bias"), here));
    check_same(weight, before, 0);
    assert_ptr_equal(tern_module_to(net, tern_cpu(0)), net);
    assert_true(is_on(weight, tern_cpu(0)));
    check_same(weight, before, 0);
    tern_release(before);
    tern_module_free(net);
}

static void a_moved_module_gives_what_it_gave(void **state)
{
    (void)state;
    tern_module *net = small_net();
    tern_tensor *x = small_input(5), *before = tern_forward(net, x);
    assert_non_null(tern_module_to(net, here));
    tern_tensor *after = tern_forward(net, tern_to(x, here));
    assert_true(is_on(after, here));
    check_same(after, before, 1e-6);
    tern_module_free(net);
}

static void a_dtype_move_takes_floating_tensors_only(void **state)
{
    (void)state;
    tern_module *net =
        tern_nn_cross_entropy_loss(.weight = tern_from_data(tern_dims(3), ((float[]){1, 2, 3})));
    assert_non_null(tern_module_to(net, here));
    assert_ptr_equal(tern_module_to_dtype(net, TERN_FLOAT64), net);
    tern_tensor *weight = tern_module_buffer(net, "weight");
    assert_int_equal(tern_dtype_of(weight), TERN_FLOAT64);
    assert_true(is_on(weight, here));
    assert_tensor(weight, tern_dims(3), 1, 2, 3);
    tern_module_free(net);
}

// ---- criteria -----------------------------------------------------------------------------------

static void the_weights_of_a_criterion_are_buffers_and_move_with_it(void **state)
{
    (void)state;
    tern_tensor *weight = tern_from_data(tern_dims(3), ((float[]){1, 2, 0.5f}));
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = weight);
    tern_tensor *logits = small_input(6), *labels = small_labels(6);
    logits = tern_contiguous(tern_narrow(logits, 1, 0, 3));
    const double expected = tern_item(tern_loss(criterion, logits, labels));
    assert_int_equal(tern_module_num_buffers(criterion), 1);
    assert_ptr_equal(tern_module_to(criterion, here), criterion);
    assert_true(is_on(tern_module_buffer(criterion, "weight"), here));
    assert_true(is_on(weight, tern_cpu(0))); // the option was cloned
    tern_tensor *loss = tern_loss(criterion, tern_to(logits, here), tern_to(labels, here));
    assert_true(is_on(loss, here));
    assert_near(tern_item(loss), expected, 1e-6, 0);
    tern_module_free(criterion);
}

static void a_criterion_left_behind_says_what_mends_it(void **state)
{
    (void)state;
    tern_module *criterion =
        tern_nn_cross_entropy_loss(.weight = tern_from_data(tern_dims(3), ((float[]){1, 2, 0.5f})));
    tern_tensor *logits = tern_to(tern_zeros(tern_dims(2, 3)), here);
    tern_tensor *labels = tern_to(small_labels(2), here);
    assert_null(tern_loss(criterion, logits, labels));
    const char *sentence = tern_error_message();
    assert_non_null(strstr(sentence, "weight"));
    assert_non_null(strstr(sentence, "cpu"));
    assert_non_null(strstr(sentence, tern_device_string(here)));
    assert_non_null(strstr(sentence, "tern_module_to"));
    tern_error_clear();
    assert_non_null(tern_module_to(criterion, here));
    assert_non_null(tern_loss(criterion, logits, labels));
    tern_module_free(criterion);
}

// ---- optimizers ---------------------------------------------------------------------------------

// Weights after six steps, moved before step `move_at`; -1: never.
static tern_tensor *weights_after(int move_at, tern_optim *(*make)(tern_module *))
{
    tern_module *net = small_net();
    tern_optim *optim = make(net);
    tern_tensor *x = small_input(8), *y = small_labels(8);
    for (int i = 0; i < 6; i++) {
        if (i == move_at) {
            assert_non_null(tern_module_to(net, here));
            x = tern_to(x, here);
            y = tern_to(y, here);
        }
        assert_int_equal(train_step(net, optim, x, y), TERN_OK);
    }
    tern_tensor *weight = tern_clone(tern_detach(tern_module_parameter(net, "0.weight")));
    tern_optim_free(optim);
    tern_module_free(net);
    return weight;
}

static tern_optim *adam(tern_module *net)
{
    return tern_optim_adam(net, .lr = 0.05);
}

static tern_optim *momentum(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.1, .momentum = 0.9);
}

static void an_optimizer_made_before_the_move_stays_right(void **state)
{
    (void)state;
    tern_optim *(*const makers[])(tern_module *) = {adam, momentum};
    for (int i = 0; i < 2; i++) {
        tern_tensor *stayed = weights_after(-1, makers[i]);
        check_same(weights_after(0, makers[i]), stayed, 2e-5);
        check_same(weights_after(3, makers[i]), stayed, 2e-5); // with state
    }
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_moved_tensor_is_a_new_one_and_the_old_stays),
        CHECK_TEST(a_tensor_that_is_there_already_is_the_same_one),
        CHECK_TEST(tensors_of_any_strides_and_dtypes_move),
        CHECK_TEST(gradients_go_back_through_a_move),
        CHECK_TEST(moving_a_module_keeps_it_its_tensors_and_their_numbers),
        CHECK_TEST(a_moved_module_gives_what_it_gave),
        CHECK_TEST(a_dtype_move_takes_floating_tensors_only),
        CHECK_TEST(the_weights_of_a_criterion_are_buffers_and_move_with_it),
        CHECK_TEST(a_criterion_left_behind_says_what_mends_it),
        CHECK_TEST(an_optimizer_made_before_the_move_stays_right),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
