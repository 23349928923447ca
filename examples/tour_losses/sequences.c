// SPDX-License-Identifier: Apache-2.0
// A sequence that is not aligned with the input: strips of two to four images in a row, of which
// the loss is told the labels, and not where they are.
#include <string.h>

#include "tour.h"

#define MAX_IMAGES 4                 // images in a strip
#define WIDTH      (MAX_IMAGES * 28) // columns, the last of which may be empty
#define FRAMES     (WIDTH / 7)       // what the net says a label of
#define STRIPS     64

typedef struct strips {
    float pixel[STRIPS][28][WIDTH];
    int64_t label[STRIPS][MAX_IMAGES]; // 1 to 10: 0 is the blank
    int64_t length[STRIPS], frames[STRIPS];
} strips;

static void fill(strips *s, const images *data, int64_t first)
{
    const float *pixels = tern_data(data->x);
    memset(s, 0, sizeof *s);
    for (int64_t i = 0, at = first; i < STRIPS; i++) {
        s->length[i] = 2 + (first + i) % 3;
        s->frames[i] = 4 * s->length[i];
        for (int64_t k = 0; k < s->length[i]; k++, at++) {
            const float *image = pixels + at % data->count * PIXELS;
            s->label[i][k] = 1 + data->label[at % data->count];
            for (int y = 0; y < 28; y++)
                memcpy(&s->pixel[i][y][28 * k], image + 28 * y, 28 * sizeof(float));
        }
    }
}

// (FRAMES, STRIPS, CLASSES + 1)
static tern_tensor *log_probabilities(tern_module *net, const strips *s)
{
    tern_tensor *x = tern_from_data(tern_dims(STRIPS, 28, WIDTH), &s->pixel[0][0][0]);
    tern_tensor *scores = tern_forward(net, x); // (STRIPS, CLASSES + 1, FRAMES)
    return tern_log_softmax(tern_permute(scores, tern_axes(2, 0, 1)), 2);
}

static tern_tensor *numbers(tern_shape shape, const int64_t *values)
{
    return tern_from_data(shape, values, .dtype = TERN_INT64);
}

static tern_tensor *loss_of(tern_module *net, const images *data, int64_t first, int64_t count)
{
    static strips s;
    (void)count;
    fill(&s, data, 3 * first);
    return tern_ctc_loss(
        log_probabilities(net, &s), numbers(tern_dims(STRIPS, MAX_IMAGES), &s.label[0][0]),
        numbers(tern_dims(STRIPS), s.frames), numbers(tern_dims(STRIPS), s.length));
}

// What the best class of each frame writes: repetitions count once, blanks not at all.
static int64_t decode(const int64_t *best, int64_t frames, int64_t *label)
{
    int64_t count = 0;
    for (int64_t t = 0; t < frames; t++)
        if (best[t] != 0 && (t == 0 || best[t] != best[t - 1]))
            label[count++] = best[t];
    return count;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// The least number of insertions, deletions and substitutions (Levenshtein 1966).
static int64_t edits(const int64_t *a, int64_t count, const int64_t *b, int64_t other)
{
    int64_t row[FRAMES + 1];
    for (int64_t k = 0; k <= other; k++)
        row[k] = k;
    for (int64_t i = 1; i <= count; i++) {
        int64_t corner = row[0];
        row[0] = i;
        for (int64_t k = 1; k <= other; k++) {
            const int64_t above = row[k];
            row[k] = least(corner + (a[i - 1] != b[k - 1]), least(above, row[k - 1]) + 1);
            corner = above;
        }
    }
    return row[other];
}

// The share of labels of some strips that are wrong, missing or too many.
static double errors(tern_module *net, const images *data)
{
    static strips s;
    int64_t wrong = 0, labels = 0, best[STRIPS][FRAMES], read[FRAMES];
    for (int64_t first = 0; first + MAX_IMAGES * STRIPS <= data->count; first += 3 * STRIPS) {
        fill(&s, data, first);
        tern_no_grad
            tern_with_scope {
                tern_tensor *frame = tern_argmax(log_probabilities(net, &s), 2, false);
                if (tern_to_host(tern_transpose(frame, 0, 1), best, sizeof best))
                    return NAN;
            }
        for (int i = 0; i < STRIPS; i++) {
            const int64_t count = decode(best[i], s.frames[i], read);
            wrong += edits(s.label[i], s.length[i], read, count);
            labels += s.length[i];
        }
    }
    return (double)wrong / (double)labels;
}

static double run(const images *learnt, const images *tested)
{
    tern_module *net =
        tern_nn_sequential(tern_nn_conv1d(28, 64, 14, .stride = 7, .padding = 7), tern_nn_relu(),
                           tern_nn_conv1d(64, 64, 4, .padding = 1), tern_nn_relu(),
                           tern_nn_conv1d(64, CLASSES + 1, 3, .padding = 1));
    train(net, loss_of, learnt, 600, 3e-3);
    const double share = errors(net, tested);
    tern_module_free(net);
    return share;
}

const problem sequences = {"sequences", "ctc", "share of labels that are wrong", 0.25, false, run};
