// SPDX-License-Identifier: Apache-2.0
// How layers of a weight and a bias start.
#include <math.h>
#include <tern/init.h>
#include <tern/random.h>
#include "nn/layer/layer.h"

// Kaiming's uniform bound with the gain of leaky ReLU for a = sqrt(5) (He et al. 2015), which is
// 1 / sqrt(fan_in) up to rounding; operation by operation as PyTorch computes it.
static double weight_bound(int64_t fan_in)
{
    double gain = tern_init_calculate_gain(TERN_NONLINEARITY_LEAKY_RELU, sqrt(5.0));
    return sqrt(3.0) * (gain / sqrt((double)fan_in));
}

// Where the values of `t` are drawn: on the CPU, which may be t itself.
static tern_tensor *draft_of(tern_tensor *t)
{
    if (tern_device_equal(tern_dev(t), tern_cpu(0)))
        return t;
    return tern_empty(tern_shape_get(t), .dtype = t->dtype, .device = tern_cpu(0));
}

static tern_status upload(tern_tensor *t, tern_tensor *draft)
{
    size_t nbytes = (size_t)t->numel * tern_dtype_size(t->dtype);
    return t == draft ? TERN_OK : tern_from_host(t, tern_data(draft), nbytes);
}

static tern_status draw(tern_tensor *t, tern_tensor *draft, double bound, tern_generator *generator)
{
    if (!tern_uniform_(draft, -bound, bound, generator))
        return tern_error_code();
    return upload(t, draft);
}

tern_status tern_layer_draw_normal(tern_tensor *weight, double std, tern_generator *generator)
{
    tern_tensor *draft = draft_of(weight);
    if (!draft || !tern_normal_(draft, 0, std, generator))
        return tern_error_code();
    return upload(weight, draft);
}

// All memory is there before the first draw: a constructor that fails has drawn nothing.
tern_status tern_layer_draw(tern_tensor *weight, tern_tensor *bias, int64_t fan_in,
                            tern_generator *generator)
{
    tern_tensor *draft = draft_of(weight);
    tern_tensor *bias_draft = bias && draft ? draft_of(bias) : NULL;
    if (!draft || (bias && !bias_draft))
        return tern_error_code();
    TERN_TRY(draw(weight, draft, weight_bound(fan_in), generator));
    return bias ? draw(bias, bias_draft, 1 / sqrt((double)fan_in), generator) : TERN_OK;
}
