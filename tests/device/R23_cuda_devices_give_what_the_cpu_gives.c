// SPDX-License-Identifier: Apache-2.0
// The same operations on the CPU and on a CUDA device, at sizes where kernels take their large
// paths. The bounds: float32 within 1.3e-6 relative and 1e-5 absolute, or 1e-4 of both where many
// terms are summed; bfloat16 1.6e-2, float16 1e-3.
#include "device_check.h"

static double relative, absolute; // bounds

// Every element of `actual`, on the device, against `expected`, on the CPU.
static void check_agrees(const char *what, tern_tensor *actual, tern_tensor *expected)
{
    if (!actual || !expected)
        fail_msg("%s: %s", what, tern_error_message());
    const int64_t numel = tern_numel(expected);
    assert_int_equal(tern_numel(actual), numel);
    double *a = malloc((size_t)(2 * numel) * sizeof *a), *e = a + numel;
    assert_non_null(a);
    const size_t nbytes = (size_t)numel * sizeof *a;
    tern_no_grad {
        assert_int_equal(tern_to_host(tern_to_dtype(actual, TERN_FLOAT64), a, nbytes), TERN_OK);
        assert_int_equal(tern_to_host(tern_to_dtype(expected, TERN_FLOAT64), e, nbytes), TERN_OK);
    }
    for (int64_t i = 0; i < numel; i++) {
        const bool same = a[i] == e[i] || (isnan(a[i]) && isnan(e[i]));
        if (!same && !(fabs(a[i] - e[i]) <= absolute + relative * fabs(e[i])))
            fail_msg("%s: element %lld is %.9g, on the CPU %.9g", what, (long long)i, a[i], e[i]);
    }
    free(a);
}

// An operation at one size.
typedef struct agreement {
    const char *name;
    tern_tensor *(*call)(tern_tensor *x);
    tern_shape shape;
} agreement;

// The result, and the gradient for the loss sum(w y), with numbers w that are the same everywhere.
static tern_tensor *run_on(const agreement *c, tern_tensor *x, tern_tensor **dx)
{
    assert_non_null(tern_set_requires_grad(x, true));
    tern_tensor *y = c->call(x);
    if (!y)
        fail_msg("%s: %s", c->name, tern_error_message());
    tern_tensor *w = tern_sin(tern_arange(0, (double)tern_numel(y), 1, .dtype = TERN_FLOAT32));
    w = tern_to(tern_reshape(w, tern_shape_of(y)), tern_device_of(y));
    tern_tensor *loss = tern_sum(tern_mul(tern_to_dtype(y, TERN_FLOAT32), w), TERN_ALL_AXES, false);
    if (tern_backward(loss))
        fail_msg("%s: %s", c->name, tern_error_message());
    *dx = tern_grad(x);
    return y;
}

static void check_agreement(const agreement *c, tern_dtype dtype)
{
    char what[96];
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_to_dtype(tern_randn(c->shape), dtype), *dx, *dx_there;
    tern_tensor *moved = tern_to(x, here);
    tern_tensor *y = run_on(c, tern_detach(x), &dx);
    tern_tensor *y_there = run_on(c, tern_detach(moved), &dx_there);
    snprintf(what, sizeof what, "%s of %s", c->name, tern_dtype_name(dtype));
    check_agrees(what, y_there, y);
    snprintf(what, sizeof what, "the gradient of %s of %s", c->name, tern_dtype_name(dtype));
    check_agrees(what, dx_there, dx);
    tern_scope_close(scope);
}

typedef struct precision {
    tern_dtype dtype;
    double relative, absolute;
} precision;

static void check_all(const agreement *cases, int count, const precision *precisions, int kinds)
{
    for (int i = 0; i < kinds; i++) {
        tern_manual_seed(23);
        relative = precisions[i].relative;
        absolute = precisions[i].absolute;
        for (int k = 0; k < count; k++)
            check_agreement(&cases[k], precisions[i].dtype);
    }
}

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static const precision each[] = {{TERN_FLOAT32, 1.3e-6, 1e-5},
                                 {TERN_FLOAT64, 1e-12, 1e-12},
                                 {TERN_FLOAT16, 1e-3, 1e-3},
                                 {TERN_BFLOAT16, 1.6e-2, 1e-2}};
static const precision summed[] = {{TERN_FLOAT32, 1e-4, 1e-4},
                                   {TERN_FLOAT64, 1e-6, 1e-6}, // the loss is summed in float32
                                   {TERN_FLOAT16, 4e-3, 4e-3},
                                   {TERN_BFLOAT16, 3e-2, 3e-2}};

// ---- elements -----------------------------------------------------------------------------------

static tern_tensor *gelu(tern_tensor *x)
{
    return tern_gelu(x);
}

