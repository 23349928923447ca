// SPDX-License-Identifier: Apache-2.0
// cuBLAS: products are those of a plain loop in double, and handles, streams and workspaces follow
// its rules.
#include "check_sim.h"

#include <cublas_v2.h>

#include "include/sim_half.h" // not by its folder, in which there are headers of CUDA's names

typedef struct matrix { // on the host in double, on the device in its type
    double *values;
    void *data;
    cudaDataType type;
    size_t count;
} matrix;

static cudaStream_t stream;
static cublasHandle_t handle;

#define assert_status(call, status) assert_string_equal(cublasGetStatusName(call), #status)

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

static double rounded(double value, cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F:
        return value;
    case CUDA_R_32F:
        return (float)value;
    case CUDA_R_16F:
        return tern_sim_half_to_float(tern_sim_float_to_half((float)value));
    case CUDA_R_16BF:
        return tern_sim_bfloat16_to_float(tern_sim_float_to_bfloat16((float)value));
    default:
        return 0;
    }
}

static void put(void *data, cudaDataType type, size_t at, double value)
{
    switch (type) {
    case CUDA_R_64F:
        ((double *)data)[at] = value;
        break;
    case CUDA_R_32F:
        ((float *)data)[at] = (float)value;
        break;
    case CUDA_R_16F:
        ((uint16_t *)data)[at] = tern_sim_float_to_half((float)value);
        break;
    case CUDA_R_16BF:
        ((uint16_t *)data)[at] = tern_sim_float_to_bfloat16((float)value);
        break;
    default:
        break;
    }
}

static double get(const void *data, cudaDataType type, size_t at)
{
    switch (type) {
    case CUDA_R_64F:
        return ((const double *)data)[at];
    case CUDA_R_32F:
        return ((const float *)data)[at];
    case CUDA_R_16F:
        return tern_sim_half_to_float(((const uint16_t *)data)[at]);
    case CUDA_R_16BF:
        return tern_sim_bfloat16_to_float(((const uint16_t *)data)[at]);
    default:
        return 0;
    }
}

static matrix new_matrix(cudaDataType type, size_t count)
{
    matrix m = {calloc(count, sizeof *m.values), NULL, type, count};
    void *host = calloc(count, size_of(type));
    assert_non_null(m.values);
    assert_non_null(host);
    for (size_t i = 0; i < count; i++) {
        m.values[i] = rounded((double)(rand() % 2001 - 1000) / 700, type);
        put(host, type, i, m.values[i]);
    }
    assert_done(cudaMalloc(&m.data, count * size_of(type)));
    assert_done(
        cudaMemcpyAsync(m.data, host, count * size_of(type), cudaMemcpyHostToDevice, stream));
    assert_done(cudaStreamSynchronize(stream));
    free(host);
    return m;
}

static void free_matrix(matrix *m)
{
    free(m->values);
    assert_done(cudaFree(m->data));
}

typedef struct product {
    cublasOperation_t transa, transb;
    int m, n, k, count;
    double alpha, beta;
    cudaDataType in, out;
    cublasComputeType_t compute;
} product;

static double element(const matrix *x, bool transposed, int ld, size_t base, int row, int col)
{
    return x->values[base + (size_t)(transposed ? row : col) * (size_t)ld +
                     (size_t)(transposed ? col : row)];
}

// What one addition may lose. Units for 16-bit factors truncate, on a device, where they add.
static double loss(const product *p)
{
    if (p->compute == CUBLAS_COMPUTE_64F)
        return 0x1p-53;
    return simulated || size_of(p->in) == 4 ? 0x1p-24 : 0x1p-22;
}

