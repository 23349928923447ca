// SPDX-License-Identifier: Apache-2.0
// Making tensors, and asking (tensor.h).
#include "errors.h"

// ---- names, shapes ------------------------------------------------------------------------------

CANNOT_FAIL(tern_dtype_name, "any other number is \"unknown\"",
            strcmp(tern_dtype_name((tern_dtype)99), "unknown") == 0)
CANNOT_FAIL(tern_dtype_size, "no dtype has size 0", tern_dtype_size((tern_dtype)99) == 0)
CANNOT_FAIL(tern_dtype_is_floating, "no dtype is not floating",
            !tern_dtype_is_floating((tern_dtype)99))
CANNOT_FAIL(tern_shape_make, "what is wrong with a shape is found by the call that uses it",
            tern_shape_make(1, (int64_t[]){-5}).rank == 1)
CANNOT_FAIL(tern_axis_list_make, "what is wrong with axes is found by the call that uses them",
            tern_axis_list_make(1, (int64_t[]){9}).count == 1)
CANNOT_FAIL(tern_shape_numel, "-1 stands for a product that does not exist, without an error",
            tern_shape_numel(tern_dims(INT64_MAX, 2)) == -1)
CANNOT_FAIL(tern_shape_equal, "two numbers are compared",
            tern_shape_equal(tern_dims(2, 3), tern_dims(2, 3)))
CANNOT_FAIL(tern_default_dtype, "the thread's", tern_default_dtype() == TERN_FLOAT32)
REFUSES(tern_set_default_dtype, "integers", TERN_ERR_DTYPE,
        "set_default_dtype: int64 is not floating", tern_set_default_dtype(TERN_INT64))
TAKES(tern_dtype_name, "a number that is no dtype",
      strcmp(tern_dtype_name((tern_dtype)77), "unknown") == 0 &&
          tern_dtype_size((tern_dtype)-1) == 0)
TAKES(tern_shape_numel, "a product that overflows",
      tern_shape_numel(tern_dims(INT64_MAX, 2)) == -1 && tern_shape_numel(tern_dims(-1)) == -1)
TAKES(tern_shape_make, "NULL for no sizes", tern_shape_make(0, NULL).rank == 0)

// ---- making -------------------------------------------------------------------------------------

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_##name##_with, "options that are NULL", TERN_ERR_NULL, #name ": options is NULL", \
            tern_##name##_with(NULL))
