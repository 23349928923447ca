// SPDX-License-Identifier: Apache-2.0
// Making and freeing metrics, and lists of them.
#include <string.h>
#include "base/callback.h"
#include "base/mem.h"
#include "train/metric/metric.h"

// ---- making and freeing -------------------------------------------------------------------------

static tern_status check_class(const char *op, const tern_metric_class *klass)
{
    if (!klass || !klass->name || !klass->update || !klass->compute)
        return tern_null_error(op, !klass           ? "metric_class"
                                   : !klass->name   ? "the class's name"
                                   : !klass->update ? "the class's update"
                                                    : "the class's compute");
    TERN_CHECK(klass->size >= sizeof(tern_metric), TERN_ERR_ARG,
               "%s: the struct of %s has %zu bytes, less than the tern_metric it begins with", op,
               klass->name, klass->size);
    return TERN_OK;
}

tern_metric *tern_metric_new(const tern_metric_class *klass, const char *name)
{
    static const char op[] = "metric_new";
    if (check_class(op, klass))
        return NULL;
    name = name ? name : klass->name;
    TERN_CHECK_PTR(*name && strlen(name) < TERN_METRIC_NAME_SIZE, TERN_ERR_ARG,
                   "%s: the name of a metric has 1 to %d bytes, not %zu", op,
                   TERN_METRIC_NAME_SIZE - 1, strlen(name));
    tern_metric *metric = tern_mem_alloc(klass->size);
    tern_metric_private *inside = metric ? tern_mem_alloc(sizeof *inside) : NULL;
    if (!inside) {
        tern_mem_free(metric, klass->size);
        return NULL;
    }
    strcpy(inside->name, name);
    inside->device = tern_cpu(0);
    *metric = (tern_metric){.klass = klass, .refs_ = 1, .private_ = inside};
    return metric;
}

tern_metric *tern_metric_retain(tern_metric *metric)
{
    if (!metric || tern_check_metric("metric_retain", metric))
        return NULL;
    __atomic_fetch_add(&metric->refs_, 1, __ATOMIC_RELAXED);
    return metric;
}

void tern_metric_free(tern_metric *metric)
{
    if (!metric || tern_check_metric("metric_free", metric) ||
        __atomic_sub_fetch(&metric->refs_, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (metric->klass->free) {
        tern_callback_begin();
        metric->klass->free(metric);
        tern_callback_end();
    }
    tern_metric_free_states(metric);
    tern_mem_free(metric->private_, sizeof *metric->private_);
    tern_mem_free_deferred(metric, metric->klass->size, sizeof *metric);
}

// ---- what it is ---------------------------------------------------------------------------------

const char *tern_metric_name(const tern_metric *metric)
{
    return tern_check_metric("metric_name", metric) ? "" : metric->private_->name;
}

int64_t tern_metric_updates(const tern_metric *metric)
{
    return tern_check_metric("metric_updates", metric) ? -1 : metric->private_->updates;
}

void tern_metric_describe(const tern_metric *metric, char text[TERN_METRIC_DESCRIPTION_SIZE])
{
    char options[200] = "";
    if (metric->klass->describe)
        metric->klass->describe(metric, options, sizeof options);
    options[sizeof options - 1] = 0;
    snprintf(text, TERN_METRIC_DESCRIPTION_SIZE, "%.50s(%s)", metric->klass->name, options);
}

// ---- lists --------------------------------------------------------------------------------------

tern_metric_list tern_metrics_make(int64_t count, tern_metric *const *metrics)
{
    tern_metric_list list = {0, {NULL}};
    if (count < 0 || count > TERN_METRICS) {
        tern_error_raise(TERN_ERR_ARG, "metrics_make: %lld metrics; a list has 0 to %d",
                         (long long)count, TERN_METRICS);
        return list;
    }
    if (count > 0 && !metrics)
        return (void)tern_null_error("metrics_make", "metrics"), list;
    list.count = (int)count;
    for (int i = 0; i < list.count; i++) {
        list.at[i] = metrics[i];
        if (!metrics[i])
            (void)tern_null_error("metrics_make", "a metric");
    }
    return list;
}

void tern_metrics_free(tern_metric_list list)
{
    for (int i = 0; i < list.count && i < TERN_METRICS; i++)
        tern_metric_free(list.at[i]);
}
