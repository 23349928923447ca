// SPDX-License-Identifier: Apache-2.0
// One of ten classes.
#include "tour.h"

static tern_tensor *loss_of(tern_module *net, const images *data, int64_t first, int64_t count)
{
    return tern_cross_entropy(tern_forward(net, rows(data->x, first, count)),
                              rows(data->labels, first, count), .label_smoothing = 0.1);
}

static double run(const images *learnt, const images *tested)
{
    double right = NAN;
    tern_module *net = tern_nn_sequential(tern_nn_linear(PIXELS, 128), tern_nn_relu(),
                                          tern_nn_linear(128, CLASSES));
    train(net, loss_of, learnt, 600, 1e-3);
    tern_no_grad {
        tern_tensor *guess = tern_argmax(tern_forward(net, tested->x), 1, false);
        right = tern_item(tern_sum_all(tern_eq(guess, tested->labels))) / (double)tested->count;
    }
    tern_module_free(net);
    return right;
}

const problem classes = {"classes", "cross-entropy", "share that is right", 0.83, true, run};
