// SPDX-License-Identifier: Apache-2.0
// Kernels for the tests of the simulated device: one for each part of the device language.
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "kernels.h"
#include "launch.h"

__global__ void scale_and_add(float *x, float factor, float addend)
{
    x[threadIdx.x] = x[threadIdx.x] * factor + addend;
}

void launch_scale_and_add(cudaStream_t stream, float *x, float factor, float addend)
{
    TERN_LAUNCH(scale_and_add, 1, 64, 0, stream, x, factor, addend);
}

void launch_too_large(cudaStream_t stream, float *x)
{
    TERN_LAUNCH(scale_and_add, 1, 2048, 0, stream, x, 1, 0);
}

__global__ void copy(float *to, const float *__restrict__ from)
{
    to[threadIdx.x] = __ldg(from + threadIdx.x);
}

void launch_copy(cudaStream_t stream, float *to, const float *from)
{
    TERN_LAUNCH(copy, 1, 64, 0, stream, to, from);
}

__global__ void fill_from_shared(float *x, int bytes)
{
    TERN_DYN_SHARED(char, s);
    if (threadIdx.x == 0)
        s[bytes - 1] = 1;
    __syncthreads();
    x[threadIdx.x] = s[bytes - 1];
}

cudaError_t launch_with_shared(cudaStream_t stream, float *x, size_t shared_bytes, int limit)
{
    if (limit) {
        cudaError_t error = cudaFuncSetAttribute(
            fill_from_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, limit);
        if (error)
            return error;
    }
    TERN_LAUNCH(fill_from_shared, 1, 64, shared_bytes, stream, x, (int)shared_bytes);
    return cudaGetLastError();
}

__global__ void see_places(place *places)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    place &seen = places[block * blockDim.x * blockDim.y * blockDim.z + thread];
    seen = {{threadIdx.x, threadIdx.y, threadIdx.z},
            {blockIdx.x, blockIdx.y, blockIdx.z},
            {blockDim.x, blockDim.y, blockDim.z},
            {gridDim.x, gridDim.y, gridDim.z}};
}

void launch_places(cudaStream_t stream, struct place *places, const unsigned grid[3],
                   const unsigned block[3])
{
    TERN_LAUNCH(see_places, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), 0,
                stream, places);
}

__global__ void __launch_bounds__(64) see_lanes(lane *lanes)
{
    int lane_number = threadIdx.x % 32, inside = blockDim.x - (threadIdx.x - lane_number);
    unsigned mask = inside >= 32 ? 0xffffffffu : (1u << inside) - 1;
    lane &seen = lanes[threadIdx.x];
    seen.active = __activemask();
    seen.xored = __shfl_xor_sync(mask, (int)threadIdx.x, 5);
    seen.up = __shfl_up_sync(mask, 0.5f * threadIdx.x, 3, 8);
    seen.down = __shfl_down_sync(mask, 0.25 * threadIdx.x, 4, 16);
    seen.nth = __shfl_sync(mask, (long long)threadIdx.x << 40, 11);
    __syncwarp(mask);
    seen.ballot = __ballot_sync(mask, lane_number % 2);
    seen.any = __any_sync(mask, lane_number == 7);
    seen.all = __all_sync(mask, lane_number < 32);
    seen.count = __syncthreads_count(threadIdx.x % 3 == 0);
    seen.some = __syncthreads_or(threadIdx.x == 99);
    seen.every = __syncthreads_and(threadIdx.x < 1000);
}

void launch_lanes(cudaStream_t stream, struct lane *lanes, unsigned threads)
{
    TERN_LAUNCH(see_lanes, 1, threads, 0, stream, lanes);
}

template <class T, int N> __device__ T sum_of(const T *values)
{
    T sum = 0;
    for (int i = 0; i < N; i++)
        sum += values[i];
    return sum;
}

// Twice through the same array, with a barrier before it is used again.
template <int N> __global__ void block_sums(float *sums)
{
    TERN_SHARED(float, values, [2][N / 2]);
    float *value = &values[threadIdx.x / (N / 2)][threadIdx.x % (N / 2)];
    *value = (float)(threadIdx.x + blockIdx.x);
    __syncthreads();
    float sum = sum_of<float, N>(&values[0][0]);
    __syncthreads();
    *value = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum + sum_of<float, N>(&values[0][0]);
}

void launch_block_sums(cudaStream_t stream, float *sums, unsigned blocks, unsigned threads)
{
    if (threads == 128)
        TERN_LAUNCH((block_sums<128>), blocks, threads, 0, stream, sums);
}

__global__ void dynamic_sums(double *sums)
{
    TERN_DYN_SHARED(double, values);
    values[threadIdx.x] = threadIdx.x * 0.5;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            values[threadIdx.x] += values[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = values[0];
}

void launch_dynamic_sums(cudaStream_t stream, double *sums, unsigned blocks, unsigned threads)
{
    TERN_LAUNCH(dynamic_sums, blocks, threads, threads * sizeof(double), stream, sums);
}

__global__ void add_up(totals *t)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&t->sum, i);
    atomicSub(&t->difference, i);
    atomicMax(&t->most, i);
    atomicMin(&t->least, -i);
    atomicOr(&t->bits_or, 1 << i % 8);
    atomicAnd(&t->bits_and, ~(1 << i % 4));
    atomicXor(&t->bits_xor, 3);
    atomicInc(&t->wrapped, 9);
    atomicAdd(&t->wide_sum, 1ull << 33);
    atomicMax(&t->wide_most, (long long)i << 33);
    atomicAdd(&t->float_sum, 0.5f);
    atomicAdd(&t->double_sum, 0.25);
    if (atomicCAS(&t->swapped, 0, i + 1) == 0)
        atomicExch(&t->swapped, -(i + 1));
}

