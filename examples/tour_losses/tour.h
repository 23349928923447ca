// SPDX-License-Identifier: Apache-2.0
// What the problems of the tour share: the images, and a loop.
#ifndef TOUR_LOSSES_TOUR_H
#define TOUR_LOSSES_TOUR_H

#include <tern/tern.h>

#define PIXELS  784
#define CLASSES 10

// Images in the order of the file.
typedef struct images {
    tern_tensor *x;      // (count, PIXELS)
    tern_tensor *labels; // (count), int64
    int64_t *label;      // the same on the host
    int64_t count;
} images;

// The loss of a net on images first, first + 1, ..., first + count - 1.
typedef tern_tensor *batch_loss_fn(tern_module *net, const images *data, int64_t first,
                                   int64_t count);

// Trains with Adam, the rate falling to 0 in a line, on batches of 64 one after another.
void train(tern_module *net, batch_loss_fn *loss, const images *data, int64_t steps, double lr);

// Some images, rows of `t`.
static inline tern_tensor *rows(tern_tensor *t, int64_t first, int64_t count)
{
    return tern_slice(t, 0, first, first + count, 1);
}

// One kind of problem. `run` learns from the first images, and returns a figure of the second.
typedef struct problem {
    const char *name, *loss, *figure;
    double bound;
    bool is_least; // the figure must be at least the bound, else at most
    double (*run)(const images *train, const images *test);
} problem;

extern const problem regression, binary, classes, attributes, neighbours, sequences;

#endif
