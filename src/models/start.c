// SPDX-License-Identifier: Apache-2.0
#include "models/start.h"

#include <math.h>

#include "nn/layer/layer.h"

tern_status tern_models_draw_conv(tern_tensor *weight, tern_generator *generator)
{
    const tern_shape shape = tern_shape_get(weight);
    const int64_t fan_out = shape.dim[0] * shape.dim[2] * shape.dim[3];
    return tern_layer_draw_normal(weight, sqrt(2.0) / sqrt((double)fan_out), generator);
}

tern_status tern_models_check_classes(const char *function, int64_t num_classes)
{
    TERN_CHECK(num_classes > 0, TERN_ERR_ARG, "%s: num_classes is %lld, but must be positive",
               function, (long long)num_classes);
    return TERN_OK;
}
