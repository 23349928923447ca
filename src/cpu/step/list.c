// SPDX-License-Identifier: Apache-2.0
// The common norm of a list of tensors, and scaling them by it.
#include "cpu/reduce/reduce_plan.h"
#include "device/kernel_dtype.h"

static tern_strided flat(const tern_strided *view)
{
    return (tern_strided){view->data, view->dtype, 1, {tern_strided_numel(view)}, {1}};
}

// Sums are added; of maxima and minima one stays, a NaN before all.
static double join(reduce_op op, double a, double b)
{
    if (reduce_op_adds(op))
        return a + b;
    const bool better = op == REDUCE_MAX_ABS ? b > a : b < a;
    return better || b != b ? b : a;
}

static double reduce_tensor(const tern_strided *view, reduce_op op, double p)
{
    double acc[REDUCE_MAX_SEGMENTS];
    const tern_strided x = flat(view), y = {NULL, TERN_FLOAT64, 1, {1}, {1}};
    reduce_plan plan;
    reduce_make_plan(&plan, &x, &y, NULL);
    reduce_run(&plan, op, p, NULL, acc);
    return acc[0];
}

tern_status TERN_ISA_NAME(list_norm)(const tern_exec *exec, double p, const tern_strided *total,
                                     const tern_strided *list, int64_t count)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating_list("list_norm", list, count));
    const reduce_op op = reduce_norm_op(p);
    double result = op == REDUCE_MIN_ABS ? INFINITY : 0;
    int64_t terms = 0;
    for (int64_t i = 0; i < count; i++) {
        terms += tern_strided_numel(&list[i]);
        if (tern_strided_numel(&list[i]) > 0)
            result = join(op, result, reduce_tensor(&list[i], op, p));
    }
    result = reduce_norm_result(result, p, terms);
    if (total->dtype == TERN_FLOAT64)
        *(double *)total->data = result;
    else
        *(float *)total->data = (float)result;
    return TERN_OK;
}

tern_status TERN_ISA_NAME(list_clip)(const tern_exec *exec, double max_norm,
                                     const tern_strided *total, const tern_strided *list,
                                     int64_t count)
{
    TERN_TRY(tern_kernel_floating_list("list_clip", list, count));
    const double norm = total->dtype == TERN_FLOAT64 ? *(const double *)total->data
                                                     : (double)*(const float *)total->data;
    const double factor = max_norm / (norm + 1e-6);
    const tern_scalar p[2] = {tern_scalar_double(factor > 1 ? 1 : factor), tern_scalar_int(0)};
    for (int64_t i = 0; i < count; i++) {
        const tern_strided x = flat(&list[i]);
        tern_status status = TERN_ISA_NAME(unary)(exec, TERN_UNARY_MUL_SCALAR, p, &x, &x);
        if (status)
            return status;
    }
    return TERN_OK;
}
