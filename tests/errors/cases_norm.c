// SPDX-License-Identifier: Apache-2.0
// Normalisation: ops/norm.h and nn/norm.h.
#include "errors.h"

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))
NO_OPTIONS(batch_norm)
NO_OPTIONS(instance_norm)
NO_OPTIONS(group_norm)
NO_OPTIONS(layer_norm)
NO_OPTIONS(rms_norm)
NO_OPTIONS(nn_batch_norm1d)
NO_OPTIONS(nn_batch_norm2d)
NO_OPTIONS(nn_batch_norm3d)
NO_OPTIONS(nn_instance_norm1d)
NO_OPTIONS(nn_instance_norm2d)
NO_OPTIONS(nn_instance_norm3d)
NO_OPTIONS(nn_group_norm)
NO_OPTIONS(nn_layer_norm)
NO_OPTIONS(nn_rms_norm)

// ---- operations ---------------------------------------------------------------------------------

#define BATCH(x, ...)    tern_batch_norm(x, .training = true, __VA_ARGS__)
#define INSTANCE(x, ...) tern_instance_norm(x, __VA_ARGS__)
#define GROUP(x, ...)    tern_group_norm(x, 3, __VA_ARGS__)
#define LAYER(x, ...)    tern_layer_norm(x, tern_dims(3), __VA_ARGS__)
#define RMS(x, ...)      tern_rms_norm(x, tern_dims(3), __VA_ARGS__)