static tern_tensor *square_transposed(tern_tensor *x)
{
    return tern_mul(tern_transpose(x, 0, 1), tern_transpose(x, 0, 1));
}

static tern_tensor *plus_row(tern_tensor *x)
{
    return tern_add(x, tern_narrow(x, 0, 0, 1));
}

static void elementwise_operations_agree(void **state)
{
    (void)state;
    const agreement cases[] = {
        {"relu", tern_relu, tern_dims(37, 1001)},
        {"tanh", tern_tanh, tern_dims(37, 1001)},
        {"gelu", gelu, tern_dims(9, 501)},
        {"sigmoid", tern_sigmoid, tern_dims(4099)},
        {"exp", tern_exp, tern_dims(64, 64)},
        {"mul of transposed", square_transposed, tern_dims(301, 65)},
        {"add of a row", plus_row, tern_dims(50, 129)},
    };
    check_all(cases, COUNT(cases), each, COUNT(each));
}

static tern_tensor *leaky_relu(tern_tensor *x)
{
    return tern_leaky_relu(x, 0.25);
}

// Where a function has a kink its slope is the one that PyTorch takes.
static void slopes_at_zero_are_the_same_everywhere(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tern_tensor *(*call)(tern_tensor *x);
        double slope[4];
    } functions[] = {
        {"relu", tern_relu, {0, 0, 1, 0}},
        {"leaky_relu", leaky_relu, {0.25, 0.25, 1, 0.25}},
        {"abs", tern_abs, {0, 0, 1, -1}},
    };
    const float data[] = {0, -0.0F, 2, -2};
    for (int k = 0; k < COUNT(functions) * COUNT(each) * 4; k++) {
        const int which = k / 4 % COUNT(functions), way = k % 4; // CPU or device; row or column
        const tern_dtype dtype = each[k / 4 / COUNT(functions)].dtype;
        tern_tensor *x = tern_from_data(tern_dims(4, 1), data);
        x = tern_to(tern_to_dtype(tern_expand(x, tern_dims(4, 3)), dtype),
                    way & 1 ? here : tern_cpu(0));
        assert_non_null(tern_set_requires_grad(x, true));
        tern_tensor *y = functions[which].call(way & 2 ? tern_transpose(x, 0, 1) : x);
        assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
        const double *slope = functions[which].slope;
        assert_tensor(tern_select(tern_grad(x), 1, 2), tern_dims(4), slope[0], slope[1], slope[2],
                      slope[3]);
    }
}

static void casts_of_what_integers_do_not_hold_agree(void **state)
{
    (void)state;
    static const tern_dtype to[] = {TERN_INT32, TERN_INT64, TERN_BOOL};
    const double data[] = {NAN, INFINITY, -INFINITY, 3e9, -3e9, 1e30, -1.5, 0};
    relative = absolute = 0;
    for (int k = 0; k < COUNT(each) * COUNT(to); k++) {
        tern_tensor *x = tern_from_data(tern_dims(8), data, .dtype = TERN_FLOAT64);
        x = tern_to_dtype(x, each[k / COUNT(to)].dtype);
        check_agrees(tern_dtype_name(to[k % COUNT(to)]),
                     tern_to_dtype(tern_to(x, here), to[k % COUNT(to)]),
                     tern_to_dtype(x, to[k % COUNT(to)]));
    }
}

// ---- rows ---------------------------------------------------------------------------------------

static tern_tensor *softmax_1(tern_tensor *x)
{
    return tern_softmax(x, 1);
}

static tern_tensor *log_softmax_1(tern_tensor *x)
{
    return tern_log_softmax(x, 1);
}

static tern_tensor *cumsum_1(tern_tensor *x)
{
    return tern_cumsum(x, 1);
}

static void softmaxes_and_running_sums_of_every_length_agree(void **state)
{
    (void)state;
    const agreement cases[] = {
        {"softmax of short rows", softmax_1, tern_dims(40, 10)},
        {"log_softmax of short rows", log_softmax_1, tern_dims(9, 33)},
        {"softmax of 1000", softmax_1, tern_dims(5, 1000)},
        {"softmax of long rows", softmax_1, tern_dims(3, 5003)},
        {"log_softmax of long rows", log_softmax_1, tern_dims(2, 4096)},
        {"softmax of a middle dim", softmax_1, tern_dims(5, 300, 7)},
        {"log_softmax of a middle dim", log_softmax_1, tern_dims(3, 65, 40)},
        {"cumsum", cumsum_1, tern_dims(3, 3000)},
        {"cumsum of columns", cumsum_1, tern_dims(2, 500, 9)},
    };
    check_all(cases, COUNT(cases), summed, COUNT(summed));
}

static tern_tensor *sort_1(tern_tensor *x)
{
    return tern_sort(x, 1, false, NULL);
}

static tern_tensor *best_1(tern_tensor *x)
{
    return tern_topk(x, 3, 1, true, NULL);
}

