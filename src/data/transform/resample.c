// SPDX-License-Identifier: Apache-2.0
// Images resized as torchvision does it: each row and column of the result is a weighted sum of
// some of the image (taps), of more of them where it is made smaller and must not alias.
#include <math.h>
#include <tern/ops.h>

#include "base/integer.h"
#include "base/mem.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"
#include "ops/prepare.h"

tern_status tern_check_resize_mode(const char *op, tern_image_resize_mode mode)
{
    TERN_CHECK(mode.mode == TERN_NEAREST || mode.mode == TERN_NEAREST_EXACT ||
                   mode.mode == TERN_BILINEAR || mode.mode == TERN_BICUBIC,
               TERN_ERR_ARG,
               "%s: interpolation must be TERN_NEAREST, TERN_NEAREST_EXACT, TERN_BILINEAR or "
               "TERN_BICUBIC",
               op);
    return TERN_OK;
}

// ---- taps ---------------------------------------------------------------------------------------

// Along rows or columns, of `count` images (1: for all of the batch).
typedef struct taps {
    int64_t count, length; // of the result
    int64_t max;           // taps of an output, at most
    int32_t *first;        // (count, length): the first input
    int32_t *used;         // (count, length): how many
    float *weight;         // (count, length, max)
    size_t nbytes;
} taps;

// Inputs on either side of an output's center that it depends on.
static double support(tern_image_resize_mode mode, double scale)
{
    const double plain = mode.mode == TERN_BICUBIC ? 2 : 1;
    return mode.antialias && scale > 1 ? plain * scale : plain;
}

static double cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// Pillow's coefficient where it is antialiased, PyTorch's elsewhere.
static double filter(tern_image_resize_mode mode, double x)
{
    if (mode.mode == TERN_BICUBIC)
        return cubic(x, mode.antialias ? -0.5 : -0.75);
    return fmax(0, 1 - fabs(x));
}

// What lies outside counts for the border, as in PyTorch's bicubic; otherwise it does not count.
static bool repeats_border(tern_image_resize_mode mode)
{
    return mode.mode == TERN_BICUBIC && !mode.antialias;
}

// The taps of output o among `size` inputs; returns how many.
static int64_t find_taps(tern_image_resize_mode mode, int64_t size, int64_t length, int64_t o,
                         int64_t *first, float *weight)
{
    const double scale = (double)size / (double)length, center = scale * ((double)o + 0.5);
    const double reach = support(mode, scale), narrow = mode.antialias ? fmax(scale, 1) : 1;
    const int64_t begin = (int64_t)floor(center - reach + 0.5);
    const int64_t end = (int64_t)floor(center + reach + 0.5);
    *first = clamp_int64(begin, 0, size - 1);
    const int64_t last = clamp_int64(end - 1, 0, size - 1), used = last - *first + 1;
    double sum = 0;
    for (int64_t k = 0; k < used; k++)
        weight[k] = 0;
    for (int64_t i = begin; i < end; i++) {
        const double w = filter(mode, ((double)i - center + 0.5) / narrow);
        const int64_t inside = clamp_int64(i, 0, size - 1);
        if (inside != i && !repeats_border(mode))
            continue;
        weight[inside - *first] += (float)w;
        sum += w;
    }
    for (int64_t k = 0; k < used; k++)
        weight[k] = (float)(weight[k] / sum);
    return used;
}

static tern_status new_taps(const char *op, taps *t)
{
    int64_t outputs, nbytes;
    const bool fits = !__builtin_mul_overflow(t->count, t->length, &outputs) &&
                      !__builtin_mul_overflow(outputs, (2 + t->max) * 4, &nbytes);
    TERN_CHECK(fits, TERN_ERR_NOMEM, "%s: the weights of %lld images do not fit into memory", op,
               (long long)t->count);
    t->nbytes = (size_t)nbytes;
    t->first = tern_cache_alloc(t->nbytes);
    if (!t->first)
        return TERN_ERR_NOMEM;
    t->used = t->first + outputs;
    t->weight = (float *)(t->used + outputs);
    return TERN_OK;
}

// Of inputs `begin` to begin + size - 1 of image n.
static void set_taps(taps *t, int64_t n, tern_image_resize_mode mode, int64_t begin, int64_t size)
{
    for (int64_t o = 0; o < t->length; o++) {
        const int64_t i = n * t->length + o;
        int64_t first;
        t->used[i] = (int32_t)find_taps(mode, size, t->length, o, &first, t->weight + i * t->max);
        t->first[i] = (int32_t)(begin + first);
    }
}

