// SPDX-License-Identifier: Apache-2.0
// Convolutions of one element type: which way is taken, and its memory.
#include "cpu/conv/conv.h"

#include "base/error.h"
#include "base/mem.h"
#include "cpu/conv/conv_batch.h"
#include "cpu/conv/conv_correlate.h"
#include "cpu/conv/conv_padding.h"
#include "cpu/conv/conv_im2col.h"
#include "cpu/conv/conv_weight.h"
#include "cpu/conv/conv_weight_batch.h"

typedef struct conv_space {
    int64_t x[3], y[3], kernel[3], x_space, y_space, taps;
} conv_space;

static conv_space space_of(const tern_conv_args *args)
{
    conv_space s = {.x_space = 1, .y_space = 1, .taps = 1};
    for (int d = 0; d < 3; d++) {
        s.x_space *= s.x[d] = args->x.size[d + 2];
        s.y_space *= s.y[d] = args->y.size[d + 2];
        s.taps *= s.kernel[d] = args->weight.size[d + 2];
    }
    return s;
}

// The memory of a correlation: what needs most of it, of several that run one after the other.
typedef struct conv_memory {
    char *begin;
    size_t nbytes;
} conv_memory;

static size_t offsets_bytes(const correlation *c)
{
    return (size_t)((c->block * c->taps + 8) / 8 * 8) * sizeof(int64_t);
}

static size_t memory_of(const correlation *c)
{
    const int64_t scratches = work_scratch_count(items_of(c), c->threads);
    return offsets_bytes(c) +
           (size_t)(packed_scratch(c) + scratches * worker_scratch(c)) * sizeof(real);
}

static void run_in(correlation *c, const conv_memory *memory)
{
    c->offset = (int64_t *)memory->begin;
    c->packed = (real *)(memory->begin + offsets_bytes(c));
    c->scratches = (work_scratch){.memory = c->packed + packed_scratch(c),
                                  .nbytes = worker_scratch(c) * (int64_t)sizeof(real),
                                  .count = work_scratch_count(items_of(c), c->threads)};
    if (items_of(c) > 0)
        correlate(c);
}

// Some taps reach padding alone, and are left out.
static bool is_clipped(const tern_conv_args *args, const conv_axis *axis)
{
    for (int d = 0; d < 3; d++)
        if (axis[d].taps < args->weight.size[d + 2])
            return true;
    return false;
}

tern_status REAL_NAME(conv)(const tern_conv_args *args)
{
    const bool batched = batch_suits(args, &args->y, &args->x);
    if (im2col_suits(args, batched))
        return im2col_run(args, im2col_forward, im2col_chunk_forward);
    if (batched) {
        TERN_TRY(batch_correlate(args, false));
        padding_forward(args);
        return TERN_OK;
    }
    const conv_space s = space_of(args);
    const int64_t filter = args->weight.size[1] * s.taps;
    conv_axis axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = conv_axis_forward(s.x[d], s.y[d], s.kernel[d], args->stride[d], args->padding[d],
                                    args->dilation[d]);
    correlation c = {.batch = args->x.size[0],
                     .groups = args->groups,
                     .channels = args->weight.size[1],
                     .filters = args->weight.size[0] / args->groups,
                     .from = args->x.data,
                     .to = args->y.data,
                     .from_space = s.x_space,
                     .to_size = {s.y[0], s.y[1], s.y[2]},
                     .weight = args->weight.data,
                     .bias = args->bias ? args->bias->data : NULL,
                     .filter_step = filter,
                     .channel_step = s.taps,
                     .group_step = args->weight.size[0] / args->groups * filter,
                     .kernel = {s.kernel[0], s.kernel[1], s.kernel[2]},
                     .relu = args->relu,
                     .accumulate = args->accumulate,
                     .threads = tern_num_threads()};
    plan(&c, axis);
    conv_memory memory = {.nbytes = memory_of(&c)};
    memory.begin = tern_cache_alloc(memory.nbytes);
    if (!memory.begin)
        return TERN_ERR_NOMEM;
    run_in(&c, &memory);
    tern_cache_free(memory.begin, memory.nbytes);
    if (is_clipped(args, axis))
        padding_forward(args);
    return TERN_OK;
}

// The inputs of one class along each dimension; without a plan, and so without work, for none.
static correlation input_correlation(const tern_conv_args *args, const int64_t *first,
                                     int64_t threads)
{
    const conv_space s = space_of(args);
    const int64_t filter = args->weight.size[1] * s.taps;
    conv_axis axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = conv_axis_input(s.x[d], s.y[d], s.kernel[d], args->stride[d], args->padding[d],
                                  args->dilation[d], first[d]);
    correlation c = {.batch = args->x.size[0],
                     .groups = args->groups,
                     .channels = args->weight.size[0] / args->groups,
                     .filters = args->weight.size[1],
                     .from = args->y.data,
                     .to = args->x.data,
                     .from_space = s.y_space,
                     .to_size = {s.x[0], s.x[1], s.x[2]},
                     .weight = args->weight.data,
                     .bias = args->bias ? args->bias->data : NULL,
                     .filter_step = s.taps,
                     .channel_step = filter,
                     .group_step = args->weight.size[0] / args->groups * filter,
                     .kernel = {s.kernel[0], s.kernel[1], s.kernel[2]},
                     .relu = args->relu,
                     .accumulate = args->accumulate,
                     .sparse = conv_axis_is_sparse(&axis[0]) || conv_axis_is_sparse(&axis[1]),
                     .threads = threads};
    if (axis[0].count > 0 && axis[1].count > 0 && axis[2].count > 0)
        plan(&c, axis);
    return c;
}

static int64_t classes_of(const tern_conv_args *args, int d)
{
    return conv_axis_classes(args->weight.size[2 + d], args->stride[d], args->dilation[d]);
}

