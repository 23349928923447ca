// SPDX-License-Identifier: Apache-2.0
// Poolings, padding, resizing.
#include "pool_setup.h"

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define A(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)),                                         \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// clang-format off
// input; kernel; strides, paddings; dilation, ceil_mode
static const setup max_1[] = {
    {.in = {S(2, 3, 9)}, .shape = S(3), .axes = A(2, 1), .p = {1, 0}},
    {.in = {S(3, 8)}, .shape = S(2), .axes = A(2, 0), .p = {1, 0}},
    {.in = {S(1, 2, 11)}, .shape = S(3), .axes = A(3, 1), .p = {2, 1}},
    {.in = {S(0, 2, 5)}, .shape = S(2), .axes = A(1, 0), .p = {1, 0}},
    {.in = {S(1, 1, 70)}, .shape = S(5), .axes = A(1, 2), .p = {1, 0}},
};
static const setup max_2[] = {
    {.in = {S(2, 3, 6, 8)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 0}},
    {.in = {S(3, 7, 9)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 0}},
    {.in = {S(2, 2, 7, 9)}, .shape = S(3, 3), .axes = A(2, 2, 1, 1), .p = {1, 0}},
    {.in = {S(2, 1, 6, 7)}, .shape = S(3, 2), .axes = A(2, 3, 1, 0), .p = {1, 1}},
    {.in = {S(1, 2, 9, 8)}, .shape = S(2, 3), .axes = A(1, 2, 1, 1), .p = {2, 1}},
    {.in = {S(0, 2, 4, 4)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 0}},
    {.in = {S(2, 2, 5, 1)}, .shape = S(3, 1), .axes = A(1, 1, 0, 0), .p = {1, 0}},
    {.in = {S(1, 1, 20, 34)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 0}},
    // all but one of what takes pairs of rows and columns at once
    {.in = {S(1, 2, 6, 8)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {2, 0}},
    {.in = {S(1, 2, 7, 9)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 1}},
    {.in = {S(1, 2, 6, 8)}, .shape = S(2, 2), .axes = A(1, 2, 0, 0), .p = {1, 0}},
    {.in = {S(1, 2, 6, 9)}, .shape = S(2, 2), .axes = A(2, 3, 0, 0), .p = {1, 0}},
    {.in = {S(1, 2, 6, 8)}, .shape = S(1, 2), .axes = A(2, 2, 0, 0), .p = {1, 0}},
    {.in = {S(1, 2, 6, 8)}, .shape = S(2, 3), .axes = A(2, 2, 0, 0), .p = {1, 0}},
    {.in = {S(1, 2, 6, 8)}, .shape = S(2, 2), .axes = A(2, 2, 1, 0), .p = {1, 0}},
    {.in = {S(1, 2, 6, 8)}, .shape = S(2, 2), .axes = A(2, 2, 0, 1), .p = {1, 0}},
    {.in = {S(1, 1, 18, 20)}, .shape = S(17, 17), .axes = A(1, 1, 8, 8), .p = {1, 0}},
};
static const setup max_3[] = {
    {.in = {S(2, 2, 4, 4, 6)}, .shape = S(2, 2, 2), .axes = A(2, 2, 2, 0, 0, 0), .p = {1, 0}},
    {.in = {S(2, 5, 6, 7)}, .shape = S(3, 2, 3), .axes = A(2, 1, 3, 1, 0, 1), .p = {1, 1}},
    {.in = {S(1, 1, 7, 5, 6)}, .shape = S(2, 2, 2), .axes = A(1, 2, 1, 1, 1, 0), .p = {2, 0}},
    {.in = {S(2, 1, 4, 6)}, .shape = S(1, 2, 2), .axes = A(1, 2, 2, 0, 0, 0), .p = {1, 0}},
    {.in = {S(1, 1, 3, 4, 6)}, .shape = S(1, 2, 2), .axes = A(1, 2, 2, 0, 0, 0), .p = {1, 0}},
    {.in = {S(1, 1, 3, 4, 6)}, .shape = S(3, 2, 2), .axes = A(1, 2, 2, 0, 0, 0), .p = {1, 0}},
};
// .., count_include_pad, divisor_override
static const setup avg_1[] = {
    {.in = {S(2, 3, 6)}, .shape = S(3), .axes = A(2, 1), .p = {1, 1, 1}},
    {.in = {S(2, 3, 6)}, .shape = S(3), .axes = A(2, 1), .p = {1, 1, 0}},
    {.in = {S(3, 8)}, .shape = S(2), .axes = A(2, 0), .p = {1, 0, 1}},
    {.in = {S(0, 3, 8)}, .shape = S(2), .axes = A(2, 0), .p = {1, 0, 1}},
    {.in = {S(1, 1, 70)}, .shape = S(4), .axes = A(1, 2), .p = {1, 0, 1}},
};
static const setup avg_2[] = {
    {.in = {S(2, 3, 6, 8)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 0, 1, 0}},
    {.in = {S(2, 7, 9)}, .shape = S(3, 2), .axes = A(2, 1, 1, 0), .p = {1, 1, 1, 0}},
    {.in = {S(2, 2, 7, 9)}, .shape = S(3, 3), .axes = A(2, 3, 1, 1), .p = {1, 1, 0, 0}},
    {.in = {S(2, 2, 7, 9)}, .shape = S(3, 3), .axes = A(2, 2, 1, 1), .p = {1, 0, 1, 5}},
    {.in = {S(1, 2, 5, 6)}, .shape = S(3, 3), .axes = A(1, 1, 1, 1), .p = {1, 0, 1, 0}},
    {.in = {S(0, 2, 4, 4)}, .shape = S(2, 2), .axes = A(2, 2, 0, 0), .p = {1, 0, 1, 0}},
};
static const setup avg_3[] = {
    {.in = {S(2, 2, 4, 4, 6)}, .shape = S(2, 2, 2), .axes = A(2, 2, 2, 0, 0, 0), .p = {1, 0, 1, 0}},
    {.in = {S(2, 5, 6, 7)}, .shape = S(3, 2, 3), .axes = A(2, 1, 3, 1, 0, 1), .p = {1, 1, 0, 0}},
    {.in = {S(1, 1, 4, 5, 6)}, .shape = S(2, 2, 2), .axes = A(1, 2, 1, 1, 1, 0), .p = {1, 0, 1, 3}},
};
static const setup adaptive_1[] = {
    {.in = {S(2, 3, 8)}, .shape = S(3)}, {.in = {S(3, 3)}, .shape = S(8)},
    {.in = {S(2, 2, 7)}, .shape = S(1)}, {.in = {S(0, 2, 7)}, .shape = S(2)},
    {.in = {S(2, 2, 5)}, .shape = S(5)},
};
static const setup adaptive_2[] = {
    {.in = {S(2, 3, 7, 7)}, .shape = S(1, 1)}, {.in = {S(2, 8, 5)}, .shape = S(3, 7)},
    {.in = {S(1, 2, 6, 8)}, .shape = S(3, 4)},
    {.in = {S(1, 2, 6, 9)}, .shape = S(2, TERN_KEEP_SIZE)},
    {.in = {S(0, 2, 6, 9)}, .shape = S(2, 3)}, {.in = {S(1, 2, 9, 4)}, .shape = S(6, 2)},
    {.in = {S(3, 7, 2, 5)}, .shape = S(1, 1)}, {.in = {S(2, 6, 4, 4)}, .shape = S(1, 1)},
};
static const setup adaptive_none_2[] = {{.in = {S(2, 3, 4, 5)}, .shape = S(0, 3)}};
// input; numbers; mode, value
static const setup pad_setups[] = {
    {.in = {S(5)}, .axes = A(2, 1), .p = {TERN_PAD_CONSTANT, 0.5}},
    {.in = {S(2, 3, 4)}, .axes = A(1, 0, 2, 1), .p = {TERN_PAD_CONSTANT, 0}},
    {.in = {S(2, 3, 6)}, .axes = A(-2, 1, 1, -1), .p = {TERN_PAD_CONSTANT, 3}},
    {.in = {S(2, 3)}, .axes = A(-3, 0), .p = {TERN_PAD_CONSTANT, 3}},
    {.in = {S(0, 3)}, .axes = A(1, 1, 2, 0), .p = {TERN_PAD_CONSTANT, 3}},
    {.in = {S(2, 3)}, .axes = {0}, .p = {TERN_PAD_CONSTANT, 3}},
};
static const setup whole_pad_setups[] = {
    {.in = {S(2, 3)}, .axes = A(1, 2, 0, 1), .p = {TERN_PAD_CONSTANT, 1}},
    {.in = {S(4, 3)}, .axes = A(-1, 2, 1, -2), .p = {TERN_PAD_UNSPECIFIED, 0}},
};
static const setup repeated_setups[] = {
    {.in = {S(2, 3, 5)}, .axes = A(4, 2), .p = {TERN_PAD_REFLECT}},
    {.in = {S(2, 4, 5)}, .axes = A(2, 1, 3, 0), .p = {TERN_PAD_REFLECT}},
    {.in = {S(1, 2, 3, 4, 2)}, .axes = A(1, 1, 0, 3, 2, 1), .p = {TERN_PAD_REFLECT}},
    {.in = {S(3, 5)}, .axes = A(7, 2), .p = {TERN_PAD_REPLICATE}},
    {.in = {S(2, 2, 4, 1)}, .axes = A(2, 1, 3, 0), .p = {TERN_PAD_REPLICATE}},
    {.in = {S(2, 3, 4, 2)}, .axes = A(1, 1, 0, 3, 2, 1), .p = {TERN_PAD_REPLICATE}},
    {.in = {S(2, 3, 5)}, .axes = A(5, 2), .p = {TERN_PAD_CIRCULAR}},
    {.in = {S(2, 4, 5)}, .axes = A(2, 1, 3, 4), .p = {TERN_PAD_CIRCULAR}},
    {.in = {S(1, 2, 3, 4, 2)}, .axes = A(1, 2, 0, 3, 2, 1), .p = {TERN_PAD_CIRCULAR}},
    {.in = {S(0, 2, 4)}, .axes = A(1, 1), .p = {TERN_PAD_CIRCULAR}},
};
// input; size or scales
static const setup resize_1[] = {
    {.in = {S(2, 3, 4)}, .shape = S(7)},        {.in = {S(2, 1, 9)}, .shape = S(4)},
    {.in = {S(1, 2, 5)}, .shape = S(1)},        {.in = {S(2, 2, 6)}, .p = {2}},
    {.in = {S(2, 2, 7)}, .p = {0.4}},           {.in = {S(0, 2, 6)}, .p = {1.7}},
    {.in = {S(1, 1, 1)}, .shape = S(4)},        {.in = {S(1, 2, 5)}, .shape = S(5)},
};
static const setup resize_2[] = {
    {.in = {S(2, 3, 4, 5)}, .shape = S(7, 3)},  {.in = {S(1, 2, 3, 4)}, .p = {2, 2}},
    {.in = {S(1, 2, 7, 5)}, .p = {0.6, 1.7}},   {.in = {S(0, 2, 3, 3)}, .shape = S(2, 2)},
    {.in = {S(1, 1, 6, 1)}, .shape = S(4, 3)},  {.in = {S(1, 1, 2, 3)}, .p = {3, 2}},
};
static const setup resize_3[] = {
    {.in = {S(2, 1, 3, 4, 5)}, .shape = S(4, 3, 7)}, {.in = {S(1, 2, 2, 3, 2)}, .p = {2, 1.5, 2}},
};
// input; size, alpha, beta, k
static const setup norm_setups[] = {
    {.in = {S(2, 5, 3)}, .p = {3, 0.5, 0.75, 1}}, {.in = {S(2, 4, 2, 3)}, .p = {2, 0.1, 0.5, 2}},
    {.in = {S(1, 3, 2, 2, 2)}, .p = {5, 1, 1, 1}}, {.in = {S(0, 3, 2)}, .p = {1, 1, 1, 1}},
};
// clang-format on

#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
// The values, or the indices.
#define CALL_BOTH(name, ...)                                                                       \
    CALL(name, tern_##name(in[0], __VA_ARGS__))                                                    \
    static tern_tensor *call_##name##_place(tern_tensor *const *in, const op_case *c,              \
                                            const setup *s)                                        \
    {                                                                                              \
        tern_tensor *indices = NULL;                                                               \
        (void)c;                                                                                   \
        return tern_##name(in[0], __VA_ARGS__, .indices = &indices) ? indices : NULL;              \
    }
CALL_BOTH(max_pool1d, SETUP_MAX(1, s))
CALL_BOTH(max_pool2d, SETUP_MAX(2, s))
CALL_BOTH(max_pool3d, SETUP_MAX(3, s))
CALL(avg_pool1d, tern_avg_pool1d(in[0], SETUP_AVG(1, s)))
CALL(avg_pool2d, tern_avg_pool2d(in[0], SETUP_AVG(2, s)))
CALL(avg_pool3d, tern_avg_pool3d(in[0], SETUP_AVG(3, s)))
CALL(adaptive_avg_pool1d, tern_adaptive_avg_pool1d(in[0], s->shape.dim[0]))
CALL(adaptive_avg_pool2d, tern_adaptive_avg_pool2d(in[0], .size = SETUP_2(s->shape.dim, 0)))
CALL_BOTH(adaptive_max_pool1d, s->shape.dim[0])
CALL_BOTH(adaptive_max_pool2d, .size = SETUP_2(s->shape.dim, 0))
CALL(pad, tern_pad(in[0], setup_pads(s), (tern_pad_mode)s->p[0], s->p[1]))
CALL(interpolate, tern_interpolate(in[0], SETUP_RESIZE(c, s)))
CALL(local_response_norm,
     tern_local_response_norm(in[0], (int64_t)s->p[0], s->p[1], s->p[2], s->p[3]))

// clang-format off
#define ONE(name, what, function, from, list, kind, ...)                                           \
    {.op = #name, .note = what, .call = function, .reference = from, .setups = list,               \
     .setup_count = COUNT(list), .inputs = 1, .values = {kind}, __VA_ARGS__}
#define DIFFERENTIABLE .dtypes = FLOATS, .gradients = 1
#define MAX(name, dims, from, list)                                                                \
    ONE(name, NULL, call_##name, reference_##from, list, ORDINARY, DIFFERENTIABLE,                 \
        .specials = true, .kinks_inside = true),                                                   \
    ONE(name, "indices", call_##name##_place, reference_##from##_place, list, SMALL,               \
        .dtypes = FLOATS, .result = PLACES)
#define reference_max                reference_max_pool
#define reference_adaptive_max_place reference_adaptive_place
#define AVG(name, from, list)                                                                      \
    ONE(name, NULL, call_##name, reference_##from, list, ORDINARY, DIFFERENTIABLE)
#define RESIZE(what, list, ...)                                                                    \
    ONE(interpolate, what, call_interpolate, reference_interpolate, list, ORDINARY,                \
        DIFFERENTIABLE, .p = {__VA_ARGS__})

static const op_case cases[] = {
    MAX(max_pool1d, 1, max, max_1),
    MAX(max_pool2d, 2, max, max_2),
    MAX(max_pool3d, 3, max, max_3),
    MAX(adaptive_max_pool1d, 1, adaptive_max, adaptive_1),
    MAX(adaptive_max_pool2d, 2, adaptive_max, adaptive_2),
    AVG(avg_pool1d, avg_pool, avg_1),
    AVG(avg_pool2d, avg_pool, avg_2),
    AVG(avg_pool3d, avg_pool, avg_3),
    AVG(adaptive_avg_pool1d, adaptive_avg, adaptive_1),
    AVG(adaptive_avg_pool2d, adaptive_avg, adaptive_2),
    ONE(adaptive_avg_pool2d, "no outputs", call_adaptive_avg_pool2d, reference_adaptive_avg,
        adaptive_none_2, ORDINARY, DIFFERENTIABLE),
    ONE(pad, "a value", call_pad, reference_pad, pad_setups, ORDINARY, DIFFERENTIABLE),
    ONE(pad, "a whole value", call_pad, reference_pad, whole_pad_setups, ORDINARY, .dtypes = ALL),
    ONE(pad, "repeated", call_pad, reference_pad, repeated_setups, ORDINARY, DIFFERENTIABLE),
    RESIZE("nearest", resize_2, TERN_NEAREST),
    RESIZE("nearest of a line", resize_1, TERN_NEAREST),
    RESIZE("nearest of a volume", resize_3, TERN_INTERPOLATE_UNSPECIFIED),
    RESIZE("nearest, recomputed", resize_2, TERN_NEAREST, false, true),
    RESIZE("nearest_exact", resize_2, TERN_NEAREST_EXACT),
    RESIZE("linear", resize_1, TERN_LINEAR),
    RESIZE("linear, corners", resize_1, TERN_LINEAR, true),
    RESIZE("bilinear", resize_2, TERN_BILINEAR),
    RESIZE("bilinear, recomputed", resize_2, TERN_BILINEAR, false, true),
    RESIZE("bilinear, corners", resize_2, TERN_BILINEAR, true),
    RESIZE("trilinear", resize_3, TERN_TRILINEAR),
    RESIZE("bicubic", resize_2, TERN_BICUBIC),
    RESIZE("bicubic, corners", resize_2, TERN_BICUBIC, true),
    RESIZE("area", resize_2, TERN_AREA),
    RESIZE("area of a volume", resize_3, TERN_AREA),
    ONE(local_response_norm, NULL, call_local_response_norm, reference_local_response_norm,
        norm_setups, ORDINARY, DIFFERENTIABLE, .ulps = 16),
};
// clang-format on

const case_list pool_cases = {cases, COUNT(cases)};
