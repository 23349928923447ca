// SPDX-License-Identifier: Apache-2.0
// Images made of the rows and columns of others: crops, padding, flips, nearest neighbours.
#include <string.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"
#include "ops/prepare.h"

// ---- maps ---------------------------------------------------------------------------------------

tern_status tern_image_maps_new(tern_image_maps *maps, int64_t count, int64_t height, int64_t width)
{
    int64_t elements;
    const bool fits = !__builtin_mul_overflow(count, height + width, &elements) &&
                      elements <= INT64_MAX / (int64_t)sizeof(int32_t);
    TERN_CHECK(fits, TERN_ERR_NOMEM, "transform: the maps of %lld images do not fit into memory",
               (long long)count);
    maps->nbytes = (size_t)elements * sizeof(int32_t);
    maps->rows = tern_cache_alloc(maps->nbytes);
    if (!maps->rows)
        return TERN_ERR_NOMEM;
    maps->cols = maps->rows + count * height;
    maps->height = height;
    maps->width = width;
    return TERN_OK;
}

void tern_image_maps_free(tern_image_maps *maps)
{
    tern_cache_free(maps->rows, maps->nbytes);
}

static int64_t padded(int64_t i, int64_t size, tern_pad_mode mode)
{
    if (i >= 0 && i < size)
        return i;
    if (mode == TERN_PAD_REFLECT)
        return i < 0 ? -i : 2 * (size - 1) - i;
    if (mode == TERN_PAD_REPLICATE)
        return i < 0 ? 0 : size - 1;
    return -1;
}

void tern_image_map_window(int32_t *map, int64_t length, int64_t first, int64_t size,
                           tern_pad_mode mode, bool mirrored)
{
    for (int64_t i = 0; i < length; i++)
        map[i] = (int32_t)padded(mirrored ? size - 1 - (first + i) : first + i, size, mode);
}

// ---- on the CPU ---------------------------------------------------------------------------------

// A map of columns: fill, then a run of neighbours, then fill again; or anything (run 0).
typedef struct columns {
    const int32_t *map;
    int64_t width, begin, run;
} columns;

static columns find_run(const int32_t *map, int64_t width)
{
    columns c = {.map = map, .width = width};
    while (c.begin < width && map[c.begin] < 0)
        c.begin++;
    int64_t end = c.begin;
    while (end < width && map[end] == map[c.begin] + (end - c.begin) && map[end] >= 0)
        end++;
    c.run = end - c.begin;
    for (; end < width; end++)
        if (map[end] >= 0)
            c.run = 0;
    return c;
}

#define ROWS(name, type)                                                                           \
    static void fill_##name(void *row, int64_t begin, int64_t end, uint32_t fill)                  \
    {                                                                                              \
        for (int64_t i = begin; i < end; i++)                                                      \
            ((type *)row)[i] = (type)fill;                                                         \
    }                                                                                              \
    static void copy_##name(void *row, const void *from, const columns *c, uint32_t fill)          \
    {                                                                                              \
        type *restrict to = row;                                                                   \
        for (int64_t i = 0; i < c->width; i++)                                                     \
            to[i] = c->map[i] < 0 ? (type)fill : ((const type *)from)[c->map[i]];                  \
    }                                                                                              \
    static void mirror_##name(void *row, const void *from, int64_t width)                          \
    {                                                                                              \
        type *restrict to = row;                                                                   \
        const type *restrict last = (const type *)from + width - 1;                                \
        for (int64_t i = 0; i < width; i++)                                                        \
            to[i] = last[-i];                                                                      \
    }
ROWS(byte, uint8_t)
ROWS(float, uint32_t)

static const struct row_functions {
    void (*fill)(void *row, int64_t begin, int64_t end, uint32_t fill);
    void (*copy)(void *row, const void *from, const columns *c, uint32_t fill);
    void (*mirror)(void *row, const void *from, int64_t width);
} row_functions[] = {{fill_byte, copy_byte, mirror_byte}, {fill_float, copy_float, mirror_float}};

typedef struct gather {
    const tern_image_maps *maps;
    const struct row_functions *row;
    const char *x;                         // (N, C, H, W)
    char *y;                               // (N, C, height, width)
    int64_t channels, height, width, size; // of x; bytes of an element
    uint32_t fill[TERN_MAX_CHANNELS];
    bool one_fill;
} gather;

static void make_row(const gather *g, char *to, const char *from, const columns *c, uint32_t fill)
{
    if (c->run == 0) {
        g->row->copy(to, from, c, fill);
        return;
    }
    g->row->fill(to, 0, c->begin, fill);
    memcpy(to + c->begin * g->size, from + c->map[c->begin] * g->size, (size_t)(c->run * g->size));
    g->row->fill(to, c->begin + c->run, c->width, fill);
}

static bool is_mirror(const gather *g, const int32_t *map)
{
    const int64_t width = g->maps->width;
    bool mirror = width == g->width && width > 1;
    for (int64_t i = 0; mirror && i < width; i++)
        mirror = map[i] == width - 1 - i;
    return mirror;
}

