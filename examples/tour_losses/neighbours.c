// SPDX-License-Identifier: Apache-2.0
// A place among others: images of one class are to lie nearer to each other than to those of
// others, so that the nearest known image tells the class.
#include "tour.h"

#define KNOWN 2000

// The next image behind `from` whose label is, or is not, that of image i.
static int64_t next_image(const images *data, int64_t i, int64_t from, bool same)
{
    for (int64_t k = from + 1;; k++)
        if ((data->label[k % data->count] == data->label[i]) == same)
            return k % data->count;
}

static tern_tensor *loss_of(tern_module *net, const images *data, int64_t first, int64_t count)
{
    int64_t like[64], unlike[64];
    for (int64_t i = 0; i < count; i++) {
        like[i] = next_image(data, first + i, first + i + count, true);
        unlike[i] = next_image(data, first + i, first + i + count, false);
    }
    tern_tensor *positive = tern_from_data(tern_dims(count), like, .dtype = TERN_INT64);
    tern_tensor *negative = tern_from_data(tern_dims(count), unlike, .dtype = TERN_INT64);
    return tern_triplet_margin_loss(tern_forward(net, rows(data->x, first, count)),
                                    tern_forward(net, tern_index_select(data->x, 0, positive)),
                                    tern_forward(net, tern_index_select(data->x, 0, negative)));
}

// (N, M): the squared distances of places a (N, D) and b (M, D), less what is the same for all b.
static tern_tensor *distances(tern_tensor *a, tern_tensor *b)
{
    tern_tensor *square = tern_sum(tern_mul(b, b), tern_axes(1), false);
    return tern_sub(square, tern_mul_scalar(tern_matmul(a, tern_transpose(b, 0, 1)), 2));
}

static double run(const images *learnt, const images *tested)
{
    double right = NAN;
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(PIXELS, 128), tern_nn_relu(), tern_nn_linear(128, 16));
    train(net, loss_of, learnt, 600, 1e-3);
    tern_no_grad {
        tern_tensor *known = tern_forward(net, rows(learnt->x, 0, KNOWN));
        tern_tensor *nearest =
            tern_argmin(distances(tern_forward(net, tested->x), known), 1, false);
        tern_tensor *guess = tern_index_select(learnt->labels, 0, nearest);
        right = tern_item(tern_sum_all(tern_eq(guess, tested->labels))) / (double)tested->count;
    }
    tern_module_free(net);
    return right;
}

const problem neighbours = {"neighbours", "triplet margin", "share that is right", 0.72, true, run};
