// SPDX-License-Identifier: Apache-2.0
// A generator learns to draw points of a circle from noise, a discriminator to tell them apart.
#include <math.h>
#include <stdio.h>
#include <tern/tern.h>

#define BATCH 64
#define NOISE 8

// Points (count, 2) near the unit circle.
static tern_tensor *circle(int64_t count)
{
    tern_tensor *angle = tern_mul_scalar(tern_rand(tern_dims(count)), 2 * acos(-1));
    tern_tensor *points = tern_stack((tern_tensor *[]){tern_cos(angle), tern_sin(angle)}, 2, 1);
    return tern_add(points, tern_mul_scalar(tern_randn(tern_dims(count, 2)), 0.05));
}

// Binary cross-entropy of logits that should all say `real`.
static tern_tensor *judge(tern_tensor *logits, bool real)
{
    return tern_neg(tern_mean_all(tern_logsigmoid(real ? logits : tern_neg(logits))));
}

int main(void)
{
    tern_manual_seed(3);
    tern_module *generator =
        tern_nn_sequential(tern_nn_linear(NOISE, 64), tern_nn_silu(), tern_nn_linear(64, 2));
    tern_module *discriminator =
        tern_nn_sequential(tern_nn_linear(2, 64), tern_nn_silu(), tern_nn_linear(64, 1));
    tern_optim *opt_g = tern_optim_adam(generator, .lr = 1e-3, .betas = {0.5, 0.999});
    tern_optim *opt_d = tern_optim_adam(discriminator, .lr = 1e-3, .betas = {0.5, 0.999});

    tern_each_step (step, 500) {
        tern_tensor *real = circle(BATCH);
        tern_tensor *fake = tern_forward(generator, tern_randn(tern_dims(BATCH, NOISE)));

        tern_tensor *said = tern_forward(discriminator, tern_detach(fake));
        tern_tensor *loss_d =
            tern_add(judge(tern_forward(discriminator, real), true), judge(said, false));
        tern_optim_zero_grad(opt_d);
        if (tern_backward(loss_d) || tern_optim_step(opt_d))
            break;

        tern_tensor *loss_g = judge(tern_forward(discriminator, fake), true);
        tern_optim_zero_grad(opt_g);
        if (tern_backward(loss_g) || tern_optim_step(opt_g))
            break;

        if (step % 50 == 0) {
            tern_tensor *radius = tern_norm(tern_detach(fake), 2, tern_axes(1), false);
            printf("step %d: discriminator %.6f, generator %.6f, radius %.6f\n", step,
                   tern_item(loss_d), tern_item(loss_g), tern_item(tern_mean_all(radius)));
        }
    }

    tern_free(opt_d, opt_g, discriminator, generator);
    return tern_error_print(stderr);
}
