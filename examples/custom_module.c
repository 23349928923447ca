// SPDX-License-Identifier: Apache-2.0
// A module of one's own: a residual block, y = x + scale * inner(x), with a parameter, a buffer
// that counts its runs, and a child. Four of them learn to draw a sine.
#include <math.h>
#include <stdio.h>
#include <tern/tern.h>

#define SAMPLES 256
#define WIDTH   32

// The struct begins with a tern_module. Pointers are borrowed: the module holds what was added.
typedef struct residual {
    tern_module base;
    tern_module *inner;
    tern_tensor *scale; /* (1), starts at 0: the block starts as the identity */
    tern_tensor *runs;  /* (), int64, how often it ran in training */
} residual;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    residual *self = (residual *)module;
    tern_tensor *x = in->at[0];
    if (tern_module_is_training(module) && !tern_add_scalar_(self->runs, 1))
        return tern_error_code();
    out->at[out->count++] = tern_add(x, tern_mul(tern_forward(self->inner, x), self->scale));
    return tern_error_code();
}

static const tern_module_class residual_class = {
    .name = "Residual", .size = sizeof(residual), .call = call};

// Takes over `inner`, as every constructor with children does.
static tern_module *residual_new(tern_module *inner)
{
    residual *self = (residual *)tern_module_new(&residual_class);
    tern_child(self, inner, inner);
    tern_parameter(self, scale, tern_zeros(tern_dims(1)));
    tern_buffer(self, runs, tern_zeros(tern_dims(), .dtype = TERN_INT64));
    return tern_done(self); // NULL when one of them failed
}

static tern_module *block(void)
{
    return residual_new(tern_nn_sequential(tern_nn_linear(WIDTH, WIDTH), tern_nn_tanh()));
}

static double train(tern_module *net, tern_module *criterion, tern_optim *opt, tern_tensor *x,
                    tern_tensor *y)
{
    double last = NAN;
    tern_each_step (step, 500) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt))
            break;
        if (step % 100 == 0) {
            last = tern_item(loss);
            printf("step %d: loss %.5f\n", step, last);
        }
    }
    return last;
}

int main(void)
{
    tern_manual_seed(1);
    tern_module *net = tern_nn_sequential(tern_nn_linear(1, WIDTH), tern_nn_tanh(), block(),
                                          block(), block(), block(), tern_nn_linear(WIDTH, 1));
    tern_module *criterion = tern_nn_mse_loss();
    tern_optim *opt = tern_optim_adam(net, .lr = 5e-3);
    if (!tern_error_pending() && tern_module_summary_print(net, tern_dims(SAMPLES, 1), stdout))
        return tern_error_print(stderr);

    tern_tensor *x = tern_reshape(tern_linspace(-3, 3, SAMPLES), tern_dims(SAMPLES, 1));
    tern_tensor *y = tern_sin(tern_mul_scalar(x, 2));
    double loss = train(net, criterion, opt, x, y);
    printf("the first block ran %lld times\n",
           (long long)tern_item_int(tern_module_buffer(net, "2.runs")));

    tern_free(net, criterion, opt);
    int status = tern_error_print(stderr);
    return status ? status : !(loss < 0.01); // it learned
}
