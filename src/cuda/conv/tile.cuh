// SPDX-License-Identifier: Apache-2.0
// The matrix product of a convolution in tiles: a block multiplies (rows, terms) by (terms,
// columns), DEPTH terms at a time, from two halves of shared memory in turn; a thread makes DOWN
// rows by ACROSS columns of the result in registers. What the matrices are is the operands' matter:
//
//     load(int term, C (&a)[Tile::a_each], C (&b)[Tile::b_each])
//
// gives this thread's share of the terms from `term` on, with zeros behind the last. Its elements
// of a are those of one term, in rows a step apart (load_term, load_row). Of b it has the same
// where WEIGHTS, else one column's terms (column_index, column_term): neighbouring lanes read
// neighbours.
#ifndef TERN_SRC_CUDA_CONV_TILE_CUH
#define TERN_SRC_CUDA_CONV_TILE_CUH

#include "cuda/vec.cuh"
#include "cuda/realmath.cuh"

#define CONV_THREADS 256

// How operands are shared among the threads of a block.
template <int ROWS, int COLUMNS, int DEPTH> struct conv_loads {
    static const int rows = ROWS, columns = COLUMNS, depth = DEPTH;
    static const int a_each = ROWS * DEPTH / CONV_THREADS, b_each = COLUMNS * DEPTH / CONV_THREADS;
    static const int step = CONV_THREADS / DEPTH; // from a thread's row to its next

    static __device__ __forceinline__ int load_term()
    {
        return (int)threadIdx.x % DEPTH;
    }
    static __device__ __forceinline__ int load_row(int i)
    {
        return (int)threadIdx.x / DEPTH + i * step;
    }
    static __device__ __forceinline__ int column_index()
    {
        return (int)threadIdx.x % COLUMNS;
    }
    static __device__ __forceinline__ int column_term(int i)
    {
        return (int)threadIdx.x / COLUMNS * b_each + i;
    }
};

template <int ROWS, int COLUMNS, int DEPTH, int DOWN_, int ACROSS_>
struct conv_tile : conv_loads<ROWS, COLUMNS, DEPTH> {
    static const int DOWN = DOWN_, ACROSS = ACROSS_;
    static const int threads_across = COLUMNS / ACROSS;
    static const int row_run = DOWN < 4 ? DOWN : 4, column_run = ACROSS < 4 ? ACROSS : 4;
    static_assert(ROWS / DOWN * threads_across == CONV_THREADS, "a block's threads make the tile");

    static __device__ __forceinline__ int row(int i)
    {
        return (int)threadIdx.x / threads_across * DOWN + i;
    }
    // Runs of columns, those of neighbouring threads side by side: no two banks collide.
    static __device__ __forceinline__ int column(int j)
    {
        const int thread = (int)threadIdx.x % threads_across;
        return j / column_run * (threads_across * column_run) + thread * column_run +
               j % column_run;
    }
};

template <class Tile, class C> struct alignas(32) conv_buffers {
    C a[2][Tile::depth][Tile::rows + 4], b[2][Tile::depth][Tile::columns + 4];
};

template <bool WEIGHTS, class Tile, class C>
__device__ __forceinline__ void store_operands(conv_buffers<Tile, C> &memory, int half,
                                               const C (&a)[Tile::a_each],
                                               const C (&b)[Tile::b_each])
{
#pragma unroll
    for (int i = 0; i < Tile::a_each; i++)
        memory.a[half][Tile::load_term()][Tile::load_row(i)] = a[i];
#pragma unroll
    for (int i = 0; i < Tile::b_each; i++)
        if (WEIGHTS)
            memory.b[half][Tile::load_term()][Tile::load_row(i)] = b[i];
        else
            memory.b[half][Tile::column_term(i)][Tile::column_index()] = b[i];
}

template <class Tile, class C>
__device__ __forceinline__ void add_products(const conv_buffers<Tile, C> &memory, int half,
                                             C (&sum)[Tile::DOWN][Tile::ACROSS])
{
    const int R = Tile::row_run, W = Tile::column_run;
#pragma unroll
    for (int k = 0; k < Tile::depth; k++) {
        vec<C, R> a[Tile::DOWN / R];
        vec<C, W> b[Tile::ACROSS / W];
#pragma unroll
        for (int i = 0; i < Tile::DOWN / R; i++)
            a[i] = vec_load<R>(&memory.a[half][k][Tile::row(i * R)]);
#pragma unroll
        for (int j = 0; j < Tile::ACROSS / W; j++)
            b[j] = vec_load<W>(&memory.b[half][k][Tile::column(j * W)]);
#pragma unroll
        for (int i = 0; i < Tile::DOWN; i++)
#pragma unroll
            for (int j = 0; j < Tile::ACROSS; j++)
                sum[i][j] = real_fma(a[i / R].at[i % R], b[j / W].at[j % W], sum[i][j]);
    }
}

// Adds to `sum` what the terms below `terms` give.
template <bool WEIGHTS, class Tile, class C, class Operands>
__device__ __forceinline__ void multiply_tile(Operands &operands, int terms,
                                              C (&sum)[Tile::DOWN][Tile::ACROSS])
{
    typedef conv_buffers<Tile, C> buffers;
    TERN_SHARED(buffers, memory);
    C a[Tile::a_each], b[Tile::b_each];
    operands.load(0, a, b);
    store_operands<WEIGHTS, Tile, C>(memory, 0, a, b);
    __syncthreads();
    int half = 0;
    for (int k = 0; k < terms; k += Tile::depth, half ^= 1) {
        const bool more = k + Tile::depth < terms;
        if (more)
            operands.load(k + Tile::depth, a, b);
        add_products<Tile, C>(memory, half, sum);
        if (more)
            store_operands<WEIGHTS, Tile, C>(memory, half ^ 1, a, b);
        __syncthreads();
    }
}

#endif
