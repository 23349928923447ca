// SPDX-License-Identifier: Apache-2.0
// Products with zeros of the padding, where they were left out: zero times what is not finite is
// NaN. A filter that is not finite makes outputs NaN, a gradient of the output elements of the
// weight's. A template: the including source has defined `real`.
#ifndef TERN_SRC_CPU_CONV_CONV_PADDING_H
#define TERN_SRC_CPU_CONV_CONV_PADDING_H

#include <math.h>
#include <stdbool.h>
#include "base/thread_pool.h"
#include "device/kernels.h"

static bool padding_met(const tern_conv_args *args, const int64_t *out, const int64_t *tap)
{
    for (int d = 0; d < 3; d++) {
        const int64_t in = out[d] * args->stride[d] - args->padding[d] + tap[d] * args->dilation[d];
        if (in < 0 || in >= args->x.size[d + 2])
            return true;
    }
    return false;
}

// The outputs along one dimension whose taps all reach inputs.
typedef struct padding_range {
    int64_t first, end;
} padding_range;

static padding_range padding_free(const tern_conv_args *args, int d)
{
    const int64_t out = args->y.size[d + 2], stride = args->stride[d];
    const int64_t reach = (args->weight.size[d + 2] - 1) * args->dilation[d];
    const int64_t last = args->x.size[d + 2] - 1 - reach + args->padding[d];
    const int64_t end = last < 0 ? 0 : last / stride + 1;
    const padding_range r = {(args->padding[d] + stride - 1) / stride, end < out ? end : out};
    return r.first < r.end ? r : (padding_range){out, out};
}

static bool padding_anywhere(const tern_conv_args *args)
{
    for (int d = 0; d < 3; d++) {
        const padding_range r = padding_free(args, d);
        if (r.first > 0 || r.end < args->y.size[d + 2])
            return true;
    }
    return false;
}

static bool padding_in_range(padding_range r, int64_t at)
{
    return at >= r.first && at < r.end;
}

// The element `tap` of all channels of a filter.
static int64_t padding_tap(const tern_conv_args *args, const int64_t *tap)
{
    const int64_t *kernel = args->weight.size + 2;
    return (tap[0] * kernel[1] + tap[1]) * kernel[2] + tap[2];
}

// ---- gradients of the weight --------------------------------------------------------------------

// One output whose gradient is not finite.
static void padding_weight_output(const tern_conv_args *args, int64_t filter, const int64_t *out)
{
    const int64_t *kernel = args->weight.size + 2, channels = args->weight.size[1];
    const int64_t taps = kernel[0] * kernel[1] * kernel[2];
    real *weight = (real *)args->weight.data + filter * channels * taps;
    int64_t t[3];
    for (t[0] = 0; t[0] < kernel[0]; t[0]++)
        for (t[1] = 0; t[1] < kernel[1]; t[1]++)
            for (t[2] = 0; t[2] < kernel[2]; t[2]++)
                for (int64_t c = 0; c < channels && padding_met(args, out, t); c++)
                    weight[c * taps + padding_tap(args, t)] = NAN;
}

// Outputs at the border of one row of one image.
static void padding_weight_row(const tern_conv_args *args, int64_t filter, const real *dy,
                               int64_t *out, padding_range skipped)
{
    for (out[2] = 0; out[2] < args->y.size[4]; out[2]++) {
        if (out[2] == skipped.first)
            out[2] = skipped.end;
        if (out[2] < args->y.size[4] && !isfinite(dy[out[2]]))
            padding_weight_output(args, filter, out);
    }
}

static void padding_weight_filter(void *context, int64_t filter)
{
    const tern_conv_args *args = context;
    const int64_t *size = args->y.size, row = size[4];
    const padding_range depth = padding_free(args, 0), high = padding_free(args, 1);
    const padding_range wide = padding_free(args, 2), none = {row, row};
    for (int64_t n = 0; n < size[0]; n++) {
        const real *dy = (const real *)args->y.data;
        dy += (n * size[1] + filter) * size[2] * size[3] * row;
        int64_t out[3];
        for (out[0] = 0; out[0] < size[2]; out[0]++) {
            for (out[1] = 0; out[1] < size[3]; out[1]++, dy += row) {
                const bool inner =
                    padding_in_range(depth, out[0]) && padding_in_range(high, out[1]);
                padding_weight_row(args, filter, dy, out, inner ? wide : none);
            }
        }
    }
}

static void padding_grad_weight(const tern_conv_args *args)
{
    tern_conv_args all = *args;
    if (padding_anywhere(args))
        tern_pool_run(args->weight.size[0], padding_weight_filter, &all);
}

// ---- forward ------------------------------------------------------------------------------------

// One tap that is not finite in some channel.
static void padding_forward_tap(const tern_conv_args *args, int64_t filter, const int64_t *tap)
{
    const int64_t *size = args->y.size;
    for (int64_t n = 0; n < size[0]; n++) {
        real *y = (real *)args->y.data;
        y += (n * size[1] + filter) * size[2] * size[3] * size[4];
        int64_t o[3];
        for (o[0] = 0; o[0] < size[2]; o[0]++)
            for (o[1] = 0; o[1] < size[3]; o[1]++)
                for (o[2] = 0; o[2] < size[4]; o[2]++, y++)
                    if (padding_met(args, o, tap))
                        *y = NAN;
    }
}

static void padding_forward_filter(void *context, int64_t filter)
{
    const tern_conv_args *args = context;
    const int64_t *kernel = args->weight.size + 2, channels = args->weight.size[1];
    const int64_t taps = kernel[0] * kernel[1] * kernel[2];
    const real *weight = (const real *)args->weight.data + filter * channels * taps;
    real zeros = 0;
    for (int64_t i = 0; i < channels * taps; i++)
        zeros += weight[i] * 0;
    if (zeros == 0)
        return;
    int64_t t[3];
    for (t[0] = 0; t[0] < kernel[0]; t[0]++) {
        for (t[1] = 0; t[1] < kernel[1]; t[1]++) {
            for (t[2] = 0; t[2] < kernel[2]; t[2]++) {
                bool finite = true;
                for (int64_t c = 0; c < channels; c++)
                    finite = finite && isfinite(weight[c * taps + padding_tap(args, t)]);
                if (!finite)
                    padding_forward_tap(args, filter, t);
            }
        }
    }
}

static void padding_forward(const tern_conv_args *args)
{
    tern_conv_args all = *args;
    if (padding_anywhere(args))
        tern_pool_run(args->weight.size[0], padding_forward_filter, &all);
}

#endif
