// SPDX-License-Identifier: Apache-2.0
// y = x. Between equal dtypes bytes are moved; a transpose goes through tiles of shared memory, so
// that both sides are read and written along their rows. Casts between float32 and a 16-bit dtype
// move vectors, the others single elements.
#include "cuda/element.cuh"
#include "cuda/loop.cuh"

// ---- bytes --------------------------------------------------------------------------------------

template <class Bits> struct copy_body {
    static const int VIEWS = 2, WIDTH = vec_width<Bits>::value;
    Bits *y;
    const Bits *x;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = x[at[1]];
    }
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned splat) const
    {
        vec_store(y + at[0], vec_load_or_splat<WIDTH>(x + at[1], splat & 2));
    }
};

template <class Bits>
static tern_status copy_bits(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    const tern_strided *const views[] = {y, x};
    const copy_body<Bits> body = {(Bits *)y->data, (const Bits *)x->data};
    return loop_run(exec, "copy", views, body);
}

// ---- transposes ---------------------------------------------------------------------------------

#define TILE      32
#define TILE_ROWS 8 // of a tile, that a block moves at once

// y (.., rows, cols) has unit stride along cols, x along rows. `outer` is the loop over the rest.
struct transpose {
    int64_t rows, cols, y_row, x_col;
    uint32_t tile_rows, tile_cols;
    loop<2> outer;
};

template <class Bits>
__global__ void __launch_bounds__(TILE *TILE_ROWS) copy_tiles(transpose t, Bits *y, const Bits *x)
{
    TERN_SHARED(Bits, tile, [TILE][TILE + 1]);
    const uint32_t tiles = t.tile_rows * t.tile_cols, number = blockIdx.x % tiles;
    const int64_t row = (int64_t)(number / t.tile_cols) * TILE;
    const int64_t col = (int64_t)(number % t.tile_cols) * TILE;
    int64_t at[2];
    loop_offsets(t.outer, blockIdx.x / tiles, at);
    for (int i = (int)threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + threadIdx.x < t.rows && col + i < t.cols)
            tile[i][threadIdx.x] = x[at[1] + (col + i) * t.x_col + row + threadIdx.x];
    __syncthreads();
    for (int i = (int)threadIdx.y; i < TILE; i += TILE_ROWS)
        if (row + i < t.rows && col + threadIdx.x < t.cols)
            y[at[0] + (row + i) * t.y_row + col + threadIdx.x] = tile[threadIdx.x][i];
}

// The dimension that makes this copy a transpose, or -1.
static int transposed_dim(const joined<2> &j)
{
    if (j.rank < 2 || j.stride[0][0] != 1 || j.stride[0][1] < 2 || j.size[0] < 4)
        return -1;
    for (int d = 1; d < j.rank; d++)
        if (j.stride[d][1] == 1 && j.size[d] >= 4)
            return d;
    return -1;
}

// The dimensions that a tile does not cover; tiles are counted with them.
static joined<2> outer_dims(const joined<2> &j, int row)
{
    joined<2> rest = j;
    rest.rank = 0;
    rest.numel = 1;
    for (int d = 1; d < j.rank; d++) {
        if (d == row)
            continue;
        rest.size[rest.rank] = j.size[d];
        rest.stride[rest.rank][0] = j.stride[d][0];
        rest.stride[rest.rank][1] = j.stride[d][1];
        rest.numel *= j.size[d];
        rest.rank++;
    }
    return rest;
}

template <class Bits>
static tern_status copy_transposed(const tern_exec *exec, const joined<2> &j, int row)
{
    const joined<2> rest = outer_dims(j, row);
    const int64_t tile_rows = ceil_div(j.size[row], TILE);
    const int64_t tile_cols = ceil_div(j.size[0], TILE);
    transpose t = {};
    t.rows = j.size[row];
    t.cols = j.size[0];
    t.y_row = j.stride[row][0];
    t.x_col = j.stride[0][1];
    t.tile_rows = (uint32_t)tile_rows;
    t.tile_cols = (uint32_t)tile_cols;
    t.outer = loop_make(rest, 1, 0);
    return LAUNCH("copy", copy_tiles<Bits>, (unsigned)(rest.numel * tile_rows * tile_cols),
                  dim3(TILE, TILE_ROWS), exec->stream, t, (Bits *)j.data[0],
                  (const Bits *)j.data[1]);
}

template <class Bits>
static tern_status copy_same(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    const tern_strided *const views[] = {y, x};
    const joined<2> j = join(views);
    const int row = j.numel > 0 && j.numel <= LOOP_MAX ? transposed_dim(j) : -1;
    return row >= 0 ? copy_transposed<Bits>(exec, j, row) : copy_bits<Bits>(exec, y, x);
}

// ---- casts --------------------------------------------------------------------------------------

// An element on its way from one dtype to another; floating ones are exact in double.
struct cast_value {
    bool floating;
    double real;
    int64_t integer;
};

