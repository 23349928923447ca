// SPDX-License-Identifier: Apache-2.0
// How a convolution is carried out: what each written position reads, and which part of the output
// a block makes. Passed to kernels by value.
//
// The forward and the gradient in the input are one kind of work. In both, a position of the output
// sums weight times element over channels and taps (elements of the kernel), and from one position
// to the next what is read moves on by a constant. In the forward all positions of an axis do so
// with all taps. In the gradient a position uses the taps that a multiple of the stride is away,
// which are the same for positions a stride apart: these make a phase, and every phase is a
// convolution of its own, with a stride of 1 and a part of the taps.
#ifndef TERN_SRC_CUDA_CONV_PLAN_CUH
#define TERN_SRC_CUDA_CONV_PLAN_CUH

#include "cuda/conv/conv.h"
#include "cuda/fast_divide.cuh"

#define CONV_PHASES 16 // of an axis in one launch

// One axis (D, H or W) of one phase. Position q is element first + q * spacing of what is written,
// tap j element tap + j * tap_spacing of the kernel; together they read element
// origin + q * step + j * tap_step, or a zero where there is none.
typedef struct conv_axis {
    int64_divisor count;    // of positions
    divisor<uint32_t> taps; // their count
    int first, spacing;
    int tap, tap_spacing;
    int origin, step, tap_step;
} conv_axis;

// Strides of (N, C, D, H, W), contiguous.
typedef struct conv_strides {
    int64_t image, channel;
    int plane[3];
} conv_strides;

typedef struct conv_plan {
    conv_axis axis[3][CONV_PHASES];
    int size[3];                // D, H, W of what is read
    int rows, channels, groups; // channels of a group: written, read
    int64_t images, group_weights;
    conv_strides from, to, weight; // weight: those of a channel written (image) and read (channel)
    bool relu, accumulate;
    bool padded; // what lies outside are zeros, which are multiplied too
    // blocks: tiles of rows come first, then tiles of positions, groups, phases
    divisor<uint32_t> row_tiles, column_tiles, group_count, phases[3];
} conv_plan;

// ---- on the device ------------------------------------------------------------------------------

// What a block makes: tiles are counted in rows and positions of its group and phase.
typedef struct conv_work {
    conv_axis axis[3];
    int row_tile, group;
    uint32_t column_tile;
} conv_work;

__device__ __forceinline__ conv_work find_work(const conv_plan &plan, uint32_t block)
{
    conv_work work;
    uint32_t rest = fast_divmod(&block, plan.row_tiles);
    work.row_tile = (int)block;
    uint32_t outer = fast_divmod(&rest, plan.column_tiles);
    work.column_tile = rest;
    uint32_t phase = fast_divmod(&outer, plan.group_count);
    work.group = (int)outer;
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        const uint32_t next = fast_divmod(&phase, plan.phases[d]);
        work.axis[d] = plan.axis[d][phase];
        phase = next;
    }
    return work;
}

// A position: where its elements lie, and what tap 0 reads.
typedef struct conv_position {
    int64_t from, to; // of its image and group in what is read; of itself in what is written
    int at[3];
    bool inside;
} conv_position;

__device__ __forceinline__ conv_position find_position(const conv_plan &plan, const conv_work &work,
                                                       int64_t index)
{
    conv_position p = {0, 0, {0, 0, 0}, false};
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        const conv_axis &axis = work.axis[d];
        const int64_t outer = fast_divmod(&index, axis.count);
        const int q = (int)index;
        p.at[d] = axis.origin + q * axis.step;
        p.to += (int64_t)(axis.first + q * axis.spacing) * plan.to.plane[d];
        index = outer;
    }
    p.inside = index < plan.images;
    p.from = index * plan.from.image + (int64_t)work.group * plan.channels * plan.from.channel;
    p.to += index * plan.to.image + (int64_t)work.group * plan.rows * plan.to.channel;
    return p;
}

// Term k of a sum: a channel and a tap.
typedef struct conv_term {
    int channel;
    int tap[3];
} conv_term;

__device__ __forceinline__ conv_term find_term(const conv_work &work, uint32_t k)
{
    conv_term term;
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        const uint32_t outer = fast_divmod(&k, work.axis[d].taps);
        term.tap[d] = (int)k;
        k = outer;
    }
    term.channel = (int)k;
    return term;
}

