// SPDX-License-Identifier: Apache-2.0
// ops/shuffle.h, unflatten, normalize, their modules, and containers by name.
#include "errors.h"

static tern_tensor *run(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

// ---- shapes -------------------------------------------------------------------------------------

#define UNARY_OF(name, argument, ...)                                                              \
    NULL_AND_DEAD(tern_##name, #name, argument, tern_##name(NULL, __VA_ARGS__),                    \
                  tern_##name(f->dead, __VA_ARGS__))
UNARY_OF(unflatten, "t", 1, tern_dims(3, 1))
UNARY_OF(pixel_shuffle, "x", 2)
UNARY_OF(pixel_unshuffle, "x", 2)
UNARY_OF(channel_shuffle, "x", 2)

REFUSES(tern_unflatten, "sizes of another product", TERN_ERR_SHAPE,
        "unflatten: (2, 2) does not multiply to 3|dim 1|(2, 3)",
        tern_unflatten(f->x, 1, tern_dims(2, 2)))
REFUSES(tern_unflatten, "a -1 that does not come out", TERN_ERR_SHAPE,
        "unflatten: (2, -1) does not multiply to 3|dim 1",
        tern_unflatten(f->x, -1, tern_dims(2, -1)))
REFUSES(tern_unflatten, "two sizes that are open", TERN_ERR_SHAPE, "unflatten: |(-1, -1)|one size",
        tern_unflatten(f->x, 1, tern_dims(-1, -1)))
REFUSES(tern_unflatten, "a -1 beside a 0", TERN_ERR_SHAPE, "unflatten: (0, -1)|to 0|dim 0",
        tern_unflatten(f->empty, 0, tern_dims(0, -1)))
REFUSES(tern_unflatten, "a negative size", TERN_ERR_SHAPE, "unflatten: |(-3, -1)|negative",
        tern_unflatten(f->x, 1, tern_dims(-3, -1)))
REFUSES(tern_unflatten, "no sizes", TERN_ERR_SHAPE, "unflatten: no sizes for dim 1",
        tern_unflatten(f->x, 1, tern_dims()))
REFUSES(tern_unflatten, "a dim that is not there", TERN_ERR_ARG, "unflatten: dim 2|2 dimensions",
        tern_unflatten(f->x, 2, tern_dims(3, 1)))
REFUSES(tern_unflatten, "no dimension", TERN_ERR_SHAPE, "unflatten: t is float32 ()|no dimension",
        tern_unflatten(f->scalar, 0, tern_dims(1, 1)))
REFUSES(tern_unflatten, "too many dimensions", TERN_ERR_SHAPE, "unflatten: (1, 1)|more than 8",
        tern_unflatten(f->deep, 0, tern_dims(1, 1)))
REFUSES(tern_pixel_shuffle, "channels that the square does not divide", TERN_ERR_SHAPE,
        "pixel_shuffle: x float32 (6, 3, 4)|6 channels|= 4",
        tern_pixel_shuffle(tern_ones(tern_dims(6, 3, 4)), 2))
REFUSES(tern_pixel_shuffle, "two dimensions", TERN_ERR_SHAPE,
        "pixel_shuffle: x is float32 (2, 3)|(.., C, H, W)", tern_pixel_shuffle(f->x, 2))
REFUSES(tern_pixel_shuffle, "a factor of 0", TERN_ERR_ARG, "pixel_shuffle: upscale_factor is 0",
        tern_pixel_shuffle(f->deep, 0))
REFUSES(tern_pixel_shuffle, "a factor whose square is no int64", TERN_ERR_ARG,
        "pixel_shuffle: upscale_factor is 3037000500|below 2^15",
        tern_pixel_shuffle(f->deep, 3037000500))
REFUSES(tern_pixel_unshuffle, "a height that is not divided", TERN_ERR_SHAPE,
        "pixel_unshuffle: x float32 (2, 5, 4)|5 high and 4 wide|= 2",
        tern_pixel_unshuffle(tern_ones(tern_dims(2, 5, 4)), 2))
REFUSES(tern_pixel_unshuffle, "a width that is not divided", TERN_ERR_SHAPE,
        "pixel_unshuffle: |4 high and 5 wide|= 2",
        tern_pixel_unshuffle(tern_ones(tern_dims(2, 4, 5)), 2))
REFUSES(tern_pixel_unshuffle, "a negative factor", TERN_ERR_ARG,
        "pixel_unshuffle: downscale_factor is -2", tern_pixel_unshuffle(f->deep, -2))
REFUSES(tern_channel_shuffle, "groups that do not divide", TERN_ERR_SHAPE,
        "channel_shuffle: |(2, 3, 4)|3 channels|2 groups",
        tern_channel_shuffle(tern_ones(tern_dims(2, 3, 4)), 2))
REFUSES(tern_channel_shuffle, "two dimensions", TERN_ERR_SHAPE,
        "channel_shuffle: x is float32 (2, 3)|(N, C, ..)", tern_channel_shuffle(f->x, 3))
REFUSES(tern_channel_shuffle, "no groups", TERN_ERR_ARG, "channel_shuffle: groups is 0",
        tern_channel_shuffle(f->deep, 0))

REFUSES(tern_nn_unflatten, "no sizes", TERN_ERR_SHAPE, "nn_unflatten: 0 sizes",
        tern_nn_unflatten(1, tern_dims()))
REFUSES(tern_nn_unflatten, "two sizes that are open", TERN_ERR_SHAPE,
        "nn_unflatten: (-1, -1)|one may be -1", tern_nn_unflatten(1, tern_dims(-1, -1)))
REFUSES(tern_nn_unflatten, "an input of another size", TERN_ERR_SHAPE,
        "unflatten: (2, 2)|to 3|[in Unflatten(dim=1, unflattened_size=(2, 2))]",
        run(tern_nn_unflatten(1, tern_dims(2, 2)), f->x))
REFUSES(tern_nn_pixel_shuffle, "a factor of 0", TERN_ERR_ARG,
        "nn_pixel_shuffle: upscale_factor is 0", tern_nn_pixel_shuffle(0))
REFUSES(tern_nn_pixel_shuffle, "an input of too few channels", TERN_ERR_SHAPE,
        "pixel_shuffle: |1 channels|= 9|[in PixelShuffle(upscale_factor=3)]",
        run(tern_nn_pixel_shuffle(3), f->deep))
REFUSES(tern_nn_pixel_unshuffle, "a negative factor", TERN_ERR_ARG,
        "nn_pixel_unshuffle: downscale_factor is -1", tern_nn_pixel_unshuffle(-1))
REFUSES(tern_nn_channel_shuffle, "no groups", TERN_ERR_ARG, "nn_channel_shuffle: groups is 0",
        tern_nn_channel_shuffle(0))

// ---- normalize ----------------------------------------------------------------------------------

REFUSES(tern_normalize_with, "options that are NULL", TERN_ERR_NULL, "normalize: options is NULL",
        tern_normalize_with(NULL))
NULL_AND_DEAD(tern_normalize_with, "normalize", "x", tern_normalize(NULL), tern_normalize(f->dead))
REFUSES(tern_normalize_with, "a dim that is not there", TERN_ERR_ARG,
        "normalize: dim 1|1 dimensions", tern_normalize(f->vector))
REFUSES(tern_normalize_with, "integers", TERN_ERR_DTYPE, "normalize: x is int64|floating",
        tern_normalize(f->ints))
REFUSES(tern_normalize_with, "an eps that is NaN", TERN_ERR_ARG, "normalize: p is 2 and eps is nan",
        tern_normalize(f->x, .eps = NAN))

// ---- by name ------------------------------------------------------------------------------------

static const tern_nn_named_module nobody = {"a", NULL};
static const tern_nn_named_tensor nothing = {"a", NULL};

REFUSES(tern_nn_module_dict_new, "children that are NULL", TERN_ERR_NULL,
        "nn_module_dict: children is NULL", tern_nn_module_dict_new(2, NULL))
REFUSES(tern_nn_module_dict_new, "a negative count", TERN_ERR_ARG, "nn_module_dict: -1 children",
        tern_nn_module_dict_new(-1, &nobody))
REFUSES(tern_nn_module_dict_new, "a child that is NULL", TERN_ERR_NULL,
        "nn_module_dict: child \"b\" is NULL",
        tern_nn_module_dict({"a", tern_nn_relu()}, {"b", NULL}, {"c", tern_nn_relu()}))
REFUSES(tern_nn_module_dict_new, "a name that is NULL", TERN_ERR_NULL,
        "nn_module_dict: the name of child 1 is NULL",
        tern_nn_module_dict({"a", tern_nn_relu()}, {NULL, tern_nn_relu()}))
REFUSES(tern_nn_module_dict_new, "a name with a dot", TERN_ERR_ARG,
        "\"a.b\" cannot be a name in ModuleDict|no dot",
        tern_nn_module_dict({"a.b", tern_nn_relu()}, {"c", tern_nn_relu()}))
REFUSES(tern_nn_module_dict_new, "an empty name", TERN_ERR_ARG,
        "\"\" cannot be a name in ModuleDict|not empty", tern_nn_module_dict({"", tern_nn_relu()}))
REFUSES(tern_nn_module_dict_new, "a name that comes twice", TERN_ERR_ARG,
        "ModuleDict already has a \"a\"",
        tern_nn_module_dict({"a", tern_nn_relu()}, {"a", tern_nn_relu()}))
REFUSES(tern_nn_module_dict_new, "to be run itself", TERN_ERR_STATE,
        "ModuleDict only holds modules|tern_module_child|[in ModuleDict]",
        run(tern_nn_module_dict({"a", tern_nn_relu()}), f->x))

REFUSES(tern_nn_parameter_list_new, "tensors that are NULL", TERN_ERR_NULL,
        "nn_parameter_list: tensors is NULL", tern_nn_parameter_list_new(2, NULL))
REFUSES(tern_nn_parameter_list_new, "a negative count", TERN_ERR_ARG,
        "nn_parameter_list: -1 parameters", tern_nn_parameter_list_new(-1, &f->x))
REFUSES(tern_nn_parameter_list_new, "a tensor that is NULL", TERN_ERR_NULL,
        "nn_parameter_list: parameter \"1\" is NULL", tern_nn_parameter_list(f->wide, NULL))
REFUSES(tern_nn_parameter_list_new, "a tensor that died", TERN_ERR_STATE,
        "nn_parameter_list: parameter \"0\" (float32 (2, 3), made by neg) died",
        tern_nn_parameter_list(f->dead))
REFUSES(tern_nn_parameter_list_new, "integers", TERN_ERR_DTYPE, "\"0\" is int64 (2, 3)|floating",
        tern_nn_parameter_list(f->ints))
REFUSES(tern_nn_parameter_list_new, "a tensor with history", TERN_ERR_STATE, "\"0\"|history",
        tern_nn_parameter_list(f->made))
REFUSES(tern_nn_parameter_list_new, "a failure after a tensor that was fine", TERN_ERR_DTYPE,
        "\"1\" is int64", tern_nn_parameter_list(f->wide, f->ints))
REFUSES(tern_nn_parameter_list_new, "to be run", TERN_ERR_STATE,
        "ParameterList only holds parameters|tern_module_parameter|[in ParameterList]",
        run(tern_nn_parameter_list(tern_ones(tern_dims(2))), f->x))

REFUSES(tern_nn_parameter_dict_new, "tensors that are NULL", TERN_ERR_NULL,
        "nn_parameter_dict: tensors is NULL", tern_nn_parameter_dict_new(2, NULL))
REFUSES(tern_nn_parameter_dict_new, "a negative count", TERN_ERR_ARG,
        "nn_parameter_dict: -1 parameters", tern_nn_parameter_dict_new(-1, &nothing))
REFUSES(tern_nn_parameter_dict_new, "a tensor that is NULL", TERN_ERR_NULL,
        "nn_parameter_dict: parameter \"a\" is NULL", tern_nn_parameter_dict({"a", NULL}))
REFUSES(tern_nn_parameter_dict_new, "a name that is NULL", TERN_ERR_NULL,
        "nn_parameter_dict: the name of parameter 0 is NULL",
        tern_nn_parameter_dict({NULL, tern_ones(tern_dims(2))}))
REFUSES(tern_nn_parameter_dict_new, "a name with a dot", TERN_ERR_ARG,
        "\"a.b\" cannot be a name in ParameterDict",
        tern_nn_parameter_dict({"a.b", tern_ones(tern_dims(2))}))
REFUSES(tern_nn_parameter_dict_new, "a name that comes twice", TERN_ERR_ARG,
        "ParameterDict already has a \"a\"",
        tern_nn_parameter_dict({"a", tern_ones(tern_dims(2))}, {"a", tern_ones(tern_dims(2))}))
