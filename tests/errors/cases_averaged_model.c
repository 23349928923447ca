// SPDX-License-Identifier: Apache-2.0
// averaged_model.h
#include "errors.h"

REFUSES(tern_averaged_model_swa_with, "options that are NULL", TERN_ERR_NULL,
        "averaged_model_swa: options is NULL", tern_averaged_model_swa_with(NULL))
REFUSES(tern_averaged_model_swa_with, "a module that is NULL", TERN_ERR_NULL,
        "averaged_model_swa: module is NULL", tern_averaged_model_swa(NULL))
REFUSES(tern_averaged_model_swa_with, "a device that is not there", TERN_ERR_DEVICE, "cpu:99",
        tern_averaged_model_swa(f->net, .device = tern_cpu(99)))

REFUSES(tern_averaged_model_ema_with, "options that are NULL", TERN_ERR_NULL,
        "averaged_model_ema: options is NULL", tern_averaged_model_ema_with(NULL))
REFUSES(tern_averaged_model_ema_with, "a module that is NULL", TERN_ERR_NULL,
        "averaged_model_ema: module is NULL", tern_averaged_model_ema(NULL))
REFUSES(tern_averaged_model_ema_with, "a negative decay", TERN_ERR_ARG,
        "averaged_model_ema: decay is -0.1, but must be 0 to 1",
        tern_averaged_model_ema(f->net, .decay = -0.1))
REFUSES(tern_averaged_model_ema_with, "a decay above 1", TERN_ERR_ARG,
        "averaged_model_ema: decay is 1.5, but must be 0 to 1",
        tern_averaged_model_ema(f->net, .decay = 1.5))
REFUSES(tern_averaged_model_ema_with, "a decay that is NaN", TERN_ERR_ARG,
        "averaged_model_ema: decay is nan", tern_averaged_model_ema(f->net, .decay = NAN))

static tern_tensor *return_the_value(tern_tensor *average, tern_tensor *value,
                                     tern_tensor *n_averaged, void *user)
{
    (void)average;
    (void)n_averaged;
    return user ? user : value;
}

static tern_status update_returning(fixture *f, tern_tensor *returned)
{
    tern_module *average = tern_averaged_model_avg_fn(f->net, return_the_value, .user = returned);
    const tern_status status = tern_averaged_model_update(average, f->net);
    tern_free(average);
    return status;
}

REFUSES(tern_averaged_model_avg_fn_with, "options that are NULL", TERN_ERR_NULL,
        "averaged_model_avg_fn: options is NULL", tern_averaged_model_avg_fn_with(NULL))
REFUSES(tern_averaged_model_avg_fn_with, "a module that is NULL", TERN_ERR_NULL,
        "averaged_model_avg_fn: module is NULL", tern_averaged_model_avg_fn(NULL, return_the_value))
REFUSES(tern_averaged_model_avg_fn_with, "a function that is NULL", TERN_ERR_NULL,
        "averaged_model_avg_fn: avg_fn is NULL", tern_averaged_model_avg_fn(f->net, NULL))
REFUSES(tern_averaged_model_avg_fn_with, "a device that is not there", TERN_ERR_DEVICE, "cpu:99",
        tern_averaged_model_avg_fn(f->net, return_the_value, .device = tern_cpu(99)))
REFUSES(tern_averaged_model_update, "a function that returns another shape", TERN_ERR_SHAPE,
        "averaged_model_update: avg_fn returned float32 (2, 3)|float32 (4, 3)",
        update_returning(f, f->x))
REFUSES(tern_averaged_model_update, "a function that returns what is dead", TERN_ERR_STATE,
        "averaged_model_update: what avg_fn returned", update_returning(f, f->dead))

// The model is one of other shapes, without the second parameter, and the average's own copy.
static tern_status update_of(fixture *f, tern_module *model)
{
    tern_module *average = tern_averaged_model_swa(f->net);
    const tern_status status = tern_averaged_model_update(average, model);
    tern_free(average, model);
    return status;
}

static tern_status update_by_its_own(fixture *f)
{
    tern_module *average = tern_averaged_model_swa(f->net);
    const tern_status status =
        tern_averaged_model_update(average, average ? tern_module_child_at(average, 0) : NULL);
    tern_free(average);
    return status;
}

REFUSES(tern_averaged_model_update, "an average that is NULL", TERN_ERR_NULL,
        "averaged_model_update: average is NULL", tern_averaged_model_update(NULL, f->net))
REFUSES(tern_averaged_model_update, "a model that is NULL", TERN_ERR_NULL,
        "averaged_model_update: model is NULL", update_of(f, NULL))
REFUSES(tern_averaged_model_update, "what is no averaged model", TERN_ERR_ARG,
        "averaged_model_update: this Sequential is not an averaged model",
        tern_averaged_model_update(f->net, f->net))
REFUSES(tern_averaged_model_update, "a model of another shape", TERN_ERR_SHAPE,
        "averaged_model_update: \"0.weight\" is float32 (5, 3)|float32 (4, 3)",
        update_of(f, tern_nn_sequential(tern_nn_linear(3, 5))))
REFUSES(tern_averaged_model_update, "a model without a parameter", TERN_ERR_ARG,
        "averaged_model_update: \"0.bias\" of the average is absent in the model",
        update_of(f, tern_nn_sequential(tern_nn_linear(3, 4, .bias = false))))
REFUSES(tern_averaged_model_update, "a model of another structure", TERN_ERR_ARG,
        "averaged_model_update: Linear has no parameter \"0.weight\"",
        update_of(f, tern_nn_linear(3, 4)))
REFUSES(tern_averaged_model_update, "the average's own module", TERN_ERR_ARG,
        "averaged_model_update: \"0.weight\" of the model is in the average too",
        update_by_its_own(f))

// x has 1 sample a batch, of which there is no variance.
static tern_status update_bn_of(fixture *f)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_batch_norm1d(4));
    const tern_status status = tern_update_bn(net, f->loader);
    tern_free(net);
    return status;
}

REFUSES(tern_update_bn, "a module that is NULL", TERN_ERR_NULL, "update_bn: module is NULL",
        tern_update_bn(NULL, f->loader))
REFUSES(tern_update_bn, "a loader that is NULL", TERN_ERR_NULL, "update_bn: loader is NULL",
        tern_update_bn(f->net, NULL))
REFUSES(tern_update_bn, "a batch that the module refuses", TERN_ERR_SHAPE,
        "batch_norm: x (1, 4) has one value a channel|[in 1 (BatchNorm1d", update_bn_of(f))