static void lines_of_every_length_come_in_one_order(void **state)
{
    (void)state;
    const agreement cases[] = {
        {"sort of short rows", sort_1, tern_dims(40, 10)},
        {"sort", sort_1, tern_dims(3, 2500)},
        {"sort of columns", sort_1, tern_dims(2, 200, 9)},
        {"topk", best_1, tern_dims(2, 5000)},
    };
    check_all(cases, COUNT(cases), summed, COUNT(summed));
}

// ---- sums ---------------------------------------------------------------------------------------

static tern_tensor *sum_all(tern_tensor *x)
{
    return tern_sum(x, TERN_ALL_AXES, false);
}

static tern_tensor *sum_0(tern_tensor *x)
{
    return tern_sum(x, tern_axes(0), false);
}

static tern_tensor *mean_1(tern_tensor *x)
{
    return tern_mean(x, tern_axes(1), false);
}

static tern_tensor *var_0(tern_tensor *x)
{
    return tern_var(x, tern_axes(0), 1, false);
}

static tern_tensor *amax_1(tern_tensor *x)
{
    return tern_amax(x, tern_axes(1), false);
}

static tern_tensor *norm_1(tern_tensor *x)
{
    return tern_norm(x, 2, tern_axes(1), false);
}

static void reductions_agree(void **state)
{
    (void)state;
    const agreement cases[] = {
        {"sum of everything", sum_all, tern_dims(300, 401)},
        {"sum of columns", sum_0, tern_dims(1001, 37)},
        {"mean of rows", mean_1, tern_dims(7, 5001)},
        {"mean of a middle dim", mean_1, tern_dims(4, 200, 33)},
        {"var of columns", var_0, tern_dims(2000, 5)},
        {"amax of rows", amax_1, tern_dims(11, 3001)},
        {"norm of rows", norm_1, tern_dims(13, 2500)},
    };
    check_all(cases, COUNT(cases), summed, 2); // 16 bits round sums of so many terms too far
}

// ---- products and losses ------------------------------------------------------------------------

static tern_tensor *gram(tern_tensor *x)
{
    return tern_matmul(x, tern_transpose(x, 0, 1));
}

static tern_tensor *as_layer(tern_tensor *x)
{
    tern_tensor *weight = tern_narrow(x, 0, 0, 20),
                *bias = tern_select(tern_narrow(x, 1, 0, 20), 0, 1);
    return tern_linear(x, weight, tern_contiguous(bias), TERN_ACT_RELU);
}

// As many filters as there are images, cut out of the images.
static tern_tensor *filters(tern_tensor *x, int64_t channels)
{
    return tern_narrow(tern_narrow(tern_narrow(x, 1, 0, channels), 2, 0, 3), 3, 0, 3);
}

static tern_tensor *convolved(tern_tensor *x)
{
    return tern_conv2d(x, filters(x, tern_size(x, 1)), NULL, .padding = 1,
                       .activation = TERN_ACT_RELU);
}

static tern_tensor *convolved_by_groups(tern_tensor *x)
{
    return tern_conv2d(x, filters(x, 2), NULL, .stride = 2, .groups = tern_size(x, 1) / 2);
}

static tern_tensor *convolved_back(tern_tensor *x)
{
    return tern_conv_transpose2d(x, filters(tern_transpose(x, 0, 1), 3), NULL, .stride = 2,
                                 .dilation = 2);
}

static tern_tensor *class_loss(tern_tensor *x)
{
    static int64_t values[2000];
    const int64_t rows = tern_size(x, 0), classes = tern_size(x, 1);
    for (int64_t i = 0; i < rows; i++)
        values[i] = (7 * i + 3) % classes;
    tern_tensor *labels = tern_from_data(tern_dims(rows), values, .dtype = TERN_INT64);
    return tern_cross_entropy(x, tern_to(labels, tern_device_of(x)), .label_smoothing = 0.1);
}

static tern_tensor *squared_loss(tern_tensor *x)
{
    return tern_mse_loss(x, tern_zeros_like(x), TERN_REDUCTION_MEAN);
}

static void products_and_losses_agree(void **state)
{
    (void)state;
    const agreement cases[] = {
        {"matmul", gram, tern_dims(65, 127)},
        {"linear", as_layer, tern_dims(64, 33)},
        {"conv2d", convolved, tern_dims(24, 5, 9, 11)},
        {"conv2d of many channels", convolved, tern_dims(70, 20, 4, 5)},
        {"conv2d of groups", convolved_by_groups, tern_dims(12, 6, 13, 8)},
        {"conv2d by channels", convolved_by_groups, tern_dims(8, 2, 40, 41)},
        {"conv_transpose2d", convolved_back, tern_dims(6, 6, 7, 5)},
        {"cross_entropy of few classes", class_loss, tern_dims(1500, 10)},
        {"cross_entropy of 100 classes", class_loss, tern_dims(600, 100)},
        {"cross_entropy of 1000 classes", class_loss, tern_dims(40, 1000)},
        {"cross_entropy of 5000 classes", class_loss, tern_dims(3, 5000)},
        {"mse_loss", squared_loss, tern_dims(100, 333)},
    };
    check_all(cases, COUNT(cases), summed, 2);
}

