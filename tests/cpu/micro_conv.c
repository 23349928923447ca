// SPDX-License-Identifier: Apache-2.0
// Holes in the tables of convolutions, of the `real` that the build says.
#include <stdio.h>

#include "cpu/conv/conv.h"
#include "micro_kernels.h"

static conv_fn micro_conv, micro_conv_grad_input, micro_conv_grad_weight;

#undef REAL_NAME
#define REAL_NAME(name) micro_##name
#include "cpu/conv/conv_kernel.c"

enum { MAX = 50 }; // more than three tiles of rows, and than two panels of lanes

static char hole[160];

static void look_up(bool there, const char *table, int64_t row, int64_t col)
{
    micro_kernels_seen++;
    if (!there && !*hole)
        snprintf(hole, sizeof hole, "%s[%lld], %lld", table, (long long)row, (long long)col);
}

static tern_conv_args batch_of(int64_t batch, int64_t channels, int64_t filters)
{
    tern_conv_args a = {.groups = 1};
    a.x.rank = a.y.rank = a.weight.rank = 5;
    for (int d = 0; d < 3; d++) {
        a.stride[d] = a.dilation[d] = 1;
        a.padding[d] = d > 0;
        a.x.size[d + 2] = a.y.size[d + 2] = d > 0 ? 4 : 1;
        a.weight.size[d + 2] = d > 0 ? 3 : 1;
    }
    a.x.size[0] = a.y.size[0] = batch;
    a.x.size[1] = a.weight.size[1] = channels;
    a.y.size[1] = a.weight.size[0] = filters;
    return a;
}

static void look_up_outer(int64_t rows, int64_t cols)
{
    for (int64_t tile = 0; tile < outer_tiles(rows); tile++) {
        const int64_t here = outer_row(rows, tile + 1) - outer_row(rows, tile);
        for (int64_t col = 0; col < cols; col += OUTER_LANES) {
            const int64_t some = min_int64(cols - col, OUTER_LANES);
            look_up(here <= TILE_ROWS && outer_kernel_for(here, some), "outer_kernels", here, some);
        }
    }
}

// Rows are images, or channels in gradients of the weight.
static void look_up_batches(void)
{
    for (int64_t batch = 1; batch < MAX; batch++) {
        for (int64_t channels = 1; channels < MAX; channels++) {
            for (int64_t filters = 1; filters < MAX; filters++) {
                const tern_conv_args a = batch_of(batch, channels, filters);
                if (batch_suits(&a, &a.y, &a.x))
                    look_up_outer(batch, filters);
                if (batch_suits(&a, &a.x, &a.y))
                    look_up_outer(batch, channels);
                if (weight_batch_suits(&a))
                    look_up_outer(channels, filters);
            }
        }
    }
}

// Panels and groups of filters, of which the last has what is left.
static void look_up_filters(void)
{
    for (int64_t filters = 1; filters < MAX; filters++) {
        const correlation c = {.filters = filters};
        for (int64_t panel = 0; panel < panels_of(&c); panel++) {
            const int64_t rows = panel_rows(&c, panel);
            look_up(conv_tiles[rows].run && conv_tiles[rows].vecs > 0, "conv_tiles", rows, 0);
            look_up(conv_tiles[rows].run_half && conv_tiles[rows].half > 0, "conv_tiles", rows, 1);
        }
    }
    for (int64_t rows = 1; rows <= CONV_DOT_ROWS; rows++) {
        const int64_t cols = conv_dots[rows].cols;
        look_up(conv_dots[rows].run && cols > 0 && cols <= CONV_DOT_COLS &&
                    rows * cols <= CONV_DOT_SUMS,
                "conv_dots", rows, cols);
    }
}

const char *MICRO_NAME(conv, TERN_ISA, TERN_REAL_TYPE)(void)
{
    (void)micro_conv;
    (void)micro_conv_grad_input;
    (void)micro_conv_grad_weight;
    *hole = 0;
    look_up_batches();
    look_up_filters();
    return *hole ? hole : NULL;
}
