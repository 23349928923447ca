// SPDX-License-Identifier: Apache-2.0
// What a convolution does along one spatial dimension: output g is made of the inputs at
// step * g + shift(i), one for each tap i of the kernel that it reaches.
#ifndef TERN_SRC_CPU_CONV_CONV_AXIS_H
#define TERN_SRC_CPU_CONV_CONV_AXIS_H

#include <stdbool.h>
#include <stdint.h>

// Inputs are copied by their phase, their place modulo step: within a phase the inputs of
// neighbouring outputs lie side by side, whatever the step is.
typedef struct conv_axis {
    int64_t count;                   // outputs g
    int64_t to_first, to_step;       // output g is element to_first + to_step * g of its row
    int64_t from_size, step;         // the inputs
    int64_t taps;                    // of the kernel that count here
    int64_t tap_first, tap_step;     // tap i is element tap_first + tap_step * i of the kernel
    int64_t shift_first, shift_step; // shift(i) = shift_first + shift_step * i
    int64_t origin;                  // the least shift
    int64_t phases;                  // that taps reach; tap i is in the phase i % phases
    int64_t reach;                   // copied inputs of a phase, beyond count
} conv_axis;

static inline int64_t conv_gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Taps from first to end - 1.
typedef struct conv_taps {
    int64_t first, end;
} conv_taps;

// The taps at which one of `count` outputs from g on has an input: shifts of low to high - 1.
static inline conv_taps conv_axis_valid_taps(const conv_axis *a, int64_t g, int64_t count)
{
    const int64_t high = a->from_size - a->step * g, low = -a->step * (g + count - 1);
    conv_taps t = {0, a->taps};
    for (int64_t shift = a->shift_first; t.first < t.end && (shift < low || shift >= high);
         shift += a->shift_step)
        t.first++;
    for (int64_t shift = a->shift_first + a->shift_step * (t.end - 1);
         t.first < t.end && (shift < low || shift >= high); shift -= a->shift_step)
        t.end--;
    return t;
}

// Whether an output has an input at no more than a quarter of the taps.
static inline bool conv_axis_is_sparse(const conv_axis *a)
{
    const int64_t apart = a->shift_step < 0 ? -a->shift_step : a->shift_step;
    return a->from_size / apart + 1 <= a->taps / 4;
}

// Leaves out the first and last taps that lie in the padding for every output.
static inline void conv_axis_clip(conv_axis *a)
{
    const conv_taps valid = conv_axis_valid_taps(a, 0, a->count);
    a->tap_first += valid.first * a->tap_step;
    a->shift_first += valid.first * a->shift_step;
    a->taps = valid.end - valid.first;
}

static inline void conv_axis_finalize(conv_axis *a)
{
    conv_axis_clip(a);
    const int64_t last = a->shift_first + a->shift_step * (a->taps - 1);
    const int64_t apart = a->shift_step < 0 ? -a->shift_step : a->shift_step;
    const int64_t phases = a->step / conv_gcd(a->step, apart);
    a->origin = a->shift_step < 0 ? last : a->shift_first;
    a->phases = a->taps < phases ? a->taps : phases;
    a->reach = a->taps > 0 ? (a->taps - 1) * apart / a->step : 0;
}

// Outputs of y from x.
static inline conv_axis conv_axis_forward(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                          int64_t padding, int64_t dilation)
{
    conv_axis a = {.count = out,
                   .to_step = 1,
                   .from_size = in,
                   .step = stride,
                   .taps = kernel,
                   .tap_step = 1,
                   .shift_first = -padding,
                   .shift_step = dilation};
    conv_axis_finalize(&a);
    return a;
}

// Inputs of x are made of y in classes: those that are one residue modulo stride, where taps count
// for which residue + padding - tap * dilation is a multiple of stride. So many have any.
static inline int64_t conv_axis_classes(int64_t kernel, int64_t stride, int64_t dilation)
{
    const int64_t apart = stride / conv_gcd(stride, dilation);
    return kernel < apart ? kernel : apart;
}

// The class whose first tap is `first`; its count may be 0.
static inline conv_axis conv_axis_input(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                        int64_t padding, int64_t dilation, int64_t first)
{
    const int64_t common = conv_gcd(stride, dilation);
    int64_t residue = (first * dilation - padding) % stride;
    residue += residue < 0 ? stride : 0;
    conv_axis a = {.count = residue < in ? (in - residue - 1) / stride + 1 : 0,
                   .to_first = residue,
                   .to_step = stride,
                   .from_size = out,
                   .step = 1,
                   .taps = (kernel - first - 1) / (stride / common) + 1,
                   .tap_first = first,
                   .tap_step = stride / common,
                   .shift_first = (residue + padding - first * dilation) / stride,
                   .shift_step = -dilation / common};
    conv_axis_finalize(&a);
    return a;
}

static inline int64_t conv_axis_tap(const conv_axis *a, int64_t i)
{
    return a->tap_first + a->tap_step * i;
}

// The input that output 0 and tap i reach.
static inline int64_t conv_axis_shift(const conv_axis *a, int64_t i)
{
    return a->shift_first + a->shift_step * i;
}

// Where that is among the copied inputs of its phase.
static inline int64_t conv_axis_position(const conv_axis *a, int64_t i)
{
    return (conv_axis_shift(a, i) - a->origin) / a->step;
}

// The input that is the first of a phase.
static inline int64_t conv_axis_first(const conv_axis *a, int64_t phase)
{
    return a->origin + (conv_axis_shift(a, phase) - a->origin) % a->step;
}

// How many of `count` copied inputs from `first` on lie before an input: before the first real one
// when that is 0, before their end when it is from_size.
static inline int64_t conv_axis_before(const conv_axis *a, int64_t first, int64_t input,
                                       int64_t count)
{
    const int64_t before = first < input ? (input - first + a->step - 1) / a->step : 0;
    return before < count ? before : count;
}

#endif
