// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax over the middle dimension of (outer, n, inner), and their gradients.
// Short rows (inner = 1) are held in registers, one by each warp. Long rows take a block each;
// where inner > 1 a block takes 32 adjacent columns, and its warps share the elements.
#include "cuda/fast_divide.cuh"
#include "cuda/exp_sum.cuh"
#include "cuda/vec.cuh"

#define SHORT_THREADS 128
#define LONG_THREADS  256
#define LONG_RESIDENT 3 // blocks on a multiprocessor: ptxas would spill for a fourth
#define LONG_WARPS    (LONG_THREADS / WARP_SIZE)

// ---- short rows ---------------------------------------------------------------------------------

// A lane's elements of a row of up to 32 PER.
template <class T, int PER>
__device__ __forceinline__ void load_short(opmath_t<T> (&v)[PER], const T *x, int lane, int n,
                                           opmath_t<T> fill)
{
#pragma unroll
    for (int k = 0; k < PER; k++) {
        const int i = lane + k * WARP_SIZE;
        v[k] = i < n ? upcast(x[i]) : fill;
    }
}

template <class T, int PER>
__global__ void __launch_bounds__(SHORT_THREADS)
    softmax_short(bool log, T *y, const T *x, int64_t rows, int n)
{
    typedef opmath_t<T> C;
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    const int64_t step = (int64_t)gridDim.x * (SHORT_THREADS / WARP_SIZE);
    for (int64_t row = (int64_t)blockIdx.x * (SHORT_THREADS / WARP_SIZE) + warp; row < rows;
         row += step) {
        C v[PER], max = -INFINITY, sum = 0;
        load_short<T, PER>(v, x + row * n, lane, n, (C)-INFINITY);
#pragma unroll
        for (int k = 0; k < PER; k++)
            max = v[k] > max ? v[k] : max;
        max = warp_reduce(max, nan_max());
        T *to = y + row * n;
#pragma unroll
        for (int k = 0; k < PER; k++) {
            const C e = lane + k * WARP_SIZE < n ? exponential(v[k] - max) : 0;
            sum += e;
            v[k] = log ? v[k] - max : e;
        }
        sum = warp_sum(sum);
        const C last = log ? logarithm(sum) : 1 / sum;
#pragma unroll
        for (int k = 0; k < PER; k++)
            if (lane + k * WARP_SIZE < n)
                to[lane + k * WARP_SIZE] = downcast<T>(log ? v[k] - last : v[k] * last);
    }
}

template <class C> __device__ __forceinline__ C gradient_term(bool log, C dy, C y)
{
    return log ? dy : dy * y;
}

template <class C> __device__ __forceinline__ C gradient(bool log, C dy, C y, C sum)
{
    return log ? dy - exponential(y) * sum : y * (dy - sum);
}

template <class T, int PER>
__global__ void __launch_bounds__(SHORT_THREADS)
    softmax_grad_short(bool log, T *dx, const T *dy, const T *y, int64_t rows, int n)
{
    typedef opmath_t<T> C;
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    const int64_t step = (int64_t)gridDim.x * (SHORT_THREADS / WARP_SIZE);
    for (int64_t row = (int64_t)blockIdx.x * (SHORT_THREADS / WARP_SIZE) + warp; row < rows;
         row += step) {
        C g[PER], s[PER], sum = 0;
        load_short<T, PER>(g, dy + row * n, lane, n, (C)0);
        load_short<T, PER>(s, y + row * n, lane, n, (C)0);
#pragma unroll
        for (int k = 0; k < PER; k++)
            sum += gradient_term(log, g[k], s[k]);
        sum = warp_sum(sum);
        T *to = dx + row * n;
#pragma unroll
        for (int k = 0; k < PER; k++)
            if (lane + k * WARP_SIZE < n)
                to[lane + k * WARP_SIZE] = downcast<T>(gradient(log, g[k], s[k], sum));
    }
}

// ---- long rows and columns ----------------------------------------------------------------------

// What a kernel goes over: units are rows, or blocks of columns, `across` of them side by side.
typedef struct long_lines {
    int64_t units, n, inner;
    int64_divisor across;
} long_lines;