// Those that all have; x3 is an x that the operation takes.
#define COMMON(name, call, x3)                                                                     \
    NULL_AND_DEAD(tern_##name##_with, #name, "x", call(NULL, .eps = 0), call(f->dead, .eps = 0))   \
    REFUSES(tern_##name##_with, "a weight that died", TERN_ERR_STATE, #name ": weight|died",       \
            call(x3, .weight = f->dead))                                                           \
    REFUSES(tern_##name##_with, "integers", TERN_ERR_DTYPE, #name ": x is int64",                  \
            call(tern_to_dtype(x3, TERN_INT64), .eps = 0))                                         \
    REFUSES(tern_##name##_with, "a weight of another shape", TERN_ERR_SHAPE,                       \
            #name ": x (2, 3|weight (2, 3)|must have", call(x3, .weight = f->x))                   \
    REFUSES(tern_##name##_with, "float64 with a weight of float32", TERN_ERR_DTYPE,                \
            #name ": x is float64 and weight is float32|must be float64|tern_module_to_dtype",     \
            call(tern_to_dtype(x3, TERN_FLOAT64), .weight = f->vector))                            \
    REFUSES(                                                                                       \
        tern_##name##_with, "float16 with a weight of float64", TERN_ERR_DTYPE,                    \
        #name ": x is float16 and weight is float64|must be float16 or float32",                   \
        call(tern_to_dtype(x3, TERN_FLOAT16), .weight = tern_to_dtype(f->vector, TERN_FLOAT64)))   \
    TAKES(tern_##name##_with, "bfloat16 with a weight of float32",                                 \
          call(tern_to_dtype(x3, TERN_BFLOAT16), .weight = f->vector) != NULL)                     \
    REFUSES(tern_##name##_with, "a weight on another device", TERN_ERR_DEVICE,                     \
            #name ": |weight|cpu:1|tern_module_to",                                                \
            call(x3, .weight = tern_to(f->vector, tern_cpu(1))))                                   \
    REFUSES(tern_##name##_with, "a negative eps", TERN_ERR_ARG, #name ": eps is -1",               \
            call(x3, .eps = -1))                                                                   \
    HANDS_ON(tern_##name##_with, "a weight that failed", call(x3, .weight = NULL))
#define BIAS(name, call, x3)                                                                       \
    REFUSES(tern_##name##_with, "a bias that died", TERN_ERR_STATE, #name ": bias|died",           \
            call(x3, .bias = f->dead))                                                             \
    REFUSES(tern_##name##_with, "a bias of another shape", TERN_ERR_SHAPE,                         \
            #name ": |bias ()|must", call(x3, .bias = f->scalar))

#define LENGTHS tern_expand(tern_unsqueeze(f->x, 2), tern_dims(2, 3, 4))
COMMON(batch_norm, BATCH, f->x)
COMMON(instance_norm, INSTANCE, LENGTHS)
COMMON(group_norm, GROUP, f->x)
COMMON(layer_norm, LAYER, f->x)
COMMON(rms_norm, RMS, f->x)
BIAS(batch_norm, BATCH, f->x)
BIAS(instance_norm, INSTANCE, LENGTHS)
BIAS(group_norm, GROUP, f->x)
BIAS(layer_norm, LAYER, f->x)

#define OURS tern_zeros(tern_dims(3)) // statistics that may be changed
#define RUNNING(call, function, x3)                                                                \
    REFUSES(tern_##function##_with, "running statistics that died", TERN_ERR_STATE,                \
            #function ": running_mean|died",                                                       \
            call(x3, .running_mean = f->dead, .running_var = f->vector))                           \
    REFUSES(tern_##function##_with, "a running variance that died", TERN_ERR_STATE,                \
            #function ": running_var|died",                                                        \
            call(x3, .running_mean = OURS, .running_var = f->dead))                                \
    REFUSES(                                                                                       \
        tern_##function##_with, "running statistics without dimensions", TERN_ERR_SHAPE,           \
        #function ": x (2, 3|has 3 channels|running_mean is ()",                                   \
        call(x3, .running_mean = tern_zeros(tern_dims()), .running_var = tern_ones(tern_dims())))  \
    REFUSES(tern_##function##_with, "running statistics that overlap", TERN_ERR_ARG,               \
            #function ": running_mean and running_var share memory", __extension__({               \
                tern_tensor *both = tern_zeros(tern_dims(4));                                      \
                call(x3, .running_mean = tern_narrow(both, 0, 0, 3),                               \
                     .running_var = tern_narrow(both, 0, 1, 3));                                   \
            }))                                                                                    \
    REFUSES(tern_##function##_with, "a running mean that is the weight", TERN_ERR_ARG,             \
            #function ": running_mean, which changes, shares memory with weight", __extension__({  \
                tern_tensor *both = OURS;                                                          \
                call(x3, .weight = both, .running_mean = both, .running_var = OURS);               \
            }))                                                                                    \
    REFUSES(tern_##function##_with, "a running mean with a gradient", TERN_ERR_STATE,              \
            #function ": running_mean requires a gradient|tern_detach",                            \
            call(x3, .running_mean = tern_zeros(tern_dims(3), .requires_grad = true),              \
                 .running_var = OURS))                                                             \
    REFUSES(tern_##function##_with, "a running mean alone", TERN_ERR_ARG,                          \
            #function ": running_mean is given without running_var",                               \
            call(x3, .running_mean = OURS))                                                        \
    REFUSES(tern_##function##_with, "one tensor for both running statistics", TERN_ERR_ARG,        \
            #function ": running_mean and running_var share memory", __extension__({               \
                tern_tensor *both = OURS;                                                          \
                call(x3, .running_mean = both, .running_var = both);                               \
            }))                                                                                    \
    REFUSES(tern_##function##_with, "running statistics of other channels", TERN_ERR_SHAPE,        \
            #function ": x (2, 3|has 3 channels|running_var is (2,)",                              \
            call(x3, .running_mean = OURS, .running_var = tern_ones(tern_dims(2))))                \
    REFUSES(tern_##function##_with, "running statistics of another dtype", TERN_ERR_DTYPE,         \
            #function ": x is float32 and running_mean is float64",                                \
            call(x3, .running_mean = tern_to_dtype(OURS, TERN_FLOAT64), .running_var = OURS))      \
    REFUSES(tern_##function##_with, "running statistics on another device", TERN_ERR_DEVICE,       \
            #function ": running_mean is on cpu:1 and x on cpu:0",                                 \
            call(x3, .running_mean = tern_to(OURS, tern_cpu(1)), .running_var = OURS))             \
    REFUSES(tern_##function##_with, "running statistics that are not contiguous", TERN_ERR_STATE,  \
            #function ": running_mean is not contiguous",                                          \
            call(x3, .running_mean = tern_select(tern_zeros(tern_dims(3, 2)), 1, 0),               \
                 .running_var = OURS))
RUNNING(BATCH, batch_norm, f->x)
RUNNING(INSTANCE, instance_norm, LENGTHS)
REFUSES(tern_batch_norm_with, "an evaluation without running statistics", TERN_ERR_ARG,
        "batch_norm: there are no running statistics|running_mean and running_var",
        tern_batch_norm(f->x))
