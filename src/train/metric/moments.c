// SPDX-License-Identifier: Apache-2.0
#include "train/metric/moments.h"

#include <tern/ops.h>
#include "ops/launch.h"

tern_status tern_moments_add_states(tern_metric *metric, tern_moments *m, tern_shape shape)
{
    TERN_TRY(tern_metric_add_state(metric, "weight", &m->weight, tern_dims(), TERN_FLOAT64));
    TERN_TRY(tern_metric_add_state(metric, "mean", &m->mean, shape, TERN_FLOAT64));
    return tern_metric_add_state(metric, "deviations", &m->deviations, shape, TERN_FLOAT64);
}

static tern_tensor *square(tern_tensor *t)
{
    return t ? tern_mul(t, t) : NULL;
}

static tern_status check(const tern_moments *m)
{
    return m->weight && m->mean && m->deviations ? TERN_OK : tern_error_code();
}

tern_status tern_moments_of(tern_tensor *values, tern_tensor *weights, tern_moments *out)
{
    const tern_axis_list rows = tern_axes(0);
    if (!weights)
        weights = tern_ones(tern_dims(values->size[0]), .dtype = TERN_FLOAT64,
                            .device = tern_dev(values));
    out->weight = weights ? tern_sum_all(weights) : NULL;
    if (!out->weight)
        return tern_error_code();
    if (values->rank > 1)
        weights = tern_reshape(weights, tern_dims(-1, 1));
    out->mean = tern_metric_divide(tern_sum(tern_mul(values, weights), rows, false), out->weight);
    if (!out->mean)
        return tern_error_code();
    tern_tensor *squares = square(tern_sub(values, out->mean));
    out->deviations = squares ? tern_sum(tern_mul(squares, weights), rows, false) : NULL;
    return check(out);
}

tern_status tern_moments_merged(const tern_moments *a, const tern_moments *b, tern_moments *out)
{
    tern_tensor *way = tern_sub(b->mean, a->mean);
    out->weight = tern_add(a->weight, b->weight);
    tern_tensor *share = out->weight ? tern_metric_divide(b->weight, out->weight) : NULL;
    if (!way || !share)
        return tern_error_code();
    out->mean = tern_add(a->mean, tern_mul(way, share));
    tern_tensor *between = tern_mul(square(way), tern_mul(a->weight, share));
    tern_tensor *within = tern_add(a->deviations, b->deviations);
    out->deviations = between && within ? tern_add(within, between) : NULL;
    return check(out);
}

tern_status tern_moments_here(const tern_moments *other, const tern_moments *own, tern_moments *out)
{
    const tern_device device = tern_dev(own->mean);
    *out = (tern_moments){tern_to(other->weight, device), tern_to(other->mean, device),
                          tern_to(other->deviations, device)};
    return check(out);
}

tern_status tern_moments_set(const tern_moments *states, const tern_moments *values)
{
    const bool fine = tern_copy_(states->weight, values->weight) &&
                      tern_copy_(states->mean, values->mean) &&
                      tern_copy_(states->deviations, values->deviations);
    return fine ? TERN_OK : tern_error_code();
}
