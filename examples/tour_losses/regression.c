// SPDX-License-Identifier: Apache-2.0
// A number: from the left half of an image, how bright its right half is.
#include "tour.h"

// Columns from..to of 28, as rows of pixels.
static tern_tensor *columns(tern_tensor *x, int64_t from, int64_t to)
{
    const int64_t count = tern_size(x, 0);
    tern_tensor *cut = tern_slice(tern_reshape(x, tern_dims(count, 28, 28)), 2, from, to, 1);
    return tern_reshape(cut, tern_dims(count, 28 * (to - from)));
}

static tern_tensor *brightness(tern_tensor *x)
{
    return tern_mean(columns(x, 14, 28), tern_axes(1), true);
}

static tern_tensor *loss_of(tern_module *net, const images *data, int64_t first, int64_t count)
{
    tern_tensor *x = rows(data->x, first, count);
    return tern_huber_loss(tern_forward(net, columns(x, 0, 14)), brightness(x), .delta = 0.1);
}

// The mean absolute error, as a share of that of the best constant but one, the mean.
static double error(tern_module *net, const images *data)
{
    double share = NAN;
    tern_no_grad {
        tern_tensor *right = brightness(data->x);
        tern_tensor *guess = tern_forward(net, columns(data->x, 0, 14));
        tern_tensor *spread = tern_sub(right, tern_mean(right, TERN_ALL_AXES, false));
        share = tern_item(tern_mean(tern_abs(tern_sub(guess, right)), TERN_ALL_AXES, false)) /
                tern_item(tern_mean(tern_abs(spread), TERN_ALL_AXES, false));
    }
    return share;
}

static double run(const images *learnt, const images *tested)
{
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(392, 64), tern_nn_relu(), tern_nn_linear(64, 1));
    train(net, loss_of, learnt, 600, 1e-3);
    const double share = error(net, tested);
    tern_module_free(net);
    return share;
}

const problem regression = {"regression", "huber", "error, as a share of the spread",
                            0.28,         false,   run};
