// SPDX-License-Identifier: Apache-2.0
// ops/conv.h and nn/conv.h
#include "errors.h"

#define Z(...) tern_zeros(tern_dims(__VA_ARGS__))

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))                                                              \
    REFUSES(tern_nn_##name##_with, "options that are NULL", TERN_ERR_NULL,                         \
            "nn_" #name ": options is NULL", tern_nn_##name##_with(NULL))
NO_OPTIONS(conv1d)
NO_OPTIONS(conv2d)
NO_OPTIONS(conv3d)
NO_OPTIONS(conv_transpose1d)
NO_OPTIONS(conv_transpose2d)
NO_OPTIONS(conv_transpose3d)

// ---- sizes --------------------------------------------------------------------------------------

#define TOO_MANY_SIZES(name, of_name)                                                              \
    REFUSES(tern_##name##1d_with, "two strides for one dimension", TERN_ERR_ARG,                   \
            of_name "1d: stride is (2, 1), but there is 1 dimension",                              \
            tern_##name##1d(CHANNELS_##name, .stride = {2, 1}))                                    \
    REFUSES(tern_##name##2d_with, "three paddings for two dimensions", TERN_ERR_ARG,               \
            of_name "2d: padding is (1, 2, 3), but there are 2 dimensions",                        \
            tern_##name##2d(CHANNELS_##name, .padding = {1, 2, 3}))
#define CHANNELS_conv              f->x, f->x, NULL
#define CHANNELS_conv_transpose    f->x, f->x, NULL
#define CHANNELS_nn_conv           3, 4, 3
#define CHANNELS_nn_conv_transpose 3, 4, 3
TOO_MANY_SIZES(conv, "conv")
TOO_MANY_SIZES(conv_transpose, "conv_transpose")
TOO_MANY_SIZES(nn_conv, "nn_conv")
TOO_MANY_SIZES(nn_conv_transpose, "nn_conv_transpose")
REFUSES(tern_conv_transpose1d_with, "two output sizes", TERN_ERR_ARG,
        "conv_transpose1d: output_size is (5, 6), but there is 1 dimension",
        tern_conv_transpose1d(f->x, f->x, NULL, .output_size = {5, 6}))
REFUSES(tern_nn_conv1d_with, "two kernel sizes", TERN_ERR_ARG,
        "nn_conv1d: kernel_size is (3, 3), but there is 1 dimension",
        tern_nn_conv1d(3, 4, .kernel_size = {3, 3}))

// ---- operands -----------------------------------------------------------------------------------

#define OPERANDS(name)                                                                             \
    NULL_AND_DEAD(tern_##name##_with, #name, "x", tern_##name(NULL, f->x, NULL),                   \
                  tern_##name(f->dead, f->x, NULL))                                                \
    NULL_AND_DEAD(tern_##name##_with, #name, "weight", tern_##name(f->x, NULL, NULL),              \
                  tern_##name(f->x, f->dead, NULL))                                                \
    REFUSES(tern_##name##_with, "a bias that died", TERN_ERR_STATE,                                \
            #name ": bias (float32 (2, 3)|died", tern_##name(f->x, f->x, f->dead))                 \
    REFUSES(tern_##name##_with, "two dtypes", TERN_ERR_DTYPE,                                      \
            #name ": x is float32 and weight is float64", tern_##name(f->x, f->doubles, NULL))     \
    REFUSES(tern_##name##_with, "integers", TERN_ERR_DTYPE, #name ": x is int64",                  \
            tern_##name(f->ints, f->ints, NULL))                                                   \
    REFUSES(tern_##name##_with, "a weight on another device", TERN_ERR_DEVICE,                     \
            #name ": x is on cpu:0 and weight on cpu:1", tern_##name(f->x, f->far, NULL))          \
    REFUSES(tern_##name##_with, "a weight of another rank", TERN_ERR_SHAPE,                        \
            #name ": weight (2, 3) is not (", tern_##name(f->x, f->x, NULL))                       \
    REFUSES(tern_##name##_with, "no groups", TERN_ERR_ARG, #name ": groups is 0",                  \
            tern_##name(f->x, f->x, NULL, .groups = 0))                                            \
    REFUSES(tern_##name##_with, "a stride of 0", TERN_ERR_ARG,                                     \
            #name ": stride is (0,|must be 1 or more", tern_##name(f->x, f->x, NULL, .stride = 0)) \
    REFUSES(tern_##name##_with, "a dilation of 0", TERN_ERR_ARG,                                   \
            #name ": dilation is (0,|must be 1 or more",                                           \
            tern_##name(f->x, f->x, NULL, .dilation = 0))                                          \
    REFUSES(tern_##name##_with, "a negative padding", TERN_ERR_ARG,                                \
            #name ": padding is (-3,|must be 0 or more",                                           \
            tern_##name(f->x, f->x, NULL, .padding = -3))                                          \
    REFUSES(tern_##name##_with, "a padding past all sizes", TERN_ERR_ARG,                          \
            #name ": padding is (4611686018427387904,|2147483647 or less",                         \
            tern_##name(f->x, f->x, NULL, .padding = INT64_C(1) << 62))                            \
    REFUSES(tern_##name##_with, "an activation that does not exist", TERN_ERR_ARG,                 \
            #name ": |activation 99",                                                              \
            tern_##name(f->x, f->x, NULL, .activation = (tern_activation)99))
OPERANDS(conv1d)
OPERANDS(conv2d)
OPERANDS(conv3d)
OPERANDS(conv_transpose1d)
OPERANDS(conv_transpose2d)
OPERANDS(conv_transpose3d)

HANDS_ON(tern_conv2d_with, "of a bias that is NULL",
         tern_conv2d(Z(1, 1, 3, 3), Z(1, 1, 1, 1), NULL))
REFUSES(tern_conv2d_with, "a rank that is neither", TERN_ERR_SHAPE,
        "conv2d: x (2, 3) has 2 dimensions|(N, C, H, W)", tern_conv2d(f->x, Z(4, 3, 1, 1), NULL))
REFUSES(tern_conv1d_with, "a rank that is neither", TERN_ERR_SHAPE,
        "conv1d: x (1, 2, 3, 4) has 4 dimensions|(N, C, L)",
        tern_conv1d(Z(1, 2, 3, 4), Z(4, 2, 1), NULL))
REFUSES(tern_conv2d_with, "other channels", TERN_ERR_SHAPE,
        "conv2d: weight (4, 5, 3, 3), groups 1: expected 5 channels, but x (2, 3, 8, 8) has 3",
        tern_conv2d(Z(2, 3, 8, 8), Z(4, 5, 3, 3), NULL))
REFUSES(tern_conv2d_with, "other channels of groups", TERN_ERR_SHAPE,
        "conv2d: weight (4, 5, 3, 3), groups 2: expected 10 channels, but x (5, 8, 8) has 5",
        tern_conv2d(Z(5, 8, 8), Z(4, 5, 3, 3), NULL, .groups = 2))
REFUSES(tern_conv_transpose2d_with, "other channels", TERN_ERR_SHAPE,
        "conv_transpose2d: weight (4, 5, 3, 3), groups 1: expected 4 channels|has 3",
        tern_conv_transpose2d(Z(2, 3, 8, 8), Z(4, 5, 3, 3), NULL))
REFUSES(tern_conv2d_with, "channels at the end", TERN_ERR_SHAPE,
        "conv2d: x (8, 28, 28, 3) looks like (N, H, W, C)|conv2d wants (N, C, H, W)|tern_permute",
        tern_conv2d(Z(8, 28, 28, 3), Z(4, 3, 3, 3), NULL))
REFUSES(tern_conv1d_with, "channels at the end", TERN_ERR_SHAPE,
        "conv1d: x (8, 28, 3) looks like (N, L, C)|(N, C, L)",
        tern_conv1d(Z(8, 28, 3), Z(4, 3, 3), NULL))
REFUSES(tern_conv2d_with, "groups that do not divide", TERN_ERR_SHAPE,
        "conv2d: weight (4, 1, 3, 3) has 4 filters|groups 3",
        tern_conv2d(Z(2, 3, 8, 8), Z(4, 1, 3, 3), NULL, .groups = 3))
REFUSES(tern_conv_transpose1d_with, "groups that do not divide", TERN_ERR_SHAPE,
        "conv_transpose1d: weight (4, 1, 3) has 4 input channels|groups 3",
        tern_conv_transpose1d(Z(2, 4, 8), Z(4, 1, 3), NULL, .groups = 3))
REFUSES(tern_conv2d_with, "a bias of another length", TERN_ERR_SHAPE,
        "conv2d: bias (3,)|weight (4, 3, 1, 1)|(4,)",
        tern_conv2d(Z(2, 3, 8, 8), Z(4, 3, 1, 1), f->vector))
REFUSES(tern_conv2d_with, "a weight without elements", TERN_ERR_SHAPE,
        "conv2d: weight (4, 0, 3, 3)", tern_conv2d(Z(2, 0, 8, 8), Z(4, 0, 3, 3), NULL))

// ---- sizes --------------------------------------------------------------------------------------

REFUSES(tern_conv1d_with, "an input too long to count", TERN_ERR_SHAPE,
        "conv1d: input (4611686018427387904,) or kernel (1,) is not below 2^31 along dimension 0",
        tern_conv1d(tern_zeros(tern_dims(0, 1, INT64_C(1) << 62)), tern_zeros(tern_dims(1, 1, 1)),
                    NULL))
REFUSES(tern_conv2d_with, "a kernel larger than the padded input", TERN_ERR_SHAPE,
        "conv2d: the kernel is larger than the padded input, (7, 3) and (6, 8): kernel (7, 3) with "
        "dilation (1, 1), input (4, 6) with padding (1, 1)",
        tern_conv2d(Z(1, 1, 4, 6), Z(1, 1, 7, 3), NULL, .padding = 1))
REFUSES(tern_conv2d_with, "a dilated kernel larger than the input", TERN_ERR_SHAPE,
        "conv2d: the kernel is larger than the padded input, (5, 5) and (4, 6): kernel (3, 3) with "
        "dilation (2, 2), input (4, 6) with padding (0, 0)",
        tern_conv2d(Z(1, 1, 4, 6), Z(1, 1, 3, 3), NULL, .dilation = 2))
REFUSES(tern_conv3d_with, "no depth", TERN_ERR_SHAPE, "conv3d: the kernel is larger|(0, 4, 4)",
        tern_conv3d(Z(1, 1, 0, 4, 4), Z(1, 1, 1, 1, 1), NULL))
REFUSES(tern_conv1d_with, "no length", TERN_ERR_SHAPE, "conv1d: the kernel is larger|(0,)",
        tern_conv1d(Z(1, 1, 0), Z(1, 1, 1), NULL))
REFUSES(tern_conv2d_with, "the input's size with a stride", TERN_ERR_ARG,
        "conv2d: padding is TERN_SAME_PADDING and stride is (1, 2)",
        tern_conv2d(f->x, f->x, NULL, .padding = TERN_SAME_PADDING, .stride = {1, 2}))
REFUSES(tern_conv_transpose2d_with, "the input's size", TERN_ERR_ARG,
        "conv_transpose2d: padding is (-2, -2)",
        tern_conv_transpose2d(f->x, f->x, NULL, .padding = TERN_SAME_PADDING))
TAKES(tern_conv2d_with, "a padding larger than the kernel",
      tern_size(tern_conv2d(Z(1, 1, 8, 8), Z(1, 1, 3, 3), NULL, .padding = 7), -1) == 20)
TAKES(tern_conv2d_with, "an empty batch",
      tern_numel(tern_conv2d(Z(0, 1, 8, 8), Z(1, 1, 3, 3), NULL)) == 0)
REFUSES(tern_conv_transpose2d_with, "no output", TERN_ERR_SHAPE,
        "conv_transpose2d: input (1, 1)|kernel (3, 3)|padding (2, 2)|output (-1, -1)",
        tern_conv_transpose2d(Z(1, 1, 1, 1), Z(1, 1, 3, 3), NULL, .padding = 2))
REFUSES(tern_conv_transpose1d_with, "no length", TERN_ERR_SHAPE, "conv_transpose1d: input (0,)",
        tern_conv_transpose1d(Z(1, 1, 0), Z(1, 1, 3), NULL, .padding = 0))
REFUSES(
    tern_conv_transpose2d_with, "an output_padding of the stride", TERN_ERR_ARG,
    "conv_transpose2d: output_padding (2, 2) must be less than stride (2, 2) or dilation (1, 1)",
    tern_conv_transpose2d(f->x, f->x, NULL, .stride = 2, .output_padding = 2))
REFUSES(tern_conv_transpose3d_with, "a negative output_padding", TERN_ERR_ARG,
        "conv_transpose3d: output_padding is (0, -3, 0)",
        tern_conv_transpose3d(f->x, f->x, NULL, .output_padding = {0, -3, 0}))
TAKES(tern_conv_transpose2d_with, "an output_padding below the dilation",
      tern_size(tern_conv_transpose2d(Z(1, 1, 2, 2), Z(1, 1, 2, 2), NULL, .dilation = 2,
                                      .output_padding = 1),
                -1) == 5)
REFUSES(tern_conv_transpose2d_with, "an output_size that the stride cannot give", TERN_ERR_SHAPE,
        "conv_transpose2d: output_size is (7, 9), but must be from (7, 7) to (8, 8)",
        tern_conv_transpose2d(Z(1, 1, 3, 3), Z(1, 1, 3, 3), NULL, .stride = 2,
                              .output_size = {7, 9}))
REFUSES(tern_conv_transpose2d_with, "an output_size of one dimension", TERN_ERR_ARG,
        "conv_transpose2d: output_size is (7, 0)",
        tern_conv_transpose2d(Z(1, 1, 3, 3), Z(1, 1, 3, 3), NULL, .output_size = {7}))
REFUSES(tern_conv_transpose2d_with, "output_size and output_padding", TERN_ERR_ARG,
        "conv_transpose2d: output_padding is (1, 1) and output_size (7, 7)|one of the two",
        tern_conv_transpose2d(f->x, f->x, NULL, .stride = 2, .output_padding = 1, .output_size = 7))

// ---- modules ------------------------------------------------------------------------------------

#define MODULE(name)                                                                               \
    REFUSES(tern_nn_##name##_with, "no channels", TERN_ERR_ARG,                                    \
            "nn_" #name ": in_channels is 0 and out_channels 4", tern_nn_##name(0, 4, 3))          \
    REFUSES(tern_nn_##name##_with, "no groups", TERN_ERR_ARG, "nn_" #name ": groups is 0",         \
            tern_nn_##name(3, 4, 3, .groups = 0))                                                  \
    REFUSES(tern_nn_##name##_with, "groups that do not divide", TERN_ERR_ARG,                      \
            "nn_" #name ": groups 3 must divide in_channels 3 and out_channels 4",                 \
            tern_nn_##name(3, 4, 3, .groups = 3))                                                  \
    REFUSES(tern_nn_##name##_with, "no kernel", TERN_ERR_ARG,                                      \
            "nn_" #name ": kernel is 0 and kernel_size (0,|one of the two", tern_nn_##name(3, 4))  \
    REFUSES(tern_nn_##name##_with, "two kernels", TERN_ERR_ARG,                                    \
            "nn_" #name ": kernel is 3 and kernel_size (5,|one of the two",                        \
            tern_nn_##name(3, 4, 3, .kernel_size = 5))                                             \
    REFUSES(tern_nn_##name##_with, "a negative kernel", TERN_ERR_ARG,                              \
            "nn_" #name ": kernel_size is (-3,", tern_nn_##name(3, 4, -3))                         \
    REFUSES(tern_nn_##name##_with, "a stride of 0", TERN_ERR_ARG, "nn_" #name ": stride is (0,",   \
            tern_nn_##name(3, 4, 3, .stride = 0))                                                  \
    REFUSES(tern_nn_##name##_with, "a dilation of 0", TERN_ERR_ARG,                                \
            "nn_" #name ": dilation is (0,", tern_nn_##name(3, 4, 3, .dilation = 0))               \
    REFUSES(tern_nn_##name##_with, "a dilation too long to count", TERN_ERR_ARG,                   \
            "nn_" #name ": dilation is (4611686018427387904|must be 2147483647 or less",           \
            tern_nn_##name(3, 4, 3, .dilation = INT64_C(1) << 62))                                 \
    REFUSES(tern_nn_##name##_with, "a negative padding", TERN_ERR_ARG,                             \
            "nn_" #name ": padding is (-1,", tern_nn_##name(3, 4, 3, .padding = -1))               \
    REFUSES(tern_nn_##name##_with, "an integer dtype", TERN_ERR_DTYPE,                             \
            "nn_" #name ": int64 is not a floating dtype",                                         \
            tern_nn_##name(3, 4, 3, .dtype = TERN_INT64))
MODULE(conv1d)
MODULE(conv2d)
MODULE(conv3d)
MODULE(conv_transpose1d)
MODULE(conv_transpose2d)
MODULE(conv_transpose3d)

REFUSES(tern_nn_conv2d_with, "the input's size with a stride", TERN_ERR_ARG,
        "nn_conv2d: padding is TERN_SAME_PADDING and stride is (2, 2)",
        tern_nn_conv2d(3, 4, 3, .padding = TERN_SAME_PADDING, .stride = 2))
REFUSES(tern_nn_conv2d_with, "a padding_mode that does not exist", TERN_ERR_ARG,
        "nn_conv2d: there is no padding_mode 99",
        tern_nn_conv2d(3, 4, 3, .padding_mode = (tern_pad_mode)99))
REFUSES(tern_nn_conv_transpose2d_with, "a negative output_padding", TERN_ERR_ARG,
        "nn_conv_transpose2d: output_padding is (-1, -1)",
        tern_nn_conv_transpose2d(3, 4, 3, .output_padding = -1))

static tern_tensor *run(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

REFUSES(tern_nn_conv2d_with, "to run on other channels", TERN_ERR_SHAPE,
        "expected 3 channels, but x (2, 5, 8, 8) has 5 [in Conv2d(3, 4, kernel_size=(3, 3)",
        run(tern_nn_conv2d(3, 4, 3), Z(2, 5, 8, 8)))
REFUSES(tern_nn_conv2d_with, "to mirror more than there is", TERN_ERR_SHAPE,
        "pad: |[in Conv2d(1, 1, kernel_size=(3, 3)|padding_mode=reflect)]",
        run(tern_nn_conv2d(1, 1, 3, .padding = 4, .padding_mode = TERN_PAD_REFLECT), Z(1, 1, 4, 4)))
