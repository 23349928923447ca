// SPDX-License-Identifier: Apache-2.0
// The same from C++17 and C++20, where a callable sets the options.
#include <cmath>
#include <cstdio>
#include <cstring>

#include <tern/tern.h>

static int check(bool holds, const char *what)
{
    if (!holds)
        std::fprintf(stderr, "wrong: %s (%s)\n", what, tern_error_message());
    return holds ? 0 : 1;
}

static int training()
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(),
                                          tern_nn_linear(8, 2, [](auto &o) { o.bias = false; }));
    tern_module *criterion = tern_nn_mse_loss();
    tern_optim *opt = tern_optim_sgd(net, [](auto &o) { o.lr = 0.1; });
    int failures = check(tern_module_num_parameters(net) == 3, "a weight, a bias and a weight");
    failures += check(tern_size(tern_module_parameter(net, "0.weight"), 0) == 8, "in order");
    tern_tensor *y = tern_forward(net, tern_full(tern_dims(5, 4), 0.25));
    tern_tensor *loss = tern_loss(criterion, y, tern_ones(tern_dims(5, 2)));
    tern_tensor *again = tern_call(criterion, y, tern_ones(tern_dims(5, 2)));
    failures += check(tern_item(again) == tern_item(loss), "two tensors in");
    failures += check(!tern_backward(loss) && !tern_optim_step(opt), "a step");
    failures += check(std::isfinite(tern_item(loss)), "the loss is a number");
    tern_no_grad
        failures += check(tern_is_leaf(tern_neg(y)), "no_grad does not record");
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
    return failures;
}

static int values()
{
    const int64_t rows[2][2] = {{1, 2}, {3, 4}};
    tern_tensor *x = tern_from_data(tern_dims(2, 2), rows);
    int failures = check(tern_item_int(tern_sum(x, TERN_ALL_AXES, false)) == 10, "an array");
    x = tern_from_data(tern_dims(3), {0.5f, 1.5f, 4.0f}, [](auto &o) { o.requires_grad = true; });
    failures += check(tern_dtype_of(x) == TERN_FLOAT32 && tern_requires_grad(x), "braces");
    failures += check(tern_item(tern_amax(x, tern_axes(0), false)) == 4, "the last of them");
    failures += check(tern_item(tern_select(tern_arange(0, 10, 2), 0, 4)) == 8, "start, end, step");
    failures += check(!tern_from_data(tern_dims(3), {1, 2}), "two values are not three");
    failures += check(std::strstr(tern_error_message(), "2 values"), "which the sentence says");
    tern_error_clear();
    return failures;
}

static int sizes()
{
    tern_tensor *x = tern_ones(tern_dims(1, 1, 9, 9)), *w = tern_ones(tern_dims(1, 1, 3, 3));
    tern_tensor *y = tern_conv2d(x, w, nullptr, [](auto &o) { o.stride.first = 2; });
    int failures = check(tern_size(y, 2) == 4 && tern_size(y, 3) == 4, "both strides");
    tern_module *conv = tern_nn_conv2d(1, 1, 3, [](auto &o) { o.stride = tern_sizes_of(2, 1); });
    y = tern_forward(conv, x);
    failures += check(tern_size(y, 2) == 4 && tern_size(y, 3) == 7, "each stride");
    tern_module_free(conv);
    return failures;
}

int main()
{
    tern_tensor *x = tern_full(tern_dims(2, 3), 1.5);
    int failures = check(tern_item(tern_sum(x, tern_axes(0, -1), false)) == 9, "6 * 1.5 is 9");
    failures += training() + values() + sizes();
    tern_tensor *bad = tern_matmul(x, tern_zeros(tern_dims(4, 5)));
    failures += check(!bad && tern_error_code() == TERN_ERR_SHAPE, "shapes that do not fit");
    failures += check(std::strstr(tern_error_message(), "(2, 3)"), "the sentence has the shape");
    tern_error_clear();
    tern_shutdown();
    return failures > 0;
}
