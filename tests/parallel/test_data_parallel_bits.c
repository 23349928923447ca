// SPDX-License-Identifier: Apache-2.0
// Data parallel gives the bits of one device that runs the pieces in order: gradients and steps,
// for every way in which a module may use its parameters.
#include "parallel_check.h"

// ---- modules ------------------------------------------------------------------------------------

static tern_module *with_norm(void)
{
    tern_manual_seed(3);
    return tern_nn_sequential(tern_nn_linear(6, 16), tern_nn_batch_norm1d(16), tern_nn_relu(),
                              tern_nn_linear(16, 3));
}

// The same module twice in one net.
static tern_module *used_twice(void)
{
    tern_manual_seed(4);
    tern_module *square = tern_nn_linear(6, 6);
    tern_module *again = tern_module_retain(square);
    return tern_nn_sequential(square, tern_nn_tanh(), again, tern_nn_linear(6, 3));
}

// One weight in two modules, of which one is without a bias.
static tern_module *tied(void)
{
    tern_manual_seed(5);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(6, 6), tern_nn_tanh(),
                           tern_nn_linear(6, 6, .bias = false), tern_nn_linear(6, 3));
    assert_int_equal(tern_module_tie(net, "2.weight", net, "0.weight"), TERN_OK);
    return net;
}

static tern_module *half_frozen(void)
{
    tern_module *net = small_net();
    assert_non_null(tern_set_requires_grad(tern_module_parameter(net, "0.weight"), false));
    assert_non_null(tern_set_requires_grad(tern_module_parameter(net, "2.bias"), false));
    return net;
}

typedef struct with_unused {
    tern_module base;
    tern_module *used, *unused;
} with_unused;

static tern_status call_with_unused(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_forward(((with_unused *)module)->used, in->at[0]);
    return tern_error_code();
}

static const tern_module_class with_unused_class = {
    .name = "WithUnused", .size = sizeof(with_unused), .call = call_with_unused};

static tern_module *partly_unused(void)
{
    tern_manual_seed(6);
    with_unused *self = (with_unused *)tern_module_new(&with_unused_class);
    assert_non_null(self);
    tern_module_add_child(&self->base, "used", &self->used, tern_nn_linear(6, 3));
    tern_module_add_child(&self->base, "unused", &self->unused, tern_nn_linear(6, 3));
    return tern_module_done(&self->base);
}

static tern_module *in_float64(void)
{
    return tern_module_to_dtype(used_twice(), TERN_FLOAT64);
}

// Kernels that add into a gradient round otherwise than those that begin one.
static tern_module *convolutional(void)
{
    tern_manual_seed(8);
    tern_module *conv = tern_nn_conv1d(1, 1, 3, .padding = 1);
    tern_module *again = tern_module_retain(conv);
    return tern_nn_sequential(tern_nn_unflatten(1, tern_dims(1, 6)), conv, tern_nn_tanh(), again,
                              tern_nn_flatten(), tern_nn_linear(6, 3));
}

static tern_module *in_float16(void)
{
    return tern_module_to_dtype(used_twice(), TERN_FLOAT16);
}

static tern_module *in_bfloat16(void)
{
    return tern_module_to_dtype(convolutional(), TERN_BFLOAT16);
}

typedef tern_module *make_net(void);

static const struct {
    const char *name;
    make_net *make;
} nets[] = {{"a perceptron", small_net},
            {"with a norm", with_norm},
            {"a module used twice", used_twice},
            {"tied", tied},
            {"half frozen", half_frozen},
            {"a convolution used twice", convolutional},
            {"float16", in_float16},
            {"bfloat16", in_bfloat16},
            {"float64", in_float64},
            {"partly unused", partly_unused}};
enum { NETS = sizeof nets / sizeof *nets };

// ---- gradients ----------------------------------------------------------------------------------

static void check_net(make_net *make, int count, int64_t rows)
{
    tern_tensor *sums[MOST_PARAMETERS];
    tern_scope scope = tern_scope_open();
    tern_module *net = tern_module_to(make(), devices[0]), *one = tern_module_copy(net);
    tern_module *parallel = parallel_of(net, count), *criterion = tern_nn_cross_entropy_loss();
    const tern_dtype dtype = tern_dtype_of(tern_module_parameter_at(net, 0, NULL, 0));
    tern_tensor *x = tern_to(tern_to_dtype(small_input(rows), dtype), devices[0]);
    tern_tensor *y = tern_to(small_labels(rows), devices[0]);
    gradients_in_order(one, criterion, x, y, count, sums);
    for (int i = 0; i < 2; i++) { // also with replicas that are there
        parallel_backward(parallel, criterion, x, y);
        check_gradients(net, sums);
    }
    tern_module_free(criterion);
    tern_module_free(parallel);
    tern_module_free(net);
    tern_module_free(one);
    tern_scope_close(scope);
}

