// SPDX-License-Identifier: Apache-2.0
// ops/activation.h and ops/dropout.h, and the modules of both.
#include "errors.h"

static tern_tensor *run(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

// ---- activations --------------------------------------------------------------------------------

#define UNARY_OF(name, ...)                                                                        \
    NULL_AND_DEAD(tern_##name, #name, "x", tern_##name(NULL, __VA_ARGS__),                         \
                  tern_##name(f->dead, __VA_ARGS__))
#define BY_NAME(name, ...)                                                                         \
    NULL_AND_DEAD(tern_##name##_with, #name, "x", tern_##name(NULL, __VA_ARGS__),                  \
                  tern_##name(f->dead, __VA_ARGS__))                                               \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))
BY_NAME(gelu, .approximate = TERN_APPROXIMATE_TANH)
BY_NAME(elu, 1)
BY_NAME(leaky_relu, 0.1)
BY_NAME(softplus, 1, 20)
BY_NAME(celu, 1)
BY_NAME(hardshrink, 0.5)
BY_NAME(softshrink, 0.5)
BY_NAME(hardtanh, -1, 1)
UNARY_OF(threshold, 0, 0)
BY_NAME(rrelu, 0.1, 0.3, .training = true)
BY_NAME(glu, -1)
UNARY_OF(softmin, 0)

REFUSES(tern_gelu_with, "a way that does not exist", TERN_ERR_ARG, "gelu: 9 is no way",
        tern_gelu(f->x, .approximate = (tern_approximate)9))
REFUSES(tern_celu_with, "an alpha of 0", TERN_ERR_ARG, "celu: alpha is 0", tern_celu(f->x, 0))
REFUSES(tern_softshrink_with, "a negative lambd", TERN_ERR_ARG, "softshrink: lambd is -1|below 0",
        tern_softshrink(f->x, -1))
REFUSES(tern_hardtanh_with, "bounds the wrong way round", TERN_ERR_ARG,
        "hardtanh: min_val is 2|max_val|is 1", tern_hardtanh(f->x, 2, 1))
REFUSES(tern_rrelu_with, "bounds the wrong way round", TERN_ERR_ARG, "rrelu: |from 0.5 to 0.1",
        tern_rrelu(f->x, 0.5, 0.1))
REFUSES(tern_rrelu_with, "slopes without an end", TERN_ERR_ARG, "rrelu: |from 0 to inf",
        tern_rrelu(f->x, 0, INFINITY, .training = true))
REFUSES(tern_prelu, "another number of slopes than channels", TERN_ERR_SHAPE,
        "prelu: weight has 2 slopes|(2, 3)|3 channels", tern_prelu(f->x, tern_ones(tern_dims(2))))
REFUSES(tern_prelu, "several slopes for an x without channels", TERN_ERR_SHAPE,
        "prelu: weight has 3 slopes|(3,)|no channels", tern_prelu(f->vector, f->vector))
REFUSES(tern_prelu, "a weight of two dimensions", TERN_ERR_SHAPE, "prelu: weight is |(2, 3)|(C)",
        tern_prelu(f->x, f->x))
REFUSES(tern_prelu, "a weight of another dtype", TERN_ERR_DTYPE,
        "prelu: x is float64 and weight is float32", tern_prelu(f->doubles, f->vector))
REFUSES(tern_prelu, "integers", TERN_ERR_DTYPE, "prelu: x is int64|floating",
        tern_prelu(f->ints, f->vector))
REFUSES(tern_glu_with, "a size that is odd", TERN_ERR_SHAPE,
        "glu: dim 1 of x |(2, 3)| 3 elements|even", tern_glu(f->x, -1))
REFUSES(tern_glu_with, "no dimension", TERN_ERR_SHAPE, "glu: x is float32 ()|no dimension",
        tern_glu(f->scalar, 0))
REFUSES(tern_glu_with, "a dim that is not there", TERN_ERR_ARG, "glu: dim 2|2 dimensions",
        tern_glu(f->x, 2))
REFUSES(tern_glu_with, "integers", TERN_ERR_DTYPE, "glu: x is int64|floating", tern_glu(f->ints, 0))
REFUSES(tern_softmin, "a dim that is not there", TERN_ERR_ARG, "softmin: dim 2|2 dimensions",
        tern_softmin(f->x, 2))
REFUSES(tern_softmin, "integers", TERN_ERR_DTYPE, "softmin: x is int64|floating",
        tern_softmin(f->ints, 0))

// ---- dropouts -----------------------------------------------------------------------------------

#define DROPOUT(name)                                                                              \
    UNARY_OF(name, 0.5, true)                                                                      \
    REFUSES(tern_##name, "a p above 1", TERN_ERR_ARG, #name ": p is 1.5",                          \
            tern_##name(f->x, 1.5, true))                                                          \
    REFUSES(tern_##name, "a p that is NaN, also in evaluation", TERN_ERR_ARG, #name ": p is nan",  \
            tern_##name(f->x, NAN, false))                                                         \
    REFUSES(tern_##name, "integers", TERN_ERR_DTYPE, #name ": x is int64",                         \
            tern_##name(f->ints, 0.5, true))
DROPOUT(dropout1d)
DROPOUT(dropout2d)
DROPOUT(dropout3d)
DROPOUT(alpha_dropout)

REFUSES(tern_dropout1d, "images", TERN_ERR_SHAPE,
        "dropout1d: x is float32 (1, 2, 3, 4)|(N, C, L) or (C, L)|tern_dropout2d",
        tern_dropout1d(tern_ones(tern_dims(1, 2, 3, 4)), 0.5, true))
REFUSES(tern_dropout1d, "a vector", TERN_ERR_SHAPE,
        "dropout1d: x is float32 (3,)|(N, C, L)|tern_dropout drops single elements",
        tern_dropout1d(f->vector, 0.5, true))
REFUSES(tern_dropout2d, "an input of three dimensions, also in evaluation", TERN_ERR_SHAPE,
        "dropout2d: x is float32 (2, 3, 4)|(N, C, H, W)|tern_dropout1d is for (N, C, L)",
        tern_dropout2d(tern_ones(tern_dims(2, 3, 4)), 0.5, false))
REFUSES(tern_dropout2d, "volumes", TERN_ERR_SHAPE,
        "dropout2d: |(1, 2, 3, 4, 5)|(N, C, H, W)|tern_dropout3d",
        tern_dropout2d(tern_ones(tern_dims(1, 2, 3, 4, 5)), 0.5, true))
REFUSES(tern_dropout3d, "an input of three dimensions", TERN_ERR_SHAPE,
        "dropout3d: |(2, 3, 4)|(N, C, D, H, W) or (C, D, H, W)|tern_dropout1d",
        tern_dropout3d(tern_ones(tern_dims(2, 3, 4)), 0.5, true))
REFUSES(tern_dropout3d, "an input of eight dimensions", TERN_ERR_SHAPE,
        "dropout3d: |(1, 1, 1, 1, 1, 1, 1, 1)|(N, C, D, H, W)|tern_dropout drops",
        tern_dropout3d(f->deep, 0.5, true))

// ---- modules ------------------------------------------------------------------------------------

#define PLAIN(name)                                                                                \
    CANNOT_FAIL(tern_nn_##name, "takes nothing and holds nothing",                                 \
                (tern_module_free(tern_nn_##name()), 1))
PLAIN(relu6)
PLAIN(hardsigmoid)
PLAIN(selu)
PLAIN(mish)
PLAIN(log_sigmoid)
PLAIN(tanhshrink)
PLAIN(softsign)

#define OPTIONS(name)                                                                              \
    REFUSES(tern_nn_##name##_with, "options that are NULL", TERN_ERR_NULL,                         \
            "nn_" #name ": options is NULL", tern_nn_##name##_with(NULL))
OPTIONS(elu)
OPTIONS(celu)
OPTIONS(hardshrink)
OPTIONS(softshrink)
OPTIONS(hardtanh)
OPTIONS(softplus)
OPTIONS(rrelu)
OPTIONS(prelu)
OPTIONS(glu)
OPTIONS(dropout1d)
OPTIONS(dropout2d)
OPTIONS(dropout3d)
OPTIONS(alpha_dropout)

REFUSES(tern_nn_elu_with, "an alpha that is NaN", TERN_ERR_ARG, "nn_elu: alpha is nan",
        tern_nn_elu(NAN))
REFUSES(tern_nn_celu_with, "an alpha of 0", TERN_ERR_ARG, "nn_celu: alpha is 0", tern_nn_celu(0))
REFUSES(tern_nn_hardshrink_with, "a lambd that is NaN", TERN_ERR_ARG, "nn_hardshrink: lambd is nan",
        tern_nn_hardshrink(NAN))
REFUSES(tern_nn_softshrink_with, "a negative lambd", TERN_ERR_ARG,
        "nn_softshrink: lambd is -0.5|below 0", tern_nn_softshrink(-0.5))
REFUSES(tern_nn_hardtanh_with, "an empty range", TERN_ERR_ARG,
        "nn_hardtanh: max_val is 1|above min_val|is 1", tern_nn_hardtanh(1, 1))
REFUSES(tern_nn_hardtanh_with, "a bound that is NaN", TERN_ERR_ARG, "nn_hardtanh: max_val is nan",
        tern_nn_hardtanh(-1, NAN))
REFUSES(tern_nn_softplus_with, "a beta of 0", TERN_ERR_ARG, "nn_softplus: beta is 0",
        tern_nn_softplus(0))
REFUSES(tern_nn_threshold, "a value that is NaN", TERN_ERR_ARG, "nn_threshold: value is nan",
        tern_nn_threshold(0, NAN))
REFUSES(tern_nn_rrelu_with, "bounds the wrong way round", TERN_ERR_ARG,
        "nn_rrelu: |from 0.5 to 0.1", tern_nn_rrelu(0.5, 0.1))
REFUSES(tern_nn_prelu_with, "no parameters", TERN_ERR_ARG,
        "nn_prelu: num_parameters is 0|1 or the number of channels", tern_nn_prelu(0))
REFUSES(tern_nn_prelu_with, "an init that is infinite", TERN_ERR_ARG, "nn_prelu: init is inf",
        tern_nn_prelu(1, INFINITY))
REFUSES(tern_nn_prelu_with, "integers", TERN_ERR_DTYPE, "nn_prelu: int64|floating",
        tern_nn_prelu(.dtype = TERN_INT64))
REFUSES(tern_nn_prelu_with, "a device that does not exist", TERN_ERR_DEVICE, "nn_prelu: |cpu:2",
        tern_nn_prelu(.device = tern_cpu(2)))
REFUSES(tern_nn_prelu_with, "an input of other channels", TERN_ERR_SHAPE,
        "prelu: weight has 4 slopes|(2, 3)|3 channels|[in PReLU(num_parameters=4)]",
        run(tern_nn_prelu(4), f->x))
REFUSES(tern_nn_glu_with, "an input of an odd size", TERN_ERR_SHAPE,
        "glu: |3 elements|[in GLU(dim=1)]", run(tern_nn_glu(1), f->x))
REFUSES(tern_nn_log_softmax, "an input without such a dim", TERN_ERR_ARG,
        "log_softmax: dim 5|2 dimensions|[in LogSoftmax(dim=5)]", run(tern_nn_log_softmax(5), f->x))
REFUSES(tern_nn_softmin, "an input without such a dim", TERN_ERR_ARG,
        "softmin: dim 5|2 dimensions|[in Softmin(dim=5)]", run(tern_nn_softmin(5), f->x))
REFUSES(tern_nn_softmax2d, "an input of two dimensions", TERN_ERR_SHAPE,
        "softmax2d: x is float32 (2, 3)|(N, C, H, W) or (C, H, W)|[in Softmax2d]",
        run(tern_nn_softmax2d(), f->x))
REFUSES(tern_nn_softmax2d, "an input that died", TERN_ERR_STATE, "(2, 3), made by neg) died",
        run(tern_nn_softmax2d(), f->dead))
REFUSES(tern_nn_dropout1d_with, "a p above 1", TERN_ERR_ARG, "nn_dropout1d: p is 1.5",
        tern_nn_dropout1d(1.5))
REFUSES(tern_nn_dropout2d_with, "an input of three dimensions", TERN_ERR_SHAPE,
        "dropout2d: |tern_dropout1d|[in Dropout2d(p=0.5, inplace=False)]",
        run(tern_nn_dropout2d(), tern_ones(tern_dims(2, 3, 4))))
REFUSES(tern_nn_dropout3d_with, "a p that is NaN", TERN_ERR_ARG, "nn_dropout3d: p is nan",
        tern_nn_dropout3d(NAN))
REFUSES(tern_nn_alpha_dropout_with, "a negative p", TERN_ERR_ARG, "nn_alpha_dropout: p is -1",
        tern_nn_alpha_dropout(-1))