// Runs each class of inputs, or finds the memory that they need.
static void each_class(const tern_conv_args *args, int64_t threads, conv_memory *memory, bool run)
{
    int64_t first[3];
    for (first[0] = 0; first[0] < classes_of(args, 0); first[0]++) {
        for (first[1] = 0; first[1] < classes_of(args, 1); first[1]++) {
            for (first[2] = 0; first[2] < classes_of(args, 2); first[2]++) {
                correlation c = input_correlation(args, first, threads);
                if (items_of(&c) == 0)
                    continue;
                const size_t nbytes = memory_of(&c);
                if (run)
                    run_in(&c, memory);
                else if (nbytes > memory->nbytes)
                    memory->nbytes = nbytes;
            }
        }
    }
}

// Some inputs are in no class: no tap reaches them.
static bool has_gaps(const tern_conv_args *args)
{
    for (int d = 0; d < 3; d++)
        if (classes_of(args, d) < args->stride[d])
            return true;
    return false;
}

tern_status REAL_NAME(conv_grad_input)(const tern_conv_args *args)
{
    const bool batched = batch_suits(args, &args->x, &args->y);
    if (im2col_suits(args, batched))
        return im2col_run(args, im2col_input, im2col_chunk_input);
    if (batched)
        return batch_correlate(args, true);
    const int64_t threads = tern_num_threads();
    conv_memory memory = {.nbytes = 64}; // there may be no work
    each_class(args, threads, &memory, false);
    memory.begin = tern_cache_alloc(memory.nbytes);
    if (!memory.begin)
        return TERN_ERR_NOMEM;
    if (!args->accumulate && has_gaps(args))
        conv_fill(args);
    each_class(args, threads, &memory, true);
    tern_cache_free(memory.begin, memory.nbytes);
    return TERN_OK;
}

static weight_gradient plan_weight(const tern_conv_args *args)
{
    const conv_space s = space_of(args);
    conv_axis axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = conv_axis_forward(s.x[d], s.y[d], s.kernel[d], args->stride[d], args->padding[d],
                                    args->dilation[d]);
    weight_gradient g = {.source = conv_source_of(axis),
                         .batch = args->x.size[0],
                         .groups = args->groups,
                         .channels = args->weight.size[1],
                         .filters = args->weight.size[0] / args->groups,
                         .x = args->x.data,
                         .y = args->y.data,
                         .weight = args->weight.data,
                         .x_space = s.x_space,
                         .y_space = s.y_space,
                         .taps = axis[1].taps * axis[2].taps,
                         .planes = args->weight.size[1] * axis[0].taps};
    if (weight_numel(&g) > 0)
        cut_work(&g);
    return g;
}

// The taps that count, to their positions among those of the whole kernel.
static void spread_taps(const tern_conv_args *args, const weight_gradient *g)
{
    const conv_axis *axis = g->source.axis;
    const int64_t *kernel = args->weight.size + 2;
    const real *from = g->weight;
    real *to = args->weight.data;
    for (int64_t k = args->weight.size[0] * args->weight.size[1]; k > 0; k--) {
        for (int64_t d = 0; d < axis[0].taps; d++)
            for (int64_t h = 0; h < axis[1].taps; h++)
                for (int64_t w = 0; w < axis[2].taps; w++)
                    to[(conv_axis_tap(&axis[0], d) * kernel[1] + conv_axis_tap(&axis[1], h)) *
                           kernel[2] +
                       conv_axis_tap(&axis[2], w)] += *from++;
        to += kernel[0] * kernel[1] * kernel[2];
    }
}

tern_status REAL_NAME(conv_grad_weight)(const tern_conv_args *args)
{
    const bool batched = weight_batch_suits(args);
    if (im2col_suits(args, batched))
        return im2col_run(args, im2col_weight, im2col_chunk_weight);
    if (batched) {
        TERN_TRY(batch_grad_weight(args));
        padding_grad_weight(args);
        return TERN_OK;
    }
    weight_gradient g = plan_weight(args);
    const int64_t numel = weight_numel(&g), all = tern_strided_numel(&args->weight);
    const bool nothing = g.batch == 0 || g.y_space == 0 || numel == 0, some = numel < all;
    const int64_t items = g.parts * g.groups * g.blocks;
    const int64_t scratches = work_scratch_count(items, tern_num_threads());
    const int64_t scratch = nothing ? 0 : dot_scratch_elements(&g);
    const int64_t sums = nothing ? 0 : conv_lines((g.parts - 1 + some) * numel);
    const size_t offsets = (size_t)((g.block * g.taps + 8) / 8 * 8) * sizeof(int64_t);
    const size_t nbytes = offsets + (size_t)(sums + scratches * scratch) * sizeof(real);
    char *memory = nothing ? NULL : tern_cache_alloc(nbytes);
    if (!memory && !nothing)
        return TERN_ERR_NOMEM;
    if (!args->accumulate)
        conv_zero(args->weight.data, all);
    if (nothing) {
        padding_grad_weight(args);
        return TERN_OK;
    }
    g.offset = (int64_t *)memory;
    g.sums = (real *)(memory + offsets);
    if (some)
        g.weight = g.sums + (g.parts - 1) * numel;
    g.scratches = (work_scratch){
        .memory = g.sums + sums, .nbytes = scratch * (int64_t)sizeof(real), .count = scratches};
    conv_source_offsets(&g.source, g.block, g.offset);
    conv_zero(g.sums, sums);
    work_run(&g.scratches, items, run_block, &g);
    add_parts(&g);
    if (some) {
        spread_taps(args, &g);
        padding_grad_weight(args);
    }
    tern_cache_free(memory, nbytes);
    return TERN_OK;
}
