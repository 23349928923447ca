// SPDX-License-Identifier: Apache-2.0
// Margins between the scores of a sample's own classes and those of the others: a warp a sample.
#include "cuda/block.cuh"
#include "cuda/fault.cuh"
#include "cuda/vec.cuh"

#define THREADS 256
#define ROWS    (THREADS / WARP_SIZE) // samples of a block

template <class T> struct margins {
    const T *x;            /* (N, C) */
    const int64_t *target; /* (N, listed) */
    const T *weight;       /* (C), or NULL */
    int64_t samples, classes, listed;
    bool lists;
    int p;
    opmath_t<T> margin;
    tern_fault *fault;
    uint32_t location;
};

// One sample.
template <class T> struct margin_row {
    const T *x;
    const int64_t *own; // its classes
    int64_t classes, own_count;
};

// Without classes of its own where one of them is out of range; without any behind the samples.
template <class T>
__device__ __forceinline__ margin_row<T> row_at(const margins<T> &m, int64_t n, bool report)
{
    margin_row<T> row = {m.x, m.target, 0, 0};
    if (n >= m.samples)
        return row;
    row = margin_row<T>{m.x + n * m.classes, m.target + n * m.listed, m.classes, 0};
    for (; row.own_count < m.listed; row.own_count++) {
        const int64_t own = row.own[row.own_count];
        if (m.lists && own == -1)
            break;
        if (own >= 0 && own < m.classes)
            continue;
        if (report)
            fault_report(m.fault, m.location, n * m.listed + row.own_count, own);
        row.own_count = 0;
        break;
    }
    return row;
}

// How often the class is listed.
template <class T> __device__ __forceinline__ int own_times(const margin_row<T> &row, int64_t c)
{
    int times = 0;
    for (int64_t k = 0; k < row.own_count; k++)
        times += row.own[k] == c;
    return times;
}

// By what class i is too close to the own class t; NaN stays.
template <class T>
__device__ __forceinline__ opmath_t<T> excess(const margins<T> &m, const margin_row<T> &row,
                                              int64_t t, int64_t i)
{
    const opmath_t<T> z = m.margin - upcast(row.x[t]) + upcast(row.x[i]);
    return z <= 0 ? 0 : z;
}

template <class T> __device__ __forceinline__ opmath_t<T> weight_of(const margins<T> &m, int64_t t)
{
    return m.weight ? upcast(m.weight[t]) : (opmath_t<T>)1;
}

// ---- forward ------------------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(THREADS) margin_forward(const margins<T> m, T *loss)
{
    const int lane = (int)threadIdx.x % WARP_SIZE;
    const int64_t n = (int64_t)blockIdx.x * ROWS + (int)threadIdx.x / WARP_SIZE;
    const margin_row<T> row = row_at(m, n, lane == 0);
    double sum = 0;
    for (int64_t i = lane; i < row.classes; i += WARP_SIZE) {
        if (own_times(row, i))
            continue;
#pragma unroll 1
        for (int64_t k = 0; k < row.own_count; k++) {
            const opmath_t<T> z = excess(m, row, row.own[k], i);
            sum += (double)weight_of(m, row.own[k]) * (double)(m.p == 1 ? z : z * z);
        }
    }
    sum = warp_sum(sum);
    if (lane == 0 && n < m.samples)
        loss[n] = downcast<T>((opmath_t<T>)(sum / (double)m.classes));
}

// ---- backward -----------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ double slope_of(const margins<T> &m, const margin_row<T> &row, int64_t t,
                                           int64_t i)
{
    const opmath_t<T> z = excess(m, row, t, i);
    return (double)weight_of(m, t) * (double)(m.p == 1 ? (opmath_t<T>)(z > 0) : 2 * z);
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    margin_backward(const margins<T> m, T *dx, const T *dloss)
{
    const int lane = (int)threadIdx.x % WARP_SIZE;
    const int64_t n = (int64_t)blockIdx.x * ROWS + (int)threadIdx.x / WARP_SIZE;
    const margin_row<T> row = row_at(m, n, false);
    const double g = n < m.samples ? (double)upcast(dloss[n]) / (double)m.classes : 0;
    dx += row.x - m.x;
    for (int64_t i = lane; i < row.classes; i += WARP_SIZE) {
        double sum = 0;
        if (own_times(row, i))
            continue;
        for (int64_t k = 0; k < row.own_count; k++)
            sum += slope_of(m, row, row.own[k], i);
        dx[i] = downcast<T>((opmath_t<T>)(g * sum));
    }
    for (int64_t k = 0; k < row.own_count; k++) {
        const int64_t t = row.own[k];
        double sum = 0;
        for (int64_t i = lane; i < row.classes; i += WARP_SIZE)
            sum += own_times(row, i) ? 0 : slope_of(m, row, t, i);
        sum = warp_sum(sum);
        if (lane == 0)
            dx[t] = downcast<T>((opmath_t<T>)(-g * sum * own_times(row, t)));
    }
}

// ---- launchers ----------------------------------------------------------------------------------

template <class T>
static margins<T> make_margins(const tern_exec *exec, const tern_class_margin_args *args)
{
    margins<T> m = {};
    m.x = (const T *)args->x.data;
    m.target = (const int64_t *)args->target.data;
    m.weight = args->weight ? (const T *)args->weight->data : NULL;
    m.samples = args->x.size[0];
    m.classes = args->x.size[1];
    m.listed = args->target.size[1];
    m.lists = args->lists;
    m.p = args->p;
    m.margin = (opmath_t<T>)args->margin;
    m.fault = exec->fault;
    m.location = exec->location;
    return m;
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const tern_class_margin_args *args,
                               const tern_strided *loss)
{
    const margins<T> m = make_margins<T>(exec, args);
    if (m.samples == 0)
        return TERN_OK;
    return LAUNCH("class_margin", (margin_forward<T>), (unsigned)ceil_div(m.samples, ROWS), THREADS,
                  exec->stream, m, (T *)loss->data);
}

extern "C" tern_status tern_cuda_class_margin(const tern_exec *exec,
                                              const tern_class_margin_args *args,
                                              const tern_strided *loss)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_forward<T>(exec, args, loss))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("class_margin", args->x.dtype);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const tern_class_margin_args *args,
                                const tern_strided *dx, const tern_strided *dloss)
{
    const margins<T> m = make_margins<T>(exec, args);
    if (m.samples == 0)
        return TERN_OK;
    return LAUNCH("class_margin_grad", (margin_backward<T>), (unsigned)ceil_div(m.samples, ROWS),
                  THREADS, exec->stream, m, (T *)dx->data, (const T *)dloss->data);
}

extern "C" tern_status tern_cuda_class_margin_grad(const tern_exec *exec,
                                                   const tern_class_margin_args *args,
                                                   const tern_strided *dx,
                                                   const tern_strided *dloss)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, run_backward<T>(exec, args, dx, dloss))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("class_margin_grad", args->x.dtype);
}
