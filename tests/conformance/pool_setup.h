// SPDX-License-Identifier: Apache-2.0
// How the setups of poolings, padding and resizing are read, by operations and by modules. Lists
// are outermost first, one number for each of the last dimensions.
#ifndef TERN_TESTS_CONFORMANCE_POOL_SETUP_H
#define TERN_TESTS_CONFORMANCE_POOL_SETUP_H

#include "conformance.h"

// Poolings: shape is the kernel; axes are the strides, then the paddings; p: dilation, ceil_mode,
// count_include_pad, divisor_override. Adaptive ones: shape is the number of outputs.
#define SETUP_1(list, i) tern_sizes_of((list)[i], TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST)
#define SETUP_2(list, i) tern_sizes_of((list)[i], (list)[(i) + 1], TERN_SAME_AS_FIRST)
#define SETUP_3(list, i) tern_sizes_of((list)[i], (list)[(i) + 1], (list)[(i) + 2])
#define SETUP_DIVISOR_1(s)
#define SETUP_DIVISOR_2(s) , .divisor_override = (int64_t)(s)->p[3]
#define SETUP_DIVISOR_3(s) , .divisor_override = (int64_t)(s)->p[3]
#define SETUP_WINDOWS(dims, s)                                                                     \
    .kernel_size = SETUP_##dims((s)->shape.dim, 0), .stride = SETUP_##dims((s)->axes.axis, 0),     \
    .padding = SETUP_##dims((s)->axes.axis, dims), .ceil_mode = (s)->p[1] != 0
#define SETUP_MAX(dims, s)                                                                         \
    SETUP_WINDOWS(dims, s),                                                                        \
        .dilation = tern_sizes_of((int64_t)(s)->p[0], TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST)
#define SETUP_AVG(dims, s)                                                                         \
    SETUP_WINDOWS(dims, s), .count_include_pad = (s)->p[2] != 0 SETUP_DIVISOR_##dims(s)

// Padding: axes are the numbers of tern_pads, p: the mode, and the value.
static inline tern_pad_list setup_pads(const setup *s)
{
    tern_pad_list pads = {.count = s->axes.count};
    for (int i = 0; i < pads.count; i++)
        pads.pad[i] = s->axes.axis[i];
    return pads;
}

// Resizing: shape is the size, or p[0..2] the scales; the case's p: mode, align_corners, recompute.
#define SETUP_RESIZE(c, s)                                                                         \
    .size = (s)->shape, .scale = {{(s)->p[0], (s)->p[1], (s)->p[2]}},                              \
    .mode = (tern_interpolate_mode)(c)->p[0], .align_corners = (c)->p[1] != 0,                     \
    .recompute_scale = (c)->p[2] != 0 && (s)->shape.rank == 0

reference_fn reference_max_pool, reference_max_place, reference_adaptive_max,
    reference_adaptive_place, reference_avg_pool, reference_adaptive_avg, reference_pad,
    reference_interpolate, reference_local_response_norm;

#endif
