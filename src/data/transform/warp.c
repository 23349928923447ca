// SPDX-License-Identifier: Apache-2.0
// Images under affine maps: rotated, moved, scaled, sheared.
#include <math.h>
#include <string.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"
#include "ops/prepare.h"

// ---- the map ------------------------------------------------------------------------------------

static double radians(double degrees)
{
    return degrees * (3.14159265358979323846 / 180);
}

// torchvision's: the inverse of T C R S H C^-1, with the origin in the middle of the image.
tern_image_matrix tern_image_affine(const tern_image_motion *motion)
{
    const double rotation = radians(motion->angle), sx = radians(motion->shear_x);
    const double sy = radians(motion->shear_y), cx = motion->center_x, cy = motion->center_y;
    const double a = cos(rotation - sy) / cos(sy), b = -(a * tan(sx) + sin(rotation));
    const double c = sin(rotation - sy) / cos(sy), d = cos(rotation) - c * tan(sx);
    const double s = motion->scale, x = cx + motion->x, y = cy + motion->y;
    tern_image_matrix m = {{d / s, -b / s, 0, -c / s, a / s, 0}};
    m.at[2] = cx - m.at[0] * x - m.at[1] * y;
    m.at[5] = cy - m.at[3] * x - m.at[4] * y;
    return m;
}

// Where a pixel of the result lies in x; far outside all places are one.
typedef struct source {
    double row, col;
} source;

static double near_image(double at, int64_t size)
{
    const double end = (double)size + 1;
    return at > -2 ? (at < end ? at : end) : -2;
}

static source find_source(const tern_image_matrix *m, int64_t height, int64_t width, int64_t row,
                          int64_t col)
{
    const double middle_y = 0.5 * (double)(height - 1), middle_x = 0.5 * (double)(width - 1);
    const double x = (double)col - middle_x, y = (double)row - middle_y;
    return (source){.row = near_image(m->at[3] * x + m->at[4] * y + m->at[5] + middle_y, height),
                    .col = near_image(m->at[0] * x + m->at[1] * y + m->at[2] + middle_x, width)};
}

// ---- the pixels of x that one of the result is made of ------------------------------------------

enum { NEIGHBOURS = 4 };

typedef struct pixel {
    int64_t index[NEIGHBOURS]; // in a plane of x
    float weight[NEIGHBOURS];  // 0 outside
    float inside;              // their sum
} pixel;

// Of small numbers; the library's calls cost more than the rest.
static int64_t floor_of(double x)
{
    const int64_t cut = (int64_t)x;
    return cut - ((double)cut > x);
}

// Half to even.
static int64_t round_of(double x)
{
    const double whole = 0x1.8p52; // numbers of its size have no fraction
    return (int64_t)(x + whole - whole);
}

static void add_neighbour(pixel *p, int k, int64_t row, int64_t col, float weight, int64_t height,
                          int64_t width)
{
    const bool inside = row >= 0 && col >= 0 && row < height && col < width;
    p->index[k] = inside ? row * width + col : 0;
    p->weight[k] = inside ? weight : 0;
    p->inside = k == 0 ? p->weight[k] : p->inside + p->weight[k];
}

static pixel nearest_pixel(source s, int64_t height, int64_t width)
{
    pixel p;
    add_neighbour(&p, 0, round_of(s.row), round_of(s.col), 1, height, width);
    return p;
}

static pixel bilinear_pixel(source s, int64_t height, int64_t width)
{
    pixel p;
    const int64_t row = floor_of(s.row), col = floor_of(s.col);
    const float y = (float)(s.row - (double)row), x = (float)(s.col - (double)col);
    add_neighbour(&p, 0, row, col, (1 - y) * (1 - x), height, width);
    add_neighbour(&p, 1, row, col + 1, (1 - y) * x, height, width);
    add_neighbour(&p, 2, row + 1, col, y * (1 - x), height, width);
    add_neighbour(&p, 3, row + 1, col + 1, y * x, height, width);
    return p;
}

// ---- on the CPU ---------------------------------------------------------------------------------

typedef struct warp {
    const float *x; // (N, C, height, width)
    float *y;
    int64_t channels, height, width;
    const tern_image_matrix *matrix; // (N)
    bool bilinear;
    float fill[TERN_MAX_CHANNELS];
    bool one_fill;
} warp;

static bool is_identity(const tern_image_matrix *m)
{
    static const tern_image_matrix identity = {{1, 0, 0, 0, 1, 0}};
    bool same = true;
    for (int i = 0; i < 6; i++)
        same &= m->at[i] == identity.at[i];
    return same;
}

// torchvision's blend with the fill, by how much of the pixel lies inside.
static float blend(const pixel *p, const float *plane, float fill)
{
    float sum = plane[p->index[0]] * p->weight[0];
    for (int k = 1; k < NEIGHBOURS; k++)
        sum += plane[p->index[k]] * p->weight[k];
    return (sum - fill) * p->inside + fill;
}

static void warp_image(void *context, int64_t n)
{
    const warp *w = context;
    const int64_t pixels = w->height * w->width;
    const float *from = w->x + n * w->channels * pixels;
    float *to = w->y + n * w->channels * pixels;
    if (is_identity(&w->matrix[n])) {
        memcpy(to, from, (size_t)(w->channels * pixels) * sizeof *to);
        return;
    }
    for (int64_t i = 0, row = 0, col = 0; i < pixels; i++, col++) {
        if (col == w->width) {
            col = 0;
            row++;
        }
        const source s = find_source(&w->matrix[n], w->height, w->width, row, col);
        const pixel p = w->bilinear ? bilinear_pixel(s, w->height, w->width)
                                    : nearest_pixel(s, w->height, w->width);
        for (int64_t c = 0; c < w->channels; c++) {
            const float *plane = from + c * pixels, fill = w->fill[w->one_fill ? 0 : c];
            to[c * pixels + i] = w->bilinear    ? blend(&p, plane, fill)
                                 : p.inside > 0 ? plane[p.index[0]]
                                                : fill;
        }
    }
}

