// SPDX-License-Identifier: Apache-2.0
// A training program of one's own: is a point inside the circle?
#include <stdio.h>
#include <stdlib.h>
#include <tern/tern.h>

#define TRAIN 2000
#define TEST  500

// [data]
// Points in the square from -1 to 1, and the label of each: 1 inside the circle, 0 outside.
static void draw_points(float (*point)[2], int64_t *label, int count)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++)
            point[i][k] = 2 * (float)rand() / (float)RAND_MAX - 1;
        label[i] = point[i][0] * point[i][0] + point[i][1] * point[i][1] < 0.5f;
    }
}

static tern_dataset *dataset(int count)
{
    static float point[TRAIN][2];
    static int64_t label[TRAIN];
    draw_points(point, label, count);
    tern_tensor *x = tern_from_data(tern_dims(count, 2), point);
    tern_tensor *y = tern_from_data(tern_dims(count), label, .dtype = TERN_INT64);
    return tern_data_tensors(x, y); // holds x and y, which have copies of the arrays
}
// [/data]

// [accuracy]
static double accuracy(tern_module *net, tern_dataset *data)
{
    tern_loader *loader = tern_loader_new(data, .batch_size = 100);
    double correct = 0;
    tern_module_eval(net); // dropout off
    tern_no_grad {         // nothing is recorded for a backward
        tern_each_batch (b, loader) {
            tern_tensor *guess = tern_argmax(tern_forward(net, b.x), 1, false);
            correct += tern_item(tern_sum_all(tern_eq(guess, b.y)));
        }
    }
    tern_module_train(net, true);
    tern_loader_free(loader);
    return correct / (double)tern_dataset_count(data);
}
// [/accuracy]

// [main]
int main(void)
{
    srand(1);
    tern_manual_seed(1);
    tern_module *net = tern_nn_sequential(tern_nn_linear(2, 32), tern_nn_relu(),
                                          tern_nn_dropout(0.1), tern_nn_linear(32, 2));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-2);
    tern_dataset *train = dataset(TRAIN), *test = dataset(TEST);
    tern_loader *loader = tern_loader_new(train, .batch_size = 50, .shuffle = true);
    double share = 0;

    for (int epoch = 1; epoch <= 10 && !tern_error_pending(); epoch++) {
        double sum = 0;
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            sum += tern_item(loss) * (double)b.size;
        }
        share = accuracy(net, test);
        if (!tern_error_pending())
            printf("epoch %d: loss %.4f, %.1f %% right\n", epoch, sum / TRAIN, 100 * share);
    }

    int status = tern_error_print(stderr);
    tern_loader_free(loader);
    tern_dataset_free(test);
    tern_dataset_free(train);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
    return status || share < 0.95;
}
// [/main]
