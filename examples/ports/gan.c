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

static bool step(tern_optim *opt, tern_tensor *loss)
{
    tern_optim_zero_grad(opt);
    return !tern_backward(loss) && !tern_optim_step(opt);
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

    for (int i = 1; i <= 500 && !tern_error_pending(); i++) {
        tern_scope scope = tern_scope_open(); // ends the temporaries of the step
        tern_tensor *real = circle(BATCH);
        tern_tensor *fake = tern_forward(generator, tern_randn(tern_dims(BATCH, NOISE)));

        tern_tensor *said = tern_forward(discriminator, tern_detach(fake));
        tern_tensor *loss_d =
            tern_add(judge(tern_forward(discriminator, real), true), judge(said, false));
        bool done = step(opt_d, loss_d);

        tern_tensor *loss_g = judge(tern_forward(discriminator, fake), true);
        done = done && step(opt_g, loss_g);

        if (done && i % 50 == 0) {
            tern_tensor *radius = tern_norm(tern_detach(fake), 2, tern_axes(1), false);
            printf("step %d: discriminator %.6f, generator %.6f, radius %.6f\n", i,
                   tern_item(loss_d), tern_item(loss_g), tern_item(tern_mean_all(radius)));
        }
        tern_scope_close(scope);
    }

    int status = tern_error_print(stderr);
    tern_optim_free(opt_d);
    tern_optim_free(opt_g);
    tern_module_free(discriminator);
    tern_module_free(generator);
    return status;
}