// What of a row or column a thread works on: elements first, first + step, ... below n, the first
// of them `at` elements behind the tensors' beginning and `stride` apart.
typedef struct line_slice {
    int64_t at, n, stride;
    int first, step;
} line_slice;

__device__ __forceinline__ line_slice find_slice(const long_lines &lines, int64_t unit)
{
    const int64_t n = lines.n, inner = lines.inner;
    if (inner == 1)
        return line_slice{unit * n, n, 1, (int)threadIdx.x, LONG_THREADS};
    const int64_t outer = fast_divmod(&unit, lines.across);
    const int64_t column = unit * WARP_SIZE + (int)threadIdx.x % WARP_SIZE;
    return line_slice{outer * n * inner + column, column < inner ? n : 0, inner,
                      (int)threadIdx.x / WARP_SIZE, LONG_WARPS};
}

// Over all threads that share a row or a column, in a fixed order.
template <class V, class Combine>
__device__ __forceinline__ V line_reduce(V value, V identity, bool columns, Combine combine)
{
    TERN_SHARED(V, partial, [LONG_WARPS][WARP_SIZE]);
    const int lane = (int)threadIdx.x % WARP_SIZE, warp = (int)threadIdx.x / WARP_SIZE;
    if (!columns)
        return block_reduce(value, identity, combine);
    __syncthreads(); // the previous call may still read `partial`
    partial[warp][lane] = value;
    __syncthreads();
    value = partial[0][lane];
    for (int w = 1; w < LONG_WARPS; w++)
        value = combine(value, partial[w][lane]);
    return value;
}

template <int W, class T>
__device__ __forceinline__ vec<T, W> load_line(const T *x, const line_slice &s, int64_t i)
{
    if (W > 1)
        return vec_load<W>(x + s.at + i * W);
    vec<T, W> one;
    one.at[0] = x[s.at + i * s.stride];
    return one;
}

template <int W, class T>
__device__ __forceinline__ void store_line(T *y, const line_slice &s, int64_t i,
                                           const vec<T, W> &values)
{
    if (W > 1)
        vec_store<W>(y + s.at + i * W, values);
    else
        y[s.at + i * s.stride] = values.at[0];
}

// W > 1: rows whose elements fill vectors.
template <class T, int W>
__global__ void __launch_bounds__(LONG_THREADS, LONG_RESIDENT)
    softmax_long(bool log, T *y, const T *x, const long_lines lines)
{
    typedef opmath_t<T> C;
    for (int64_t unit = blockIdx.x; unit < lines.units; unit += gridDim.x) {
        const line_slice s = find_slice(lines, unit);
        exp_sum<C> all = exp_sum_identity<C>();
        for (int64_t i = s.first; i * W < s.n; i += s.step) {
            const vec<T, W> in = load_line<W>(x, s, i);
            for (int k = 0; k < W; k++)
                exp_sum_add(all, upcast(in.at[k]));
        }
        all = line_reduce(all, exp_sum_identity<C>(), lines.inner > 1, exp_sum_combine());
        all = exp_sum_finish(all);
        const C last = log ? logarithm(all.sum) : 1 / all.sum;
        for (int64_t i = s.first; i * W < s.n; i += s.step) {
            vec<T, W> line = load_line<W>(x, s, i);
            for (int k = 0; k < W; k++) {
                const C off = upcast(line.at[k]) - all.max;
                line.at[k] = downcast<T>(log ? off - last : exponential(off) * last);
            }
            store_line(y, s, i, line);
        }
    }
}

template <class T, int W>
__global__ void __launch_bounds__(LONG_THREADS, LONG_RESIDENT)
    softmax_grad_long(bool log, T *dx, const T *dy, const T *y, const long_lines lines)
{
    typedef opmath_t<T> C;
    for (int64_t unit = blockIdx.x; unit < lines.units; unit += gridDim.x) {
        const line_slice s = find_slice(lines, unit);
        C sum = 0;
        for (int64_t i = s.first; i * W < s.n; i += s.step) {
            const vec<T, W> g = load_line<W>(dy, s, i), of = load_line<W>(y, s, i);
            for (int k = 0; k < W; k++)
                sum += gradient_term(log, upcast(g.at[k]), upcast(of.at[k]));
        }
        sum = line_reduce(sum, (C)0, lines.inner > 1, add_values());
        for (int64_t i = s.first; i * W < s.n; i += s.step) {
            vec<T, W> g = load_line<W>(dy, s, i);
            const vec<T, W> of = load_line<W>(y, s, i);
            for (int k = 0; k < W; k++)
                g.at[k] = downcast<T>(gradient(log, upcast(g.at[k]), upcast(of.at[k]), sum));
            store_line(dx, s, i, g);
        }
    }
}

