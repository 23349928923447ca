// SPDX-License-Identifier: Apache-2.0
// ops/loss.h and nn/loss.h: the cross-entropy of a linear layer's logits.
#include "errors.h"

static tern_tensor *square(void)
{
    return tern_ones(tern_dims(3, 3));
}

static tern_tensor *loss_of(tern_module *criterion, tern_tensor *input, tern_tensor *target)
{
    tern_tensor *loss = tern_loss(criterion, input, target);
    tern_module_free(criterion);
    return loss;
}

#define LOSS(...) tern_linear_cross_entropy(f->x, square(), f->labels, __VA_ARGS__)
REFUSES(tern_linear_cross_entropy_with, "options that are NULL", TERN_ERR_NULL,
        "linear_cross_entropy: options is NULL", tern_linear_cross_entropy_with(NULL))
NULL_AND_DEAD(tern_linear_cross_entropy_with, "linear_cross_entropy", "input",
              tern_linear_cross_entropy(NULL, square(), f->labels),
              tern_linear_cross_entropy(f->dead, square(), f->labels))
NULL_AND_DEAD(tern_linear_cross_entropy_with, "linear_cross_entropy", "linear_weight",
              tern_linear_cross_entropy(f->x, NULL, f->labels),
              tern_linear_cross_entropy(f->x, f->dead, f->labels))
NULL_AND_DEAD(tern_linear_cross_entropy_with, "linear_cross_entropy", "target",
              tern_linear_cross_entropy(f->x, square(), NULL),
              tern_linear_cross_entropy(f->x, square(), f->dead))
REFUSES(tern_linear_cross_entropy_with, "a linear_bias that died", TERN_ERR_STATE,
        "linear_cross_entropy: linear_bias (float32 (2, 3), made by neg) died",
        LOSS(.linear_bias = f->dead))
REFUSES(tern_linear_cross_entropy_with, "a weight that died", TERN_ERR_STATE,
        "linear_cross_entropy: weight (float32 (2, 3), made by neg) died", LOSS(.weight = f->dead))
HANDS_ON(tern_linear_cross_entropy_with, "of a bias that is NULL", LOSS(.weight = f->vector))
TAKES(tern_linear_cross_entropy_with, "neither bias nor weight",
      tern_linear_cross_entropy(f->x, square(), f->labels) != NULL)
REFUSES(tern_linear_cross_entropy_with, "integers", TERN_ERR_DTYPE,
        "linear_cross_entropy: input is int64|floating",
        tern_linear_cross_entropy(f->ints, square(), f->labels))
REFUSES(tern_linear_cross_entropy_with, "a linear_weight of another dtype", TERN_ERR_DTYPE,
        "linear_cross_entropy: input is float64 and linear_weight is float32",
        tern_linear_cross_entropy(f->doubles, square(), f->labels))
REFUSES(tern_linear_cross_entropy_with, "a linear_bias of another dtype", TERN_ERR_DTYPE,
        "linear_cross_entropy: input is float32 and linear_bias is float64",
        LOSS(.linear_bias = f->doubles))
REFUSES(tern_linear_cross_entropy_with, "a weight of another dtype", TERN_ERR_DTYPE,
        "linear_cross_entropy: input is float32 and weight is float64", LOSS(.weight = f->doubles))
REFUSES(tern_linear_cross_entropy_with, "a target on another device", TERN_ERR_DEVICE,
        "linear_cross_entropy: |input|cpu:0|target|cpu:1",
        tern_linear_cross_entropy(f->x, square(), tern_to(f->labels, tern_cpu(1))))
REFUSES(tern_linear_cross_entropy_with, "an input of three dimensions", TERN_ERR_SHAPE,
        "linear_cross_entropy: input is (2, 1, 3), but must be (N, In) or (In)",
        tern_linear_cross_entropy(tern_unsqueeze(f->x, 1), square(), f->labels))
REFUSES(tern_linear_cross_entropy_with, "a linear_weight of one dimension", TERN_ERR_SHAPE,
        "linear_cross_entropy: linear_weight is (3,), but must be (C, In)",
        tern_linear_cross_entropy(f->x, f->vector, f->labels))
REFUSES(tern_linear_cross_entropy_with, "features that do not fit", TERN_ERR_SHAPE,
        "linear_cross_entropy: input (2, 3) has 3 features and linear_weight 5",
        tern_linear_cross_entropy(f->x, f->wide, f->labels))
REFUSES(tern_linear_cross_entropy_with, "a linear_bias of another shape", TERN_ERR_SHAPE,
        "linear_cross_entropy: linear_bias is (2, 3), but must be (3,)", LOSS(.linear_bias = f->x))
REFUSES(tern_linear_cross_entropy_with, "several losses of one sample without a batch",
        TERN_ERR_SHAPE, "linear_cross_entropy: input (3,) needs a batch|(4, 2)",
        tern_linear_cross_entropy(f->vector, tern_ones(tern_dims(4, 2, 3)), f->labels))
REFUSES(tern_linear_cross_entropy_with, "no classes", TERN_ERR_SHAPE,
        "linear_cross_entropy: logits (2, 0) has no classes",
        tern_linear_cross_entropy(f->x, f->empty, f->labels))
REFUSES(tern_linear_cross_entropy_with, "a weight of another length", TERN_ERR_SHAPE,
        "linear_cross_entropy: logits (2, 3) has 3 classes and weight is (2, 3)",
        LOSS(.weight = f->x))
