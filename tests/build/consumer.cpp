// SPDX-License-Identifier: Apache-2.0
// The same from C++17, which has no option macros: structs start from their defaults.
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

static tern_module *linear(int64_t in, int64_t out, bool bias)
{
    tern_nn_linear_options options = tern_nn_linear_defaults();
    options.in_features = in;
    options.out_features = out;
    options.bias = bias;
    return tern_nn_linear_with(&options);
}

static tern_tensor *filled(tern_shape shape, double value)
{
    tern_full_options options = tern_full_defaults();
    options.shape = shape;
    options.value = value;
    return tern_full_with(&options);
}

static int training()
{
    tern_module *const children[] = {linear(4, 8, true), tern_nn_relu(), linear(8, 2, false)};
    tern_module *net = tern_nn_sequential_new(3, children);
    tern_nn_mse_loss_options mse = tern_nn_mse_loss_defaults();
    tern_module *criterion = tern_nn_mse_loss_with(&mse);
    tern_optim_sgd_options sgd = tern_optim_sgd_defaults();
    sgd.module = net;
    tern_optim *opt = tern_optim_sgd_with(&sgd);
    tern_tensor *y = tern_forward(net, filled(tern_dims(5, 4), 0.25));
    tern_backward_options backward = tern_backward_defaults();
    backward.loss = tern_loss(criterion, y, filled(tern_dims(5, 2), 1));
    int failures = check(!tern_backward_with(&backward) && !tern_optim_step(opt), "a step");
    failures += check(std::isfinite(tern_item(backward.loss)), "the loss is a number");
    tern_no_grad
        failures += check(tern_is_leaf(tern_neg(y)), "no_grad does not record");
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
    return failures;
}

int main()
{
    tern_tensor *sum = tern_sum(filled(tern_dims(2, 3), 1.5), tern_axes(0, -1), false);
    int failures = check(tern_item(sum) == 9, "6 * 1.5 is 9");
    failures += training();
    tern_tensor *bad = tern_matmul(filled(tern_dims(2, 3), 0), filled(tern_dims(4, 5), 0));
    failures += check(!bad && tern_error_code() == TERN_ERR_SHAPE, "shapes that do not fit");
    failures += check(std::strstr(tern_error_message(), "(2, 3)"), "the sentence has the shape");
    tern_error_clear();
    tern_shutdown();
    return failures > 0;
}