// |error| <= (k + 2) eps sum |a b| for sums of any order, plus the rounding of the result.
static void assert_product(const product *p, const matrix *a, const matrix *b, const matrix *c,
                           const void *got, const int ld[3], const size_t stride[3])
{
    const double eps = loss(p);
    double out_eps = p->out == CUDA_R_16F    ? 0x1p-11
                     : p->out == CUDA_R_16BF ? 0x1p-8
                     : p->out == CUDA_R_32F  ? 0x1p-24
                                             : 0x1p-53;
    for (int t = 0; t < p->count; t++)
        for (int j = 0; j < p->n; j++)
            for (int i = 0; i < p->m; i++) {
                double sum = 0, size = 0;
                for (int q = 0; q < p->k; q++) {
                    double term = element(a, p->transa, ld[0], (size_t)t * stride[0], i, q) *
                                  element(b, p->transb, ld[1], (size_t)t * stride[1], q, j);
                    sum += term;
                    size += fabs(term);
                }
                size_t at = (size_t)t * stride[2] + (size_t)j * (size_t)ld[2] + (size_t)i;
                double old = p->beta != 0 ? p->beta * c->values[at] : 0;
                double want = p->alpha * sum + old;
                double bound = (p->k + 2) * eps * (fabs(p->alpha) * size + fabs(old)) +
                               2 * out_eps * fabs(want) + 1e-30;
                if (!(fabs(get(got, p->out, at) - want) <= bound))
                    fail_msg("element (%d, %d) of %d is %g, not %g", i, j, t, get(got, p->out, at),
                             want);
            }
}

static void check_product(const product *p)
{
    int ld[3] = {(p->transa ? p->k : p->m) + 1, (p->transb ? p->n : p->k) + 2, p->m + 3};
    size_t stride[3] = {(size_t)(ld[0] * (p->transa ? p->m : p->k)),
                        (size_t)(ld[1] * (p->transb ? p->k : p->n)) + 5, (size_t)(ld[2] * p->n)};
    matrix a = new_matrix(p->in, stride[0] * (size_t)p->count + 1);
    matrix b = new_matrix(p->in, stride[1] * (size_t)p->count + 1);
    matrix c = new_matrix(p->out, stride[2] * (size_t)p->count);
    float alpha = (float)p->alpha, beta = (float)p->beta;
    bool wide = p->compute == CUBLAS_COMPUTE_64F;
    const void *scales[2] = {wide ? (const void *)&p->alpha : &alpha,
                             wide ? (const void *)&p->beta : &beta};
    assert_status(cublasGemmStridedBatchedEx(handle, p->transa, p->transb, p->m, p->n, p->k,
                                             scales[0], a.data, p->in, ld[0], (long long)stride[0],
                                             b.data, p->in, ld[1], (long long)stride[1], scales[1],
                                             c.data, p->out, ld[2], (long long)stride[2], p->count,
                                             p->compute, CUBLAS_GEMM_DEFAULT),
                  CUBLAS_STATUS_SUCCESS);
    void *got = calloc(c.count, size_of(p->out));
    assert_non_null(got);
    assert_done(
        cudaMemcpyAsync(got, c.data, c.count * size_of(p->out), cudaMemcpyDeviceToHost, stream));
    assert_done(cudaStreamSynchronize(stream));
    assert_product(p, &a, &b, &c, got, ld, stride);
    for (size_t i = (size_t)p->m; i < (size_t)ld[2]; i++) // between the columns nothing is touched
        assert_true(get(got, p->out, i) == c.values[i]);
    free(got);
    free_matrix(&a);
    free_matrix(&b);
    free_matrix(&c);
}

