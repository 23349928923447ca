// SPDX-License-Identifier: Apache-2.0
// Whether metrics may be used.
#include "train/metric/metric.h"

tern_status tern_check_metric(const char *function, const tern_metric *metric)
{
    if (!metric)
        return tern_null_error(function, "metric");
    TERN_CHECK(__atomic_load_n(&metric->refs_, __ATOMIC_RELAXED) > 0, TERN_ERR_STATE,
               "%s: this metric was freed already (%s)", function, metric->klass->name);
    return TERN_OK;
}

tern_status tern_check_metrics(const char *function, const tern_metric_list *list)
{
    TERN_CHECK(list->count >= 0 && list->count <= TERN_METRICS, TERN_ERR_ARG,
               "%s: a list of %d metrics; it has 0 to %d", function, list->count, TERN_METRICS);
    for (int i = 0; i < list->count; i++)
        TERN_TRY(tern_check_metric(function, list->at[i]));
    return TERN_OK;
}