__device__ __forceinline__ void next_term(const conv_work &work, conv_term *term)
{
    if (++term->tap[2] < (int)work.axis[2].taps.size)
        return;
    term->tap[2] = 0;
    if (++term->tap[1] < (int)work.axis[1].taps.size)
        return;
    term->tap[1] = 0;
    if (++term->tap[0] < (int)work.axis[0].taps.size)
        return;
    term->tap[0] = 0;
    term->channel++;
}

__device__ __forceinline__ int term_count(const conv_plan &plan, const conv_work &work)
{
    return plan.channels *
           (int)(work.axis[0].taps.size * work.axis[1].taps.size * work.axis[2].taps.size);
}

__device__ __forceinline__ int64_t position_count(const conv_plan &plan, const conv_work &work)
{
    return plan.images *
           (int64_t)(work.axis[0].count.size * work.axis[1].count.size * work.axis[2].count.size);
}

// Where a term's weight lies, from that of its row.
__device__ __forceinline__ int64_t weight_offset(const conv_plan &plan, const conv_work &work,
                                                 const conv_term &term)
{
    int offset = 0;
#pragma unroll
    for (int d = 0; d < 3; d++)
        offset +=
            (work.axis[d].tap + term.tap[d] * work.axis[d].tap_spacing) * plan.weight.plane[d];
    return offset + term.channel * plan.weight.channel;
}

// Where the element lies that a position reads for a term, or -1 where that is in the padding.
__device__ __forceinline__ int64_t element_offset(const conv_plan &plan, const conv_work &work,
                                                  const conv_position &p, const conv_term &term)
{
    int offset = 0;
    bool inside = p.inside;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const int at = p.at[d] + term.tap[d] * work.axis[d].tap_step;
        inside = inside && (uint32_t)at < (uint32_t)plan.size[d];
        offset += at * plan.from.plane[d];
    }
    return inside ? p.from + term.channel * plan.from.channel + offset : -1;
}

// ---- on the host --------------------------------------------------------------------------------

static inline conv_strides make_conv_strides(const tern_strided *view)
{
    const int64_t *size = view->size;
    const int64_t row = size[4], plane = size[3] * row, channel = size[2] * plane;
    return conv_strides{size[1] * channel, channel, {(int)plane, (int)row, 1}};
}

static inline divisor<uint32_t> conv_divisor(int64_t size)
{
    return make_divisor((uint32_t)size);
}

// A stride between one position, or a dilation of one tap, is not used: it may be any number.
static inline conv_axis conv_forward_axis(const tern_conv_args *args, int d)
{
    const int64_t count = args->y.size[2 + d], taps = args->weight.size[2 + d];
    conv_axis axis = {};
    axis.count = make_int64_divisor(count);
    axis.taps = conv_divisor(taps);
    axis.spacing = axis.tap_spacing = 1;
    axis.origin = -(int)args->padding[d];
    axis.step = count > 1 ? (int)args->stride[d] : 0;
    axis.tap_step = taps > 1 ? (int)args->dilation[d] : 0;
    return axis;
}

static inline int64_t conv_gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : conv_gcd(b, a % b);
}

// The phase that begins at position `first` of x. Tap k of position p reads element
// (p + padding - k * dilation) / stride of y, where that is a whole number.
static inline conv_axis conv_phase(const tern_conv_args *args, int d, int64_t first)
{
    const int64_t stride = args->stride[d], dilation = args->dilation[d];
    const int64_t taps = args->weight.size[2 + d], size = args->x.size[2 + d];
    const int64_t common = conv_gcd(stride, dilation), period = stride / common;
    const int64_t offset = first + args->padding[d];
    int64_t tap = 0;
    while (tap < taps && tap < period && (offset - tap * dilation) % stride != 0)
        tap++;
    const bool found = tap < taps && tap < period;
    conv_axis axis = {};
    axis.count = make_int64_divisor(ceil_div(size - first, stride));
    axis.taps = conv_divisor(found ? ceil_div(taps - tap, period) : 0);
    axis.first = (int)first;
    axis.spacing = stride < size ? (int)stride : 0;
    if (found) {
        axis.tap = (int)tap;
        axis.tap_spacing = axis.taps.size > 1 ? (int)period : 0;
        axis.origin = (int)((offset - tap * dilation) / stride);
        axis.step = 1;
        axis.tap_step = axis.taps.size > 1 ? -(int)(dilation / common) : 0;
    }
    return axis;
}

static inline int64_t conv_phase_count(const tern_conv_args *args, int d)
{
    return min_int64(args->stride[d], args->x.size[2 + d]);
}

