// SPDX-License-Identifier: Apache-2.0
// Poolings, padding, resizing: ops/pool.h, ops/resize.h and their layers.
#include "errors.h"

// ---- what all have -----------------------------------------------------------------------------

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))
#define FOR_DIMS(name) NO_OPTIONS(name##1d) NO_OPTIONS(name##2d) NO_OPTIONS(name##3d)
FOR_DIMS(max_pool)
FOR_DIMS(avg_pool)
NO_OPTIONS(adaptive_avg_pool1d)
NO_OPTIONS(adaptive_avg_pool2d)
NO_OPTIONS(adaptive_max_pool1d)
NO_OPTIONS(adaptive_max_pool2d)
NO_OPTIONS(interpolate)
FOR_DIMS(nn_max_pool)
FOR_DIMS(nn_avg_pool)
NO_OPTIONS(nn_adaptive_avg_pool1d)
NO_OPTIONS(nn_adaptive_avg_pool2d)
NO_OPTIONS(nn_adaptive_max_pool1d)
NO_OPTIONS(nn_adaptive_max_pool2d)
NO_OPTIONS(nn_local_response_norm)
FOR_DIMS(nn_zero_pad)
FOR_DIMS(nn_constant_pad)
FOR_DIMS(nn_reflection_pad)
FOR_DIMS(nn_replication_pad)
FOR_DIMS(nn_circular_pad)
NO_OPTIONS(nn_upsample)

static tern_tensor *zeros(tern_shape shape)
{
    return tern_zeros(shape);
}

static tern_tensor *of_ints(tern_shape shape)
{
    return tern_zeros(shape, .dtype = TERN_INT64);
}

// An x of (2, 3, 4, ..) for that many dimensions behind the channels.
static tern_tensor *line(void)
{
    return zeros(tern_dims(2, 3, 4));
}
static tern_tensor *image(void)
{
    return zeros(tern_dims(2, 3, 4, 5));
}
static tern_tensor *volume(void)
{
    return zeros(tern_dims(2, 3, 4, 5, 6));
}

// ---- what a family has and one of its calls has not ---------------------------------------------

