// SPDX-License-Identifier: Apache-2.0
// Yes or no: is it worn on a foot? Three classes of ten are, so that a yes counts more.
#include "tour.h"

static tern_tensor *is_shoe(const images *data, int64_t first, int64_t count)
{
    tern_tensor *labels = rows(data->labels, first, count);
    tern_tensor *sandal = tern_eq_scalar(labels, 5), *sneaker = tern_eq_scalar(labels, 7);
    tern_tensor *any = tern_logical_or(tern_logical_or(sandal, sneaker), tern_eq_scalar(labels, 9));
    return tern_reshape(tern_to_dtype(any, TERN_FLOAT32), tern_dims(count, 1));
}

static tern_tensor *loss_of(tern_module *net, const images *data, int64_t first, int64_t count)
{
    return tern_binary_cross_entropy_with_logits(tern_forward(net, rows(data->x, first, count)),
                                                 is_shoe(data, first, count),
                                                 .pos_weight = tern_full(tern_dims(1), 7.0 / 3));
}

static double run(const images *learnt, const images *tested)
{
    double right = NAN;
    tern_module *net = tern_nn_linear(PIXELS, 1);
    train(net, loss_of, learnt, 400, 1e-3);
    tern_no_grad {
        tern_tensor *yes = tern_gt_scalar(tern_forward(net, tested->x), 0);
        tern_tensor *same =
            tern_eq(tern_to_dtype(yes, TERN_FLOAT32), is_shoe(tested, 0, tested->count));
        right = tern_item(tern_sum_all(same)) / (double)tested->count;
    }
    tern_module_free(net);
    return right;
}

const problem binary = {"binary", "bce with logits", "share that is right", 0.98, true, run};