static inline void conv_plan_common(conv_plan *plan, const tern_conv_args *args)
{
    plan->relu = args->relu;
    plan->accumulate = args->accumulate;
    plan->groups = (int)args->groups;
    plan->group_count = conv_divisor(args->groups);
    plan->group_weights = tern_strided_numel(&args->weight) / args->groups;
    plan->images = args->x.size[0];
}

static inline conv_plan conv_forward_plan(const tern_conv_args *args)
{
    conv_plan plan = {};
    for (int d = 0; d < 3; d++) {
        plan.axis[d][0] = conv_forward_axis(args, d);
        plan.phases[d] = conv_divisor(1);
        plan.size[d] = (int)args->x.size[2 + d];
    }
    plan.rows = (int)(args->y.size[1] / args->groups);
    plan.channels = (int)args->weight.size[1];
    plan.from = make_conv_strides(&args->x);
    plan.to = make_conv_strides(&args->y);
    plan.weight = make_conv_strides(&args->weight);
    plan.padded = true;
    conv_plan_common(&plan, args);
    return plan;
}

// Of the gradient in the input: the phases from begin[] on, as many as fit.
static inline conv_plan conv_backward_plan(const tern_conv_args *args, const int64_t begin[3])
{
    conv_plan plan = {};
    for (int d = 0; d < 3; d++) {
        const int64_t left = conv_phase_count(args, d) - begin[d];
        const int count = left < CONV_PHASES ? (int)left : CONV_PHASES;
        for (int phase = 0; phase < count; phase++)
            plan.axis[d][phase] = conv_phase(args, d, begin[d] + phase);
        plan.phases[d] = conv_divisor(count);
        plan.size[d] = (int)args->y.size[2 + d];
    }
    plan.rows = (int)args->weight.size[1];
    plan.channels = (int)(args->y.size[1] / args->groups);
    plan.from = make_conv_strides(&args->y);
    plan.to = make_conv_strides(&args->x);
    const conv_strides forward = make_conv_strides(&args->weight);
    plan.weight = forward;
    plan.weight.image = forward.channel;
    plan.weight.channel = forward.image;
    conv_plan_common(&plan, args);
    return plan;
}

// Launches the forward's one plan, or those of the gradient in the input.
template <class Launch>
static inline tern_status conv_for_phases(const tern_conv_args *args, bool backward, Launch launch)
{
    if (!backward)
        return launch(conv_forward_plan(args));
    int64_t begin[3];
    for (begin[0] = 0; begin[0] < conv_phase_count(args, 0); begin[0] += CONV_PHASES)
        for (begin[1] = 0; begin[1] < conv_phase_count(args, 1); begin[1] += CONV_PHASES)
            for (begin[2] = 0; begin[2] < conv_phase_count(args, 2); begin[2] += CONV_PHASES)
                TERN_TRY(launch(conv_backward_plan(args, begin)));
    return TERN_OK;
}

// How many blocks there are with tiles of this size; plan says which block makes which.
static inline int64_t conv_tile_blocks(conv_plan *plan, int rows, int columns)
{
    int64_t positions = plan->images, phases = 1;
    for (int d = 0; d < 3; d++) {
        positions *= (int64_t)plan->axis[d][0].count.size; // the first phase has the most positions
        phases *= plan->phases[d].size;
    }
    const int64_t row_tiles = ceil_div(plan->rows, rows);
    const int64_t column_tiles = ceil_div(positions, columns);
    plan->row_tiles = conv_divisor(row_tiles);
    plan->column_tiles = conv_divisor(column_tiles);
    return row_tiles * column_tiles * plan->groups * phases;
}

static inline tern_status conv_check_grid(const char *name, int64_t blocks, unsigned *grid)
{
    TERN_CHECK(blocks <= INT32_MAX, TERN_ERR_UNSUPPORTED,
               "%s: on CUDA devices a result has to be below 2^31 blocks of work", name);
    *grid = (unsigned)blocks;
    return TERN_OK;
}

// What a kernel for the forward, or the gradient in the input, is called with.
template <class T> struct conv_operands {
    T *to;
    const T *from, *weight, *bias;
};

template <class T>
static inline conv_operands<T> make_conv_operands(const tern_conv_args *args, bool backward)
{
    return conv_operands<T>{
        (T *)(backward ? args->x : args->y).data, (const T *)(backward ? args->y : args->x).data,
        (const T *)args->weight.data, (const T *)(args->bias ? args->bias->data : NULL)};
}

#endif
