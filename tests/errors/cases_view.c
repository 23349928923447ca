// SPDX-License-Identifier: Apache-2.0
// Views, copies, and changes in place (tensor.h).
#include "errors.h"

// ---- views --------------------------------------------------------------------------------------

#define RESHAPE(name)                                                                              \
    NULL_AND_DEAD(tern_##name, #name, "t", tern_##name(NULL, tern_dims(6)),                        \
                  tern_##name(f->dead, tern_dims(6)))                                              \
    REFUSES(tern_##name, "another number of elements", TERN_ERR_SHAPE, #name ": |(2, 3)|(4,)",     \
            tern_##name(f->x, tern_dims(4)))                                                       \
    REFUSES(tern_##name, "two sizes left open", TERN_ERR_SHAPE, #name ": |(-1, -1)|-1",            \
            tern_##name(f->x, tern_dims(-1, -1)))                                                  \
    REFUSES(tern_##name, "an open size that does not come out", TERN_ERR_SHAPE,                    \
            #name ": |(4, -1)|(2, 3)", tern_##name(f->x, tern_dims(4, -1)))                        \
    REFUSES(tern_##name, "a negative size", TERN_ERR_SHAPE, #name ": |(-2, 3)",                    \
            tern_##name(f->x, tern_dims(-2, 3)))                                                   \
    REFUSES(tern_##name, "an open size of an empty tensor", TERN_ERR_SHAPE, #name ": |(0, -1)",    \
            tern_##name(f->empty, tern_dims(0, -1)))                                               \
    REFUSES(tern_##name, "nine dimensions", TERN_ERR_SHAPE, #name ": 9 dimensions",                \
            tern_##name(f->deep, tern_dims(1, 1, 1, 1, 1, 1, 1, 1, 1)))
RESHAPE(reshape)
RESHAPE(view)
REFUSES(tern_view, "strides that need a copy", TERN_ERR_SHAPE, "view: |(6,)|(3, 2)|tern_reshape",
        tern_view(f->turned, tern_dims(6)))

NULL_AND_DEAD(tern_flatten, "flatten", "t", tern_flatten(NULL, 0, -1), tern_flatten(f->dead, 0, -1))
REFUSES(tern_flatten, "a first dim that t does not have", TERN_ERR_ARG,
        "flatten: dim 2|2 dimensions", tern_flatten(f->x, 2, -1))
REFUSES(tern_flatten, "a last dim that t does not have", TERN_ERR_ARG,
        "flatten: dim 5|2 dimensions", tern_flatten(f->x, 0, 5))
REFUSES(tern_flatten, "dims in the wrong order", TERN_ERR_ARG, "flatten: dim 1 comes after dim 0",
        tern_flatten(f->x, 1, 0))

NULL_AND_DEAD(tern_transpose, "transpose", "t", tern_transpose(NULL, 0, 1),
              tern_transpose(f->dead, 0, 1))
REFUSES(tern_transpose, "a dim that t does not have", TERN_ERR_ARG, "transpose: dim 2|2 dimensions",
        tern_transpose(f->x, 0, 2))

NULL_AND_DEAD(tern_permute, "permute", "t", tern_permute(NULL, tern_axes(1, 0)),
              tern_permute(f->dead, tern_axes(1, 0)))
REFUSES(tern_permute, "too few axes", TERN_ERR_ARG, "permute: 1 axes|2 dimensions|(2, 3)",
        tern_permute(f->x, tern_axes(0)))
REFUSES(tern_permute, "an axis given twice", TERN_ERR_ARG, "permute: axis 1 comes twice",
        tern_permute(f->x, tern_axes(1, -1)))
REFUSES(tern_permute, "an axis that t does not have", TERN_ERR_ARG, "permute: dim 2",
        tern_permute(f->x, tern_axes(0, 2)))

NULL_AND_DEAD(tern_narrow, "narrow", "t", tern_narrow(NULL, 0, 0, 1), tern_narrow(f->dead, 0, 0, 1))
REFUSES(tern_narrow, "a dim that t does not have", TERN_ERR_ARG, "narrow: dim 2",
        tern_narrow(f->x, 2, 0, 1))
REFUSES(tern_narrow, "a length that leaves t", TERN_ERR_INDEX,
        "narrow: start 1 and length 3|dim 1|(2, 3)", tern_narrow(f->x, 1, 1, 3))
REFUSES(tern_narrow, "a start that leaves t", TERN_ERR_INDEX, "narrow: start -4|(2, 3)",
        tern_narrow(f->x, 1, -4, 1))
REFUSES(tern_narrow, "a negative length", TERN_ERR_INDEX, "narrow: |length -1",
        tern_narrow(f->x, 1, 0, -1))
REFUSES(tern_narrow, "a length that overflows", TERN_ERR_INDEX,
        "narrow: |length 9223372036854775807", tern_narrow(f->x, 1, 2, INT64_MAX))
REFUSES(tern_narrow, "a 0-dim tensor", TERN_ERR_SHAPE, "narrow: |() |no dimensions",
        tern_narrow(f->scalar, 0, 0, 1))

NULL_AND_DEAD(tern_slice, "slice", "t", tern_slice(NULL, 0, 0, 1, 1),
              tern_slice(f->dead, 0, 0, 1, 1))
REFUSES(tern_slice, "a dim that t does not have", TERN_ERR_ARG, "slice: dim -3",
        tern_slice(f->x, -3, 0, 1, 1))
REFUSES(tern_slice, "a step of 0", TERN_ERR_ARG, "slice: step 0", tern_slice(f->x, 0, 0, 1, 0))
REFUSES(tern_slice, "a 0-dim tensor", TERN_ERR_SHAPE, "slice: |no dimensions",
        tern_slice(f->scalar, 0, 0, 1, 1))

NULL_AND_DEAD(tern_select, "select", "t", tern_select(NULL, 0, 0), tern_select(f->dead, 0, 0))
REFUSES(tern_select, "a dim that t does not have", TERN_ERR_ARG, "select: dim 2",
        tern_select(f->x, 2, 0))
REFUSES(tern_select, "an index past the end", TERN_ERR_INDEX, "select: index 3|dim 1|(2, 3)",
        tern_select(f->x, 1, 3))
REFUSES(tern_select, "an index before the beginning", TERN_ERR_INDEX, "select: index -4|dim 1",
        tern_select(f->x, 1, -4))
REFUSES(tern_select, "a 0-dim tensor", TERN_ERR_SHAPE, "select: |no dimensions",
        tern_select(f->scalar, 0, 0))

NULL_AND_DEAD(tern_expand, "expand", "t", tern_expand(NULL, tern_dims(2, 3)),
              tern_expand(f->dead, tern_dims(2, 3)))
REFUSES(tern_expand, "a size that is not 1", TERN_ERR_SHAPE, "expand: |(4, 3)|(2, 3)|dim 0",
        tern_expand(f->x, tern_dims(4, 3)))
REFUSES(tern_expand, "fewer dimensions", TERN_ERR_SHAPE, "expand: 1 dimensions|(2, 3)",
        tern_expand(f->x, tern_dims(3)))
REFUSES(tern_expand, "nine dimensions", TERN_ERR_SHAPE, "expand: 9 dimensions",
        tern_expand(f->x, tern_dims(1, 1, 1, 1, 1, 1, 1, 2, 3)))
REFUSES(tern_expand, "-1 for a new dimension", TERN_ERR_SHAPE, "expand: |(-1, 2, 3)",
        tern_expand(f->x, tern_dims(-1, 2, 3)))
REFUSES(tern_expand, "more elements than can be counted", TERN_ERR_SHAPE, "expand: |too many",
        tern_expand(f->x, tern_dims(INT64_MAX / 4, 2, 3)))

NULL_AND_DEAD(tern_squeeze, "squeeze", "t", tern_squeeze(NULL, 0), tern_squeeze(f->dead, 0))
REFUSES(tern_squeeze, "a dim that t does not have", TERN_ERR_ARG, "squeeze: dim 2",
        tern_squeeze(f->x, 2))
NULL_AND_DEAD(tern_unsqueeze, "unsqueeze", "t", tern_unsqueeze(NULL, 0), tern_unsqueeze(f->dead, 0))
REFUSES(tern_unsqueeze, "a dim that the result does not have", TERN_ERR_ARG, "unsqueeze: dim 3",
        tern_unsqueeze(f->x, 3))
REFUSES(tern_unsqueeze, "a ninth dimension", TERN_ERR_SHAPE, "unsqueeze: |8 dimensions",
        tern_unsqueeze(f->deep, 0))

// ---- copies -------------------------------------------------------------------------------------

NULL_AND_DEAD(tern_to, "to", "t", tern_to(NULL, tern_cpu(0)), tern_to(f->dead, tern_cpu(0)))
REFUSES(tern_to, "a device that does not exist", TERN_ERR_DEVICE, "to: |cpu:2",
        tern_to(f->x, tern_cpu(2)))
REFUSES(tern_to, "CUDA where there is none", TERN_ERR_DEVICE,
        "to: there is no cuda:0: ", tern_to(f->x, tern_cuda(0)))
NULL_AND_DEAD(tern_to_dtype, "to_dtype", "t", tern_to_dtype(NULL, TERN_INT64),
              tern_to_dtype(f->dead, TERN_INT64))
REFUSES(tern_to_dtype, "a dtype that does not exist", TERN_ERR_DTYPE, "to_dtype: 77 is no dtype",
        tern_to_dtype(f->x, (tern_dtype)77))
REFUSES(tern_to_dtype, "no dtype", TERN_ERR_DTYPE, "to_dtype: 0 is no dtype",
        tern_to_dtype(f->x, TERN_DTYPE_UNSPECIFIED))

#define LIST(...) ((tern_tensor *[]){__VA_ARGS__})
#define JOIN(name)                                                                                 \
    REFUSES(tern_##name, "tensors that are NULL", TERN_ERR_NULL, #name ": tensors is NULL",        \
            tern_##name(NULL, 2, 0))                                                               \
    REFUSES(tern_##name, "a NULL among them", TERN_ERR_NULL, #name ": tensors[1] is NULL",         \
            tern_##name(LIST(f->x, NULL), 2, 0))                                                   \
    REFUSES(tern_##name, "one that died", TERN_ERR_STATE, #name ": tensors[1] (float32 (2, 3)",    \
            tern_##name(LIST(f->x, f->dead), 2, 0))                                                \
    REFUSES(tern_##name, "none", TERN_ERR_ARG, #name ": count is 0",                               \
            tern_##name(LIST(f->x), 0, 0))                                                         \
    REFUSES(tern_##name, "a negative count", TERN_ERR_ARG, #name ": count is -1",                  \
            tern_##name(LIST(f->x), -1, 0))                                                        \
    REFUSES(tern_##name, "a dim that they do not have", TERN_ERR_ARG, #name ": dim 5",             \
            tern_##name(LIST(f->x, f->x), 2, 5))                                                   \
    REFUSES(tern_##name, "sizes that differ", TERN_ERR_SHAPE,                                      \
            #name ": tensors[0]|(2, 3)|tensors[1]|(4, 5)", tern_##name(LIST(f->x, f->wide), 2, 0)) \
    REFUSES(tern_##name, "ranks that differ", TERN_ERR_SHAPE, #name ": |(2, 3)|(3,)",              \
            tern_##name(LIST(f->x, f->vector), 2, 0))                                              \
    REFUSES(tern_##name, "two dtypes", TERN_ERR_DTYPE,                                             \
            #name ": tensors[0]|float32|tensors[1]|float64",                                       \
            tern_##name(LIST(f->x, f->doubles), 2, 0))                                             \
    REFUSES(tern_##name, "two devices", TERN_ERR_DEVICE,                                           \
            #name ": tensors[0]|cpu:0|tensors[1]|cpu:1", tern_##name(LIST(f->x, f->far), 2, 0))
JOIN(cat)
JOIN(stack)
REFUSES(tern_cat, "sizes that differ in another dim", TERN_ERR_SHAPE, "cat: |differ in dim 1 only",
        tern_cat(LIST(f->x, f->wide), 2, -1))
REFUSES(tern_stack, "shapes that differ", TERN_ERR_SHAPE, "stack: |must have one shape",
        tern_stack(LIST(f->x, f->wide), 2, 0))
REFUSES(tern_cat, "0-dim tensors", TERN_ERR_SHAPE, "cat: |no dimensions",
        tern_cat(LIST(f->scalar, f->scalar), 2, 0))
REFUSES(tern_cat, "a tensor that died", TERN_ERR_STATE, "cat: tensors[1] (float32 (2, 3)|died",
        tern_cat(LIST(f->x, f->dead), 2, 0))
REFUSES(tern_stack, "a tensor that died", TERN_ERR_STATE, "stack: tensors[1] (float32 (2, 3)|died",
        tern_stack(LIST(f->x, f->dead), 2, 0))
REFUSES(tern_stack, "a ninth dimension", TERN_ERR_SHAPE, "stack: |8 dimensions",
        tern_stack(LIST(f->deep, f->deep), 2, 0))

#define CUT(name, argument)                                                                        \
    NULL_AND_DEAD(tern_##name, #name, "t", tern_##name(NULL, 1, 0, f->out, 8, &f->count),          \
                  tern_##name(f->dead, 1, 0, f->out, 8, &f->count))                                \
    REFUSES(tern_##name, "out that is NULL", TERN_ERR_NULL, #name ": out is NULL",                 \
            tern_##name(f->x, 1, 0, NULL, 8, &f->count))                                           \
    REFUSES(tern_##name, "count that is NULL", TERN_ERR_NULL, #name ": count is NULL",             \
            tern_##name(f->x, 1, 0, f->out, 8, NULL))                                              \
    REFUSES(tern_##name, "a number that is not positive", TERN_ERR_ARG, #name ": " argument " 0",  \
            tern_##name(f->x, 0, 0, f->out, 8, &f->count))                                         \
    REFUSES(tern_##name, "a dim that t does not have", TERN_ERR_ARG, #name ": dim 2",              \
            tern_##name(f->x, 1, 2, f->out, 8, &f->count))                                         \
    REFUSES(tern_##name, "a 0-dim tensor", TERN_ERR_SHAPE, #name ": |no dimensions",               \
            tern_##name(f->scalar, 1, 0, f->out, 8, &f->count))
CUT(split, "size")
CUT(chunk, "chunks")
REFUSES(tern_split, "more pieces than there is room for", TERN_ERR_ARG, "split: 3 pieces|(2, 3)|2",
        tern_split(f->x, 1, 1, f->out, 2, &f->count))
REFUSES(tern_chunk, "more pieces than there is room for", TERN_ERR_ARG, "chunk: 2 pieces|(2, 3)|1",
        tern_chunk(f->x, 2, 0, f->out, 1, &f->count))

// ---- in place -----------------------------------------------------------------------------------

#define IN_PLACE(name, call)                                                                       \
    NULL_AND_DEAD(tern_##name, #name, "t", call(NULL), call(f->dead))                              \
    REFUSES(tern_##name, "a leaf that requires a gradient", TERN_ERR_STATE,                        \
            #name ": |leaf|tern_no_grad", call(f->leaf))                                           \
    REFUSES(tern_##name, "an expanded tensor", TERN_ERR_STATE, #name ": |(4, 3)|expand",           \
            call(tern_expand(f->vector, tern_dims(4, 3))))
#define COPY(t)       tern_copy_(t, f->scalar)
#define FILL(t)       tern_fill_(t, 1)
#define ADD(t)        tern_add_(t, f->scalar, 1)
#define MUL(t)        tern_mul_(t, f->scalar)
#define ADD_SCALAR(t) tern_add_scalar_(t, 1)
#define MUL_SCALAR(t) tern_mul_scalar_(t, 2)
IN_PLACE(copy_, COPY)
IN_PLACE(fill_, FILL)
IN_PLACE(zero_, tern_zero_)
IN_PLACE(add_, ADD)
IN_PLACE(mul_, MUL)
IN_PLACE(add_scalar_, ADD_SCALAR)
IN_PLACE(mul_scalar_, MUL_SCALAR)

NULL_AND_DEAD(tern_copy_, "copy_", "source", tern_copy_(f->x, NULL), tern_copy_(f->x, f->dead))
REFUSES(tern_copy_, "a source that does not broadcast", TERN_ERR_SHAPE,
        "copy_: source|(4, 5)|t|(2, 3)", tern_copy_(f->x, f->wide))
REFUSES(tern_fill_, "a value out of the range of t", TERN_ERR_ARG, "fill_: value 300|uint8",
        tern_fill_(f->bytes, 300))
NULL_AND_DEAD(tern_add_, "add_", "other", tern_add_(f->x, NULL, 1), tern_add_(f->x, f->dead, 1))
REFUSES(tern_add_, "an operand that does not broadcast to t", TERN_ERR_SHAPE,
        "add_: other|(2, 3)|t (3,)", tern_add_(f->vector, f->x, 1))
REFUSES(tern_add_, "an operand on another device", TERN_ERR_DEVICE, "add_: t|cpu:0|other|cpu:1",
        tern_add_(f->x, f->far, 1))
REFUSES(tern_add_, "a floating operand for integers", TERN_ERR_DTYPE, "add_: |int64|float32",
        tern_add_(f->ints, f->x, 1))
REFUSES(tern_add_, "a fraction as alpha for integers", TERN_ERR_DTYPE, "add_: alpha 0.5|int64",
        tern_add_(f->ints, f->ints, 0.5))
NULL_AND_DEAD(tern_mul_, "mul_", "other", tern_mul_(f->x, NULL), tern_mul_(f->x, f->dead))
REFUSES(tern_mul_, "an operand that does not broadcast to t", TERN_ERR_SHAPE,
        "mul_: other|(4, 5)|t (2, 3)", tern_mul_(f->x, f->wide))
REFUSES(tern_mul_, "an operand on another device", TERN_ERR_DEVICE, "mul_: t|cpu:0|other|cpu:1",
        tern_mul_(f->x, f->far))
REFUSES(tern_mul_, "a floating operand for integers", TERN_ERR_DTYPE, "mul_: |int64|float32",
        tern_mul_(f->ints, f->x))
REFUSES(tern_add_scalar_, "a fraction for integers", TERN_ERR_DTYPE, "add_scalar_: value 0.5|int64",
        tern_add_scalar_(f->ints, 0.5))
REFUSES(tern_add_scalar_, "a bool", TERN_ERR_DTYPE, "add_scalar_: t is bool",
        tern_add_scalar_(f->bools, 1))
REFUSES(tern_mul_scalar_, "a fraction for integers", TERN_ERR_DTYPE, "mul_scalar_: value 0.5|int64",
        tern_mul_scalar_(f->ints, 0.5))
REFUSES(tern_mul_scalar_, "a bool", TERN_ERR_DTYPE, "mul_scalar_: t is bool",
        tern_mul_scalar_(f->bools, 1))
