// SPDX-License-Identifier: Apache-2.0
// Products by cuBLAS, whose matrices are column-major: to it our y (M, N) is y^T (N, M), and
// y^T = b^T a^T, so b comes first.
#include <limits.h>
#include "cuda/host/blas.h"
#include "cuda/host/current.h"
#include "cuda/kernels.h"
#include "device/kernel_dtype.h"

// A batch of matrices in cuBLAS's terms.
typedef struct blas_matrix {
    const void *data;
    cublasOperation_t transpose;
    int leading_dimension;
    int64_t batch_stride;
} blas_matrix;

// Whether elements of dimension `unit` are adjacent, and rows along it do not overlap.
static bool is_contiguous_along(const tern_strided *x, int unit, int other)
{
    return (x->stride[unit] == 1 || x->size[unit] == 1) &&
           (x->stride[other] >= x->size[unit] || x->size[other] == 1);
}

// A row-major matrix is its transpose to cuBLAS, which is what y^T = b^T a^T needs.
static blas_matrix blas_operand(const tern_strided *x)
{
    bool row_major = is_contiguous_along(x, 2, 1);
    int unit = row_major ? 2 : 1, other = row_major ? 1 : 2;
    int64_t leading = x->size[other] > 1 ? x->stride[other] : x->size[unit];
    return (blas_matrix){
        .data = x->data,
        .transpose = row_major ? CUBLAS_OP_N : CUBLAS_OP_T,
        .leading_dimension = leading <= INT_MAX ? (int)leading : -1,
        .batch_stride = x->stride[0],
    };
}

static cudaDataType cuda_type(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64    ? CUDA_R_64F
           : dtype == TERN_FLOAT16  ? CUDA_R_16F
           : dtype == TERN_BFLOAT16 ? CUDA_R_16BF
                                    : CUDA_R_32F;
}

static cublasComputeType_t compute_type(tern_dtype dtype)
{
    if (dtype == TERN_FLOAT64)
        return CUBLAS_COMPUTE_64F;
    return dtype == TERN_FLOAT32 && tern_cuda_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                     : CUBLAS_COMPUTE_32F;
}

static cublasStatus_t multiply(cublasHandle_t handle, const tern_matmul_args *args)
{
    const blas_matrix a = blas_operand(&args->a), b = blas_operand(&args->b),
                      y = blas_operand(&args->y);
    const float one_float = 1, beta_float = args->accumulate ? 1 : 0;
    const double one_double = 1, beta_double = args->accumulate ? 1 : 0;
    const tern_dtype dtype = args->y.dtype;
    const bool is_double = dtype == TERN_FLOAT64;
    const void *one = is_double ? (const void *)&one_double : &one_float;
    const void *beta = is_double ? (const void *)&beta_double : &beta_float;
    const int m = (int)args->y.size[2], n = (int)args->y.size[1], k = (int)args->a.size[2];
    const cudaDataType type = cuda_type(dtype);
    if (args->y.size[0] == 1)
        return cublasGemmEx(handle, b.transpose, a.transpose, m, n, k, one, b.data, type,
                            b.leading_dimension, a.data, type, a.leading_dimension, beta,
                            args->y.data, type, y.leading_dimension, compute_type(dtype),
                            CUBLAS_GEMM_DEFAULT);
    return cublasGemmStridedBatchedEx(handle, b.transpose, a.transpose, m, n, k, one, b.data, type,
                                      b.leading_dimension, b.batch_stride, a.data, type,
                                      a.leading_dimension, a.batch_stride, beta, args->y.data, type,
                                      y.leading_dimension, y.batch_stride, (int)args->y.size[0],
                                      compute_type(dtype), CUBLAS_GEMM_DEFAULT);
}

static bool fits_int(const tern_strided *x)
{
    return x->size[0] <= INT_MAX && x->size[1] <= INT_MAX && x->size[2] <= INT_MAX &&
           blas_operand(x).leading_dimension > 0;
}

static tern_status multiply_on(const tern_exec *exec, const tern_matmul_args *args)
{
    TERN_CHECK(fits_int(&args->a) && fits_int(&args->b) && fits_int(&args->y), TERN_ERR_UNSUPPORTED,
               "matmul: on CUDA devices sizes and strides must be below 2^31");
    tern_cuda_stream *stream = tern_cuda_current_stream(exec->device.index);
    cublasHandle_t handle = NULL;
    pthread_mutex_lock(&stream->lock);
    tern_status status = tern_cuda_blas_handle(stream, &handle);
    if (!status)
        status = tern_cuda_check_blas("matmul", multiply(handle, args));
    pthread_mutex_unlock(&stream->lock);
    return status;
}

// K = 0: the product is a sum of no terms.
static tern_status multiply_empty(const tern_exec *exec, const tern_matmul_args *args)
{
    tern_strided y = args->y;
    tern_views_coalesce((tern_strided *const[]){&y}, 1);
    return args->accumulate ? TERN_OK : tern_cuda_fill(exec, &y, tern_scalar_int(0));
}

// Copies the bias into every row of y, for a product that accumulates there. A bias that is added
// after a 16-bit product was stored would be added to a rounded one.
static tern_status copy_bias(const tern_exec *exec, const tern_matmul_args *args)
{
    tern_strided rows = args->y, y = args->y;
    rows.data = args->bias->data;
    rows.stride[0] = rows.stride[1] = 0;
    rows.stride[2] = args->bias->stride[0];
    tern_views_coalesce((tern_strided *const[]){&y, &rows}, 2);
    return tern_cuda_copy(exec, &y, &rows);
}

tern_status tern_cuda_matmul(const tern_exec *exec, const tern_matmul_args *args)
{
    tern_matmul_args product = *args;
    TERN_TRY(tern_kernel_floating("matmul", args->y.dtype));
    if (tern_strided_numel(&args->y) == 0)
        return TERN_OK;
    if (args->bias && tern_dtype_size(args->y.dtype) == 2) {
        TERN_TRY(copy_bias(exec, args));
        product.bias = NULL;
        product.accumulate = true;
    }
    TERN_TRY(args->a.size[2] == 0 ? multiply_empty(exec, &product) : multiply_on(exec, &product));
    if (product.bias || product.relu)
        return tern_cuda_epilogue(exec, &product.y, product.bias, product.relu);
    return TERN_OK;
}