static tern_status make_taps(const char *op, taps *t, const tern_image_box *boxes, bool vertical,
                             tern_image_resize_mode mode)
{
    for (int64_t n = 0; n < t->count; n++) {
        const int64_t size = vertical ? boxes[n].height : boxes[n].width;
        const double reach = support(mode, (double)size / (double)t->length);
        t->max = max_int64(t->max, 2 * (int64_t)ceil(reach) + 1);
    }
    TERN_TRY(new_taps(op, t));
    for (int64_t n = 0; n < t->count; n++)
        set_taps(t, n, mode, vertical ? boxes[n].top : boxes[n].left,
                 vertical ? boxes[n].height : boxes[n].width);
    return TERN_OK;
}

static void free_taps(taps *t)
{
    tern_cache_free(t->first, t->nbytes);
}

// ---- on the CPU ---------------------------------------------------------------------------------

typedef struct resample {
    const taps *rows, *cols;
    const float *x; // (N, C, height, width)
    float *y;       // (N, C, rows, columns)
    float *line;    // (N, width): a row of the result before its columns are summed
    int64_t channels, height, width;
} resample;

static void sum_rows(const resample *r, float *restrict line, const float *plane, int64_t i)
{
    const float *weight = r->rows->weight + i * r->rows->max;
    for (int64_t k = 0; k < r->rows->used[i]; k++) {
        const float *restrict from = plane + (r->rows->first[i] + k) * r->width;
        const float w = weight[k];
        for (int64_t col = 0; col < r->width; col++)
            line[col] = k == 0 ? w * from[col] : line[col] + w * from[col];
    }
}

static void sum_columns(const resample *r, float *restrict to, const float *restrict line,
                        int64_t i)
{
    for (int64_t o = 0; o < r->cols->length; o++, i++) {
        const float *weight = r->cols->weight + i * r->cols->max, *from = line + r->cols->first[i];
        float sum = weight[0] * from[0];
        for (int64_t k = 1; k < r->cols->used[i]; k++)
            sum += weight[k] * from[k];
        to[o] = sum;
    }
}

static void resample_image(void *context, int64_t n)
{
    const resample *r = context;
    const int64_t rows = r->rows->length, cols = r->cols->length;
    const int64_t row = r->rows->count == 1 ? 0 : n * rows;
    const int64_t col = r->cols->count == 1 ? 0 : n * cols;
    for (int64_t c = 0; c < r->channels; c++) {
        const float *plane = r->x + (n * r->channels + c) * r->height * r->width;
        float *to = r->y + (n * r->channels + c) * rows * cols;
        for (int64_t o = 0; o < rows; o++) {
            float *line = r->line + n * r->width;
            sum_rows(r, line, plane, row + o);
            sum_columns(r, to + o * cols, line, col);
        }
    }
}

static tern_tensor *resample_on_cpu(const char *op, tern_tensor *x, const taps *rows,
                                    const taps *cols)
{
    x = tern_make_contiguous(x);
    tern_tensor *y =
        x ? tern_tensor_new(op, TERN_FLOAT32, tern_dev(x),
                            tern_dims(x->size[0], x->size[1], rows->length, cols->length))
          : NULL;
    if (!y)
        return NULL;
    const size_t nbytes = (size_t)(x->size[0] * x->size[3]) * sizeof(float);
    resample r = {.rows = rows,
                  .cols = cols,
                  .x = tern_image_data(x),
                  .y = tern_image_data(y),
                  .line = tern_cache_alloc(nbytes),
                  .channels = x->size[1],
                  .height = x->size[2],
                  .width = x->size[3]};
    if (!r.line)
        return NULL;
    tern_image_each(x->size[0], (x->numel + y->numel) / x->size[0], resample_image, &r);
    tern_cache_free(r.line, nbytes);
    return y;
}

// ---- elsewhere ----------------------------------------------------------------------------------

// What the taps of all outputs are, (used, N or 1, 1, length, 1) where rows are summed, and their
// weights, 0 where there are fewer.
typedef struct tap_lists {
    tern_tensor *index, *weight;
    int64_t used;
} tap_lists;