static void make_image(void *context, int64_t n)
{
    const gather *g = context;
    const tern_image_maps *m = g->maps;
    const int32_t *rows = m->rows + n * m->height;
    const columns c = find_run(m->cols + n * m->width, m->width);
    const bool mirror = is_mirror(g, c.map);
    for (int64_t k = 0; k < g->channels; k++) {
        const char *plane = g->x + (n * g->channels + k) * g->height * g->width * g->size;
        char *to = g->y + (n * g->channels + k) * m->height * m->width * g->size;
        const uint32_t fill = g->fill[g->one_fill ? 0 : k];
        for (int64_t h = 0; h < m->height; h++, to += m->width * g->size) {
            const char *from = plane + rows[h] * g->width * g->size;
            if (rows[h] < 0)
                g->row->fill(to, 0, m->width, fill);
            else if (mirror)
                g->row->mirror(to, from, m->width);
            else
                make_row(g, to, from, &c, fill);
        }
    }
}

static tern_tensor *gather_on_cpu(const char *op, tern_tensor *x, const tern_image_maps *maps)
{
    x = tern_make_contiguous(x);
    tern_tensor *y =
        x ? tern_tensor_new(op, x->dtype, tern_dev(x),
                            tern_dims(x->size[0], x->size[1], maps->height, maps->width))
          : NULL;
    if (!y)
        return NULL;
    gather g = {.maps = maps,
                .row = &row_functions[x->dtype == TERN_FLOAT32],
                .x = tern_image_data(x),
                .y = tern_image_data(y),
                .channels = x->size[1],
                .height = x->size[2],
                .width = x->size[3],
                .size = (int64_t)tern_dtype_size(x->dtype),
                .one_fill = !maps->fill || maps->fill->count <= 1};
    for (int c = 0; maps->fill && c < maps->fill->count; c++)
        g.fill[c] = tern_image_element(x->dtype, maps->fill->at[c]);
    tern_image_each(x->size[0], y->numel / x->size[0], make_image, &g);
    return y;
}

// ---- elsewhere ----------------------------------------------------------------------------------

// Both maps in one tensor of x's device: uploads are few, each takes a page-locked buffer.
static tern_tensor *upload_maps(const tern_tensor *x, const tern_image_maps *maps)
{
    const int64_t count = x->size[0] * (maps->height + maps->width);
    const size_t nbytes = (size_t)count * sizeof(int64_t);
    int64_t *index = tern_cache_alloc(nbytes);
    if (!index)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        index[i] = maps->rows[i]; // the columns lie behind them
    tern_tensor *t =
        tern_from_data(tern_dims(count), index, .dtype = TERN_INT64, .device = tern_dev(x));
    tern_cache_free(index, nbytes);
    return t;
}

static bool fills(const int32_t *map, int64_t count)
{
    bool any = false;
    for (int64_t i = 0; i < count; i++)
        any |= map[i] < 0;
    return any;
}

// Of all channels.
static double fill_value(const tern_tensor *x, const tern_channel_list *fill)
{
    const double value = fill ? tern_channel_value(fill, 0) : 0;
    return x->dtype == TERN_UINT8 ? (double)tern_image_element(TERN_UINT8, value)
                                  : (double)(float)value;
}

static tern_tensor *fill_pixels(tern_tensor *x, tern_tensor *mask, const tern_channel_list *fill)
{
    if (!fill || fill->count <= 1)
        return tern_masked_fill(x, mask, fill_value(x, fill));
    return tern_where(mask, tern_image_channels(x, fill), x);
}

// x's rows (dim 2) or columns (dim 3) as the map says, which begins at element `first` of `index`.
static tern_tensor *gather_along(tern_tensor *x, int dim, const int32_t *map, int64_t length,
                                 tern_tensor *index, int64_t first, const tern_channel_list *fill)
{
    const int64_t count = x->size[0] * length;
    tern_shape narrow = tern_dims(x->size[0], 1, 1, 1), full = tern_shape_get(x);
    narrow.dim[dim] = full.dim[dim] = length;
    tern_tensor *list = tern_reshape(tern_narrow(index, 0, first, count), narrow);
    if (!fills(map, count))
        return tern_gather(x, dim, tern_expand(list, full));
    tern_tensor *inside = tern_clamp(list, 0, x->size[dim] - 1);
    tern_tensor *y = tern_gather(x, dim, tern_expand(inside, full));
    return fill_pixels(y, tern_lt_scalar(list, 0), fill);
}

static tern_tensor *gather_by_operations(tern_tensor *x, const tern_image_maps *maps)
{
    tern_tensor *index = upload_maps(x, maps);
    tern_tensor *y =
        index ? gather_along(x, 2, maps->rows, maps->height, index, 0, maps->fill) : NULL;
    return y ? gather_along(y, 3, maps->cols, maps->width, index, x->size[0] * maps->height,
                            maps->fill)
             : NULL;
}

tern_tensor *tern_image_gather(const char *op, tern_tensor *x, const tern_image_maps *maps)
{
    return tern_image_on_cpu(x) ? gather_on_cpu(op, x, maps) : gather_by_operations(x, maps);
}
