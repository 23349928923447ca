// SPDX-License-Identifier: Apache-2.0
// cuBLAS: handles, streams, workspaces, and the checks before a product.
#include "cublas_v2.h"

#include "capture.h"
#include "device.h"
#include "gemm.h"
#include "guard.h"
#include "memory.h"

struct cublasContext {
    int device;
    cudaStream_t stream;
    void *workspace; // of the caller; NULL: cuBLAS would have its own
    size_t workspace_size;
    cublasMath_t math;
};

namespace sim
{

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

static bool is_16_bit(cudaDataType type)
{
    return type == CUDA_R_16F || type == CUDA_R_16BF;
}

// What cublasGemmEx documents of its types, as far as the compute types here go.
static bool is_supported(cublasComputeType_t compute, cudaDataType a, cudaDataType b,
                         cudaDataType c)
{
    if (a != b)
        return false;
    switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        return a == CUDA_R_64F && c == CUDA_R_64F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return (a == CUDA_R_32F && c == CUDA_R_32F) ||
               (is_16_bit(a) && (c == a || c == CUDA_R_32F));
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return a == CUDA_R_32F && c == CUDA_R_32F;
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
        return false;
    }
    return false;
}

static Operand operand(const void *data, cudaDataType type, cublasOperation_t transpose, int rows,
                       int cols, int ld, long long stride)
{
    bool turned = transpose != CUBLAS_OP_N;
    return {data, type, turned, turned ? cols : rows, turned ? rows : cols, ld, stride};
}

static bool is_shape(const Operand &x)
{
    return x.rows >= 0 && x.cols >= 0 && x.ld >= (x.rows > 1 ? x.rows : 1);
}

static void check_operand(const char *what, const Operand &x, int count, int device)
{
    if (!x.rows || !x.cols)
        return;
    long long last = (count - 1) * x.stride + (long long)(x.cols - 1) * x.ld + x.rows;
    check_access(what, x.data, (size_t)last * size_of(x.type), device);
}

static void check_handle(cublasHandle_t handle, const StreamRef &stream)
{
    if (handle->device != current_device())
        broken_rule("cuBLAS: a handle of device %d is used while device %d is current",
                    handle->device, current_device());
    if (stream->device != handle->device)
        broken_rule("cuBLAS: a handle of device %d works on a stream of device %d", handle->device,
                    stream->device);
    if (handle->workspace)
        check_access("cuBLAS workspace", handle->workspace, handle->workspace_size, handle->device);
}

static cublasStatus_t enqueue(cublasHandle_t handle, const Product &product)
{
    StreamRef stream = stream_of(handle->stream);
    check_handle(handle, stream);
    check_operand("cuBLAS, matrix A", product.a, product.count, handle->device);
    check_operand("cuBLAS, matrix B", product.b, product.count, handle->device);
    check_operand("cuBLAS, matrix C", product.c, product.count, handle->device);
    counts().products++;
    counts().products_unprepared += captures(stream) && !handle->workspace;
    int device = handle->device;
    cudaError_t error = submit(stream, Kind::product, [product, device] {
        if (fault_of(device))
            return;
        Reach reach(device);
        multiply(product);
    });
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t product(cublasHandle_t handle, const Product &product)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Call call(current_device(), "cublasGemm");
    if (int code = demanded_failure(TERN_SIM_BLAS))
        return (cublasStatus_t)code;
    if (call.failure)
        return (cublasStatus_t)call.failure->cublas;
    if (call.error)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (product.m < 0 || product.n < 0 || product.k < 0 || product.count < 0 ||
        !is_shape(product.a) || !is_shape(product.b) || !is_shape(product.c))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!product.m || !product.n || !product.count)
        return CUBLAS_STATUS_SUCCESS;
    return enqueue(handle, product);
}

} // namespace sim