static tern_status upload_taps(const tern_tensor *x, const taps *t, tern_shape shape,
                               int64_t *inputs, tap_lists *out)
{
    const int64_t outputs = t->count * t->length;
    float *weights = (float *)(inputs + out->used * outputs);
    for (int64_t k = 0; k < out->used; k++)
        for (int64_t i = 0; i < outputs; i++) {
            const bool used = k < t->used[i];
            inputs[k * outputs + i] = t->first[i] + (used ? k : 0);
            weights[k * outputs + i] = used ? t->weight[i * t->max + k] : 0;
        }
    out->index = tern_from_data(shape, inputs, .dtype = TERN_INT64, .device = tern_dev(x));
    out->weight = tern_image_floats(x, shape, weights);
    return out->index && out->weight ? TERN_OK : tern_error_code();
}

static tern_status list_taps(const tern_tensor *x, int dim, const taps *t, tap_lists *out)
{
    const int64_t outputs = t->count * t->length;
    *out = (tap_lists){.used = 1};
    for (int64_t i = 0; i < outputs; i++)
        out->used = max_int64(out->used, t->used[i]);
    const size_t nbytes = (size_t)(out->used * outputs) * (sizeof(int64_t) + sizeof(float));
    tern_shape shape = tern_dims(out->used, t->count, 1, 1, 1);
    shape.dim[dim + 1] = t->length;
    int64_t *inputs = tern_cache_alloc(nbytes);
    if (!inputs)
        return TERN_ERR_NOMEM;
    const tern_status status = upload_taps(x, t, shape, inputs, out);
    tern_cache_free(inputs, nbytes);
    return status;
}

static tern_tensor *sum_along(tern_tensor *x, int dim, const taps *t)
{
    tern_shape full = tern_shape_get(x);
    full.dim[dim] = t->length;
    tap_lists lists;
    if (list_taps(x, dim, t, &lists))
        return NULL;
    tern_tensor *sum = NULL;
    for (int64_t k = 0; k < lists.used; k++) {
        tern_tensor *index = tern_expand(tern_select(lists.index, 0, k), full);
        tern_tensor *product =
            tern_mul(tern_gather(x, dim, index), tern_select(lists.weight, 0, k));
        sum = k == 0 ? product : tern_add(sum, product);
        if (!sum)
            return NULL;
    }
    return sum;
}

// ---- nearest neighbours -------------------------------------------------------------------------

static void map_nearest(int32_t *map, int64_t length, int64_t begin, int64_t size,
                        tern_interpolate_mode mode)
{
    const float scale = (float)size / (float)length, half = mode == TERN_NEAREST_EXACT ? 0.5F : 0;
    for (int64_t o = 0; o < length; o++)
        map[o] = (int32_t)(begin + min_int64((int64_t)(((float)o + half) * scale), size - 1));
}

static tern_tensor *resize_nearest(const char *op, tern_tensor *x, const tern_image_box *boxes,
                                   int64_t count, int64_t height, int64_t width,
                                   tern_interpolate_mode mode)
{
    tern_image_maps maps = {0};
    if (tern_image_maps_new(&maps, x->size[0], height, width))
        return NULL;
    for (int64_t n = 0; n < x->size[0]; n++) {
        const tern_image_box *box = &boxes[count == 1 ? 0 : n];
        map_nearest(maps.rows + n * height, height, box->top, box->height, mode);
        map_nearest(maps.cols + n * width, width, box->left, box->width, mode);
    }
    tern_tensor *y = tern_image_gather(op, x, &maps);
    tern_image_maps_free(&maps);
    return y;
}

// ---- both ---------------------------------------------------------------------------------------

static tern_tensor *resize_smooth(const char *op, tern_tensor *x, const taps *rows,
                                  const taps *cols)
{
    if (tern_image_on_cpu(x))
        return resample_on_cpu(op, x, rows, cols);
    tern_tensor *y = sum_along(x, 2, rows);
    return y ? sum_along(y, 3, cols) : NULL;
}

tern_tensor *tern_image_resized_crop(const char *op, tern_tensor *x, const tern_image_box *boxes,
                                     int64_t count, int64_t height, int64_t width,
                                     tern_image_resize_mode mode)
{
    if (mode.mode == TERN_NEAREST || mode.mode == TERN_NEAREST_EXACT)
        return resize_nearest(op, x, boxes, count, height, width, mode.mode);
    taps rows = {.count = count, .length = height}, cols = {.count = count, .length = width};
    tern_tensor *y = NULL;
    if (!make_taps(op, &rows, boxes, true, mode) && !make_taps(op, &cols, boxes, false, mode))
        y = resize_smooth(op, x, &rows, &cols);
    free_taps(&cols);
    free_taps(&rows);
    return y;
}
