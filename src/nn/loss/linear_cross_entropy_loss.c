// SPDX-License-Identifier: Apache-2.0
// A linear layer and the cross-entropy of its logits, of which only a part is there at a time.
#include "nn/loss/weight.h"

typedef struct linear_cross_entropy_loss {
    tern_module base;
    tern_module *linear;
    tern_tensor *weight; // (C) or NULL
    int64_t in_features; // of the linear layer
    bool bias;
    tern_shape classes; // (C, d1, ..): what it gives
    int64_t ignore_index;
    double label_smoothing;
    tern_reduction reduction;
} linear_cross_entropy_loss;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const linear_cross_entropy_loss *self = (const linear_cross_entropy_loss *)module;
    const char *loss = "linear_cross_entropy_loss";
    tern_tensor *weight, *bias;
    TERN_TRY(tern_layer_inputs(module, in, 2));
    TERN_TRY(tern_loss_match_weight(loss, "weight", self->weight, in->at[0]));
    TERN_TRY(tern_nn_linear_parameters(self->linear, &weight, &bias));
    if (self->classes.rank > 1) {
        weight = tern_unflatten(weight, 0, self->classes);
        bias = bias ? tern_unflatten(bias, 0, self->classes) : NULL;
    }
    return tern_layer_output(
        out, tern_linear_cross_entropy(in->at[0], weight, in->at[1], .linear_bias = bias,
                                       .weight = self->weight, .ignore_index = self->ignore_index,
                                       .label_smoothing = self->label_smoothing,
                                       .reduction = self->reduction));
}

static void describe(const tern_module *module, tern_text *out)
{
    static const char *const reductions[] = {[TERN_REDUCTION_MEAN] = "mean",
                                             [TERN_REDUCTION_SUM] = "sum",
                                             [TERN_REDUCTION_NONE] = "none"};
    const linear_cross_entropy_loss *self = (const linear_cross_entropy_loss *)module;
    tern_shape sizes = {.rank = self->classes.rank - 1};
    for (int i = 0; i < sizes.rank; i++)
        sizes.dim[i] = self->classes.dim[i + 1];
    tern_text_add(out, "in_features=%lld, num_classes=%lld, out_features=%s, bias=%s",
                  (long long)self->in_features, (long long)self->classes.dim[0],
                  tern_shape_string(sizes), tern_text_bool(self->bias));
    tern_text_add(out, ", reduction=%s, ignore_index=", reductions[self->reduction]);
    if (self->ignore_index == TERN_IGNORE_INDEX_UNSPECIFIED)
        tern_text_add(out, "None, label_smoothing=");
    else
        tern_text_add(out, "%lld, label_smoothing=", (long long)self->ignore_index);
    tern_text_add_double(out, self->label_smoothing);
}

static const tern_module_class linear_cross_entropy_loss_class = {
    .name = "LinearCrossEntropyLoss",
    .size = sizeof(linear_cross_entropy_loss),
    .call = call,
    .describe = describe};

// Finds what the linear layer is to give.
static tern_status check_sizes(const tern_nn_linear_cross_entropy_loss_options *options,
                               tern_shape *classes)
{
    const tern_shape *sizes = &options->out_features;
    TERN_CHECK(options->in_features > 0 && options->num_classes > 0, TERN_ERR_ARG,
               "nn_linear_cross_entropy_loss: in_features is %lld and num_classes %lld, but both "
               "must be positive",
               (long long)options->in_features, (long long)options->num_classes);
    TERN_CHECK(sizes->rank >= 0 && sizes->rank <= TERN_MAX_RANK - 2, TERN_ERR_SHAPE,
               "nn_linear_cross_entropy_loss: out_features has %d sizes, but may have 0 to %d",
               sizes->rank, TERN_MAX_RANK - 2);
    *classes = (tern_shape){1, {options->num_classes}};
    for (int i = 0; i < sizes->rank; i++)
        classes->dim[classes->rank++] = sizes->dim[i];
    TERN_CHECK(tern_shape_numel(*classes) > 0, TERN_ERR_SHAPE,
               "nn_linear_cross_entropy_loss: out_features is %s, but all sizes must be positive, "
               "and few enough",
               tern_shape_string(*sizes));
    return TERN_OK;
}

static tern_status check_options(const tern_nn_linear_cross_entropy_loss_options *options)
{
    const char *function = "nn_linear_cross_entropy_loss";
    TERN_CHECK(options->label_smoothing >= 0 && options->label_smoothing <= 1, TERN_ERR_ARG,
               "%s: label_smoothing is %g, but must be from 0 to 1", function,
               options->label_smoothing);
    TERN_TRY(tern_loss_check_class_weight(function, options->weight));
    TERN_CHECK(!options->weight || options->weight->size[0] == options->num_classes, TERN_ERR_SHAPE,
               "%s: weight is %s, but num_classes is %lld", function,
               tern_tensor_string(options->weight), (long long)options->num_classes);
    return TERN_OK;
}

tern_module *tern_nn_linear_cross_entropy_loss_with(
    const tern_nn_linear_cross_entropy_loss_options *options)
{
    const char *function = "nn_linear_cross_entropy_loss";
    if (!options)
        return (void)tern_null_error(function, "options"), NULL;
    tern_reduction reduction = options->reduction;
    tern_shape classes;
    if (check_sizes(options, &classes) || check_options(options) ||
        tern_layer_reduction(function, &reduction))
        return NULL;
    linear_cross_entropy_loss *self =
        (linear_cross_entropy_loss *)tern_module_new(&linear_cross_entropy_loss_class);
    if (!self)
        return NULL;
    self->in_features = options->in_features;
    self->bias = options->bias;
    self->classes = classes;
    self->ignore_index = options->ignore_index;
    self->label_smoothing = options->label_smoothing;
    self->reduction = reduction;
    tern_buffer(self, weight, tern_loss_copy_weight(options->weight));
    tern_child(self, linear,
               tern_nn_linear(options->in_features, tern_shape_numel(classes),
                              .bias = options->bias, .dtype = options->dtype,
                              .device = options->device));
    return tern_done(self);
}