using namespace sim;

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    Call call(current_device());
    if (int code = demanded_failure(TERN_SIM_BLAS_CREATE))
        return (cublasStatus_t)code;
    if (call.failure)
        return (cublasStatus_t)call.failure->cublas;
    if (call.error || refuse_unsafe())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext{current_device(), nullptr, nullptr, 0, CUBLAS_DEFAULT_MATH};
    return CUBLAS_STATUS_SUCCESS;
}

// Waits for the device by cudaDeviceSynchronize, which ends captures there.
cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Call call;
    (void)refuse_wait_for_device(handle->device);
    run_device(handle->device);
    delete handle;
    return call.failure ? (cublasStatus_t)call.failure->cublas : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (cublasStatus_t)call.failure->cublas;
    handle->stream = stream;
    handle->workspace = nullptr;
    handle->workspace_size = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t nbytes)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (cublasStatus_t)call.failure->cublas;
    if ((uintptr_t)workspace % 256)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (workspace)
        check_access("cublasSetWorkspace", workspace, nbytes, handle->device);
    handle->workspace = workspace;
    handle->workspace_size = nbytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (cublasStatus_t)call.failure->cublas;
    handle->math = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *mode = handle->math;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void *alpha, const void *A, cudaDataType Atype, int lda, long long stridea, const void *B,
    cudaDataType Btype, int ldb, long long strideb, const void *beta, void *C, cudaDataType Ctype,
    int ldc, long long stridec, int count, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    if (!is_supported(compute, Atype, Btype, Ctype))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    bool in_double = Atype == CUDA_R_64F;
    bool tf32 = Atype == CUDA_R_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC &&
                (compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
                 (handle && handle->math == CUBLAS_TF32_TENSOR_OP_MATH));
    return product(handle,
                   {m, n, k, count, operand(A, Atype, transa, m, k, lda, stridea),
                    operand(B, Btype, transb, k, n, ldb, strideb),
                    operand(C, Ctype, CUBLAS_OP_N, m, n, ldc, stridec),
                    in_double ? *(const double *)alpha : *(const float *)alpha,
                    in_double ? *(const double *)beta : *(const float *)beta, in_double, tf32});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType Atype, int lda, const void *B,
                            cudaDataType Btype, int ldb, const void *beta, void *C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0, B,
                                      Btype, ldb, 0, beta, C, Ctype, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const float *alpha,
                           const float *A, int lda, const float *B, int ldb, const float *beta,
                           float *C, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, CUDA_R_32F, lda, B, CUDA_R_32F,
                        ldb, beta, C, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const double *alpha,
                           const double *A, int lda, const double *B, int ldb, const double *beta,
                           double *C, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, CUDA_R_64F, lda, B, CUDA_R_64F,
                        ldb, beta, C, CUDA_R_64F, ldc, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT);
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
#define NAME(status)                                                                               \
    case status:                                                                                   \
        return #status
        NAME(CUBLAS_STATUS_SUCCESS);
        NAME(CUBLAS_STATUS_NOT_INITIALIZED);
        NAME(CUBLAS_STATUS_ALLOC_FAILED);
        NAME(CUBLAS_STATUS_INVALID_VALUE);
        NAME(CUBLAS_STATUS_ARCH_MISMATCH);
        NAME(CUBLAS_STATUS_MAPPING_ERROR);
        NAME(CUBLAS_STATUS_EXECUTION_FAILED);
        NAME(CUBLAS_STATUS_INTERNAL_ERROR);
        NAME(CUBLAS_STATUS_NOT_SUPPORTED);
        NAME(CUBLAS_STATUS_LICENSE_ERROR);
#undef NAME
    }
    return "unknown status";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "an invalid value was used as an argument";
    case CUBLAS_STATUS_ARCH_MISMATCH:
        return "an absent device architectural feature is required";
    case CUBLAS_STATUS_MAPPING_ERROR:
        return "an access to device memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "the function failed to launch on the device";
    case CUBLAS_STATUS_INTERNAL_ERROR:
        return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "the functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
        return "a license error was detected";
    }
    return "unknown status";
}