REFUSES(tern_instance_norm_with, "an evaluation without running statistics", TERN_ERR_ARG,
        "instance_norm: there are no running statistics|running_mean and running_var",
        tern_instance_norm(LENGTHS, .use_input_stats = false))
REFUSES(tern_batch_norm_with, "a counter that died", TERN_ERR_STATE,
        "batch_norm: num_batches_tracked|died", BATCH(f->x, .num_batches_tracked = f->dead))
REFUSES(tern_batch_norm_with, "a counter of another type", TERN_ERR_DTYPE,
        "batch_norm: num_batches_tracked is float32 ()|int64 ()",
        BATCH(f->x, .num_batches_tracked = f->scalar))
REFUSES(tern_batch_norm_with, "the mean of all batches without their number", TERN_ERR_ARG,
        "batch_norm: momentum is nan|num_batches_tracked",
        BATCH(f->x, .running_mean = OURS, .running_var = OURS, .momentum = NAN))
REFUSES(tern_instance_norm_with, "a momentum that is infinite", TERN_ERR_ARG,
        "instance_norm: momentum is inf", INSTANCE(LENGTHS, .momentum = INFINITY))
REFUSES(tern_batch_norm_with, "an activation that is not fused", TERN_ERR_ARG,
        "batch_norm: activation is 3|TERN_ACT_RELU", BATCH(f->x, .activation = TERN_ACT_GELU))
REFUSES(tern_batch_norm_with, "one value a channel", TERN_ERR_SHAPE,
        "batch_norm: x (1, 3) has one value a channel|evaluation",
        BATCH(tern_zeros(tern_dims(1, 3)), .eps = 0))
REFUSES(tern_batch_norm_with, "an x without channels", TERN_ERR_SHAPE,
        "batch_norm: x (3,) is not (N, C, ..)", BATCH(f->vector, .eps = 0))
REFUSES(tern_instance_norm_with, "an x without space", TERN_ERR_SHAPE,
        "instance_norm: x (2, 3) is not (N, C, L, ..)", INSTANCE(f->x, .eps = 0))
REFUSES(tern_instance_norm_with, "one element a channel", TERN_ERR_SHAPE,
        "instance_norm: x (2, 3, 1) has one element a channel",
        INSTANCE(tern_unsqueeze(f->x, 2), .eps = 0))
REFUSES(tern_group_norm_with, "groups that do not divide", TERN_ERR_ARG,
        "group_norm: x (2, 3) has 3 channels|2 groups", tern_group_norm(f->x, 2))
REFUSES(tern_group_norm_with, "no groups", TERN_ERR_ARG, "group_norm: x (2, 3)|0 groups",
        tern_group_norm(f->x, 0))
REFUSES(tern_group_norm_with, "an x without channels", TERN_ERR_SHAPE,
        "group_norm: x (3,) is not (N, C, ..)", tern_group_norm(f->vector, 1))
REFUSES(tern_group_norm_with, "an x of 0 channels, which any number of groups divides",
        TERN_ERR_SHAPE, "group_norm: x (2, 0, 3) has no channels",
        tern_group_norm(tern_zeros(tern_dims(2, 0, 3)), (int64_t)1 << 62))
REFUSES(tern_group_norm_with, "one element a group", TERN_ERR_SHAPE,
        "group_norm: x (1, 3) has one element in each of 3 groups",
        tern_group_norm(tern_zeros(tern_dims(1, 3)), 3))
TAKES(tern_group_norm_with, "one element a group in two samples", tern_group_norm(f->x, 3) != NULL)
REFUSES(tern_layer_norm_with, "an x that does not end so", TERN_ERR_SHAPE,
        "layer_norm: x (2, 3) does not end in normalized_shape (2,)",
        tern_layer_norm(f->x, tern_dims(2)))
REFUSES(tern_layer_norm_with, "an x of fewer dimensions", TERN_ERR_SHAPE,
        "layer_norm: x (3,) does not end in normalized_shape (2, 3)",
        tern_layer_norm(f->vector, tern_dims(2, 3)))
REFUSES(tern_layer_norm_with, "no sizes", TERN_ERR_ARG, "layer_norm: normalized_shape|1 to 8",
        tern_layer_norm(f->x, tern_dims()))