static void products_of_every_type_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    static const struct {
        cudaDataType in, out;
        cublasComputeType_t compute;
    } types[] = {
        {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
        {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
        {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
        {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
        {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
        {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int transposes = 0; transposes < 4; transposes++) {
            product p = {transposes & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                         transposes & 2 ? CUBLAS_OP_T : CUBLAS_OP_N,
                         17,
                         9,
                         23,
                         3,
                         1.5,
                         transposes == 2 ? 0.5 : 0,
                         types[i].in,
                         types[i].out,
                         types[i].compute};
            check_product(&p);
        }
}

static void products_of_any_size(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1},   {8, 4, 256},  {1, 33, 600}, {33, 1, 257},
                                   {64, 64, 1}, {5, 7, 1000}, {16, 12, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        product p = {CUBLAS_OP_N, CUBLAS_OP_T, sizes[i][0], sizes[i][1], sizes[i][2],       1,
                     -1,          1,           CUDA_R_32F,  CUDA_R_32F,  CUBLAS_COMPUTE_32F};
        check_product(&p);
    }
}

enum { side = 64 };

// The elements, all of the same value, of the product of a matrix of `a` and one of ones.
static float uniform_product(float a, cublasComputeType_t compute)
{
    const float one = 1, zero = 0;
    static float values[3][side * side];
    float *x;
    for (int i = 0; i < side * side; i++) {
        values[0][i] = a;
        values[1][i] = 1;
        values[2][i] = NAN; // is not read when beta is 0
    }
    assert_done(cudaMalloc((void **)&x, sizeof values));
    assert_done(cudaMemcpyAsync(x, values, sizeof values, cudaMemcpyHostToDevice, stream));
    float *y = x + side * side, *z = y + side * side;
    assert_status(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, x,
                               CUDA_R_32F, side, y, CUDA_R_32F, side, &zero, z, CUDA_R_32F, side,
                               compute, CUBLAS_GEMM_DEFAULT),
                  CUBLAS_STATUS_SUCCESS);
    assert_done(cudaMemcpyAsync(values[2], z, sizeof values[2], cudaMemcpyDeviceToHost, stream));
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaFree(x));
    for (int i = 1; i < side * side; i++)
        assert_true(values[2][i] == values[2][0]);
    return values[2][0];
}

// TF32 keeps 10 bits behind the point. A device may do better.
static void assert_in_tf32(float got, float precise)
{
    if (!simulated && got == precise)
        print_message("TF32 was not used\n");
    else
        assert_true(got == side);
}

static void tf32_is_used_where_it_is_asked_for(void **state)
{
    (void)state;
    const float fine = 1 + 0x1p-12f, coarse = 1 + 0x1p-10f; // their sums are exact
    assert_true(uniform_product(fine, CUBLAS_COMPUTE_32F) == side * fine);
    assert_in_tf32(uniform_product(fine, CUBLAS_COMPUTE_32F_FAST_TF32), side * fine);
    assert_true(uniform_product(coarse, CUBLAS_COMPUTE_32F_FAST_TF32) == side * coarse);
    assert_status(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
    assert_in_tf32(uniform_product(fine, CUBLAS_COMPUTE_32F), side * fine);
    assert_true(uniform_product(fine, CUBLAS_COMPUTE_32F_PEDANTIC) == side * fine);
    assert_status(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), CUBLAS_STATUS_SUCCESS);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    const float one = 1;
    float *x = new_buffer(1);
#define GEMM(m, lda, type, compute)                                                                \
    cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, 2, 2, &one, x, type, lda, x, CUDA_R_32F, 2,  \
                 &one, x, CUDA_R_32F, 2, compute, CUBLAS_GEMM_DEFAULT)
    assert_status(GEMM(2, 1, CUDA_R_32F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_INVALID_VALUE);
    assert_status(GEMM(-1, 2, CUDA_R_32F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_INVALID_VALUE);
    assert_status(GEMM(2, 2, CUDA_R_16F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_NOT_SUPPORTED);
    assert_status(GEMM(2, 2, CUDA_R_32F, CUBLAS_COMPUTE_64F), CUBLAS_STATUS_NOT_SUPPORTED);
    assert_status(GEMM(0, 2, CUDA_R_32F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_SUCCESS);
    assert_status(
        cublasSgemm(NULL, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &one, x, 1),
        CUBLAS_STATUS_NOT_INITIALIZED);
    assert_string_equal(cublasGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED),
                        "the functionality is not supported");
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 1);
    assert_done(cudaFree(x));
}

// How often a graph allocates. The simulation counts the products that would.
static size_t allocations_of(cudaGraph_t graph)
{
    size_t allocations = 0;
#ifdef TERN_CUDA_SIM
    (void)graph;
    tern_sim_counts counts;
    tern_sim_count(&counts);
    tern_sim_count_reset();
    allocations = (size_t)counts.products_unprepared;
#else
    cudaGraphNode_t nodes[64];
    enum cudaGraphNodeType type;
    size_t count = sizeof nodes / sizeof *nodes;
    assert_done(cudaGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        assert_done(cudaGraphNodeGetType(nodes[i], &type));
        allocations += type == cudaGraphNodeTypeMemAlloc;
    }
#endif
    return allocations;
}

// Deep and narrow: of a kind that is done in parts, for which room is needed.
static size_t allocations_of_a_product(void)
{
    enum { depth = 4096 };
    const float one = 1, zero = 0;
    const size_t count = side * depth;
    float *x;
    cudaGraph_t graph;
    assert_done(cudaMalloc((void **)&x, (count + side * side) * sizeof *x));
    assert_done(cudaMemsetAsync(x, 0, count * sizeof *x, stream));
    for (int captured = 0; captured < 2; captured++) { // its kernels are loaded before the capture
        if (captured)
            assert_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        assert_status(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, side, side, depth, &one, x,
                                  side, x, side, &zero, x + count, side),
                      CUBLAS_STATUS_SUCCESS);
    }
    assert_done(cudaStreamEndCapture(stream, &graph));
    assert_done(cudaStreamSynchronize(stream));
    size_t allocations = allocations_of(graph);
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaFree(x));
    return allocations;
}

// Without a workspace of the caller a capture holds one product's allocation; a device may do
// without.
static void assert_allocates(const char *when)
{
    size_t allocations = allocations_of_a_product();
    print_message("%s, a captured product holds %zu allocations\n", when, allocations);
    if (simulated)
        assert_int_equal(allocations, 1);
}

static void setting_the_stream_takes_the_workspace_away(void **state)
{
    (void)state;
    const size_t nbytes = (size_t)32 << 20;
    void *workspace;
    assert_done(cudaMalloc(&workspace, nbytes));
    assert_allocates("without a workspace");
    assert_status(cublasSetWorkspace(handle, (char *)workspace + 128, nbytes / 2),
                  CUBLAS_STATUS_INVALID_VALUE);
    assert_status(cublasSetWorkspace(handle, workspace, nbytes), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(allocations_of_a_product(), 0);
    assert_status(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
    assert_allocates("after the stream was set");
    assert_done(cudaFree(workspace));
}

static void products_run_in_the_order_of_their_stream(void **state)
{
    (void)state;
    const double one = 1, zero = 0;
    double host[4] = {1, 2, 3, 4}, got[4];
    void *x, *y;
    assert_done(cudaMalloc(&x, sizeof host));
    assert_done(cudaMalloc(&y, sizeof host));
    assert_done(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
    assert_status(
        cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, 2, x, 2, &zero, y, 2),
        CUBLAS_STATUS_SUCCESS);
    assert_done(cudaMemsetAsync(x, 0, sizeof host, stream));
    assert_done(cudaMemcpyAsync(got, y, sizeof got, cudaMemcpyDeviceToHost, stream));
    assert_done(cudaStreamSynchronize(stream));
    const double want[4] = {7, 10, 15, 22}; // columns of [1 3; 2 4] squared
    assert_memory_equal(got, want, sizeof want);
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
}

// The manual: it calls cudaDeviceSynchronize, which is nothing for a device with a capture.
static void destroying_a_handle_ends_a_capture(void **state)
{
    (void)state;
    cublasHandle_t other;
    cudaGraph_t graph = NULL;
    assert_status(cublasCreate(&other), CUBLAS_STATUS_SUCCESS);
    assert_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    (void)cublasDestroy(other);
    const cudaError_t answer = cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    print_message("the end says %s\n", cudaGetErrorName(answer));
    if (simulated)
        assert_int_equal(answer, cudaErrorStreamCaptureInvalidated);
    if (graph)
        assert_done(cudaGraphDestroy(graph));
}

static int set_up(void **state)
{
    (void)state;
    srand(1);
    stream = new_stream(cudaStreamNonBlocking);
    return cublasCreate(&handle) || cublasSetStream(handle, stream);
}

static int tear_down(void **state)
{
    (void)state;
    return cublasDestroy(handle) || cudaStreamDestroy(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_every_type_are_those_of_a_plain_loop),
        cmocka_unit_test(products_of_any_size),
        cmocka_unit_test(tf32_is_used_where_it_is_asked_for),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(setting_the_stream_takes_the_workspace_away),
        cmocka_unit_test(products_run_in_the_order_of_their_stream),
        cmocka_unit_test(destroying_a_handle_ends_a_capture),
    };
    return run_cases(tests, set_up, tear_down);
}