#define NOT_OF_ONE(name, ...)                                                                      \
    REFUSES(tern_##name##1d_with, "two strides for one dimension", TERN_ERR_ARG,                   \
            #name "1d: stride is (2, 1), but there is 1 dimension",                                \
            tern_##name##1d(__VA_ARGS__ 2, .stride = {2, 1}))
NOT_OF_ONE(max_pool, line(), )
NOT_OF_ONE(avg_pool, line(), )
NOT_OF_ONE(nn_max_pool, )
NOT_OF_ONE(nn_avg_pool, )
REFUSES(tern_avg_pool1d_with, "a divisor", TERN_ERR_ARG,
        "avg_pool1d: divisor_override is 3, but only two and three dimensions have one",
        tern_avg_pool1d(line(), 2, .divisor_override = 3))
REFUSES(tern_nn_avg_pool1d_with, "a divisor", TERN_ERR_ARG,
        "nn_avg_pool1d: divisor_override is 3, but only two and three dimensions have one",
        tern_nn_avg_pool1d(2, .divisor_override = 3))
REFUSES(tern_adaptive_avg_pool2d_with, "indices of a mean", TERN_ERR_ARG,
        "adaptive_avg_pool2d: only the largest have indices",
        tern_adaptive_avg_pool2d(image(), 2, .indices = f->out))
REFUSES(tern_nn_adaptive_avg_pool1d_with, "indices of a mean", TERN_ERR_ARG,
        "nn_adaptive_avg_pool1d: only the largest have indices",
        tern_nn_adaptive_avg_pool1d(2, .return_indices = true))
REFUSES(tern_adaptive_max_pool1d_with, "two sizes for one dimension", TERN_ERR_ARG,
        "adaptive_max_pool1d: size is (2, 3), but there is 1 dimension",
        tern_adaptive_max_pool1d(line(), .size = {2, 3}))
REFUSES(tern_nn_zero_pad1d_with, "a side of images", TERN_ERR_ARG,
        "nn_zero_pad1d: top is 1, but there is 1 dimension", tern_nn_zero_pad1d(.top = 1))
REFUSES(tern_nn_constant_pad2d_with, "a side of volumes", TERN_ERR_ARG,
        "nn_constant_pad2d: back is 0, but there are 2 dimensions",
        tern_nn_constant_pad2d(1, 0.5, .back = 0))

#define ONE_TENSOR(name, ...)                                                                      \
    NULL_AND_DEAD(tern_##name##_with, #name, "x", tern_##name(NULL, __VA_ARGS__),                  \
                  tern_##name(f->dead, __VA_ARGS__))
#define ONLY_FLOATING(name, shape, ...)                                                            \
    REFUSES(tern_##name##_with, "integers", TERN_ERR_DTYPE, #name ": x is int64",                  \
            tern_##name(of_ints(shape), __VA_ARGS__))
ONE_TENSOR(max_pool1d, 2)
ONE_TENSOR(max_pool2d, 2)
ONE_TENSOR(max_pool3d, 2)
ONE_TENSOR(avg_pool1d, 2)
ONE_TENSOR(avg_pool2d, 2)
ONE_TENSOR(avg_pool3d, 2)
ONE_TENSOR(adaptive_avg_pool1d, 2)
ONE_TENSOR(adaptive_avg_pool2d, 2)
ONE_TENSOR(adaptive_max_pool1d, 2)
ONE_TENSOR(adaptive_max_pool2d, 2)
ONE_TENSOR(interpolate, .scale = 2)
ONLY_FLOATING(max_pool2d, tern_dims(2, 3, 4, 5), 2)
ONLY_FLOATING(avg_pool2d, tern_dims(2, 3, 4, 5), 2)
ONLY_FLOATING(adaptive_avg_pool2d, tern_dims(2, 3, 4, 5), 1)
ONLY_FLOATING(adaptive_max_pool2d, tern_dims(2, 3, 4, 5), 1)
ONLY_FLOATING(interpolate, tern_dims(2, 3, 4, 5), .scale = 2)

// ---- windows -----------------------------------------------------------------------------------

#define RANK(name, ranks, x, ...)                                                                  \
    REFUSES(tern_##name##_with, "an x of another rank", TERN_ERR_SHAPE, #name ": x (2, 3" ranks,   \
            tern_##name(x, __VA_ARGS__))
RANK(max_pool1d, ", 4, 5)|(N, C, W)|(C, W)", image(), 2)
RANK(max_pool2d, ")|(N, C, H, W)|(C, H, W)", f->x, 2)
RANK(max_pool3d, ", 4)|(N, C, D, H, W)|(C, D, H, W)", line(), 2)
RANK(avg_pool1d, ", 4, 5)|(N, C, W)|(C, W)", image(), 2)
RANK(avg_pool2d, ", 4, 5, 6)|(N, C, H, W)|(C, H, W)", volume(), 2)
RANK(avg_pool3d, ", 4)|(N, C, D, H, W)|(C, D, H, W)", line(), 2)
RANK(adaptive_avg_pool1d, ", 4, 5)|(N, C, W)|(C, W)", image(), 2)
RANK(adaptive_avg_pool2d, ")|(N, C, H, W)|(C, H, W)", f->x, 2)
RANK(adaptive_max_pool1d, ", 4, 5)|(N, C, W)|(C, W)", image(), 2)
RANK(adaptive_max_pool2d, ")|(N, C, H, W)|(C, H, W)", f->x, 2)

// For max and avg alike, by operation and layer.
#define WINDOWS(op, kind)                                                                          \
    REFUSES(tern_##op##2d_with, "a kernel that is given twice", TERN_ERR_ARG,                      \
            #op "2d: the kernel is given twice, as 3 and as .kernel_size",                         \
            tern_##op##2d(image(), 3, .kernel_size = {2, 2}))                                      \
    REFUSES(tern_##op##2d_with, "no kernel", TERN_ERR_ARG, #op "2d: give a kernel|.kernel_size",   \
            tern_##op##2d(image()))                                                                \
    REFUSES(tern_##op##2d_with, "a kernel of no elements", TERN_ERR_ARG,                           \
            #op "2d: kernel is 0, but must be at least 1",                                         \
            tern_##op##2d(image(), .kernel_size = {2, 0}))                                         \
    REFUSES(tern_##op##2d_with, "a stride of 0", TERN_ERR_ARG,                                     \
            #op "2d: stride is 0, but must be at least 1", tern_##op##2d(image(), 2, .stride = 0)) \
    REFUSES(tern_##op##2d_with, "a negative padding", TERN_ERR_ARG,                                \
            #op "2d: padding is -2, but must be at least 0",                                       \
            tern_##op##2d(image(), 2, .padding = -2))                                              \
    REFUSES(tern_##op##2d_with, "a padding above half of the kernel", TERN_ERR_ARG,                \
            #op "2d: padding 2 is more than half of the kernel, which is 3",                       \
            tern_##op##2d(image(), 3, .padding = {1, 2}))                                          \
    REFUSES(tern_##op##2d_with, "a kernel larger than x", TERN_ERR_SHAPE,                          \
            #op                                                                                    \
            "2d: the kernel spans 7 elements|dimension 2 of x (2, 3, 4, 5) has 6|padding of 1",    \
            tern_##op##2d(image(), 7, .padding = 1))                                               \
    REFUSES(tern_##op##2d_with, "an x without channels", TERN_ERR_SHAPE,                           \
            #op "2d: x (2, 0, 4, 5) is empty along dimension 1",                                   \
            tern_##op##2d(zeros(tern_dims(2, 0, 4, 5)), 2))                                        \
    REFUSES(tern_##op##2d_with, "an x of no size", TERN_ERR_SHAPE,                                 \
            #op "2d: x (2, 3, 0, 5) is empty along dimension 2",                                   \
            tern_##op##2d(zeros(tern_dims(2, 3, 0, 5)), 2))                                        \
    REFUSES(tern_##op##1d_with, "a kernel of no elements", TERN_ERR_ARG,                           \
            #op "1d: kernel is 0, but must be at least 1", tern_##op##1d(line(), 0))               \
    REFUSES(tern_##op##1d_with, "a kernel larger than x", TERN_ERR_SHAPE,                          \
            #op "1d: the kernel spans 5 elements|dimension 2 of x (2, 3, 4) has 4",                \
            tern_##op##1d(line(), 5))                                                              \
    REFUSES(tern_##op##3d_with, "a stride of 0", TERN_ERR_ARG, #op "3d: stride is 0",              \
            tern_##op##3d(volume(), 2, .stride = 0))                                               \
    REFUSES(tern_nn_##op##1d_with, "a negative stride", TERN_ERR_ARG,                              \
            "nn_" #op "1d: stride is -5, but must be at least 1",                                  \
            tern_nn_##op##1d(2, .stride = -5))                                                     \
    REFUSES(tern_nn_##op##2d_with, "no kernel", TERN_ERR_ARG, "nn_" #op "2d: give a kernel",       \
            tern_nn_##op##2d())                                                                    \
    REFUSES(tern_nn_##op##2d_with, "a kernel that is given twice", TERN_ERR_ARG,                   \
            "nn_" #op "2d: the kernel is given twice", tern_nn_##op##2d(2, .kernel_size = {2, 3})) \
    REFUSES(tern_nn_##op##3d_with, "a padding above half of the kernel", TERN_ERR_ARG,             \
            "nn_" #op "3d: padding 2 is more than half of the kernel, which is 3",                 \
            tern_nn_##op##3d(3, .padding = 2))
WINDOWS(max_pool, max)
WINDOWS(avg_pool, avg)
REFUSES(tern_max_pool2d_with, "a dilation of 0", TERN_ERR_ARG,
        "max_pool2d: dilation is 0, but must be at least 1",
        tern_max_pool2d(image(), 2, .dilation = 0))
REFUSES(tern_max_pool1d_with, "a window of padding alone", TERN_ERR_SHAPE,
        "max_pool1d: window 0 has only padding|x has 1 elements|padding is 1|dilation 2",
        tern_max_pool1d(zeros(tern_dims(2, 3, 1)), 2, .padding = 1, .dilation = 2))

static tern_tensor *run(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}
REFUSES(tern_nn_max_pool2d_with, "an x that its layer cannot pool", TERN_ERR_SHAPE,
        "max_pool2d: the kernel spans 6 elements|[in 0 (MaxPool2d(",
        run(tern_nn_sequential(tern_nn_max_pool2d(6)), image()))

// ---- adaptive ----------------------------------------------------------------------------------

#define ADAPTIVE(op)                                                                               \
    REFUSES(tern_##op##1d_with, "a negative size", TERN_ERR_ARG,                                   \
            #op "1d: a size is -4, but must be at least 0 and below 2^31, or TERN_KEEP_SIZE",      \
            tern_##op##1d(line(), -4))                                                             \
    REFUSES(tern_##op##2d_with, "a size that is given twice", TERN_ERR_ARG,                        \
            #op "2d: the size is given twice, as 3 and as .size",                                  \
            tern_##op##2d(image(), 3, .size = {1, 2}))                                             \
    REFUSES(tern_##op##2d_with, "no size", TERN_ERR_ARG, #op "2d: a size is -1",                   \
            tern_##op##2d(image()))                                                                \
    REFUSES(tern_##op##2d_with, "an x of no size", TERN_ERR_SHAPE,                                 \
            #op "2d: x (2, 3, 4, 0) is empty along dimension 3",                                   \
            tern_##op##2d(zeros(tern_dims(2, 3, 4, 0)), 1))                                        \
    REFUSES(tern_nn_##op##1d_with, "a negative size", TERN_ERR_ARG, "nn_" #op "1d: a size is -4",  \
            tern_nn_##op##1d(-4))                                                                  \
    REFUSES(tern_nn_##op##2d_with, "a negative size", TERN_ERR_ARG, "nn_" #op "2d: a size is -4",  \
            tern_nn_##op##2d(.size = {2, -4}))
ADAPTIVE(adaptive_avg_pool)
ADAPTIVE(adaptive_max_pool)

// ---- padding -----------------------------------------------------------------------------------

CANNOT_FAIL(tern_pad_list_make, "keeps a count that every user refuses",
            tern_pad_list_make(2, (const int64_t[]){3, 4}).pad[1] == 4)
NULL_AND_DEAD(tern_pad, "pad", "x", tern_pad(NULL, tern_pads(1, 1), TERN_PAD_ZEROS, 0),
              tern_pad(f->dead, tern_pads(1, 1), TERN_PAD_ZEROS, 0))
REFUSES(tern_pad, "a mode that there is not", TERN_ERR_ARG, "pad: there is no mode 9",
        tern_pad(f->x, tern_pads(1, 1), (tern_pad_mode)9, 0))
REFUSES(tern_pad, "an odd count of numbers", TERN_ERR_ARG, "pad: there are 3 numbers|takes two",
        tern_pad(f->x, tern_pads(1, 1, 1), TERN_PAD_ZEROS, 0))
REFUSES(tern_pad, "more dimensions than x has", TERN_ERR_SHAPE,
        "pad: 6 numbers are for 3 dimensions|(2, 3)",
        tern_pad(f->x, tern_pads(1, 1, 1, 1, 1, 1), TERN_PAD_ZEROS, 0))
REFUSES(tern_pad, "more than x has cut off", TERN_ERR_SHAPE,
        "pad: -3 and -1 cut more than dimension 1 of x (2, 3) has",
        tern_pad(f->x, tern_pads(-3, -1), TERN_PAD_ZEROS, 0))
REFUSES(tern_pad, "more cut off on one side than there is, and added on the other", TERN_ERR_SHAPE,
        "pad: -5 and 4 cut more than dimension 0 of x (3,) has",
        tern_pad(f->vector, tern_pads(-5, 4), TERN_PAD_ZEROS, 0))
REFUSES(tern_pad, "a value that the dtype has not", TERN_ERR_DTYPE, "pad: value",
        tern_pad(f->ints, tern_pads(1, 1), TERN_PAD_CONSTANT, 0.5))
REFUSES(tern_pad, "a padding that nothing holds", TERN_ERR_ARG, "pad: a padding of|too large",
        tern_pad(f->x, tern_pads(INT64_MAX, 1), TERN_PAD_CONSTANT, 0))
REFUSES(tern_pad, "integers that are repeated", TERN_ERR_DTYPE, "pad: x is int64",
        tern_pad(f->ints, tern_pads(1, 1), TERN_PAD_REFLECT, 0))
REFUSES(tern_pad, "a value beside what is repeated", TERN_ERR_ARG,
        "pad: mode reflect takes no value", tern_pad(f->x, tern_pads(1, 1), TERN_PAD_REFLECT, 1))
REFUSES(tern_pad, "an x of another rank", TERN_ERR_SHAPE,
        "pad: mode replicate takes 2, 4 or 6 numbers|2 numbers and x (2, 3, 4, 5)",
        tern_pad(image(), tern_pads(1, 1), TERN_PAD_REPLICATE, 0))
REFUSES(tern_pad, "no numbers of what is repeated", TERN_ERR_SHAPE,
        "pad: mode circular takes 2, 4 or 6 numbers|0 numbers and x (2, 3)",
        tern_pad(f->x, tern_pads(), TERN_PAD_CIRCULAR, 0))
REFUSES(tern_pad, "a reflection of the whole size", TERN_ERR_SHAPE,
        "pad: mode reflect pads dimension 1 of x (2, 3), of size 3, by at most 2, not 3",
        tern_pad(f->x, tern_pads(1, 3), TERN_PAD_REFLECT, 0))
REFUSES(tern_pad, "more than once around", TERN_ERR_SHAPE,
        "pad: mode circular pads dimension 1 of x (2, 3), of size 3, by at most 3, not 4",
        tern_pad(f->x, tern_pads(4, 1), TERN_PAD_CIRCULAR, 0))
REFUSES(tern_pad, "a negative number of what is repeated", TERN_ERR_ARG,
        "pad: mode replicate takes no negative padding, such as -1: cut with tern_narrow",
        tern_pad(f->x, tern_pads(-1, 1), TERN_PAD_REPLICATE, 0))
REFUSES(tern_pad, "nothing to repeat", TERN_ERR_SHAPE,
        "pad: x (2, 0) has nothing to repeat: dimension 1 is empty",
        tern_pad(zeros(tern_dims(2, 0)), tern_pads(1, 1), TERN_PAD_REPLICATE, 0))

#define TOO_LARGE(name)                                                                            \
    REFUSES(tern_nn_##name##_with, "a padding that nothing holds", TERN_ERR_ARG,                   \
            "nn_" #name ": a padding of|too large", tern_nn_##name(.right = INT64_MAX))
#define NEGATIVE(name)                                                                             \
    REFUSES(tern_nn_##name##_with, "a negative padding", TERN_ERR_ARG,                             \
            "nn_" #name ": a padding is -1, but must be at least 0", tern_nn_##name(.left = -1))
#define PADS(kind, case) case (kind##_pad1d) case (kind##_pad2d) case (kind##_pad3d)
PADS(zero, TOO_LARGE)
PADS(constant, TOO_LARGE)
PADS(reflection, NEGATIVE)
PADS(replication, NEGATIVE)
PADS(circular, NEGATIVE)

// ---- resizing ----------------------------------------------------------------------------------

#define RESIZE(what, code, words, x, ...)                                                          \
    REFUSES(tern_interpolate_with, what, code, "interpolate: " words,                              \
            tern_interpolate(x, __VA_ARGS__))
RESIZE("size and scale", TERN_ERR_ARG, "size and scale are both given", image(),
       .size = tern_dims(2, 2), .scale = 2)
RESIZE("neither size nor scale", TERN_ERR_ARG, "neither size nor scale is given", image(),
       .mode = TERN_BILINEAR)
RESIZE("a mode that there is not", TERN_ERR_ARG, "there is no mode 12", image(), .scale = 2,
       .mode = (tern_interpolate_mode)12)
RESIZE("corners of the nearest", TERN_ERR_ARG, "mode nearest knows no corners", image(), .scale = 2,
       .align_corners = true)
RESIZE("corners of areas", TERN_ERR_ARG, "mode area knows no corners", image(), .scale = 2,
       .mode = TERN_AREA, .align_corners = true)
RESIZE("a scale of a size", TERN_ERR_ARG, "recompute_scale is for a scale", image(),
       .size = tern_dims(2, 2), .recompute_scale = true)
RESIZE("a negative scale", TERN_ERR_ARG, "a scale is -1, but must be above 0 and finite", image(),
       .scale = {2, -1})
RESIZE("a scale that is NaN", TERN_ERR_ARG, "a scale is nan", image(), .scale = NAN)
RESIZE("a size of 0", TERN_ERR_ARG, "size is (2, 0), but must be at least 1", image(),
       .size = tern_dims(2, 0))
RESIZE("four sizes", TERN_ERR_ARG, "size is (1, 2, 3, 4), but at most 3", image(),
       .size = tern_dims(1, 2, 3, 4))
RESIZE("sizes for other dimensions", TERN_ERR_SHAPE, "3 sizes are given for the 2 dimensions",
       image(), .size = tern_dims(2, 2, 2))
RESIZE("scales for other dimensions", TERN_ERR_SHAPE, "2 scales are given for the 3 dimensions",
       volume(), .scale = {2, 2})
RESIZE("an x of another rank", TERN_ERR_SHAPE, "mode bilinear takes x (N, C, H, W), not (2, 3, 4)",
       line(), .scale = 2, .mode = TERN_BILINEAR)
RESIZE("an x without channels", TERN_ERR_SHAPE, "mode nearest takes x (N, C, W)|(2, 3)", f->x,
       .scale = 2)
RESIZE("nothing left", TERN_ERR_SHAPE,
       "a scale of 0.1 makes 0 elements of the 4 along dimension 2 of x (2, 3, 4, 5)", image(),
       .scale = 0.1)
RESIZE("an x of no size", TERN_ERR_SHAPE, "dimension 2 of x (2, 3, 0) is empty",
       zeros(tern_dims(2, 3, 0)), .size = tern_dims(2))
REFUSES(tern_nn_upsample_with, "neither size nor scale", TERN_ERR_ARG,
        "nn_upsample: neither size nor scale is given", tern_nn_upsample(.mode = TERN_BILINEAR))
REFUSES(tern_nn_upsample_with, "an x", TERN_ERR_ARG, "nn_upsample: x is given",
        tern_nn_upsample(.scale = 2, .x = f->x))

// ---- neighbouring channels ---------------------------------------------------------------------

NULL_AND_DEAD(tern_local_response_norm, "local_response_norm", "x",
              tern_local_response_norm(NULL, 2, 1, 1, 1),
              tern_local_response_norm(f->dead, 2, 1, 1, 1))
REFUSES(tern_local_response_norm, "an x of another rank", TERN_ERR_SHAPE,
        "local_response_norm: x (2, 3) is not (N, C, ..)",
        tern_local_response_norm(f->x, 2, 1, 1, 1))
REFUSES(tern_local_response_norm, "a size of 0", TERN_ERR_ARG,
        "local_response_norm: size is 0, but must be at least 1",
        tern_local_response_norm(line(), 0, 1, 1, 1))
REFUSES(tern_local_response_norm, "integers", TERN_ERR_DTYPE, "local_response_norm: x is int64",
        tern_local_response_norm(of_ints(tern_dims(2, 3, 4)), 2, 1, 1, 1))
REFUSES(tern_nn_local_response_norm_with, "a size of 0", TERN_ERR_ARG,
        "nn_local_response_norm: size is 0", tern_nn_local_response_norm(0))