void launch_totals(cudaStream_t stream, struct totals *totals, unsigned blocks, unsigned threads)
{
    TERN_LAUNCH(add_up, blocks, threads, 0, stream, totals);
}

__global__ void compute(numbers *n, float x)
{
    float none = NAN;
    n->rsqrt = rsqrtf(x);
    sincosf(x, &n->sincos[0], &n->sincos[1]);
    n->fused = fmaf(x, x, -1.0f);
    n->saturated[0] = __saturatef(-x);
    n->saturated[1] = __saturatef(0.25f);
    n->saturated[2] = __saturatef(x);
    n->as_uint = __float_as_uint(x);
    n->as_float = __uint_as_float(0x40490fdbu);
    n->as_double = __longlong_as_double(0x4000000000000000ll);
    n->fast_exp = __expf(x);
    n->product = __fmul_rn(x, 3.0f);
    n->high = __umulhi(0xD2511F53u, 0xCD9E8D57u);
    n->wide_high = __umul64hi(0xffffffffffffffffull, 16);
    n->population = (unsigned)__popc(0xf0f0u);
    n->leading = __clz(1);
    n->first = __ffs(8);
    n->rounded = __float2int_rn(2.5f);
    n->int_min = min(3, -4);
    n->mixed_max = max(5ll, (long long)7);
    n->min_with_nan = min(none, x);
    n->max_with_nan = max(x, none);
    n->nan = isnan(none) && !isnan(x);
    n->inf = isinf(INFINITY) && !isinf(x);
    n->finite = isfinite(x) && !isfinite(none);
}

void launch_numbers(cudaStream_t stream, struct numbers *numbers, float x)
{
    TERN_LAUNCH(compute, 1, 1, 0, stream, numbers, x);
}

__global__ void wide_double(float4 *y, const float4 *x)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = x[i];
    y[i] = make_float4(v.x + v.x, v.y + v.y, v.z + v.z, v.w + v.w);
}

void launch_wide_double(cudaStream_t stream, float *y, const float *x, unsigned quads)
{
    TERN_LAUNCH(wide_double, 1, quads, 0, stream, reinterpret_cast<float4 *>(y),
                reinterpret_cast<const float4 *>(x));
}

struct by_rows {
};
struct by_columns {
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
namespace wmma = nvcuda::wmma;

template <class T> struct matrix_element {
    typedef T type;
    static __device__ T rounded(float x)
    {
        return T(x);
    }
};
template <> struct matrix_element<float> {
    typedef wmma::precision::tf32 type;
    static __device__ float rounded(float x)
    {
        return wmma::__float_to_tf32(x);
    }
};
template <class Layout> struct matrix_layout {
    typedef wmma::row_major type;
};
template <> struct matrix_layout<by_columns> {
    typedef wmma::col_major type;
};
#endif

template <class T, int TERMS, class Layout> __global__ void multiply_matrices(matrices *m)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    typedef typename matrix_element<T>::type type;
    typedef typename matrix_layout<Layout>::type layout;
    struct alignas(32) operands {
        T a[16 * 16], b[16 * 16];
    };
    TERN_SHARED(operands, memory);
    for (int i = (int)threadIdx.x; i < 16 * TERMS; i += 32) {
        memory.a[i] = matrix_element<T>::rounded(m->a[i]);
        memory.b[i] = matrix_element<T>::rounded(m->b[i]);
        m->rounded[i] = (float)memory.a[i];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, TERMS, type, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, TERMS, type, layout> b;
    wmma::fragment<wmma::accumulator, 16, 16, TERMS, float> sums;
    wmma::fill_fragment(sums, 0.5f);
    wmma::load_matrix_sync(a, memory.a, TERMS);
    wmma::load_matrix_sync(b, memory.b, std::is_same<Layout, by_rows>::value ? 16 : TERMS);
    wmma::mma_sync(sums, a, b, sums);
    wmma::store_matrix_sync(m->sums, sums, 16, wmma::mem_row_major);
#endif
}

template <class T, int TERMS>
static void launch_matrices_of(cudaStream_t stream, struct matrices *matrices, bool columns)
{
    if (columns)
        TERN_LAUNCH((multiply_matrices<T, TERMS, by_columns>), 1, 32, 0, stream, matrices);
    else
        TERN_LAUNCH((multiply_matrices<T, TERMS, by_rows>), 1, 32, 0, stream, matrices);
}

void launch_matrices(cudaStream_t stream, struct matrices *matrices, enum matrix_dtype dtype,
                     bool columns)
{
    if (dtype == MATRIX_FLOAT16)
        launch_matrices_of<__half, 16>(stream, matrices, columns);
    else if (dtype == MATRIX_BFLOAT16)
        launch_matrices_of<__nv_bfloat16, 16>(stream, matrices, columns);
    else
        launch_matrices_of<float, 8>(stream, matrices, columns);
}

uint16_t half_of_double(double x)
{
    return __half_as_ushort(__double2half(x));
}

uint16_t bfloat16_of_double(double x)
{
    return __bfloat16_as_ushort(__double2bfloat16(x));
}

uint16_t half_arithmetic(uint16_t a, uint16_t b)
{
    return __half_as_ushort(__half((float)__ushort_as_half(a) * (float)__ushort_as_half(b)));
}
