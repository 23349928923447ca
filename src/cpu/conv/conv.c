// SPDX-License-Identifier: Apache-2.0
// Convolutions; 16-bit operands are multiplied and added in float32.
#include "cpu/conv/conv.h"

#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

// Runs on float32 copies; `result` is the view that is written.
static tern_status run_upcast(const tern_conv_args *args, conv_fn *run, const tern_strided *result)
{
    tern_conv_args upcast = *args;
    const tern_strided *narrow[] = {&args->x, &args->weight, &args->y, args->bias};
    tern_strided bias = {0}, *copies[] = {&upcast.x, &upcast.weight, &upcast.y, &bias};
    tern_status status = TERN_OK;
    for (int i = 0; i < 4; i++)
        *copies[i] = (tern_strided){0};
    for (int i = 0; i < 4 && status == TERN_OK; i++)
        if (narrow[i])
            status = narrow[i] != result || args->accumulate ? upcast_copy(copies[i], narrow[i])
                                                             : upcast_new(copies[i], narrow[i]);
    upcast.bias = args->bias ? &bias : NULL;
    if (status == TERN_OK)
        status = run(&upcast);
    for (int i = 0; i < 4; i++) {
        if (status == TERN_OK && narrow[i] == result)
            downcast_store(result, copies[i]);
        upcast_free(copies[i]);
    }
    return status;
}

static tern_status run(const char *name, const tern_conv_args *args, conv_fn *in_float,
                       conv_fn *in_double, const tern_strided *result)
{
    TERN_TRY(tern_kernel_floating(name, result->dtype));
    if (tern_strided_numel(result) == 0)
        return TERN_OK;
    if (result->dtype == TERN_FLOAT64)
        return in_double(args);
    return upcast_needed(result->dtype) ? run_upcast(args, in_float, result) : in_float(args);
}

tern_status TERN_ISA_NAME(conv)(const tern_exec *exec, const tern_conv_args *args)
{
    (void)exec;
    return run("conv", args, TERN_ISA_NAME(conv_float), TERN_ISA_NAME(conv_double), &args->y);
}

tern_status TERN_ISA_NAME(conv_grad_input)(const tern_exec *exec, const tern_conv_args *args)
{
    (void)exec;
    return run("conv_grad_input", args, TERN_ISA_NAME(conv_grad_input_float),
               TERN_ISA_NAME(conv_grad_input_double), &args->x);
}

tern_status TERN_ISA_NAME(conv_grad_weight)(const tern_exec *exec, const tern_conv_args *args)
{
    (void)exec;
    return run("conv_grad_weight", args, TERN_ISA_NAME(conv_grad_weight_float),
               TERN_ISA_NAME(conv_grad_weight_double), &args->weight);
}
