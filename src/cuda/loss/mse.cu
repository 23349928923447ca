// SPDX-License-Identifier: Apache-2.0
// Mean squared error: sums by blocks, which one more kernel joins, or element by element.
#include "cuda/block.cuh"
#include "cuda/walk.cuh"

#define THREADS    256
#define SHARE      16384 // elements of a block, at least
#define MAX_BLOCKS 1024

template <class T> __device__ __forceinline__ computed_t<T> squared_error(T x, T t)
{
    const computed_t<T> off = widen(x) - widen(t);
    return off * off;
}

// ---- one number ---------------------------------------------------------------------------------

template <class T> __device__ __forceinline__ void write_loss(T *loss, double sum, double divisor)
{
    *loss = narrow<T>((computed_t<T>)(sum / divisor));
}

// Each block's `share` elements; parts (blocks), or NULL where one block does all.
template <class T>
__global__ void __launch_bounds__(THREADS)
    mse_sum(T *loss, const T *x, const T *t, int64_t numel, int64_t share, bool packed,
            double divisor, double *parts)
{
    enum { WIDTH = pack_width<T>::value };
    const int64_t first = blockIdx.x * share, end = first + share;
    const int64_t last = end < numel ? end : numel;
    const int64_t rest = packed ? first + (last - first) / WIDTH * WIDTH : first;
    double sum = 0;
    for (int64_t i = first + (int)threadIdx.x * WIDTH; i < rest; i += THREADS * WIDTH) {
        const pack<T, WIDTH> a = pack_load<WIDTH>(x + i), b = pack_load<WIDTH>(t + i);
        computed_t<T> own = 0;
        for (int k = 0; k < WIDTH; k++)
            own += squared_error(a.at[k], b.at[k]);
        sum += (double)own;
    }
    for (int64_t i = rest + (int)threadIdx.x; i < last; i += THREADS)
        sum += (double)squared_error(x[i], t[i]);
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        if (parts)
            parts[blockIdx.x] = sum;
        else
            write_loss(loss, sum, divisor);
    }
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    mse_join(T *loss, const double *parts, int count, double divisor)
{
    double sum = 0;
    for (int i = (int)threadIdx.x; i < count; i += THREADS)
        sum += parts[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        write_loss(loss, sum, divisor);
}

template <class T>
static tern_status reduce_mse(const tern_exec *exec, double divisor, T *loss, const T *x,
                              const T *t, int64_t numel)
{
    const bool packed = pack_aligned(x, 0, 1) && pack_aligned(t, 0, 1);
    const int64_t share = (numel / MAX_BLOCKS / SHARE + 1) * SHARE;
    const int blocks = (int)((numel + share - 1) / share);
    tern_cuda_scratch scratch;
    if (blocks <= 1) {
        TERN_LAUNCH((mse_sum<T>), 1, THREADS, 0, exec->stream, loss, x, t, numel, share, packed,
                    divisor, (double *)NULL);
        return tern_cuda_launched("mse");
    }
    TERN_TRY(tern_cuda_scratch_take(exec, blocks * (int64_t)sizeof(double), &scratch));
    TERN_LAUNCH((mse_sum<T>), (unsigned)blocks, THREADS, 0, exec->stream, loss, x, t, numel, share,
                packed, divisor, (double *)scratch.data);
    TERN_LAUNCH((mse_join<T>), 1, THREADS, 0, exec->stream, loss, (const double *)scratch.data,
                blocks, divisor);
    tern_cuda_scratch_free(exec, &scratch);
    return tern_cuda_launched("mse");
}

// ---- element by element -------------------------------------------------------------------------

// Views: loss, x, t.
template <class T> struct each_body {
    static const int VIEWS = 3, WIDTH = pack_width<T>::value;
    T *loss;
    const T *x, *t;

    __device__ __forceinline__ void one(const int64_t *at) const
    {
        loss[at[0]] = narrow<T>(squared_error(x[at[1]], t[at[2]]));
    }
    __device__ __forceinline__ void some(const int64_t *at, unsigned) const
    {
        pack<T, WIDTH> a = pack_load<WIDTH>(x + at[1]);
        const pack<T, WIDTH> b = pack_load<WIDTH>(t + at[2]);
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            a.at[k] = narrow<T>(squared_error(a.at[k], b.at[k]));
        pack_store(loss + at[0], a);
    }
};

// Views: dx, x, t. dloss has one element for each, or one for all.
template <class T> struct grad_body {
    static const int VIEWS = 3, WIDTH = pack_width<T>::value;
    T *dx;
    const T *x, *t, *dloss;
    bool shared;
    computed_t<T> twice; // of the factor

    __device__ __forceinline__ T gradient(T a, T b, computed_t<T> dy) const
    {
        return narrow<T>(twice * (widen(a) - widen(b)) * dy);
    }
    __device__ __forceinline__ void one(const int64_t *at) const
    {
        dx[at[0]] = gradient(x[at[1]], t[at[2]], widen(dloss[shared ? 0 : at[0]]));
    }
    __device__ __forceinline__ void some(const int64_t *at, unsigned) const
    {
        pack<T, WIDTH> a = pack_load<WIDTH>(x + at[1]);
        const pack<T, WIDTH> b = pack_load<WIDTH>(t + at[2]);
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            a.at[k] = gradient(a.at[k], b.at[k], widen(dloss[shared ? 0 : at[0] + k]));
        pack_store(dx + at[0], a);
    }
};

// ---- launchers ----------------------------------------------------------------------------------

static tern_strided flat(const tern_strided *view)
{
    tern_strided y = {};
    y.data = view->data;
    y.dtype = view->dtype;
    y.rank = 1;
    y.size[0] = tern_strided_numel(view);
    y.stride[0] = 1;
    return y;
}

template <class T>
static tern_status run_mse(const tern_exec *exec, tern_reduction reduction,
                           const tern_strided *loss, const tern_strided *x, const tern_strided *t)
{
    const int64_t numel = tern_strided_numel(x);
    if (reduction == TERN_REDUCTION_NONE) {
        const tern_strided y = flat(loss), a = flat(x), b = flat(t);
        const tern_strided *const views[] = {&y, &a, &b};
        const each_body<T> body = {(T *)y.data, (const T *)a.data, (const T *)b.data};
        return walk_run(exec, "mse", views, body);
    }
    // Of no elements the pointers may lead behind the memory.
    const T *from = numel > 0 ? (const T *)x->data : NULL;
    const T *to = numel > 0 ? (const T *)t->data : NULL;
    return reduce_mse<T>(exec, reduction == TERN_REDUCTION_SUM ? 1 : (double)numel, (T *)loss->data,
                         from, to, numel);
}

extern "C" tern_status tern_cuda_mse(const tern_exec *exec, tern_reduction reduction,
                                     const tern_strided *loss, const tern_strided *x,
                                     const tern_strided *t)
{
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, run_mse<T>(exec, reduction, loss, x, t))
    default:
        return TERN_OK;
    }
}

template <class T>
static tern_status run_mse_grad(const tern_exec *exec, double factor, const tern_strided *dx,
                                const tern_strided *dloss, const tern_strided *x,
                                const tern_strided *t)
{
    const tern_strided y = flat(dx), a = flat(x), b = flat(t);
    const tern_strided *const views[] = {&y, &a, &b};
    const grad_body<T> body = {(T *)y.data,
                               (const T *)a.data,
                               (const T *)b.data,
                               (const T *)dloss->data,
                               tern_strided_numel(dloss) == 1,
                               (computed_t<T>)(2 * factor)};
    return walk_run(exec, "mse_grad", views, body);
}

extern "C" tern_status tern_cuda_mse_grad(const tern_exec *exec, tern_reduction reduction,
                                          double scale, const tern_strided *dx,
                                          const tern_strided *dloss, const tern_strided *x,
                                          const tern_strided *t)
{
    const bool mean = reduction != TERN_REDUCTION_SUM && reduction != TERN_REDUCTION_NONE;
    const double factor = mean ? scale / (double)tern_strided_numel(x) : scale;
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, run_mse_grad<T>(exec, factor, dx, dloss, x, t))
    default:
        return TERN_OK;
    }
}