// ---- launchers ----------------------------------------------------------------------------------

// How a kernel is launched: y and x are dx, dy in the backward, where `of` is the forward's result.
typedef struct softmax_call {
    const tern_exec *exec;
    bool log;
    void *y;
    const void *x, *of;
    int64_t outer, n, inner;
} softmax_call;

template <class T, int PER> static tern_status launch_short(const char *name, const softmax_call *c)
{
    const int64_t warps = SHORT_THREADS / WARP_SIZE;
    const unsigned grid = grid_stride_blocks(ceil_div(c->outer, warps));
    if (c->of)
        return LAUNCH(name, (softmax_grad_short<T, PER>), grid, SHORT_THREADS, c->exec->stream,
                      c->log, (T *)c->y, (const T *)c->x, (const T *)c->of, c->outer, (int)c->n);
    return LAUNCH(name, (softmax_short<T, PER>), grid, SHORT_THREADS, c->exec->stream, c->log,
                  (T *)c->y, (const T *)c->x, c->outer, (int)c->n);
}

template <class T, int W> static tern_status launch_long(const char *name, const softmax_call *c)
{
    const int64_t across = ceil_div(c->inner, WARP_SIZE);
    const long_lines lines = {c->outer * across, c->n, c->inner, make_int64_divisor(across)};
    if (c->of)
        return LAUNCH(name, (softmax_grad_long<T, W>), grid_stride_blocks(lines.units),
                      LONG_THREADS, c->exec->stream, c->log, (T *)c->y, (const T *)c->x,
                      (const T *)c->of, lines);
    return LAUNCH(name, (softmax_long<T, W>), grid_stride_blocks(lines.units), LONG_THREADS,
                  c->exec->stream, c->log, (T *)c->y, (const T *)c->x, lines);
}

static bool fills_vecs(const softmax_call *c, int64_t size)
{
    return c->inner == 1 && vec_aligned(c->y, c->n, size) && vec_aligned(c->x, c->n, size) &&
           vec_aligned(c->of, c->n, size);
}

template <class T> static tern_status run_softmax(const char *name, const softmax_call *c)
{
    if (c->inner == 1 && c->n <= 64)
        return launch_short<T, 2>(name, c);
    if (c->inner == 1 && c->n <= 256)
        return launch_short<T, 8>(name, c);
    if (c->inner == 1 && c->n <= 1024)
        return launch_short<T, 32>(name, c);
    if (fills_vecs(c, (int64_t)sizeof(T)))
        return launch_long<T, vec_width<T>::value>(name, c);
    return launch_long<T, 1>(name, c);
}

static tern_status run(const char *name, tern_dtype dtype, const softmax_call *c)
{
    if (c->outer == 0 || c->n == 0 || c->inner == 0)
        return TERN_OK;
    switch (dtype) {
        TERN_FLOATING_CASES(T, run_softmax<T>(name, c))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks(name, dtype);
}

extern "C" tern_status tern_cuda_softmax(const tern_exec *exec, bool log, const tern_strided *y,
                                         const tern_strided *x)
{
    const softmax_call c = {exec, log, y->data, x->data, NULL, x->size[0], x->size[1], x->size[2]};
    return run("softmax", x->dtype, &c);
}

extern "C" tern_status tern_cuda_softmax_grad(const tern_exec *exec, bool log,
                                              const tern_strided *dx, const tern_strided *dy,
                                              const tern_strided *y)
{
    const softmax_call c = {exec,    log,        dx->data,   dy->data,
                            y->data, y->size[0], y->size[1], y->size[2]};
    return run("softmax_grad", y->dtype, &c);
}
