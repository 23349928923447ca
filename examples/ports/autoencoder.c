// SPDX-License-Identifier: Apache-2.0
// Squeezes images of a spot through two numbers, and draws new ones from such numbers.
#include <stdio.h>
#include <tern/tern.h>

#define SIZE 16

// Images (count, SIZE * SIZE), each with a bright spot somewhere.
static tern_tensor *spots(int64_t count)
{
    tern_tensor *center = tern_rand(tern_dims(count, 2, 1, 1));
    center = tern_add_scalar(tern_mul_scalar(center, SIZE - 7), 3);
    tern_tensor *place = tern_arange(0, SIZE, 1);
    tern_tensor *row = tern_reshape(place, tern_dims(1, SIZE, 1));
    tern_tensor *column = tern_reshape(place, tern_dims(1, 1, SIZE));
    tern_tensor *down = tern_sub(row, tern_select(center, 1, 0));
    tern_tensor *right = tern_sub(column, tern_select(center, 1, 1));
    tern_tensor *distance = tern_add(tern_mul(down, down), tern_mul(right, right));
    return tern_flatten(tern_exp(tern_div_scalar(distance, -8)), 1, -1);
}

int main(void)
{
    tern_manual_seed(2);
    tern_tensor *images = spots(1000);
    tern_dataset *data = tern_data_tensors(images);
    tern_loader *loader = tern_loader_new(data, .batch_size = 50, .shuffle = true);

    tern_module *encoder =
        tern_nn_sequential(tern_nn_linear(SIZE * SIZE, 64), tern_nn_relu(), tern_nn_linear(64, 2));
    tern_module *decoder = tern_nn_sequential(tern_nn_linear(2, 64), tern_nn_relu(),
                                              tern_nn_linear(64, SIZE * SIZE), tern_nn_sigmoid());
    tern_module *net = tern_nn_sequential(tern_module_retain(encoder), tern_module_retain(decoder));
    tern_module *criterion = tern_nn_mse_loss();
    tern_optim *opt = tern_optim_adam(net, .lr = 3e-3);

    for (int epoch = 1; epoch <= 10 && !tern_error_pending(); epoch++) {
        double total = 0;
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.x);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            total += tern_item(loss) * (double)b.size;
        }
        if (!tern_error_pending())
            printf("epoch %d: loss %.6f\n", epoch, total / 1000);
    }

    float code[2][2];
    tern_no_grad {
        tern_tensor *codes = tern_forward(encoder, tern_narrow(images, 0, 0, 2));
        tern_tensor *middle = tern_forward(decoder, tern_mean(codes, tern_axes(0), false));
        double brightest = tern_item(tern_amax(middle, TERN_ALL_AXES, false));
        if (!tern_error_pending() && !tern_to_host(codes, code, sizeof code))
            printf("code %.6f %.6f, brightest between two: %.6f\n", code[0][0], code[0][1],
                   brightest);
    }

    tern_free(loader, data, opt, criterion, net, decoder, encoder);
    return tern_error_print(stderr);
}
