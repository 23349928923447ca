// SPDX-License-Identifier: Apache-2.0
// Reductions, products, softmax, losses and indexing (ops.h).
#include "errors.h"

// ---- reductions ---------------------------------------------------------------------------------

// `...` is what stands between x and keepdim, for axes.
#define AXES_CASES(name, call)                                                                     \
    NULL_AND_DEAD(tern_##name, #name, "x", call(NULL, TERN_ALL_AXES),                              \
                  call(f->dead, TERN_ALL_AXES))                                                    \
    REFUSES(tern_##name, "an axis that x does not have", TERN_ERR_ARG,                             \
            #name ": dim 2 is out of range|2 dimensions|-2 to 1", call(f->x, tern_axes(0, 2)))     \
    REFUSES(tern_##name, "an axis given twice", TERN_ERR_ARG, #name ": axis 1 is there twice",     \
            call(f->x, tern_axes(1, -1)))                                                          \
    REFUSES(tern_##name, "more axes than there can be", TERN_ERR_ARG, #name ": 9 axes",            \
            call(f->x, tern_axes(0, 1, 2, 3, 4, 5, 6, 7, 8)))                                      \
    REFUSES(tern_##name, "a count of axes below -1", TERN_ERR_ARG, #name ": -7 axes",              \
            call(f->x, (tern_axis_list){.count = -7}))
#define ONLY_FLOATING(name, call)                                                                  \
    REFUSES(tern_##name, "integers", TERN_ERR_DTYPE, #name ": x is int64",                         \
            call(f->ints, TERN_ALL_AXES))

#define SUM(x, axes)  tern_sum(x, axes, false)
#define MEAN(x, axes) tern_mean(x, axes, false)
#define VAR(x, axes)  tern_var(x, axes, 1, false)
#define STD(x, axes)  tern_std(x, axes, 1, false)
#define AMAX(x, axes) tern_amax(x, axes, false)
#define AMIN(x, axes) tern_amin(x, axes, false)
#define NORM(x, axes) tern_norm(x, 2, axes, false)
#define ANY(x, axes)  tern_any(x, axes, true)
#define ALL(x, axes)  tern_all(x, axes, true)

AXES_CASES(sum, SUM)
AXES_CASES(mean, MEAN)
AXES_CASES(var, VAR)
AXES_CASES(std, STD)
AXES_CASES(amax, AMAX)
AXES_CASES(amin, AMIN)
AXES_CASES(norm, NORM)
AXES_CASES(any, ANY)
AXES_CASES(all, ALL)
ONLY_FLOATING(mean, MEAN)
ONLY_FLOATING(var, VAR)
ONLY_FLOATING(std, STD)
ONLY_FLOATING(norm, NORM)
REFUSES(tern_amax, "no elements", TERN_ERR_SHAPE, "amax: x (0, 3)|largest",
        AMAX(f->empty, TERN_ALL_AXES))
REFUSES(tern_amin, "no elements along the axis", TERN_ERR_SHAPE, "amin: x (0, 3)|smallest",
        AMIN(f->empty, tern_axes(0)))
REFUSES(tern_norm, "a p that is NaN", TERN_ERR_ARG, "norm: p is NaN",
        tern_norm(f->x, NAN, TERN_ALL_AXES, false))
REFUSES(tern_norm, "the largest of no elements", TERN_ERR_SHAPE, "norm: x (0, 3)",
        tern_norm(f->empty, INFINITY, TERN_ALL_AXES, false))

REFUSES(tern_mean_all, "integers", TERN_ERR_DTYPE, "mean: x is int64", tern_mean_all(f->ints))
TAKES(tern_sum_all, "no elements", tern_sum_all(f->empty))

REFUSES(tern_accuracy, "a label too many", TERN_ERR_SHAPE,
        "accuracy: input (4, 5) and target (2,) do not fit: target must be (4,)",
        tern_accuracy(f->wide, f->labels))
REFUSES(tern_accuracy, "probabilities", TERN_ERR_DTYPE, "accuracy: target is float32|labels",
        tern_accuracy(f->x, f->x))
REFUSES(tern_accuracy, "an input without classes", TERN_ERR_SHAPE, "accuracy: input has no dim",
        tern_accuracy(f->scalar, f->labels))
REFUSES(tern_accuracy, "operands on two devices", TERN_ERR_DEVICE,
        "accuracy: input is on cpu:1 and target on cpu:0", tern_accuracy(f->far, f->labels))

#define DIM_CASES(name, call)                                                                      \
    NULL_AND_DEAD(tern_##name, #name, "x", call(NULL, 0), call(f->dead, 0))                        \
    REFUSES(tern_##name, "a dim that x does not have", TERN_ERR_ARG,                               \
            #name ": dim -3 is out of range|2 dimensions|-2 to 1", call(f->x, -3))
#define OF_SOMETHING(name, call)                                                                   \
    REFUSES(tern_##name, "no elements", TERN_ERR_SHAPE, #name ": x (0, 3)|dimension 0",            \
            call(f->empty, 0))

#define MAX(x, dim)    tern_max(x, dim, false, f->out)
#define MIN(x, dim)    tern_min(x, dim, false, NULL)
#define ARGMAX(x, dim) tern_argmax(x, dim, false)
#define ARGMIN(x, dim) tern_argmin(x, dim, false)

DIM_CASES(max, MAX)
DIM_CASES(min, MIN)
DIM_CASES(argmax, ARGMAX)
DIM_CASES(argmin, ARGMIN)
DIM_CASES(cumsum, tern_cumsum)
#define SORT(x, dim)    tern_sort(x, dim, false, f->out)
#define ARGSORT(x, dim) tern_argsort(x, dim, false)
#define TOPK(x, dim)    tern_topk(x, 1, dim, true, f->out)
DIM_CASES(sort, SORT)
DIM_CASES(argsort, ARGSORT)
DIM_CASES(topk, TOPK)
REFUSES(tern_topk, "more than there are", TERN_ERR_ARG,
        "topk: k is 4, but x (2, 3) has 3 elements along dimension 1",
        tern_topk(f->x, 4, -1, true, f->out))
REFUSES(tern_topk, "fewer than none", TERN_ERR_ARG, "topk: k is -1, but x (2, 3) has 2 elements",
        tern_topk(f->x, -1, 0, true, NULL))
REFUSES(tern_topk, "none of a 0-dim tensor", TERN_ERR_ARG, "topk: k is 0|no dimension",
        tern_topk(f->scalar, 0, 0, true, NULL))
OF_SOMETHING(max, MAX)
OF_SOMETHING(min, MIN)
OF_SOMETHING(argmax, ARGMAX)
OF_SOMETHING(argmin, ARGMIN)

// ---- products -----------------------------------------------------------------------------------

REFUSES(tern_matmul, "sizes that do not meet", TERN_ERR_SHAPE, "matmul: a (2, 3)|b (4, 5)|3|4",
        tern_matmul(f->x, f->wide))
REFUSES(tern_matmul, "a 0-dim operand", TERN_ERR_SHAPE, "matmul: a (2, 3)|b ()",
        tern_matmul(f->x, f->scalar))
REFUSES(tern_matmul, "leading sizes that do not broadcast", TERN_ERR_SHAPE,
        "matmul: a's leading sizes (2,)|b's leading sizes (3,)",
        tern_matmul(tern_zeros(tern_dims(2, 1, 2)), tern_zeros(tern_dims(3, 2, 1))))
REFUSES(tern_matmul, "two dtypes", TERN_ERR_DTYPE, "matmul: a is float32 and b is float64",
        tern_matmul(f->turned, f->doubles))
REFUSES(tern_matmul, "integers", TERN_ERR_DTYPE, "matmul: a is int64|floating",
        tern_matmul(f->ints, f->ints))
REFUSES(tern_matmul, "operands on two devices", TERN_ERR_DEVICE,
        "matmul: a is on cpu:0 and b on cpu:1", tern_matmul(f->turned, f->far))

#define LINEAR(x, weight, bias) tern_linear(x, weight, bias, TERN_ACT_NONE)
NULL_AND_DEAD(tern_linear, "linear", "x", LINEAR(NULL, f->x, NULL), LINEAR(f->dead, f->x, NULL))
NULL_AND_DEAD(tern_linear, "linear", "weight", LINEAR(f->x, NULL, NULL),
              LINEAR(f->x, f->dead, NULL))
REFUSES(tern_linear, "a bias that died", TERN_ERR_STATE, "linear: bias (float32 (2, 3)|died",
        LINEAR(f->x, f->x, f->dead))
REFUSES(tern_linear, "features that do not meet", TERN_ERR_SHAPE,
        "linear: x (2, 3)|weight (4, 5)|3|5", LINEAR(f->x, f->wide, NULL))
REFUSES(tern_linear, "a weight that is no matrix", TERN_ERR_SHAPE, "linear: weight (3,)|(Out, In)",
        LINEAR(f->x, f->vector, NULL))
REFUSES(tern_linear, "a bias of another length", TERN_ERR_SHAPE, "linear: bias (3,)|weight (2, 3)",
        LINEAR(f->x, f->x, f->vector))
REFUSES(tern_linear, "two dtypes", TERN_ERR_DTYPE, "linear: x is float32 and weight is float64",
        LINEAR(f->x, f->doubles, NULL))
REFUSES(tern_linear, "integers", TERN_ERR_DTYPE, "linear: x is int64",
        LINEAR(f->ints, f->ints, NULL))
REFUSES(tern_linear, "a weight on another device", TERN_ERR_DEVICE,
        "linear: x is on cpu:0 and weight on cpu:1|tern_module_to", LINEAR(f->x, f->far, NULL))
REFUSES(tern_linear, "an activation that does not exist", TERN_ERR_ARG, "linear: |activation 99",
        tern_linear(f->x, f->x, NULL, (tern_activation)99))

HANDS_ON(tern_linear, "of a bias that is NULL", LINEAR(f->x, f->x, NULL))
TAKES(tern_linear, "no bias", LINEAR(f->x, f->x, NULL) != NULL)

// ---- softmax and losses -------------------------------------------------------------------------

DIM_CASES(softmax, tern_softmax)
DIM_CASES(log_softmax, tern_log_softmax)
REFUSES(tern_softmax, "integers", TERN_ERR_DTYPE, "softmax: x is int64", tern_softmax(f->ints, 0))
REFUSES(tern_log_softmax, "integers", TERN_ERR_DTYPE, "log_softmax: x is int64",
        tern_log_softmax(f->ints, 0))

REFUSES(tern_cross_entropy_with, "options that are NULL", TERN_ERR_NULL,
        "cross_entropy: options is NULL", tern_cross_entropy_with(NULL))
NULL_AND_DEAD(tern_cross_entropy_with, "cross_entropy", "input",
              tern_cross_entropy(NULL, f->labels), tern_cross_entropy(f->dead, f->labels))
NULL_AND_DEAD(tern_cross_entropy_with, "cross_entropy", "target", tern_cross_entropy(f->x, NULL),
              tern_cross_entropy(f->x, f->dead))
REFUSES(tern_cross_entropy_with, "a weight that died", TERN_ERR_STATE,
        "cross_entropy: weight (float32 (2, 3)",
        tern_cross_entropy(f->x, f->labels, .weight = f->dead))
REFUSES(tern_cross_entropy_with, "a 0-dim input", TERN_ERR_SHAPE,
        "cross_entropy: input has no dimensions", tern_cross_entropy(f->scalar, f->labels))
REFUSES(tern_cross_entropy_with, "integer logits", TERN_ERR_DTYPE, "cross_entropy: input|int64",
        tern_cross_entropy(f->ints, f->labels))
REFUSES(tern_cross_entropy_with, "labels of another number of samples", TERN_ERR_SHAPE,
        "cross_entropy: |(4, 5)|target|(2,)|labels|(4,)", tern_cross_entropy(f->wide, f->labels))
REFUSES(tern_cross_entropy_with, "a column of labels", TERN_ERR_SHAPE,
        "cross_entropy: |(2, 3)|target (2, 1)|labels|(2,)",
        tern_cross_entropy(f->x, tern_unsqueeze(f->labels, 1)))
REFUSES(tern_cross_entropy_with, "labels of a small dtype", TERN_ERR_DTYPE,
        "cross_entropy: target|uint8", tern_cross_entropy(f->x, f->bytes))
REFUSES(tern_cross_entropy_with, "probabilities of another shape", TERN_ERR_SHAPE,
        "cross_entropy: |target|(2, 3)|(4, 5)", tern_cross_entropy(f->x, f->wide))
REFUSES(tern_cross_entropy_with, "a weight of another length", TERN_ERR_SHAPE,
        "cross_entropy: |3 classes|weight is (2, 3)",
        tern_cross_entropy(f->x, f->labels, .weight = f->x))
REFUSES(tern_cross_entropy_with, "a weight of another dtype", TERN_ERR_DTYPE,
        "cross_entropy: input is float32 and weight is float64",
        tern_cross_entropy(f->x, f->labels,
                           .weight = tern_ones(tern_dims(3), .dtype = TERN_FLOAT64)))
REFUSES(tern_cross_entropy_with, "a target on another device", TERN_ERR_DEVICE,
        "cross_entropy: |input|cpu:0|target|cpu:1",
        tern_cross_entropy(f->x, tern_to(f->labels, tern_cpu(1))))
REFUSES(tern_cross_entropy_with, "a weight on another device", TERN_ERR_DEVICE,
        "cross_entropy: |weight|cpu:1|tern_module_to",
        tern_cross_entropy(f->x, f->labels, .weight = tern_to(f->vector, tern_cpu(1))))
REFUSES(tern_cross_entropy_with, "a label_smoothing above 1", TERN_ERR_ARG,
        "cross_entropy: label_smoothing is 1.5",
        tern_cross_entropy(f->x, f->labels, .label_smoothing = 1.5))
REFUSES(tern_cross_entropy_with, "a label_smoothing that is NaN", TERN_ERR_ARG,
        "cross_entropy: label_smoothing is nan",
        tern_cross_entropy(f->x, f->labels, .label_smoothing = NAN))
REFUSES(tern_cross_entropy_with, "a reduction that does not exist", TERN_ERR_ARG,
        "cross_entropy: |reduction|9",
        tern_cross_entropy(f->x, f->labels, .reduction = (tern_reduction)9))

HANDS_ON(tern_cross_entropy_with, "of a weight that is NULL", tern_cross_entropy(f->x, f->labels))
TAKES(tern_cross_entropy_with, "no weight", tern_cross_entropy(f->x, f->labels) != NULL)
REFUSES(tern_cross_entropy_with, "a label that is no class", TERN_ERR_INDEX,
        "cross_entropy: label of sample 1 is 2, but must be 0 to 1",
        tern_cross_entropy(tern_zeros(tern_dims(2, 2)), f->labels))
REFUSES(tern_cross_entropy_with, "a negative label that is not ignore_index", TERN_ERR_INDEX,
        "cross_entropy: label of sample 0 is -1, but must be 0 to 2",
        tern_cross_entropy(f->x, tern_full(tern_dims(2), -1, .dtype = TERN_INT64)))

REFUSES(tern_mse_loss, "shapes that differ", TERN_ERR_SHAPE, "mse_loss: input|(2, 3)|target|(3,)",
        tern_mse_loss(f->x, f->vector, TERN_REDUCTION_MEAN))
NULL_AND_DEAD(tern_mse_loss, "mse_loss", "input", tern_mse_loss(NULL, f->x, TERN_REDUCTION_MEAN),
              tern_mse_loss(f->dead, f->x, TERN_REDUCTION_MEAN))
NULL_AND_DEAD(tern_mse_loss, "mse_loss", "target", tern_mse_loss(f->x, NULL, TERN_REDUCTION_MEAN),
              tern_mse_loss(f->x, f->dead, TERN_REDUCTION_MEAN))
REFUSES(tern_mse_loss, "two dtypes", TERN_ERR_DTYPE,
        "mse_loss: input is float32 and target is float64",
        tern_mse_loss(f->x, f->doubles, TERN_REDUCTION_MEAN))
REFUSES(tern_mse_loss, "integers", TERN_ERR_DTYPE, "mse_loss: input is int64",
        tern_mse_loss(f->ints, f->ints, TERN_REDUCTION_SUM))
REFUSES(tern_mse_loss, "operands on two devices", TERN_ERR_DEVICE,
        "mse_loss: input is on cpu:0 and target on cpu:1",
        tern_mse_loss(f->x, f->far, TERN_REDUCTION_NONE))
REFUSES(tern_mse_loss, "a reduction that does not exist", TERN_ERR_ARG, "mse_loss: |reduction|9",
        tern_mse_loss(f->x, f->x, (tern_reduction)9))
REFUSES(tern_l1_loss, "shapes that differ", TERN_ERR_SHAPE, "l1_loss: input|(2, 3)|target|(3,)",
        tern_l1_loss(f->x, f->vector, TERN_REDUCTION_MEAN))
NULL_AND_DEAD(tern_l1_loss, "l1_loss", "input", tern_l1_loss(NULL, f->x, TERN_REDUCTION_MEAN),
              tern_l1_loss(f->dead, f->x, TERN_REDUCTION_MEAN))
NULL_AND_DEAD(tern_l1_loss, "l1_loss", "target", tern_l1_loss(f->x, NULL, TERN_REDUCTION_MEAN),
              tern_l1_loss(f->x, f->dead, TERN_REDUCTION_MEAN))
REFUSES(tern_l1_loss, "two dtypes", TERN_ERR_DTYPE,
        "l1_loss: input is float32 and target is float64",
        tern_l1_loss(f->x, f->doubles, TERN_REDUCTION_MEAN))
REFUSES(tern_l1_loss, "integers", TERN_ERR_DTYPE, "l1_loss: input is int64",
        tern_l1_loss(f->ints, f->ints, TERN_REDUCTION_SUM))
REFUSES(tern_l1_loss, "operands on two devices", TERN_ERR_DEVICE,
        "l1_loss: input is on cpu:0 and target on cpu:1",
        tern_l1_loss(f->x, f->far, TERN_REDUCTION_NONE))
REFUSES(tern_l1_loss, "a reduction that does not exist", TERN_ERR_ARG, "l1_loss: |reduction|9",
        tern_l1_loss(f->x, f->x, (tern_reduction)9))

// ---- indexing -----------------------------------------------------------------------------------

#define INDEX_CASES(name)                                                                          \
    NULL_AND_DEAD(tern_##name, #name, "x", tern_##name(NULL, 0, f->labels),                        \
                  tern_##name(f->dead, 0, f->labels))                                              \
    NULL_AND_DEAD(tern_##name, #name, "index", tern_##name(f->x, 0, NULL),                         \
                  tern_##name(f->x, 0, f->dead))                                                   \
    REFUSES(tern_##name, "a dim that x does not have", TERN_ERR_ARG, #name ": dim 2|2 dimensions", \
            tern_##name(f->x, 2, f->ints))                                                         \
    REFUSES(tern_##name, "an index that is not int64", TERN_ERR_DTYPE, #name ": index|float32",    \
            tern_##name(f->x, 0, f->x))                                                            \
    REFUSES(tern_##name, "an index on another device", TERN_ERR_DEVICE, #name ": |cpu:1|cpu:0",    \
            tern_##name(f->far, 0, f->ints))

INDEX_CASES(gather)
INDEX_CASES(index_select)
REFUSES(tern_gather, "an index of another rank", TERN_ERR_SHAPE, "gather: |(2, 3)|(2,)",
        tern_gather(f->x, 0, f->labels))
REFUSES(tern_gather, "an index larger than x", TERN_ERR_SHAPE, "gather: |(2, 3)|(1, 4)",
        tern_gather(f->x, 0, tern_zeros(tern_dims(1, 4), .dtype = TERN_INT64)))
REFUSES(tern_gather, "an index out of range", TERN_ERR_INDEX, "gather: |7|0 to 1",
        tern_gather(f->x, 0, tern_full(tern_dims(1, 1), 7, .dtype = TERN_INT64)))
REFUSES(tern_index_select, "an index of two dimensions", TERN_ERR_SHAPE,
        "index_select: index (2, 3)", tern_index_select(f->x, 0, f->ints))
REFUSES(tern_index_select, "an index out of range", TERN_ERR_INDEX, "index_select: |2|0 to 1",
        tern_index_select(f->x, 0, f->labels))

NULL_AND_DEAD(tern_one_hot, "one_hot", "labels", tern_one_hot(NULL, 3), tern_one_hot(f->dead, 3))
REFUSES(tern_one_hot, "labels that are not int64", TERN_ERR_DTYPE, "one_hot: labels|uint8",
        tern_one_hot(f->bytes, 3))
REFUSES(tern_one_hot, "no classes", TERN_ERR_ARG, "one_hot: classes is 0",
        tern_one_hot(f->labels, 0))
REFUSES(tern_one_hot, "a label out of range", TERN_ERR_INDEX, "one_hot: |2|0 to 1",
        tern_one_hot(f->labels, 2))
REFUSES(tern_one_hot, "labels of 8 dimensions", TERN_ERR_SHAPE, "one_hot: |8 dimensions",
        tern_one_hot(tern_to_dtype(f->deep, TERN_INT64), 3))