REFUSES(tern_linear_cross_entropy_with, "labels of another batch", TERN_ERR_SHAPE,
        "linear_cross_entropy: logits (2, 3) and target (2, 3): labels of this input are (2,)",
        tern_linear_cross_entropy(f->x, square(), f->ints))
REFUSES(tern_linear_cross_entropy_with, "probabilities of another shape", TERN_ERR_SHAPE,
        "linear_cross_entropy: logits (2, 3) and target (4, 5): probabilities need the same shape",
        tern_linear_cross_entropy(f->x, square(), f->wide))
REFUSES(tern_linear_cross_entropy_with, "probabilities of another dtype", TERN_ERR_DTYPE,
        "linear_cross_entropy: input is float32 and the probabilities in target are float64",
        tern_linear_cross_entropy(f->x, square(), f->doubles))
REFUSES(tern_linear_cross_entropy_with, "an ignore_index with probabilities", TERN_ERR_ARG,
        "linear_cross_entropy: ignore_index is -100, but target holds probabilities",
        tern_linear_cross_entropy(f->x, square(), f->x, .ignore_index = -100))
REFUSES(tern_linear_cross_entropy_with, "a label_smoothing above 1", TERN_ERR_ARG,
        "linear_cross_entropy: label_smoothing is 1.5", LOSS(.label_smoothing = 1.5))
REFUSES(tern_linear_cross_entropy_with, "a reduction that does not exist", TERN_ERR_ARG,
        "linear_cross_entropy: |reduction|9", LOSS(.reduction = (tern_reduction)9))
REFUSES(tern_linear_cross_entropy_with, "a label that is no class", TERN_ERR_INDEX,
        "linear_cross_entropy: label of sample 1 is 2, but must be 0 to 1",
        tern_linear_cross_entropy(f->x, tern_ones(tern_dims(2, 3)), f->labels))

REFUSES(tern_linear_cross_entropy_with, "a label behind the first chunk that is no class",
        TERN_ERR_INDEX, "linear_cross_entropy: label of sample 400 is 400, but must be 0 to 399",
        tern_linear_cross_entropy(tern_ones(tern_dims(600, 3)), tern_ones(tern_dims(400, 3)),
                                  tern_arange(0, 600, 1)))

#define MODULE(...) tern_nn_linear_cross_entropy_loss(3, 3, __VA_ARGS__)
REFUSES(tern_nn_linear_cross_entropy_loss_with, "options that are NULL", TERN_ERR_NULL,
        "nn_linear_cross_entropy_loss: options is NULL",
        tern_nn_linear_cross_entropy_loss_with(NULL))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "no features", TERN_ERR_ARG,
        "nn_linear_cross_entropy_loss: in_features is 0", tern_nn_linear_cross_entropy_loss(0, 3))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "no classes", TERN_ERR_ARG,
        "nn_linear_cross_entropy_loss: |num_classes 0", tern_nn_linear_cross_entropy_loss(3, 0))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "no losses of a sample", TERN_ERR_SHAPE,
        "nn_linear_cross_entropy_loss: out_features is (2, 0)",
        MODULE(.out_features = tern_dims(2, 0)))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "more sizes than a tensor has", TERN_ERR_SHAPE,
        "nn_linear_cross_entropy_loss: out_features has 7 sizes, but may have 0 to 6",
        MODULE(.out_features = tern_dims(1, 1, 1, 1, 1, 1, 1)))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "a weight that died", TERN_ERR_STATE,
        "nn_linear_cross_entropy_loss: weight (float32 (2, 3)", MODULE(.weight = f->dead))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "a weight of other classes", TERN_ERR_SHAPE,
        "nn_linear_cross_entropy_loss: weight is float32 (3,)|but num_classes is 4",
        tern_nn_linear_cross_entropy_loss(3, 4, .weight = f->vector))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "a label_smoothing below 0", TERN_ERR_ARG,
        "nn_linear_cross_entropy_loss: label_smoothing is -1", MODULE(.label_smoothing = -1))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "a reduction that does not exist", TERN_ERR_ARG,
        "nn_linear_cross_entropy_loss: |reduction|9", MODULE(.reduction = (tern_reduction)9))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "integers", TERN_ERR_DTYPE, "int64|floating",
        MODULE(.dtype = TERN_INT64))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "an input on another device than its weight",
        TERN_ERR_DEVICE, "criterion's weight is on cpu:0|input on cpu:1|[in LinearCrossEntropyLoss",
        loss_of(MODULE(.weight = f->vector), f->far, f->labels))
REFUSES(tern_nn_linear_cross_entropy_loss_with, "features that do not fit", TERN_ERR_SHAPE,
        "linear_cross_entropy: input (2, 3)|linear_weight 5|[in LinearCrossEntropyLoss",
        loss_of(tern_nn_linear_cross_entropy_loss(5, 3), f->x, f->labels))

static tern_tensor *without_linear(tern_tensor *x, tern_tensor *labels)
{
    tern_module *criterion = tern_nn_linear_cross_entropy_loss(3, 3);
    return tern_module_set_child(criterion, "linear", tern_nn_relu())
               ? NULL
               : loss_of(criterion, x, labels);
}

REFUSES(tern_nn_linear_cross_entropy_loss_with, "to be run with another layer", TERN_ERR_ARG,
        "a ReLU is no Linear|[in LinearCrossEntropyLoss", without_linear(f->x, f->labels))
