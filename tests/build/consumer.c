// SPDX-License-Identifier: Apache-2.0
// A program outside the tree. It is C11, pedantic and without a warning, and uses every macro that
// takes options, so that a header which needs more than that is found here. Exit 1 when a result is
// wrong.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tern/tern.h>

static int check(int holds, const char *what)
{
    if (!holds)
        fprintf(stderr, "wrong: %s (%s)\n", what, tern_error_message());
    return !holds;
}

static int tensors(void)
{
    tern_tensor *x = tern_full(tern_dims(2, 3), 0.5);
    tern_tensor *seven = tern_sum(tern_add(x, tern_ones(tern_dims(3))), TERN_ALL_AXES, false);
    int failures = check(tern_item(seven) == 9, "2 * 3 * (0.5 + 1) is 9");
    tern_tensor *column = tern_sum(tern_eye(3, 4), tern_axes(0), true);
    failures += check(tern_size(column, -1) == 4, "a sum over the rows has the columns");
    tern_tensor *counts = tern_arange(0, 6, 2);
    failures += check(tern_numel(counts) == 3, "arange(0, 6, 2) has 3 elements");
    tern_tensor *w = tern_zeros(tern_dims(2), .dtype = TERN_FLOAT64, .requires_grad = true);
    failures += check(!tern_backward(tern_sum(tern_exp(w), TERN_ALL_AXES, false)), "backward");
    failures += check(tern_item(tern_select(tern_grad(w), 0, 1)) == 1, "exp'(0) is 1");
    tern_no_grad
        failures += check(tern_is_leaf(tern_neg(w)), "no_grad does not record");
    return failures;
}

static int training(void)
{
    tern_manual_seed(1);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_dropout(0.1),
                           tern_nn_linear(8, 2, .bias = false));
    tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2, .betas = {0.9, 0.99});
    tern_tensor *x = tern_randn(tern_dims(16, 4));
    tern_tensor *y = tern_randint(0, 2, tern_dims(16));
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
    tern_optim_zero_grad(opt);
    int failures = check(!tern_backward(loss) && !tern_optim_step(opt), "a step");
    failures += check(isfinite(tern_item(loss)), "the loss is a number");
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
    return failures;
}

// `.stride = 2` is for all dimensions, braces say each.
static int sizes(void)
{
    tern_tensor *x = tern_ones(tern_dims(1, 1, 9, 9)), *w = tern_ones(tern_dims(1, 1, 3, 3));
    tern_tensor *both = tern_conv2d(x, w, NULL, .stride = 2);
    int failures = check(tern_size(both, 2) == 4 && tern_size(both, 3) == 4, ".stride = 2");
    tern_tensor *each = tern_conv2d(x, w, NULL, .stride = {2, 1}, .padding = {0, 1});
    failures += check(tern_size(each, 2) == 4 && tern_size(each, 3) == 9, ".stride = {2, 1}");
    each = tern_conv2d(x, w, NULL, .stride = tern_sizes_of(1, 2, 0), .padding = 1);
    failures += check(tern_size(each, 2) == 9 && tern_size(each, 3) == 5, "tern_sizes_of(1, 2, 0)");
    tern_module *conv = tern_nn_conv3d(1, 1, .kernel_size = {1, 3, 3}, .stride = {1, 2, 3});
    each = tern_forward(conv, tern_ones(tern_dims(1, 4, 9, 9)));
    failures += check(tern_size(each, 1) == 4 && tern_size(each, 3) == 3, ".stride = {1, 2, 3}");
    tern_module_free(conv);
    return failures;
}

static int errors(void)
{
    tern_tensor *bad = tern_matmul(tern_zeros(tern_dims(2, 3)), tern_zeros(tern_dims(4, 5)));
    int failures = check(!bad && tern_error_code() == TERN_ERR_SHAPE, "shapes that do not fit");
    failures += check(strstr(tern_error_message(), "(2, 3)") != NULL, "the sentence has the shape");
    tern_error_clear();
    return failures;
}

int main(void)
{
    int failures = check(strcmp(tern_version(), "") != 0, "the version");
    failures += tensors() + training() + sizes() + errors();
    tern_shutdown();
    return failures > 0;
}
