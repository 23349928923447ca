// SPDX-License-Identifier: Apache-2.0
// Convolutions of one element type and instruction set. The including source defines `real`,
// REAL_IS_FLOAT and CONV_NAME (the functions' names).
#include "base/mem.h"
#include "cpu/conv/conv_correlate.h"
#include "cpu/conv/conv_weight.h"

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

static int64_t items_of(const correlation *c)
{
    return c->batch * c->source.axis[0].count * c->bands * c->col_bands * c->groups;
}

static size_t memory_of(const correlation *c)
{
    const int64_t rooms = conv_rooms_for(items_of(c));
    return offsets_bytes(c) + (size_t)(packed_room(c) + rooms * worker_room(c)) * sizeof(real);
}

static void run_in(correlation *c, const conv_memory *memory)
{
    c->offset = (int64_t *)memory->begin;
    c->packed = (real *)(memory->begin + offsets_bytes(c));
    c->rooms = (conv_rooms){.memory = c->packed + packed_room(c),
                            .nbytes = worker_room(c) * (int64_t)sizeof(real),
                            .count = conv_rooms_for(items_of(c))};
    if (items_of(c) > 0)
        correlate(c);
}

tern_status CONV_NAME(conv)(const tern_conv_args *args)
{
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
                     .accumulate = args->accumulate};
    plan(&c, axis);
    conv_memory memory = {.nbytes = memory_of(&c)};
    memory.begin = tern_cache_alloc(memory.nbytes);
    if (!memory.begin)
        return TERN_ERR_NOMEM;
    run_in(&c, &memory);
    tern_cache_free(memory.begin, memory.nbytes);
    return TERN_OK;
}

// Those inputs that are (d, h, w) modulo the strides.
static correlation input_correlation(const tern_conv_args *args, const int64_t *residue)
{
    const conv_space s = space_of(args);
    const int64_t filter = args->weight.size[1] * s.taps;
    conv_axis axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = conv_axis_input(s.x[d], s.y[d], s.kernel[d], args->stride[d], args->padding[d],
                                  args->dilation[d], residue[d]);
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
                     .accumulate = args->accumulate};
    plan(&c, axis);
    return c;
}

// Does something for each residue.
static void each_residue(const tern_conv_args *args, conv_memory *memory, bool run)
{
    int64_t r[3];
    for (r[0] = 0; r[0] < args->stride[0] && r[0] < args->x.size[2]; r[0]++) {
        for (r[1] = 0; r[1] < args->stride[1] && r[1] < args->x.size[3]; r[1]++) {
            for (r[2] = 0; r[2] < args->stride[2] && r[2] < args->x.size[4]; r[2]++) {
                correlation c = input_correlation(args, r);
                const size_t nbytes = memory_of(&c);
                if (run)
                    run_in(&c, memory);
                else if (nbytes > memory->nbytes)
                    memory->nbytes = nbytes;
            }
        }
    }
}

tern_status CONV_NAME(conv_grad_input)(const tern_conv_args *args)
{
    conv_memory memory = {0};
    each_residue(args, &memory, false);
    memory.begin = tern_cache_alloc(memory.nbytes);
    if (!memory.begin)
        return TERN_ERR_NOMEM;
    each_residue(args, &memory, true);
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
                         .taps = s.kernel[1] * s.kernel[2],
                         .planes = args->weight.size[1] * s.kernel[0]};
    cut_work(&g);
    return g;
}

tern_status CONV_NAME(conv_grad_weight)(const tern_conv_args *args)
{
    weight_gradient g = plan_weight(args);
    const bool nothing = g.batch == 0 || g.y_space == 0;
    const int64_t numel = weight_numel(&g), items = g.parts * g.groups * g.blocks;
    const int64_t rooms = conv_rooms_for(items), room = dot_room_elements(&g);
    const int64_t sums = nothing ? 0 : conv_lines((g.parts - 1) * numel);
    const size_t offsets = (size_t)((g.block * g.taps + 8) / 8 * 8) * sizeof(int64_t);
    const size_t nbytes = offsets + (size_t)(sums + rooms * room) * sizeof(real);
    char *memory = nothing ? NULL : tern_cache_alloc(nbytes);
    if (!memory && !nothing)
        return TERN_ERR_NOMEM;
    if (!args->accumulate)
        conv_zero(g.weight, numel);
    if (nothing)
        return TERN_OK;
    g.offset = (int64_t *)memory;
    g.sums = (real *)(memory + offsets);
    g.rooms = (conv_rooms){
        .memory = g.sums + sums, .nbytes = room * (int64_t)sizeof(real), .count = rooms};
    conv_source_offsets(&g.source, g.block, g.offset);
    conv_zero(g.sums, sums);
    conv_work_run(&g.rooms, items, run_block, &g);
    add_parts(&g);
    tern_cache_free(memory, nbytes);
    return TERN_OK;
}
