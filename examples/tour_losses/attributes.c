// SPDX-License-Identifier: Apache-2.0
// Several labels at once: which classes are in two images that lie side by side?
#include "tour.h"

static tern_tensor *pair(tern_tensor *t, int64_t first, int64_t count)
{
    tern_tensor *sides[] = {rows(t, first, count), rows(t, first + 1, count)};
    return tern_cat(sides, 2, 1);
}

// 1 for each of the classes that are there, else 0.
static tern_tensor *present(const images *data, int64_t first, int64_t count)
{
    tern_tensor *one = tern_one_hot(rows(data->labels, first, count), CLASSES);
    tern_tensor *other = tern_one_hot(rows(data->labels, first + 1, count), CLASSES);
    return tern_to_dtype(tern_maximum(one, other), TERN_FLOAT32);
}

static tern_tensor *loss_of(tern_module *net, const images *data, int64_t first, int64_t count)
{
    return tern_multilabel_soft_margin_loss(tern_forward(net, pair(data->x, first, count)),
                                            present(data, first, count));
}

// The share of pairs of which all ten labels are right.
static double run(const images *learnt, const images *tested)
{
    double right = NAN;
    const int64_t count = tested->count - 1;
    tern_module *net = tern_nn_sequential(tern_nn_linear(2 * PIXELS, 256), tern_nn_relu(),
                                          tern_nn_linear(256, CLASSES));
    train(net, loss_of, learnt, 800, 2e-3);
    tern_no_grad {
        tern_tensor *yes = tern_gt_scalar(tern_forward(net, pair(tested->x, 0, count)), 0);
        tern_tensor *same = tern_eq(tern_to_dtype(yes, TERN_FLOAT32), present(tested, 0, count));
        tern_tensor *all = tern_amin(tern_to_dtype(same, TERN_FLOAT32), tern_axes(1), false);
        right = tern_item(tern_sum_all(all)) / (double)count;
    }
    tern_module_free(net);
    return right;
}

const problem attributes = {
    "attributes", "multilabel soft margin", "share with all labels right", 0.45, true, run};
