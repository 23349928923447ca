// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/finding-a-mistake.md: one function a mistake.
#include "check.h"

static tern_module *mlp(void)
{
    return tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_linear(512, 10));
}

static void wrong_width(void)
{
    tern_module *net = mlp();
    // [width]
    tern_tensor *x = tern_rand(tern_dims(64, 28, 28)); // not flattened
    tern_tensor *y = tern_forward(net, x);
    // [/width]
    expect(!y);
    expect_error(TERN_ERR_SHAPE);
    tern_module_free(net);
}

static void criterion_left_behind(void)
{
    tern_module *net = mlp();
    tern_tensor *x = tern_rand(tern_dims(4, 784), .device = tern_cpu(1));
    tern_tensor *y = tern_zeros(tern_dims(4), .dtype = TERN_INT64, .device = tern_cpu(1));
    // [device]
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(10)));
    tern_module_to(net, tern_cpu(1)); // and the criterion?
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
    // [/device]
    expect(!loss);
    expect_error(TERN_ERR_DEVICE);
    tern_module_free(criterion);
    tern_module_free(net);
}

static void label_out_of_range(void)
{
    tern_module *net = mlp(), *criterion = tern_nn_cross_entropy_loss();
    tern_tensor *x = tern_rand(tern_dims(4, 784));
    // [label]
    tern_tensor *y = tern_full(tern_dims(4), 10, .dtype = TERN_INT64); // classes 1 to 10
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
    // [/label]
    expect(!loss);
    expect_error(TERN_ERR_INDEX);
    tern_module_zero_grad(net);
    tern_module_free(criterion);
    tern_module_free(net);
}

static void kept_beyond_its_scope(void)
{
    // [scope]
    tern_scope scope = tern_scope_open();
    tern_tensor *best = tern_rand(tern_dims(3));
    tern_scope_close(scope);
    tern_tensor *y = tern_neg(best); // without tern_retain(best)
    // [/scope]
    expect(!y);
    expect_error(TERN_ERR_STATE);
}

static void backward_twice(void)
{
    tern_tensor *w = tern_ones(tern_dims(3), .requires_grad = true);
    // [twice]
    tern_tensor *loss = tern_sum(tern_mul(w, w), TERN_ALL_AXES, false);
    tern_status first = tern_backward(loss);
    tern_status second = tern_backward(loss);
    // [/twice]
    expect(first == TERN_OK && second != TERN_OK);
    expect_error(TERN_ERR_STATE);
}

static void changed_in_place(void)
{
    tern_tensor *w = tern_ones(tern_dims(3), .requires_grad = true);
    // [in_place]
    tern_tensor *y = tern_exp(w); // its backward needs y
    tern_add_scalar_(y, 1);
    tern_status status = tern_backward(tern_sum(y, TERN_ALL_AXES, false));
    // [/in_place]
    expect(status != TERN_OK);
    expect_error(TERN_ERR_STATE);
}

static void mixed_dtypes(void)
{
    tern_module *net = mlp();
    // [dtype]
    tern_tensor *x = tern_randint(0, 256, tern_dims(4, 784)); // bytes, as int64
    tern_tensor *y = tern_forward(net, x);
    // [/dtype]
    expect(!y);
    expect_error(TERN_ERR_DTYPE);
    tern_module_free(net);
}

static void missing_file(void)
{
    // [file]
    tern_dataset *train = tern_data_mnist("data/fashion", TERN_TRAIN);
    // [/file]
    expect(!train);
    expect_error(TERN_ERR_IO);
}

static void not_a_scalar(void)
{
    tern_tensor *w = tern_ones(tern_dims(3), .requires_grad = true);
    // [scalar]
    tern_status of_three = tern_backward(tern_mul(w, w)); // no tern_mean
    // [/scalar]
    expect(of_three != TERN_OK);
    expect_error(TERN_ERR_SHAPE);
    // [no_grad]
    tern_tensor *x = tern_ones(tern_dims(3)); // without .requires_grad = true
    tern_status of_none = tern_backward(tern_mean(tern_mul(x, x), TERN_ALL_AXES, false));
    // [/no_grad]
    expect(of_none != TERN_OK);
    expect_error(TERN_ERR_STATE);
}

static void forgotten_zero_grad(void)
{
    tern_tensor *w = tern_ones(tern_dims(1), .requires_grad = true);
    // [zero_grad]
    for (int step = 0; step < 3; step++) {
        tern_status status = tern_backward(tern_sum(tern_mul(w, w), TERN_ALL_AXES, false));
        printf("step %d: %s, gradient %g\n", step, tern_status_name(status),
               tern_item(tern_grad(w))); // 2 w is 2
    }
    // [/zero_grad]
}

static void forgotten_eval(void)
{
    tern_manual_seed(1);
    tern_module *net = tern_nn_dropout(0.5);
    tern_tensor *x = tern_ones(tern_dims(1000));
    // [eval]
    for (int i = 0; i < 2; i++)
        printf("training: %g\n", tern_item(tern_sum(tern_forward(net, x), TERN_ALL_AXES, false)));
    tern_module_eval(net);
    for (int i = 0; i < 2; i++)
        printf("evaluating: %g\n", tern_item(tern_sum(tern_forward(net, x), TERN_ALL_AXES, false)));
    // [/eval]
    tern_module_free(net);
}

int main(void)
{
    void (*const mistakes[])(void) = {
        wrong_width,    criterion_left_behind, label_out_of_range, kept_beyond_its_scope,
        backward_twice, changed_in_place,      mixed_dtypes,       missing_file,
        not_a_scalar,   forgotten_zero_grad,   forgotten_eval,
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        tern_scope scope = tern_scope_open();
        mistakes[i]();
        tern_scope_close(scope);
    }
    return finished();
}