static tern_tensor *warp_on_cpu(const char *op, tern_tensor *x, const tern_image_matrix *matrix,
                                bool bilinear, const tern_channel_list *fill)
{
    x = tern_make_contiguous(x);
    tern_tensor *y = x ? tern_tensor_new(op, x->dtype, tern_dev(x), tern_shape_get(x)) : NULL;
    if (!y)
        return NULL;
    warp w = {.x = tern_image_data(x),
              .y = tern_image_data(y),
              .channels = x->size[1],
              .height = x->size[2],
              .width = x->size[3],
              .matrix = matrix,
              .bilinear = bilinear,
              .one_fill = fill->count <= 1};
    for (int c = 0; c < fill->count; c++)
        w.fill[c] = (float)fill->at[c];
    tern_image_each(x->size[0], 8 * y->numel / x->size[0], warp_image, &w);
    return y;
}

// ---- elsewhere ----------------------------------------------------------------------------------

// The neighbours of all pixels, (neighbours, N, 1, height width), their weights, and behind these
// how much of each pixel is inside.
typedef struct neighbours {
    tern_tensor *index, *weight;
    int64_t count; // of neighbours
} neighbours;

static void find_neighbours(const tern_tensor *x, const tern_image_matrix *matrix, int64_t count,
                            int64_t *index, float *weight)
{
    const int64_t height = x->size[2], width = x->size[3], all = x->size[0] * height * width;
    for (int64_t i = 0; i < all; i++) {
        const int64_t at = i % (height * width);
        const source s =
            find_source(&matrix[i / (height * width)], height, width, at / width, at % width);
        const pixel p =
            count > 1 ? bilinear_pixel(s, height, width) : nearest_pixel(s, height, width);
        for (int64_t k = 0; k < count; k++) {
            index[k * all + i] = p.index[k];
            weight[k * all + i] = p.weight[k];
        }
        weight[count * all + i] = p.inside;
    }
}

static tern_status list_neighbours(const tern_tensor *x, const tern_image_matrix *matrix,
                                   neighbours *out)
{
    const int64_t pixels = x->size[2] * x->size[3], all = x->size[0] * pixels;
    const size_t nbytes = (size_t)all * ((size_t)out->count * sizeof(int64_t) +
                                         (size_t)(out->count + 1) * sizeof(float));
    int64_t *index = tern_cache_alloc(nbytes);
    if (!index)
        return TERN_ERR_NOMEM;
    float *weight = (float *)(index + out->count * all);
    find_neighbours(x, matrix, out->count, index, weight);
    out->index = tern_from_data(tern_dims(out->count, x->size[0], 1, pixels), index,
                                .dtype = TERN_INT64, .device = tern_dev(x));
    out->weight = tern_image_floats(x, tern_dims(out->count + 1, x->size[0], 1, pixels), weight);
    tern_cache_free(index, nbytes);
    return out->index && out->weight ? TERN_OK : tern_error_code();
}

// (N, C, height width) of the k-th neighbours; x has that shape.
static tern_tensor *gather_neighbours(tern_tensor *x, const neighbours *list, int64_t k)
{
    return tern_gather(x, 2, tern_expand(tern_select(list->index, 0, k), tern_shape_get(x)));
}

static tern_tensor *blend_neighbours(tern_tensor *x, const neighbours *list, tern_tensor *fill)
{
    tern_tensor *sum = NULL;
    for (int64_t k = 0; k < list->count; k++) {
        tern_tensor *part =
            tern_mul(gather_neighbours(x, list, k), tern_select(list->weight, 0, k));
        sum = k == 0 ? part : tern_add(sum, part);
    }
    tern_tensor *inside = tern_select(list->weight, 0, list->count);
    return tern_add(tern_mul(tern_sub(sum, fill), inside), fill);
}

static tern_tensor *warp_by_operations(tern_tensor *x, const tern_image_matrix *matrix,
                                       bool bilinear, const tern_channel_list *fill)
{
    neighbours list = {.count = bilinear ? NEIGHBOURS : 1};
    tern_tensor *color = tern_image_channels(x, fill), *y;
    tern_tensor *flat = tern_reshape(x, tern_dims(x->size[0], x->size[1], x->size[2] * x->size[3]));
    if (!color || !flat || list_neighbours(x, matrix, &list))
        return NULL;
    color = tern_reshape(color, tern_dims(1, color->size[1], 1));
    if (bilinear)
        y = blend_neighbours(flat, &list, color);
    else
        y = tern_where(tern_gt_scalar(tern_select(list.weight, 0, 1), 0),
                       gather_neighbours(flat, &list, 0), color);
    return y ? tern_reshape(y, tern_shape_get(x)) : NULL;
}

tern_tensor *tern_image_warp(const char *op, tern_tensor *x, const tern_image_matrix *matrix,
                             tern_interpolate_mode mode, const tern_channel_list *fill)
{
    const bool bilinear = mode == TERN_BILINEAR;
    return tern_image_on_cpu(x) ? warp_on_cpu(op, x, matrix, bilinear, fill)
                                : warp_by_operations(x, matrix, bilinear, fill);
}
