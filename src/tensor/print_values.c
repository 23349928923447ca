// SPDX-License-Identifier: Apache-2.0
// Which values a print shows, and in which of the ways of writing numbers.
#include "tensor/print_values.h"
#include <inttypes.h>
#include <math.h>
#include "base/mem.h"
#include "tensor/view.h"

// ---- loading -----------------------------------------------------------------------------------

static tern_tensor *edge(const tern_tensor *t, int dim, int64_t start)
{
    tern_shape shape = tern_shape_get(t);
    shape.dim[dim] = TERN_PRINT_EDGE;
    return tern_tensor_alias("print", t, shape, t->stride, t->offset + start * t->stride[dim]);
}

static tern_status copy_edge(const tern_tensor *y, const tern_tensor *t, int dim, int64_t to,
                             int64_t from)
{
    tern_tensor *target = edge(y, dim, to), *source = edge(t, dim, from);
    return target && source ? tern_launch_copy(target, source) : tern_error_code();
}

// `t` with one dimension cut to its edges.
static tern_tensor *edges(const tern_tensor *t, int dim)
{
    tern_shape shape = tern_shape_get(t);
    shape.dim[dim] = (int64_t)2 * TERN_PRINT_EDGE;
    tern_tensor *y = tern_tensor_new("print", t->dtype, tern_dev(t), shape);
    if (!y || copy_edge(y, t, dim, 0, 0) ||
        copy_edge(y, t, dim, TERN_PRINT_EDGE, t->size[dim] - TERN_PRINT_EDGE))
        return NULL;
    return y;
}

static tern_tensor *cut_dims(tern_shown *shown)
{
    const tern_tensor *t = shown->t;
    tern_tensor *cut = tern_tensor_alias("print", t, tern_shape_get(t), t->stride, t->offset);
    for (int i = 0; cut && i < t->rank; i++) {
        shown->cut[i] = t->numel > TERN_PRINT_THRESHOLD && t->size[i] > 2 * TERN_PRINT_EDGE;
        if (shown->cut[i])
            cut = edges(cut, i);
    }
    return cut;
}

static tern_status load_values(tern_shown *shown)
{
    const tern_tensor *cut = cut_dims(shown);
    if (!cut)
        return tern_error_code();
    shown->shape = tern_shape_get(cut);
    shown->numel = cut->numel;
    if (cut->numel == 0)
        return TERN_OK;
    shown->values = tern_mem_alloc((size_t)cut->numel * sizeof(double));
    if (!shown->values)
        return tern_error_code();
    bool floating = tern_dtype_is_floating(cut->dtype);
    return tern_download_as(cut, floating ? TERN_FLOAT64 : TERN_INT64, shown->values);
}

void tern_shown_free(tern_shown *shown)
{
    tern_mem_free(shown->values, (size_t)shown->numel * sizeof(double));
    shown->values = NULL;
}

// ---- style -------------------------------------------------------------------------------------

// The values that decide: neither 0 nor infinite nor NaN.
static bool counts(double value)
{
    return isfinite(value) && value != 0;
}

static tern_print_style floating_style(const double *values, int64_t numel)
{
    double smallest = INFINITY, largest = 0;
    bool whole = true;
    for (int64_t i = 0; i < numel; i++) {
        if (!counts(values[i]))
            continue;
        smallest = fmin(smallest, fabs(values[i]));
        largest = fmax(largest, fabs(values[i]));
        whole = whole && values[i] == ceil(values[i]);
    }
    bool wide = largest > 0 && (largest / smallest > 1000 || largest > 1e8);
    if (wide || (!whole && smallest < 1e-4))
        return TERN_PRINT_SCIENTIFIC;
    return whole ? TERN_PRINT_POINT : TERN_PRINT_FIXED;
}

static void choose_style(tern_shown *shown)
{
    char text[TERN_PRINT_VALUE_SIZE];
    bool floating = tern_dtype_is_floating(shown->t->dtype);
    shown->style = floating                       ? floating_style(shown->values, shown->numel)
                   : shown->t->dtype == TERN_BOOL ? TERN_PRINT_TRUTH
                                                  : TERN_PRINT_WHOLE;
    shown->width = 1;
    for (int64_t i = 0; i < shown->numel; i++) {
        if (floating && !counts(((const double *)shown->values)[i]))
            continue;
        int width = tern_shown_value(shown, i, text);
        shown->width = width > shown->width ? width : shown->width;
    }
}

static int not_finite(double value, char *text)
{
    const char *word = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return snprintf(text, TERN_PRINT_VALUE_SIZE, "%s", word);
}

int tern_shown_value(const tern_shown *shown, int64_t index, char *text)
{
    const size_t size = TERN_PRINT_VALUE_SIZE;
    const int64_t *whole = shown->values;
    const double *real = shown->values;
    bool floating = tern_dtype_is_floating(shown->t->dtype);
    if (floating && !isfinite(real[index]))
        return not_finite(real[index], text);
    switch (shown->style) {
    case TERN_PRINT_WHOLE:
        return snprintf(text, size, "%" PRId64, whole[index]);
    case TERN_PRINT_TRUTH:
        return snprintf(text, size, "%s", whole[index] ? "true" : "false");
    case TERN_PRINT_POINT:
        return snprintf(text, size, "%.0f.", real[index]);
    case TERN_PRINT_FIXED:
        return snprintf(text, size, "%.4f", real[index]);
    case TERN_PRINT_SCIENTIFIC:
        return snprintf(text, size, "%.4e", real[index]);
    }
    return 0;
}

tern_status tern_shown_load(const tern_tensor *t, tern_shown *shown)
{
    *shown = (tern_shown){.t = t};
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_status status = load_values(shown);
    tern_scope_close(scope);
    if (status)
        tern_shown_free(shown);
    else
        choose_style(shown);
    return status;
}