REFUSES(tern_rms_norm_with, "an x that does not end so", TERN_ERR_SHAPE,
        "rms_norm: x (2, 3) does not end in normalized_shape (2,)",
        tern_rms_norm(f->x, tern_dims(2)))

// ---- layers -------------------------------------------------------------------------------------

static tern_tensor *run(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

#define CHANNELS(name, ...)                                                                        \
    REFUSES(tern_nn_##name##_with, "no channels", TERN_ERR_ARG, "nn_" #name ": num_features is 0", \
            tern_nn_##name(0))                                                                     \
    REFUSES(tern_nn_##name##_with, "a negative eps", TERN_ERR_ARG, "nn_" #name ": eps is -1",      \
            tern_nn_##name(3, .eps = -1))                                                          \
    REFUSES(tern_nn_##name##_with, "a momentum that is infinite", TERN_ERR_ARG,                    \
            "nn_" #name ": momentum is inf", tern_nn_##name(3, .momentum = INFINITY))              \
    REFUSES(tern_nn_##name##_with, "integers", TERN_ERR_DTYPE, "nn_" #name ": int64|floating",     \
            tern_nn_##name(3, .dtype = TERN_INT64))                                                \
    REFUSES(tern_nn_##name##_with, "a device that does not exist", TERN_ERR_DEVICE,                \
            "nn_" #name ": |cpu:2", tern_nn_##name(3, .device = tern_cpu(2)))                      \
    REFUSES(tern_nn_##name##_with, "another number of channels", TERN_ERR_SHAPE,                   \
            "has 3 channels in dimension 1, but num_features is 4|[in ",                           \
            run(tern_nn_##name(4), tern_ones(tern_dims(2, 3, __VA_ARGS__))))
CHANNELS(batch_norm1d, 5)
CHANNELS(batch_norm2d, 5, 5)
CHANNELS(batch_norm3d, 5, 5, 5)
CHANNELS(instance_norm1d, 5)
CHANNELS(instance_norm2d, 5, 5)
CHANNELS(instance_norm3d, 5, 5, 5)

#define IN_BATCH_NORM2D                                                                            \
    "[in BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, "                         \
    "track_running_stats=True)]"
REFUSES(tern_nn_batch_norm1d_with, "an image", TERN_ERR_SHAPE,
        "BatchNorm1d: x (2, 3, 4, 5) must have 2 or 3 dimensions: (N, C) or (N, C, L)",
        run(tern_nn_batch_norm1d(3), tern_ones(tern_dims(2, 3, 4, 5))))
REFUSES(tern_nn_batch_norm2d_with, "rows", TERN_ERR_SHAPE,
        "BatchNorm2d: x (2, 3) must have 4 dimensions: (N, C, H, W)|" IN_BATCH_NORM2D,
        run(tern_nn_batch_norm2d(3), f->x))
REFUSES(tern_nn_batch_norm2d_with, "channels that come last", TERN_ERR_SHAPE,
        "x (2, 4, 5, 3) has 4 channels|num_features is 3|tern_permute",
        run(tern_nn_batch_norm2d(3), tern_ones(tern_dims(2, 4, 5, 3))))
REFUSES(tern_nn_batch_norm2d_with, "one value a channel in training", TERN_ERR_SHAPE,
        "batch_norm: x (1, 3, 1, 1) has one value a channel|" IN_BATCH_NORM2D,
        run(tern_nn_batch_norm2d(3), tern_ones(tern_dims(1, 3, 1, 1))))
TAKES(tern_nn_batch_norm2d_with, "one value a channel in evaluation",
      run(tern_module_eval(tern_nn_batch_norm2d(3)), tern_ones(tern_dims(1, 3, 1, 1))) != NULL)
REFUSES(tern_nn_batch_norm1d_with, "one value a channel where nothing is tracked", TERN_ERR_SHAPE,
        "batch_norm: x (1, 3, 1) has one value a channel",
        run(tern_module_eval(tern_nn_batch_norm1d(3, .track_running_stats = false)),
            tern_ones(tern_dims(1, 3, 1))))
REFUSES(tern_nn_batch_norm3d_with, "an image", TERN_ERR_SHAPE,
        "BatchNorm3d: x (2, 3, 4, 5) must have 5 dimensions: (N, C, D, H, W)",
        run(tern_nn_batch_norm3d(3), tern_ones(tern_dims(2, 3, 4, 5))))
REFUSES(tern_nn_batch_norm2d_with, "float64 with parameters of float32", TERN_ERR_DTYPE,
        "batch_norm: x is float64 and weight is float32",
        run(tern_nn_batch_norm2d(3), tern_ones(tern_dims(2, 3, 4, 5), .dtype = TERN_FLOAT64)))
REFUSES(tern_nn_instance_norm2d_with, "rows", TERN_ERR_SHAPE,
        "InstanceNorm2d: x (2, 3) must have 3 or 4 dimensions: (C, H, W) or (N, C, H, W)",
        run(tern_nn_instance_norm2d(3), f->x))
REFUSES(tern_nn_instance_norm2d_with, "other channels without a batch", TERN_ERR_SHAPE,
        "InstanceNorm2d: x (2, 4, 5) has 2 channels in dimension 0, but num_features is 3",
        run(tern_nn_instance_norm2d(3), tern_ones(tern_dims(2, 4, 5))))
REFUSES(tern_nn_instance_norm1d_with, "one element a channel in training", TERN_ERR_SHAPE,
        "instance_norm: x (2, 3, 1) has one element a channel|[in InstanceNorm1d(3",
        run(tern_nn_instance_norm1d(3), tern_ones(tern_dims(2, 3, 1))))
REFUSES(tern_nn_group_norm_with, "groups that do not divide", TERN_ERR_ARG,
        "nn_group_norm: num_groups is 4 and num_channels 6|divide", tern_nn_group_norm(4, 6))
REFUSES(tern_nn_group_norm_with, "no channels", TERN_ERR_ARG,
        "nn_group_norm: num_groups is 1 and num_channels 0|positive", tern_nn_group_norm(1, 0))
REFUSES(tern_nn_group_norm_with, "another number of channels", TERN_ERR_SHAPE,
        "GroupNorm: x (2, 3) must have 6 channels (num_channels)|[in GroupNorm(2, 6",
        run(tern_nn_group_norm(2, 6), f->x))
REFUSES(tern_nn_group_norm_with, "one element a group in evaluation", TERN_ERR_SHAPE,
        "group_norm: x (1, 3) has one element in each of 3 groups",
        run(tern_module_eval(tern_nn_group_norm(3, 3)), tern_ones(tern_dims(1, 3))))
REFUSES(tern_nn_group_norm_with, "integers", TERN_ERR_DTYPE, "nn_group_norm: int64|floating",
        tern_nn_group_norm(1, 3, .dtype = TERN_INT64))
REFUSES(tern_nn_layer_norm_with, "no sizes", TERN_ERR_ARG, "nn_layer_norm: normalized_shape",
        tern_nn_layer_norm(tern_dims()))
REFUSES(tern_nn_layer_norm_with, "a negative size", TERN_ERR_ARG, "nn_layer_norm: |negative",
        tern_nn_layer_norm(tern_dims(3, -1)))
REFUSES(tern_nn_layer_norm_with, "an eps that is NaN", TERN_ERR_ARG, "nn_layer_norm: eps is nan",
        tern_nn_layer_norm(tern_dims(3), .eps = NAN))
REFUSES(tern_nn_layer_norm_with, "another last size", TERN_ERR_SHAPE,
        "layer_norm: x (4, 5) does not end in normalized_shape (3,)|[in LayerNorm((3,), eps=1e-05",
        run(tern_nn_layer_norm(tern_dims(3)), f->wide))
REFUSES(tern_nn_rms_norm_with, "no sizes", TERN_ERR_ARG, "nn_rms_norm: normalized_shape",
        tern_nn_rms_norm(tern_dims()))
REFUSES(tern_nn_rms_norm_with, "a negative eps", TERN_ERR_ARG, "nn_rms_norm: eps is -1",
        tern_nn_rms_norm(tern_dims(3), .eps = -1))
REFUSES(tern_nn_rms_norm_with, "another last size", TERN_ERR_SHAPE,
        "rms_norm: x (4, 5) does not end in normalized_shape (3,)|[in RMSNorm((3,), eps=None",
        run(tern_nn_rms_norm(tern_dims(3)), f->wide))
