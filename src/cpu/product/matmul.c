// SPDX-License-Identifier: Apache-2.0
// Matrix products by gemm.h; 16-bit operands are multiplied and added in float32.
#include "cpu/product/gemm_name.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

typedef tern_status matmul_fn(const tern_matmul_args *args);
REAL_DECLARE(matmul_fn, matmul);

tern_status REAL_NAME(matmul)(const tern_matmul_args *args)
{
    const tern_strided *y = &args->y;
    const GEMM_ARGS gemm = {
        .m = y->size[1],
        .n = y->size[2],
        .k = args->a.size[2],
        .a = args->a.data,
        .a_row = args->a.stride[1],
        .a_col = args->a.stride[2],
        .b = args->b.data,
        .b_row = args->b.stride[1],
        .b_col = args->b.stride[2],
        .c = y->data,
        // A single row may have any stride; gemm.h asks for one that holds it.
        .c_row = y->size[1] > 1 ? y->stride[1] : y->size[2],
        .bias = args->bias ? args->bias->data : NULL,
        .relu = args->relu,
        .accumulate = args->accumulate,
        .batch = y->size[0],
        .a_batch = args->a.stride[0],
        .b_batch = args->b.stride[0],
        .c_batch = y->stride[0],
    };
    return GEMM_NAME(&gemm);
}

#if REAL_IS_FLOAT
static void swap(int64_t *a, int64_t *b)
{
    const int64_t c = *a;
    *a = *b;
    *b = c;
}

static void transpose(tern_strided *x)
{
    swap(&x->size[1], &x->size[2]);
    swap(&x->stride[1], &x->stride[2]);
}

// A copy that keeps the order of the dimensions in memory, and what is shared by the products.
static tern_status upcast_operand(tern_strided *upcast, const tern_strided *x)
{
    tern_strided source = *x;
    const bool transposed = x->stride[2] != 1 && x->size[2] != 1;
    const bool shared = x->stride[0] == 0;
    if (transposed)
        transpose(&source);
    if (shared)
        source.size[0] = 1;
    return upcast_copy(upcast, &source);
}

// The copy, seen as the operand was.
static tern_strided operand_view(const tern_strided *upcast, const tern_strided *x)
{
    tern_strided view = *upcast;
    if (x->stride[2] != 1 && x->size[2] != 1)
        transpose(&view);
    if (x->stride[0] == 0)
        view.stride[0] = 0;
    return view;
}

static tern_status matmul_upcast(const tern_matmul_args *args)
{
    tern_strided a = {0}, b = {0}, y = {0}, bias = {0};
    tern_status status = upcast_operand(&a, &args->a);
    if (status == TERN_OK)
        status = upcast_operand(&b, &args->b);
    if (status == TERN_OK)
        status = upcast_new(&y, &args->y);
    if (status == TERN_OK && args->bias)
        status = upcast_copy(&bias, args->bias);
    if (status == TERN_OK) {
        if (args->accumulate)
            upcast_load(&y, &args->y);
        tern_matmul_args upcast = *args;
        upcast.a = operand_view(&a, &args->a);
        upcast.b = operand_view(&b, &args->b);
        upcast.y = y;
        upcast.bias = args->bias ? &bias : NULL;
        status = TERN_ISA_NAME(matmul_float)(&upcast);
    }
    if (status == TERN_OK)
        downcast_store(&args->y, &y);
    upcast_free(&bias);
    upcast_free(&y);
    upcast_free(&b);
    upcast_free(&a);
    return status;
}

tern_status TERN_ISA_NAME(matmul)(const tern_exec *exec, const tern_matmul_args *args)
{
    (void)exec;
    const tern_strided *y = &args->y;
    TERN_TRY(tern_kernel_floating("matmul", y->dtype));
    if (y->size[0] == 0 || y->size[1] == 0 || y->size[2] == 0)
        return TERN_OK;
    if (y->dtype == TERN_FLOAT64)
        return TERN_ISA_NAME(matmul_double)(args);
    return upcast_needed(y->dtype) ? matmul_upcast(args) : TERN_ISA_NAME(matmul_float)(args);
}
#endif