// ---- optimizers over many tensors ---------------------------------------------------------------

// 272 parameters; a list of so many is cut into several launches.
static tern_module *many_layers(tern_dtype dtype)
{
    tern_manual_seed(5);
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 3), tern_nn_tanh());
    for (int i = 0; i < 45; i++) {
        tern_module *a = tern_nn_linear(3, 3), *b = tern_nn_linear(3, 3), *c = tern_nn_linear(3, 3);
        net = tern_nn_sequential(net, a, b, c);
    }
    return tern_module_to_dtype(net, dtype);
}

static tern_tensor *train_many(tern_device device, tern_dtype dtype, double norm_type)
{
    tern_module *net = tern_module_to(many_layers(dtype), device);
    tern_optim *optim = tern_optim_adamw(net, .lr = 0.01, .amsgrad = true);
    tern_tensor *x = tern_to(tern_to_dtype(tern_ones(tern_dims(4, 3)), dtype), device);
    for (int i = 0; i < 4; i++) {
        tern_optim_zero_grad(optim);
        tern_tensor *loss = tern_mean(tern_forward(net, x), TERN_ALL_AXES, false);
        assert_int_equal(tern_backward(loss), TERN_OK);
        assert_non_null(tern_clip_grad_norm(net, 0.1, .norm_type = norm_type));
        assert_int_equal(tern_optim_step(optim), TERN_OK);
    }
    tern_tensor *weight = tern_detach(tern_optim_parameter_at(optim, 0, NULL, 0));
    weight = tern_to(tern_clone(weight), tern_cpu(0));
    tern_optim_free(optim);
    tern_module_free(net);
    return weight;
}

static void steps_over_hundreds_of_tensors_agree(void **state)
{
    (void)state;
    static const precision kinds[] = {{TERN_FLOAT32, 1e-4, 1e-5}, {TERN_FLOAT64, 1e-7, 1e-7}};
    static const double norms[] = {2, 1, INFINITY, 3};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            relative = kinds[i].relative;
            absolute = kinds[i].absolute;
            check_agrees("adamw", train_many(here, kinds[i].dtype, norms[k]),
                         train_many(tern_cpu(0), kinds[i].dtype, norms[k]));
        }
}

// Three steps by numbers whose share in them is large.
static tern_tensor *train_by(tern_device device, bool adam)
{
    tern_manual_seed(9);
    tern_module *net = tern_module_to_dtype(tern_nn_linear(7, 5), TERN_FLOAT64);
    assert_non_null(tern_module_to(net, device));
    tern_optim *optim = adam ? tern_optim_adam(net, .lr = 0.1, .eps = 0.3, .weight_decay = 0.2)
                             : tern_optim_sgd(net, .lr = 0.1, .momentum = 0.8, .dampening = 0.4);
    tern_tensor *x = tern_full(tern_dims(2, 7), 0.5, .dtype = TERN_FLOAT64, .device = device);
    for (int i = 0; i < 3; i++) {
        tern_optim_zero_grad(optim);
        tern_tensor *y = tern_forward(net, x);
        assert_int_equal(tern_backward(tern_sum(tern_mul(y, y), TERN_ALL_AXES, false)), TERN_OK);
        assert_int_equal(tern_optim_step(optim), TERN_OK);
    }
    tern_tensor *weight = tern_detach(tern_module_parameter(net, "weight"));
    weight = tern_to(tern_clone(weight), tern_cpu(0));
    tern_optim_free(optim);
    tern_module_free(net);
    return weight;
}

static void every_number_of_an_optimizer_counts_the_same(void **state)
{
    (void)state;
    relative = absolute = 1e-12;
    check_agrees("adam", train_by(here, true), train_by(tern_cpu(0), true));
    check_agrees("sgd", train_by(here, false), train_by(tern_cpu(0), false));
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(elementwise_operations_agree),
        CHECK_TEST(slopes_at_zero_are_the_same_everywhere),
        CHECK_TEST(casts_of_what_integers_do_not_hold_agree),
        CHECK_TEST(softmaxes_and_running_sums_of_every_length_agree),
        CHECK_TEST(lines_of_every_length_come_in_one_order),
        CHECK_TEST(reductions_agree),
        CHECK_TEST(products_and_losses_agree),
        CHECK_TEST(steps_over_hundreds_of_tensors_agree),
        CHECK_TEST(every_number_of_an_optimizer_counts_the_same),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
