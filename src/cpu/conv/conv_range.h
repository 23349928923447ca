// SPDX-License-Identifier: Apache-2.0
// Which elements of one image a tap joins with which of the other, along one dimension: tap k joins
// output o with input o * stride - padding + k * dilation.
#ifndef TERN_SRC_CPU_CONV_CONV_RANGE_H
#define TERN_SRC_CPU_CONV_CONV_RANGE_H

#include "device/kernels.h"

typedef struct conv_range {
    int64_t in, out, kernel, stride, padding, dilation;
} conv_range;

// Of the height or the width.
static inline conv_range conv_range_along(const tern_conv_args *args, int d)
{
    return (conv_range){.in = args->x.size[d + 3],
                        .out = args->y.size[d + 3],
                        .kernel = args->weight.size[d + 3],
                        .stride = args->stride[d + 1],
                        .padding = args->padding[d + 1],
                        .dilation = args->dilation[d + 1]};
}

static inline int32_t conv_range_input(const conv_range *m, int64_t out, int64_t tap)
{
    const int64_t in = out * m->stride - m->padding + tap * m->dilation;
    return in >= 0 && in < m->in ? (int32_t)in : -1;
}

static inline int32_t conv_range_output(const conv_range *m, int64_t in, int64_t tap)
{
    const int64_t at = in + m->padding - tap * m->dilation;
    return at >= 0 && at % m->stride == 0 && at / m->stride < m->out ? (int32_t)(at / m->stride)
                                                                     : -1;
}

// The inputs of outputs and taps (out, kernel), -1 where there is none.
static inline void conv_range_inputs(const conv_range *m, int32_t *to)
{
    for (int64_t out = 0; out < m->out; out++)
        for (int64_t tap = 0; tap < m->kernel; tap++)
            *to++ = conv_range_input(m, out, tap);
}

// The outputs of inputs and taps (in, kernel), the last tap first: so that what the next tap joins
// with is the next output.
static inline void conv_range_outputs(const conv_range *m, int32_t *to)
{
    for (int64_t in = 0; in < m->in; in++)
        for (int64_t tap = m->kernel - 1; tap >= 0; tap--)
            *to++ = conv_range_output(m, in, tap);
}

#endif
