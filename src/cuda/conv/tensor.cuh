// SPDX-License-Identifier: Apache-2.0
// The matrix product of a convolution on tensor cores, for the operands of tile.cuh. Elements are
// float16 or bfloat16, or float32 rounded to TF32; sums are float32. A warp makes WARP_ROWS by
// WARP_COLUMNS of the result, in fragments of 16 x 16.
#ifndef TERN_SRC_CUDA_CONV_TENSOR_CUH
#define TERN_SRC_CUDA_CONV_TENSOR_CUH

#include <mma.h>
#include "cuda/block.cuh"
#include "cuda/conv/tile.cuh"

// Below compute capability 8 kernels are not launched.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TENSOR_CORES 1
#else
#define TENSOR_CORES 0
#endif

#define FRAGMENT    16
#define STAGED_LINE (FRAGMENT + 4)

template <int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int WARP_COLUMNS>
struct tensor_tile : conv_loads<ROWS, COLUMNS, DEPTH> {
    static const int DOWN = WARP_ROWS / FRAGMENT,
                     ACROSS = WARP_COLUMNS / FRAGMENT; // fragments of a warp
    static const int warps_across = COLUMNS / WARP_COLUMNS;
    static_assert(ROWS / WARP_ROWS * warps_across * WARP_SIZE == CONV_THREADS,
                  "a block's warps make the tile");

    static __device__ __forceinline__ int warp()
    {
        return (int)threadIdx.x / WARP_SIZE;
    }
    static __device__ __forceinline__ int row(int i)
    {
        return warp() / warps_across * WARP_ROWS + i * FRAGMENT;
    }
    static __device__ __forceinline__ int column(int j)
    {
        return warp() % warps_across * WARP_COLUMNS + j * FRAGMENT;
    }
};

// Lines of both operands are 16 bytes longer than they need to be: no two banks collide. b lies by
// terms, or where WEIGHTS by columns.
template <class Tile, class T, bool WEIGHTS> struct tensor_operands {
    static const int gap = 16 / (int)sizeof(T);
    static const int b_lines = WEIGHTS ? Tile::columns : Tile::depth;
    static const int a_line = Tile::depth + gap;
    static const int b_line = (WEIGHTS ? Tile::depth : Tile::columns) + gap;
    T a[2][Tile::rows][a_line], b[2][b_lines][b_line];
};

// Afterwards each warp stages its results there.
template <class Tile, class T, bool WEIGHTS> union alignas(32) tensor_memory {
    tensor_operands<Tile, T, WEIGHTS> operands;
    float staged[CONV_THREADS / WARP_SIZE][FRAGMENT][STAGED_LINE];
};

#if TENSOR_CORES
namespace wmma = nvcuda::wmma;

template <class T> struct tensor_element {
    typedef T type; // of a fragment
    static const int terms = 16;
    static __device__ __forceinline__ T rounded(T x)
    {
        return x;
    }
};
template <> struct tensor_element<float> {
    typedef wmma::precision::tf32 type;
    static const int terms = 8;
    static __device__ __forceinline__ float rounded(float x)
    {
        return wmma::__float_to_tf32(x);
    }
};

template <class T>
using tensor_sums =
    wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, tensor_element<T>::terms, float>;

template <class Tile, class T, bool WEIGHTS>
__device__ __forceinline__ void store_tensor_operands(tensor_operands<Tile, T, WEIGHTS> &memory,
                                                      int half, const T (&a)[Tile::a_each],
                                                      const T (&b)[Tile::b_each])
{
    typedef tensor_element<T> element;
#pragma unroll
    for (int i = 0; i < Tile::a_each; i++)
        memory.a[half][Tile::load_row(i)][Tile::load_term()] = element::rounded(a[i]);
#pragma unroll
    for (int i = 0; i < Tile::b_each; i++)
        if (WEIGHTS)
            memory.b[half][Tile::load_row(i)][Tile::load_term()] = element::rounded(b[i]);
        else
            memory.b[half][Tile::column_term(i)][Tile::column_index()] = element::rounded(b[i]);
}

template <class Tile, class T, bool WEIGHTS>
__device__ __forceinline__ void add_tensor_products(const tensor_operands<Tile, T, WEIGHTS> &memory,
                                                    int half,
                                                    tensor_sums<T> (&sum)[Tile::DOWN][Tile::ACROSS])
{
    typedef tensor_element<T> element;
    typedef typename std::conditional<WEIGHTS, wmma::col_major, wmma::row_major>::type b_layout;
    typedef tensor_operands<Tile, T, WEIGHTS> layout;
#pragma unroll
    for (int k = 0; k < Tile::depth; k += element::terms) {
        wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, element::terms, typename element::type,
                       wmma::row_major>
            a[Tile::DOWN];
#pragma unroll
        for (int i = 0; i < Tile::DOWN; i++)
            wmma::load_matrix_sync(a[i], &memory.a[half][Tile::row(i)][k], layout::a_line);
#pragma unroll
        for (int j = 0; j < Tile::ACROSS; j++) {
            wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, element::terms,
                           typename element::type, b_layout>
                b;
            const int column = Tile::column(j);
            wmma::load_matrix_sync(b, &memory.b[half][WEIGHTS ? column : k][WEIGHTS ? k : column],
                                   layout::b_line);
#pragma unroll
            for (int i = 0; i < Tile::DOWN; i++)
                wmma::mma_sync(sum[i][j], a[i], b, sum[i][j]);
        }
    }
}

// The sums over the terms below `terms`, each given to store(row, column, sum), by rows.
template <bool WEIGHTS, class Tile, class T, class Operands, class Store>
__device__ __forceinline__ void multiply_tensor(const Operands &operands, int terms, Store store)
{
    typedef tensor_memory<Tile, T, WEIGHTS> shared;
    TERN_SHARED(shared, memory);
    T a[Tile::a_each], b[Tile::b_each];
    tensor_sums<T> sum[Tile::DOWN][Tile::ACROSS];
#pragma unroll
    for (int i = 0; i < Tile::DOWN; i++)
#pragma unroll
        for (int j = 0; j < Tile::ACROSS; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);
    operands.load(0, a, b);
    store_tensor_operands<Tile, T, WEIGHTS>(memory.operands, 0, a, b);
    __syncthreads();
    int half = 0;
    for (int k = 0; k < terms; k += Tile::depth, half ^= 1) {
        const bool more = k + Tile::depth < terms;
        if (more)
            operands.load(k + Tile::depth, a, b);
        add_tensor_products<Tile, T, WEIGHTS>(memory.operands, half, sum);
        if (more)
            store_tensor_operands<Tile, T, WEIGHTS>(memory.operands, half ^ 1, a, b);
        __syncthreads();
    }
    float(&staged)[FRAGMENT][STAGED_LINE] = memory.staged[Tile::warp()];
    const int lane = (int)threadIdx.x % WARP_SIZE;
#pragma unroll
    for (int i = 0; i < Tile::DOWN; i++)
#pragma unroll
        for (int j = 0; j < Tile::ACROSS; j++) {
            wmma::store_matrix_sync(&staged[0][0], sum[i][j], STAGED_LINE, wmma::mem_row_major);
            __syncwarp();
#pragma unroll
            for (int at = lane; at < FRAGMENT * FRAGMENT; at += WARP_SIZE)
                store(Tile::row(i) + at / FRAGMENT, Tile::column(j) + at % FRAGMENT,
                      staged[at / FRAGMENT][at % FRAGMENT]);
            __syncwarp();
        }
}
#endif

#endif
