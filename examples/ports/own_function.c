// SPDX-License-Identifier: Apache-2.0
// An activation with a backward of its own: y = x sigmoid(beta x), which keeps x alone.
#include <stdio.h>
#include <tern/tern.h>

static tern_status swish_backward(tern_backward_context *context)
{
    double beta = *(const double *)tern_context_data(context);
    tern_tensor *x = tern_context_saved(context, 0);
    tern_tensor *bx = tern_mul_scalar(x, beta), *s = tern_sigmoid(bx);
    tern_tensor *falling = tern_add_scalar(tern_neg(s), 1);
    tern_tensor *slope = tern_add(s, tern_mul(tern_mul(bx, s), falling));
    return tern_context_set_grad(context, 0, tern_mul(tern_context_grad(context), slope));
}

static const tern_function swish_function = {"swish", swish_backward};

static tern_tensor *swish(tern_tensor *x, double beta)
{
    tern_tensor *y = NULL;
    tern_no_grad
        y = tern_mul(x, tern_sigmoid(tern_mul_scalar(x, beta)));
    return tern_record(&swish_function, y, &x, 1, &x, 1, &beta, sizeof beta);
}

int main(void)
{
    tern_manual_seed(8);
    tern_tensor *x = tern_randn(tern_dims(256, 4)), *sine = tern_sin(x);
    tern_tensor *y = tern_narrow(sine, 1, 0, 1);
    for (int i = 1; i < 4; i++)
        y = tern_mul(y, tern_narrow(sine, 1, i, 1));

    tern_module *hidden = tern_nn_linear(4, 64), *out = tern_nn_linear(64, 1);
    tern_module *net = tern_nn_module_list(hidden, out);
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2);

    tern_each_step (step, 200) {
        tern_tensor *guess = tern_forward(out, swish(tern_forward(hidden, x), 1.5));
        tern_tensor *loss = tern_mse_loss(guess, y, TERN_REDUCTION_MEAN);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
        if (step % 20 == 0)
            printf("step %d: loss %.6f\n", step, tern_item(loss));
    }

    tern_free(opt, net);
    return tern_error_print(stderr);
}
