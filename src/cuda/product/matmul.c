// SPDX-License-Identifier: Apache-2.0
// Products by cuBLAS, whose matrices lie column after column: to it our y (M, N) is y^T (N, M), and
// y^T = b^T a^T, so b comes first.
#include <limits.h>
#include "base/error.h"
#include "cuda/host/blas.h"
#include "cuda/host/current_stream.h"
#include "cuda/plugin.h"

// A matrix as cuBLAS is told of it.
typedef struct blas_matrix {
    const void *data;
    cublasOperation_t transpose;
    int leading;
    int64_t batch; // from one to the next
} blas_matrix;

static bool spans(const tern_strided *x, int unit, int other)
{
    return (x->stride[unit] == 1 || x->size[unit] == 1) &&
           (x->stride[other] >= x->size[unit] || x->size[other] == 1);
}

// What lies row after row is transposed to cuBLAS, which is what it asks for here.
static blas_matrix matrix_of(const tern_strided *x)
{
    bool by_rows = spans(x, 2, 1);
    int unit = by_rows ? 2 : 1, other = by_rows ? 1 : 2;
    int64_t leading = x->size[other] > 1 ? x->stride[other] : x->size[unit];
    return (blas_matrix){
        .data = x->data,
        .transpose = by_rows ? CUBLAS_OP_N : CUBLAS_OP_T,
        .leading = leading <= INT_MAX ? (int)leading : -1,
        .batch = x->stride[0],
    };
}

static cudaDataType type_of(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64    ? CUDA_R_64F
           : dtype == TERN_FLOAT16  ? CUDA_R_16F
           : dtype == TERN_BFLOAT16 ? CUDA_R_16BF
                                    : CUDA_R_32F;
}

static cublasComputeType_t compute_of(tern_dtype dtype)
{
    if (dtype == TERN_FLOAT64)
        return CUBLAS_COMPUTE_64F;
    return dtype == TERN_FLOAT32 && tern_cuda_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                     : CUBLAS_COMPUTE_32F;
}

static cublasStatus_t multiply(cublasHandle_t handle, const tern_matmul_args *args)
{
    const blas_matrix a = matrix_of(&args->a), b = matrix_of(&args->b), y = matrix_of(&args->y);
    const float one_float = 1, beta_float = args->accumulate ? 1 : 0;
    const double one_double = 1, beta_double = args->accumulate ? 1 : 0;
    const tern_dtype dtype = args->y.dtype;
    const bool wide = dtype == TERN_FLOAT64;
    const void *one = wide ? (const void *)&one_double : &one_float;
    const void *beta = wide ? (const void *)&beta_double : &beta_float;
    const int m = (int)args->y.size[2], n = (int)args->y.size[1], k = (int)args->a.size[2];
    const cudaDataType type = type_of(dtype);
    if (args->y.size[0] == 1)
        return cublasGemmEx(handle, b.transpose, a.transpose, m, n, k, one, b.data, type, b.leading,
                            a.data, type, a.leading, beta, args->y.data, type, y.leading,
                            compute_of(dtype), CUBLAS_GEMM_DEFAULT);
    return cublasGemmStridedBatchedEx(handle, b.transpose, a.transpose, m, n, k, one, b.data, type,
                                      b.leading, b.batch, a.data, type, a.leading, a.batch, beta,
                                      args->y.data, type, y.leading, y.batch, (int)args->y.size[0],
                                      compute_of(dtype), CUBLAS_GEMM_DEFAULT);
}

static bool countable(const tern_strided *x)
{
    return x->size[0] <= INT_MAX && x->size[1] <= INT_MAX && x->size[2] <= INT_MAX &&
           matrix_of(x).leading > 0;
}

static tern_status multiply_on(const tern_exec *exec, const tern_matmul_args *args)
{
    TERN_CHECK(countable(&args->a) && countable(&args->b) && countable(&args->y),
               TERN_ERR_UNSUPPORTED,
               "matmul: on CUDA devices sizes and strides must be below 2^31");
    tern_cuda_stream *stream = tern_cuda_stream_of(exec->device.index);
    cublasHandle_t handle = NULL;
    pthread_mutex_lock(&stream->lock);
    tern_status status = tern_cuda_blas_of(stream, &handle);
    if (!status)
        status = tern_cuda_check_blas("matmul", multiply(handle, args));
    pthread_mutex_unlock(&stream->lock);
    return status;
}

// A sum of no terms.
static tern_status without_terms(const tern_exec *exec, const tern_matmul_args *args)
{
    return args->accumulate ? TERN_OK : tern_cuda_fill(exec, &args->y, tern_scalar_int(0));
}

// The bias in every row of y, for a product that is added to it. In 16 bits a product is rounded
// when it is stored; what is added after that is added to the rounded one.
static tern_status put_bias(const tern_exec *exec, const tern_matmul_args *args)
{
    tern_strided rows = args->y;
    rows.data = args->bias->data;
    rows.stride[0] = rows.stride[1] = 0;
    rows.stride[2] = args->bias->stride[0];
    return tern_cuda_copy(exec, &args->y, &rows);
}

tern_status tern_cuda_matmul(const tern_exec *exec, const tern_matmul_args *args)
{
    tern_matmul_args product = *args;
    if (tern_strided_numel(&args->y) == 0)
        return TERN_OK;
    if (args->bias && tern_dtype_size(args->y.dtype) == 2) {
        TERN_TRY(put_bias(exec, args));
        product.bias = NULL;
        product.accumulate = true;
    }
    TERN_TRY(args->a.size[2] == 0 ? without_terms(exec, &product) : multiply_on(exec, &product));
    if (product.bias || product.relu)
        return tern_cuda_epilogue(exec, &product.y, product.bias, product.relu);
    return TERN_OK;
}
