// SPDX-License-Identifier: Apache-2.0
// nn.h
#include "errors.h"

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_nn_##name##_with, "options that are NULL", TERN_ERR_NULL,                         \
            "nn_" #name ": options is NULL", tern_nn_##name##_with(NULL))
NO_OPTIONS(linear)
NO_OPTIONS(flatten)
NO_OPTIONS(dropout)
NO_OPTIONS(gelu)
NO_OPTIONS(leaky_relu)
NO_OPTIONS(cross_entropy_loss)
NO_OPTIONS(mse_loss)
NO_OPTIONS(l1_loss)

// ---- networks of models.h -----------------------------------------------------------------------

#define NETWORK(name)                                                                              \
    REFUSES(tern_models_##name##_with, "options that are NULL", TERN_ERR_NULL,                     \
            "models_" #name ": options is NULL", tern_models_##name##_with(NULL))                  \
    REFUSES(tern_models_##name##_with, "no classes", TERN_ERR_ARG,                                 \
            "models_" #name ": num_classes is 0", tern_models_##name(.num_classes = 0))
NETWORK(resnet18)
NETWORK(resnet34)
NETWORK(resnet50)
NETWORK(vgg16)
NETWORK(vgg16_bn)
NETWORK(vgg19)
NETWORK(vgg19_bn)
REFUSES(tern_models_vgg16_with, "a dropout above 1", TERN_ERR_ARG, "models_vgg16: dropout is 1.5",
        tern_models_vgg16(.dropout = 1.5))

// ---- containers ---------------------------------------------------------------------------------

#define CONTAINER(name)                                                                            \
    REFUSES(tern_nn_##name##_new, "children that are NULL", TERN_ERR_NULL,                         \
            "nn_" #name ": children is NULL", tern_nn_##name##_new(2, NULL))                       \
    REFUSES(tern_nn_##name##_new, "a negative count", TERN_ERR_ARG, "nn_" #name ": -1 children",   \
            tern_nn_##name##_new(-1, &f->net))                                                     \
    REFUSES(tern_nn_##name##_new, "a NULL among the children", TERN_ERR_NULL,                      \
            "nn_" #name ": child 1 is NULL", tern_nn_##name(tern_nn_relu(), NULL, tern_nn_relu())) \
    REFUSES(tern_nn_##name##_new, "a child whose constructor failed", TERN_ERR_ARG,                \
            "nn_linear: in_features is -3",                                                        \
            tern_nn_##name(tern_nn_relu(), tern_nn_linear(-3, 4), tern_nn_linear(4, 2)))           \
    TAKES(tern_nn_##name##_new, "no children", holds_nothing(tern_nn_##name##_new(0, NULL)))

static int holds_nothing(tern_module *module)
{
    int64_t count = tern_module_num_children(module);
    tern_module_free(module);
    return count == 0;
}

CONTAINER(sequential)
CONTAINER(module_list)

static tern_tensor *run(tern_module *module, tern_tensor *x)
{
    tern_tensor *y = tern_forward(module, x);
    tern_module_free(module);
    return y;
}

REFUSES(tern_nn_module_list_new, "to be run itself", TERN_ERR_STATE,
        "ModuleList only holds|[in ModuleList]", run(tern_nn_module_list(tern_nn_relu()), f->x))
REFUSES(
    tern_nn_sequential_new, "what a child deep inside refuses", TERN_ERR_SHAPE,
    "linear: x (2, 3)|weight (2, 9)|[in 1.0 (Linear(in_features=9, out_features=2, bias=True))]",
    run(tern_nn_sequential(tern_nn_relu(), tern_nn_sequential(tern_nn_linear(9, 2))), f->x))

// ---- layers -------------------------------------------------------------------------------------

REFUSES(tern_nn_linear_with, "no features in", TERN_ERR_ARG, "nn_linear: in_features is 0|positive",
        tern_nn_linear(0, 4))
REFUSES(tern_nn_linear_with, "no features out", TERN_ERR_ARG, "nn_linear: |out_features 0|positive",
        tern_nn_linear(4, 0))
REFUSES(tern_nn_linear_with, "integers", TERN_ERR_DTYPE, "nn_linear: int64|floating",
        tern_nn_linear(3, 4, .dtype = TERN_INT64))
REFUSES(tern_nn_linear_with, "a dtype that does not exist", TERN_ERR_DTYPE,
        "nn_linear: ", tern_nn_linear(3, 4, .dtype = (tern_dtype)77))
REFUSES(tern_nn_linear_with, "a device that does not exist", TERN_ERR_DEVICE, "nn_linear: |cpu:2",
        tern_nn_linear(3, 4, .device = tern_cpu(2)))
REFUSES(tern_nn_linear_with, "more weights than there is memory", TERN_ERR_NOMEM, "bytes",
        tern_nn_linear(INT64_C(1) << 25, INT64_C(1) << 25))
REFUSES(tern_nn_flatten_with, "an input without such a dim", TERN_ERR_ARG,
        "flatten: dim 1|1 dimensions|[in Flatten(start_dim=1, end_dim=-1)]",
        run(tern_nn_flatten(), f->vector))
REFUSES(tern_nn_dropout_with, "a p above 1", TERN_ERR_ARG, "nn_dropout: p is 1.5",
        tern_nn_dropout(1.5))
REFUSES(tern_nn_dropout_with, "a p that is NaN", TERN_ERR_ARG, "nn_dropout: p is nan",
        tern_nn_dropout(NAN))
CANNOT_FAIL(tern_nn_identity, "takes nothing and holds nothing",
            (tern_module_free(tern_nn_identity()), 1))
CANNOT_FAIL(tern_nn_relu, "takes nothing and holds nothing", (tern_module_free(tern_nn_relu()), 1))
CANNOT_FAIL(tern_nn_tanh, "takes nothing and holds nothing", (tern_module_free(tern_nn_tanh()), 1))
CANNOT_FAIL(tern_nn_sigmoid, "takes nothing and holds nothing",
            (tern_module_free(tern_nn_sigmoid()), 1))
CANNOT_FAIL(tern_nn_silu, "takes nothing and holds nothing", (tern_module_free(tern_nn_silu()), 1))
CANNOT_FAIL(tern_nn_hardswish, "takes nothing and holds nothing",
            (tern_module_free(tern_nn_hardswish()), 1))
REFUSES(tern_nn_softmax, "an input without such a dim", TERN_ERR_ARG,
        "softmax: dim 5|2 dimensions|[in Softmax(dim=5)]", run(tern_nn_softmax(5), f->x))
REFUSES(tern_nn_gelu_with, "a way that does not exist", TERN_ERR_ARG, "nn_gelu: 9",
        tern_nn_gelu((tern_approximate)9))
REFUSES(tern_nn_leaky_relu_with, "a slope that is NaN", TERN_ERR_ARG,
        "nn_leaky_relu: negative_slope is nan", tern_nn_leaky_relu(NAN))

// ---- losses -------------------------------------------------------------------------------------

REFUSES(tern_nn_cross_entropy_loss_with, "a weight that died", TERN_ERR_STATE,
        "nn_cross_entropy_loss: weight (float32 (2, 3)",
        tern_nn_cross_entropy_loss(.weight = f->dead))
REFUSES(tern_nn_cross_entropy_loss_with, "a weight of two dimensions", TERN_ERR_SHAPE,
        "nn_cross_entropy_loss: weight|(2, 3)|classes", tern_nn_cross_entropy_loss(.weight = f->x))
REFUSES(tern_nn_cross_entropy_loss_with, "a weight of integers", TERN_ERR_DTYPE,
        "nn_cross_entropy_loss: weight|int64|floating",
        tern_nn_cross_entropy_loss(.weight = f->labels))
REFUSES(tern_nn_cross_entropy_loss_with, "a label_smoothing above 1", TERN_ERR_ARG,
        "nn_cross_entropy_loss: label_smoothing is 1.5",
        tern_nn_cross_entropy_loss(.label_smoothing = 1.5))
REFUSES(tern_nn_cross_entropy_loss_with, "a reduction that does not exist", TERN_ERR_ARG,
        "nn_cross_entropy_loss: |reduction|9",
        tern_nn_cross_entropy_loss(.reduction = (tern_reduction)9))
REFUSES(tern_nn_mse_loss_with, "a reduction that does not exist", TERN_ERR_ARG,
        "nn_mse_loss: |reduction|9", tern_nn_mse_loss(.reduction = (tern_reduction)9))
REFUSES(tern_nn_l1_loss_with, "a reduction that does not exist", TERN_ERR_ARG,
        "nn_l1_loss: |reduction|9", tern_nn_l1_loss(.reduction = (tern_reduction)9))

static tern_tensor *loss_of(tern_module *criterion, tern_tensor *input, tern_tensor *target)
{
    tern_tensor *loss = tern_loss(criterion, input, target);
    tern_module_free(criterion);
    return loss;
}

REFUSES(
    tern_nn_cross_entropy_loss_with, "an input on another device than its weight", TERN_ERR_DEVICE,
    "criterion's weight is on cpu:0|input on cpu:1|tern_module_to(criterion|[in CrossEntropyLoss]",
    loss_of(tern_nn_cross_entropy_loss(.weight = f->vector), f->far,
            tern_to(f->labels, tern_cpu(1))))
REFUSES(tern_nn_cross_entropy_loss_with, "an input of another dtype than its weight",
        TERN_ERR_DTYPE, "criterion's weight is float32|float64|[in CrossEntropyLoss]",
        loss_of(tern_nn_cross_entropy_loss(.weight = f->vector), f->doubles, f->labels))
REFUSES(tern_nn_cross_entropy_loss_with, "a label that is no class", TERN_ERR_INDEX,
        "label of sample 1 is 2, but must be 0 to 1|[in CrossEntropyLoss]",
        loss_of(tern_nn_cross_entropy_loss(), tern_zeros(tern_dims(2, 2)), f->labels))
REFUSES(tern_nn_mse_loss_with, "shapes that differ", TERN_ERR_SHAPE,
        "mse_loss: |(2, 3)|(3,)|[in MSELoss]", loss_of(tern_nn_mse_loss(), f->x, f->vector))
REFUSES(tern_nn_l1_loss_with, "shapes that differ", TERN_ERR_SHAPE,
        "l1_loss: |(2, 3)|(3,)|[in L1Loss]", loss_of(tern_nn_l1_loss(), f->x, f->vector))