// A macro cannot be called by a pasted name, so it is given: `make`.
#define WHERE_AND_OF_WHAT(name, make, shape)                                                       \
    NO_OPTIONS(name)                                                                               \
    REFUSES(tern_##name##_with, "a dtype that does not exist", TERN_ERR_DTYPE,                     \
            #name ": 77 is no dtype", make(shape, .dtype = (tern_dtype)77))                        \
    REFUSES(tern_##name##_with, "a device that does not exist", TERN_ERR_DEVICE,                   \
            #name ": there is no device cpu:2|2 of its kind|TERN_CPU_DEVICES",                     \
            make(shape, .device = tern_cpu(2)))                                                    \
    REFUSES(tern_##name##_with, "a device with a negative index", TERN_ERR_DEVICE,                 \
            #name ": |cpu:-1", make(shape, .device = tern_cpu(-1)))                                \
    REFUSES(tern_##name##_with, "CUDA where there is none", TERN_ERR_DEVICE, #name ": |cuda:0",    \
            make(shape, .device = tern_cuda(0)))                                                   \
    REFUSES(tern_##name##_with, "a gradient for integers", TERN_ERR_DTYPE,                         \
            #name ": |int64 cannot require a gradient",                                            \
            make(shape, .dtype = TERN_INT64, .requires_grad = true))
#define SHAPES(name, make)                                                                         \
    REFUSES(tern_##name##_with, "a negative size", TERN_ERR_SHAPE, #name ": |(2, -3)",             \
            make(tern_dims(2, -3)))                                                                \
    REFUSES(tern_##name##_with, "nine dimensions", TERN_ERR_SHAPE, #name ": 9 dimensions",         \
            make(tern_dims(1, 1, 1, 1, 1, 1, 1, 1, 1)))                                            \
    REFUSES(tern_##name##_with, "more elements than can be counted", TERN_ERR_SHAPE,               \
            #name ": |too many", make(tern_dims(INT64_MAX / 2, 3)))                                \
    REFUSES(tern_##name##_with, "more memory than there is", TERN_ERR_NOMEM,                       \
            "bytes: the result is", make(tern_dims(INT64_C(1) << 50)))

#define EMPTY(...)            tern_empty(__VA_ARGS__)
#define ZEROS(...)            tern_zeros(__VA_ARGS__)
#define ONES(...)             tern_ones(__VA_ARGS__)
#define FULL(shape, ...)      tern_full(shape, 1, __VA_ARGS__)
#define FULL_OF(...)          tern_full(__VA_ARGS__, 1)
#define FROM(shape, ...)      tern_from_data(shape, (const void *)sixteen, __VA_ARGS__)
#define FROM_ANY(...)         tern_from_data(__VA_ARGS__, sixteen)
#define ARANGE(unused, ...)   tern_arange(0, 4, 1, __VA_ARGS__)
#define LINSPACE(unused, ...) tern_linspace(0, 4, 5, __VA_ARGS__)
#define EYE(unused, ...)      tern_eye(2, 3, __VA_ARGS__)

static const int64_t sixteen[16];

WHERE_AND_OF_WHAT(empty, EMPTY, tern_dims(2))
WHERE_AND_OF_WHAT(zeros, ZEROS, tern_dims(2))
WHERE_AND_OF_WHAT(ones, ONES, tern_dims(2))
WHERE_AND_OF_WHAT(full, FULL, tern_dims(2))
WHERE_AND_OF_WHAT(from_data, FROM, tern_dims(2))
WHERE_AND_OF_WHAT(arange, ARANGE, 0)
WHERE_AND_OF_WHAT(linspace, LINSPACE, 0)
WHERE_AND_OF_WHAT(eye, EYE, 0)
SHAPES(empty, EMPTY)
SHAPES(zeros, ZEROS)
SHAPES(ones, ONES)
SHAPES(full, FULL_OF)

REFUSES(tern_full_with, "a value out of the range of the dtype", TERN_ERR_ARG,
        "full: value 256|uint8", tern_full(tern_dims(2), 256, .dtype = TERN_UINT8))
REFUSES(tern_full_with, "NaN as an integer", TERN_ERR_ARG, "full: value nan|int32",
        tern_full(tern_dims(2), NAN, .dtype = TERN_INT32))
REFUSES(tern_arange_with, "a step of 0", TERN_ERR_ARG, "arange: step is 0", tern_arange(0, 4, 0))
REFUSES(tern_arange_with, "a step that leads away", TERN_ERR_ARG, "arange: step -1|start 0, end 4",
        tern_arange(0, 4, -1))
REFUSES(tern_arange_with, "an end that is NaN", TERN_ERR_ARG, "arange: |end nan",
        tern_arange(0, NAN, 1))
REFUSES(tern_arange_with, "a fraction for integers", TERN_ERR_DTYPE, "arange: step 0.5|int64",
        tern_arange(0, 4, 0.5))
REFUSES(tern_arange_with, "bool", TERN_ERR_DTYPE, "arange: dtype is bool",
        tern_arange(0, 2, 1, .dtype = TERN_BOOL))
REFUSES(tern_arange_with, "values out of the range of the dtype", TERN_ERR_ARG,
        "arange: the last element 299|uint8", tern_arange(0, 300, 1, .dtype = TERN_UINT8))
REFUSES(tern_arange_with, "more elements than can be counted", TERN_ERR_SHAPE, "arange: |too many",
        tern_arange(0, 1e300, 1))
REFUSES(tern_linspace_with, "an end that is infinite", TERN_ERR_ARG, "linspace: |end inf",
        tern_linspace(0, INFINITY, 3))
REFUSES(tern_linspace_with, "a negative count", TERN_ERR_SHAPE, "linspace: |(-3,)",
        tern_linspace(0, 1, -3))
REFUSES(tern_linspace_with, "an end out of the range of the dtype", TERN_ERR_ARG,
        "linspace: end 300|uint8", tern_linspace(0, 300, 3, .dtype = TERN_UINT8))
REFUSES(tern_eye_with, "a negative size", TERN_ERR_SHAPE, "eye: |(2, -1)", tern_eye(2, -1))
REFUSES(tern_from_data_with, "data that is NULL", TERN_ERR_NULL, "from_data: data is NULL",
        tern_from_data(tern_dims(2), NULL))
REFUSES(tern_from_data_with, "a negative size", TERN_ERR_SHAPE, "from_data: |(2, -3)",
        tern_from_data(tern_dims(2, -3), sixteen))
REFUSES(tern_from_data_with, "a bool that is neither 0 nor 1", TERN_ERR_ARG,
        "from_data: element 1|is 7, not 0 or 1",
        tern_from_data(tern_dims(2), (const void *)"\1\7", .dtype = TERN_BOOL))
REFUSES(tern_from_data_with, "data of another type than the dtype", TERN_ERR_DTYPE,
        "from_data: the data is int64_t *, the dtype is float32",
        tern_from_data(tern_dims(2), sixteen, .dtype = TERN_FLOAT32))
REFUSES(tern_from_data_with, "words of 16 bits of no dtype", TERN_ERR_DTYPE,
        "from_data: the data is uint16_t *|TERN_BFLOAT16",
        tern_from_data(tern_dims(2), ((const uint16_t[]){1, 2})))
REFUSES(tern_from_data_with, "an array of fewer elements", TERN_ERR_SHAPE,
        "from_data: data is an array of 16 elements|(3, 7)|21",
        tern_from_data(tern_dims(3, 7), sixteen))
REFUSES(tern_from_data_with, "fewer elements in braces", TERN_ERR_SHAPE,
        "from_data: data is an array of 2 elements|(2, 3)|6",
        tern_from_data(tern_dims(2, 3), (float[]){1, 2}))
TAKES(tern_from_data_with, "NULL for no elements",
      tern_numel(tern_from_data(tern_dims(0, 3), NULL)) == 0)

#define LIKE(name) NULL_AND_DEAD(tern_##name, #name, "t", tern_##name(NULL), tern_##name(f->dead))
LIKE(empty_like)
LIKE(zeros_like)
LIKE(ones_like)
NULL_AND_DEAD(tern_full_like, "full_like", "t", tern_full_like(NULL, 1), tern_full_like(f->dead, 1))
REFUSES(tern_full_like, "a value out of the range of the dtype", TERN_ERR_ARG,
        "full_like: value -1|uint8", tern_full_like(f->bytes, -1))

#define NEW_EMPTY(t, shape)  tern_new_empty(t, shape)
#define NEW_ZEROS(t, shape)  tern_new_zeros(t, shape)
#define NEW_ONES(t, shape)   tern_new_ones(t, shape)
#define NEW_FULL(t, shape)   tern_new_full(t, shape, 1)
#define NEW_TENSOR(t, shape) (tern_new_tensor)(t, shape, (const void *)sixteen)
#define NEW(name, make)                                                                            \
    NULL_AND_DEAD(tern_##name, #name, "t", make(NULL, tern_dims(2)), make(f->dead, tern_dims(2)))  \
    REFUSES(tern_##name, "a negative size", TERN_ERR_SHAPE, #name ": |(-2,)",                      \
            make(f->x, tern_dims(-2)))                                                             \
    REFUSES(tern_##name, "more elements than can be counted", TERN_ERR_SHAPE, #name ": |too many", \
            make(f->x, tern_dims(INT64_MAX / 2, 3)))
NEW(new_empty, NEW_EMPTY)
NEW(new_zeros, NEW_ZEROS)
NEW(new_ones, NEW_ONES)
NEW(new_full, NEW_FULL)
NEW(new_tensor, NEW_TENSOR)
REFUSES(tern_new_full, "a value out of the range of the dtype", TERN_ERR_ARG,
        "new_full: value 1e+30|int64", tern_new_full(f->ints, tern_dims(2), 1e30))
REFUSES(tern_new_tensor, "data that is NULL", TERN_ERR_NULL, "new_tensor: data is NULL",
        (tern_new_tensor)(f->x, tern_dims(2), NULL))
NULL_AND_DEAD(tern_new_tensor_typed, "new_tensor", "t",
              tern_new_tensor(NULL, tern_dims(2), sixteen),
              tern_new_tensor(f->dead, tern_dims(2), sixteen))
REFUSES(tern_new_tensor_typed, "an array of fewer elements", TERN_ERR_SHAPE,
        "new_tensor: data is an array of 2 elements|(2, 3)|6",
        tern_new_tensor(f->x, tern_dims(2, 3), (float[]){1, 2}))
REFUSES(tern_new_tensor_typed, "data of another type than t", TERN_ERR_DTYPE,
        "new_tensor: the data is int64_t *, the dtype is float32",
        tern_new_tensor(f->x, tern_dims(2), sixteen))

// ---- asking -------------------------------------------------------------------------------------

#define ASKS(name, op, call_is_nothing_for)                                                        \
    NULL_AND_DEAD(name, op, "t", call_is_nothing_for(NULL), call_is_nothing_for(f->dead))
#define NO_DTYPE(t)  (tern_dtype_of(t) == TERN_DTYPE_UNSPECIFIED)
#define NO_DEVICE(t) (tern_device_of(t).type == TERN_DEVICE_UNSPECIFIED)
#define NO_SHAPE(t)  (tern_shape_of(t).rank == 0)
#define NO_RANK(t)   (tern_rank(t) == 0)
#define NO_SIZE(t)   (tern_size(t, 0) <= 0)
#define NO_STRIDE(t) (tern_stride(t, 0) == 0)
#define NO_NUMEL(t)  (tern_numel(t) == 0)
#define NOT_DENSE(t) (!tern_is_contiguous(t))
#define NO_NAME(t)   (strcmp(tern_name(t), "") == 0)
#define NO_ITEM(t)   (isnan(tern_item(t)) != 0)
#define NO_INT(t)    (tern_item_int(t) == 0)
ASKS(tern_dtype_of, "dtype_of", NO_DTYPE)
ASKS(tern_device_of, "device_of", NO_DEVICE)
ASKS(tern_shape_of, "shape_of", NO_SHAPE)
ASKS(tern_rank, "rank", NO_RANK)
ASKS(tern_size, "size", NO_SIZE)
ASKS(tern_stride, "stride", NO_STRIDE)
ASKS(tern_numel, "numel", NO_NUMEL)
ASKS(tern_is_contiguous, "is_contiguous", NOT_DENSE)
ASKS(tern_data, "data", tern_data)
ASKS(tern_name, "name", NO_NAME)
ASKS(tern_item, "item", NO_ITEM)
ASKS(tern_item_int, "item_int", NO_INT)
REFUSES(tern_size, "a dim that t does not have", TERN_ERR_ARG, "size: dim 2|2 dimensions",
        tern_size(f->x, 2) == -1)
REFUSES(tern_stride, "a dim that t does not have", TERN_ERR_ARG, "stride: dim -3|2 dimensions",
        tern_stride(f->x, -3) <= 0)
REFUSES(tern_size, "a tensor without dimensions", TERN_ERR_ARG,
        "size: t has no dimensions, so none is 0", tern_size(f->scalar, 0) == -1)
REFUSES(tern_stride, "a tensor without dimensions", TERN_ERR_ARG,
        "stride: t has no dimensions, so none is -1", tern_stride(f->scalar, -1) <= 0)
REFUSES(tern_item, "more than one element", TERN_ERR_SHAPE, "item: |(2, 3)|6 elements",
        NO_ITEM(f->x))
REFUSES(tern_item_int, "more than one element", TERN_ERR_SHAPE, "item_int: |(2, 3)|6 elements",
        NO_INT(f->ints))
REFUSES(tern_item_int, "a floating dtype", TERN_ERR_DTYPE, "item_int: t is float32|tern_item",
        NO_INT(f->scalar))

NULL_AND_DEAD(tern_to_host, "to_host", "t", tern_to_host(NULL, f->text, 24),
              tern_to_host(f->dead, f->text, 24))
REFUSES(tern_to_host, "a buffer of another size", TERN_ERR_SHAPE,
        "to_host: |(2, 3)|24 bytes, not 23", tern_to_host(f->x, f->text, 23))
REFUSES(tern_to_host, "data that is NULL", TERN_ERR_NULL, "to_host: data is NULL",
        tern_to_host(f->x, NULL, 24))
NULL_AND_DEAD(tern_from_host, "from_host", "t", tern_from_host(NULL, f->text, 24),
              tern_from_host(f->dead, f->text, 24))
REFUSES(tern_from_host, "a buffer of another size", TERN_ERR_SHAPE,
        "from_host: |(2, 3)|24 bytes, not 25", tern_from_host(f->x, f->text, 25))
REFUSES(tern_from_host, "data that is NULL", TERN_ERR_NULL, "from_host: data is NULL",
        tern_from_host(f->x, NULL, 24))
REFUSES(tern_from_host, "a leaf that requires a gradient", TERN_ERR_STATE,
        "from_host: |leaf|tern_no_grad", tern_from_host(f->leaf, f->text, 24))

static tern_status print_to_a_full_disk(const tern_tensor *t)
{
    FILE *file = fopen("/dev/full", "w");
    if (!file)
        return TERN_OK;
    tern_status status = tern_print(t, file);
    fclose(file);
    return status;
}

NULL_AND_DEAD(tern_print, "print", "t", tern_print(NULL, NULL), tern_print(f->dead, NULL))
REFUSES(tern_print, "a file that cannot be written", TERN_ERR_IO,
        "print: ", print_to_a_full_disk(f->x))
NULL_AND_DEAD(tern_format, "format", "t", tern_format(NULL, f->text, 64) == -1,
              tern_format(f->dead, f->text, 64) == -1)
REFUSES(tern_format, "a buffer that is NULL", TERN_ERR_NULL, "format: buffer is NULL",
        tern_format(f->x, NULL, 64) == -1)