template <class T> __device__ __forceinline__ cast_value load_floating(const void *x, int64_t i)
{
    return {true, (double)upcast(((const T *)x)[i]), 0};
}

template <class T> __device__ __forceinline__ cast_value load_integer(const void *x, int64_t i)
{
    return {false, 0, element<T>::load(((const T *)x)[i])};
}

__device__ __forceinline__ cast_value load_value(tern_dtype dtype, const void *x, int64_t i)
{
    switch (dtype) {
        TERN_FLOATING_CASES(T, load_floating<T>(x, i))
        TERN_INTEGRAL_CASES(T, load_integer<T>(x, i))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return {false, 0, 0};
}

// NaN gives 0; what is out of range the nearest.
__device__ __forceinline__ int32_t truncate_to_int32(double x)
{
    const double high = x > INT32_MAX ? INT32_MAX : x;
    const double low = high < INT32_MIN ? INT32_MIN : high;
    return (int32_t)(low == low ? low : 0);
}

// By way of float for the 16-bit ones.
template <class T>
__device__ __forceinline__ void store_floating(void *y, int64_t i, const cast_value &value)
{
    typedef opmath_t<T> C;
    ((T *)y)[i] = downcast<T>(value.floating ? (C)value.real : (C)value.integer);
}

template <class T>
__device__ __forceinline__ void store_integer(void *y, int64_t i, const cast_value &value)
{
    ((T *)y)[i] = (T)(value.floating ? truncate_to_int64(value.real) : value.integer);
}

__device__ __forceinline__ void store_value(tern_dtype dtype, void *y, int64_t i,
                                            const cast_value &value)
{
    switch (dtype) {
    case TERN_FLOAT32:
        store_floating<float>(y, i, value);
        break;
    case TERN_FLOAT64:
        store_floating<double>(y, i, value);
        break;
    case TERN_FLOAT16:
        store_floating<__half>(y, i, value);
        break;
    case TERN_BFLOAT16:
        store_floating<__nv_bfloat16>(y, i, value);
        break;
    case TERN_INT64:
        store_integer<int64_t>(y, i, value);
        break;
    case TERN_INT32:
        ((int32_t *)y)[i] = value.floating ? truncate_to_int32(value.real) : (int32_t)value.integer;
        break;
    case TERN_UINT8:
        store_integer<uint8_t>(y, i, value);
        break;
    case TERN_BOOL:
        ((uint8_t *)y)[i] = value.floating ? value.real != 0 : value.integer != 0;
        break;
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
}

// Any pair of dtypes, distinguished as the kernel runs.
struct cast_body {
    static const int VIEWS = 2, WIDTH = 1;
    void *y;
    const void *x;
    tern_dtype to, from;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        store_value(to, y, at[0], load_value(from, x, at[1]));
    }
};

// Between float32 and a 16-bit dtype.
template <class To, class From> struct float_cast_body {
    static const int VIEWS = 2, WIDTH = 8;
    To *y;
    const From *x;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = downcast<To>(upcast(x[at[1]]));
    }
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned splat) const
    {
        const vec<From, WIDTH> from = vec_load_or_splat<WIDTH>(x + at[1], splat & 2);
        vec<To, WIDTH> to;
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            to.at[k] = downcast<To>(upcast(from.at[k]));
        vec_store(y + at[0], to);
    }
};

template <class To, class From>
static tern_status cast_floats(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    const tern_strided *const views[] = {y, x};
    const float_cast_body<To, From> body = {(To *)y->data, (const From *)x->data};
    return loop_run(exec, "copy", views, body);
}

static tern_status cast_others(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    const tern_strided *const views[] = {y, x};
    const cast_body body = {y->data, x->data, y->dtype, x->dtype};
    return loop_run(exec, "copy", views, body);
}

static tern_status cast(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    if (x->dtype == TERN_FLOAT32 && y->dtype == TERN_FLOAT16)
        return cast_floats<__half, float>(exec, y, x);
    if (x->dtype == TERN_FLOAT32 && y->dtype == TERN_BFLOAT16)
        return cast_floats<__nv_bfloat16, float>(exec, y, x);
    if (x->dtype == TERN_FLOAT16 && y->dtype == TERN_FLOAT32)
        return cast_floats<float, __half>(exec, y, x);
    if (x->dtype == TERN_BFLOAT16 && y->dtype == TERN_FLOAT32)
        return cast_floats<float, __nv_bfloat16>(exec, y, x);
    return cast_others(exec, y, x);
}

extern "C" tern_status tern_cuda_copy(const tern_exec *exec, const tern_strided *y,
                                      const tern_strided *x)
{
    if (y->dtype != x->dtype)
        return cast(exec, y, x);
    switch (tern_dtype_size(y->dtype)) {
        TERN_SIZE_CASES(Bits, copy_same<Bits>(exec, y, x))
    }
    return tern_kernel_lacks("copy", y->dtype);
}