static void gradients_are_those_of_the_pieces_in_order(void **state)
{
    (void)state;
    const int64_t rows[] = {32, 17, 8, 6};
    for (int i = 0; i < NETS; i++) {
        for (int k = 0; k < 4; k++)
            check_net(nets[i].make, device_count, rows[k]);
        check_net(nets[i].make, 2, 32);
        print_message("%s: bits agree\n", nets[i].name);
    }
}

static void fewer_samples_than_devices_use_fewer(void **state)
{
    (void)state;
    check_net(small_net, device_count, 3);
    check_net(small_net, device_count, 2);
    check_net(small_net, device_count, 1);
}

// Gradients that a script adds up without zeroing them in between.
static void where_a_parameter_is_used_once_a_plain_loop_gives_them_too(void **state)
{
    (void)state;
    tern_tensor *sums[MOST_PARAMETERS];
    tern_module *net = tern_module_to(small_net(), devices[0]), *one = tern_module_copy(net);
    tern_module *parallel = parallel_of(net, device_count);
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_tensor *x = tern_to(small_input(32), devices[0]), *pieces[DEVICES], *grads[DEVICES];
    tern_tensor *y = tern_to(small_labels(32), devices[0]);
    int64_t used;
    gradients_in_order(one, criterion, x, y, device_count, sums);
    tern_tensor *joined = tern_detach(tern_forward(one, x));
    assert_non_null(tern_set_requires_grad(joined, true));
    assert_int_equal(tern_backward(tern_loss(criterion, joined, y)), TERN_OK);
    assert_int_equal(tern_chunk(x, device_count, 0, pieces, DEVICES, &used), TERN_OK);
    assert_int_equal(tern_chunk(tern_grad(joined), device_count, 0, grads, DEVICES, &used),
                     TERN_OK);
    tern_module_zero_grad(one);
    for (int64_t i = 0; i < used; i++)
        assert_int_equal(tern_backward(tern_forward(one, pieces[i]), .gradient = grads[i]),
                         TERN_OK);
    check_gradients(one, sums);
    parallel_backward(parallel, criterion, x, y);
    check_gradients(net, sums);
    tern_module_free(criterion);
    tern_module_free(parallel);
    tern_module_free(net);
    tern_module_free(one);
}

// ---- steps --------------------------------------------------------------------------------------

// A step of the reference, whose gradients are put in place before the optimizer's.
static void step_in_order(tern_module *one, tern_optim *optim, tern_module *criterion,
                          tern_tensor *x, tern_tensor *y)
{
    tern_tensor *sums[MOST_PARAMETERS];
    gradients_in_order(one, criterion, x, y, device_count, sums);
    for (int64_t i = 0; i < tern_module_num_parameters(one); i++) {
        tern_tensor *grad = tern_grad(tern_module_parameter_at(one, i, NULL, 0));
        if (grad)
            assert_non_null(tern_copy_(grad, sums[i]));
    }
    assert_int_equal(tern_optim_step(optim), TERN_OK);
}

static void check_steps(make_net *make)
{
    tern_module *net = tern_module_to(make(), devices[0]), *one = tern_module_copy(net);
    tern_module *parallel = parallel_of(net, device_count);
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *optims[] = {tern_optim_adam(parallel, .lr = 0.01),
                            tern_optim_adam(one, .lr = 0.01)};
    for (int64_t step = 0; step < 20; step++) {
        const int64_t rows = 24 + step % 5;
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_to(small_input(rows), devices[0]);
        tern_tensor *y = tern_to(small_labels(rows), devices[0]);
        parallel_backward(parallel, criterion, x, y);
        assert_int_equal(tern_optim_step(optims[0]), TERN_OK);
        step_in_order(one, optims[1], criterion, x, y);
        for (int64_t i = 0; i < tern_module_num_parameters(net); i++)
            check_same(tern_module_parameter_at(net, i, NULL, 0),
                       tern_module_parameter_at(one, i, NULL, 0), 0);
        tern_scope_close(scope);
    }
    tern_optim_free(optims[0]);
    tern_optim_free(optims[1]);
    tern_module_free(criterion);
    tern_module_free(parallel);
    tern_module_free(net);
    tern_module_free(one);
}

static void twenty_steps_are_those_of_one_device(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++)
        if (nets[i].make != in_float16 && nets[i].make != in_bfloat16 && nets[i].make != in_float64)
            check_steps(nets[i].make);
}

int main(int argc, char **argv)
{
    const int nothing = choose_parallel_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(gradients_are_those_of_the_pieces_in_order),
        CHECK_TEST(fewer_samples_than_devices_use_fewer),
        CHECK_TEST(where_a_parameter_is_used_once_a_plain_loop_gives_them_too),
        CHECK_TEST(twenty_steps_are_those_of_one_device),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
