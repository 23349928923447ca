// SPDX-License-Identifier: Apache-2.0
// Weights and biases of normalisations in the type that the kernel computes in.
#ifndef TERN_SRC_CPU_NORM_NORM_PARAM_H
#define TERN_SRC_CPU_NORM_NORM_PARAM_H

#include "base/mem.h"
#include "cpu/span.h"
#include "device/kernels.h"

typedef struct norm_param {
    const void *data; // float or double; NULL: there is none
    void *memory;     // of 16-bit ones, upcast
    size_t nbytes;
} norm_param;

// view: NULL, or contiguous. norm_param_free takes one that is zeroed or failed.
static inline tern_status norm_param_load(norm_param *p, const tern_strided *view)
{
    *p = (norm_param){.data = view ? view->data : NULL};
    if (!view || view->dtype == TERN_FLOAT32 || view->dtype == TERN_FLOAT64)
        return TERN_OK;
    const int64_t n = tern_strided_numel(view);
    p->nbytes = (size_t)n * sizeof(float);
    p->data = p->memory = tern_cache_alloc(p->nbytes);
    if (!p->memory)
        return TERN_ERR_NOMEM;
    span_load_float(p->memory, view->data, view->dtype, 1, n);
    return TERN_OK;
}

static inline void norm_param_free(norm_param *p)
{
    if (p->memory)
        tern_cache_free(p->memory, p->nbytes);
}

// Element i of a floating view.
static inline double norm_param_get(const tern_strided *view, int64_t i)
{
    const char *at = (const char *)view->data + i * (int64_t)tern_dtype_size(view->dtype);
    float value;
    if (view->dtype == TERN_FLOAT64)
        return *(const double *)(const void *)at;
    span_load_float(&value, at, view->dtype, 1, 1);
    return (double)value;
}

static inline void norm_param_set(const tern_strided *view, int64_t i, double value)
{
    span_store_double((char *)view->data + i * (int64_t)tern_dtype_size(view->dtype), &value,
                      view->dtype, 1, 1);
}

#endif
