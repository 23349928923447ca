// SPDX-License-Identifier: Apache-2.0
// Resampling: averages over windows, interpolation, padding that repeats; and its gradient. A
// thread makes one element: of y from its taps, of dx from the outputs that have it as a tap.
#include "cuda/fast_divide.cuh"
#include "cuda/loop.cuh"

// A dimension, with what its numbers are divided by.
struct resample_dim : tern_resample_dim {
    int64_divisor by_in, by_out, by_stride;
};

#define RESAMPLE_FN                __device__ __forceinline__
#define RESAMPLE_DIM               resample_dim
#define RESAMPLE_BY(n, dim, field) fast_divide((n), (dim)->by_##field)
#define REAL                       float
#define TAPS(name)                 float_##name
#define FLOOR                      floorf
#include "device/resample_taps.h"
#undef REAL
#undef TAPS
#undef FLOOR
#define REAL       double
#define TAPS(name) double_##name
#define FLOOR      floor
#include "device/resample_taps.h"

// The same by the type.
template <class C> struct tap_set;
#define TAP_SET(C)                                                                                 \
    template <> struct tap_set<C> : C##_taps {                                                     \
        __device__ __forceinline__ tap_set(const resample_dim &d, int64_t o)                       \
        {                                                                                          \
            C##_find(&d, o, this);                                                                 \
        }                                                                                          \
        __device__ __forceinline__ int64_t index(const resample_dim &d, int64_t k) const           \
        {                                                                                          \
            return C##_index(&d, this, k);                                                         \
        }                                                                                          \
        __device__ __forceinline__ C weigh(const resample_dim &d, int64_t k) const                 \
        {                                                                                          \
            return C##_weight(&d, this, k);                                                        \
        }                                                                                          \
    };
TAP_SET(float)
TAP_SET(double)

struct resample_job {
    int64_t numel; // of the result
    resample_dim d, h, w;
    double scale;
};

template <class T>
__global__ void __launch_bounds__(LOOP_THREADS) resample(resample_job job, T *y, const T *x)
{
    typedef opmath_t<T> C;
    int64_t row = loop_thread();
    if (row >= job.numel)
        return;
    T *const to = y + row;
    const int64_t ow = unravel(&row, job.w.by_out), oh = unravel(&row, job.h.by_out);
    const int64_t od = unravel(&row, job.d.by_out);
    const tap_set<C> d(job.d, od), h(job.h, oh), w(job.w, ow);
    C sum = 0;
    for (int64_t i = 0; i < d.count; i++) {
        const int64_t plane = (row * job.d.in + d.index(job.d, i)) * job.h.in;
        C outer = 0;
        for (int64_t j = 0; j < h.count; j++) {
            const T *line = x + (plane + h.index(job.h, j)) * job.w.in;
            C inner = 0;
            for (int64_t k = 0; k < w.count; k++)
                inner += w.weigh(job.w, k) * upcast(line[w.index(job.w, k)]);
            outer += h.weigh(job.h, j) * inner;
        }
        sum += d.weigh(job.d, i) * outer;
    }
    *to = downcast<T>(sum * (C)job.scale);
}

// Outputs that may have an input as a tap: first + k step, k < count. Some may lie outside.
struct reach {
    int64_t first, count, step;
};

// Where coordinates are about o ratio, of inputs less than `width` away.
__device__ __forceinline__ reach reach_about(const resample_dim &d, int64_t i, int width)
{
    const double per = d.ratio > 0 ? 1 / d.ratio : 0;
    const double slack = 2 + 1e-6 * (double)d.out; // coordinates are rounded
    double low = (double)(i - width) * per - slack, high = (double)(i + width) * per + slack;
    if (i == 0 || per == 0)
        low = 0;
    if (i == d.in - 1 || per == 0)
        high = (double)d.out;
    low = low > 0 ? floor(low) : 0;
    high = high < (double)d.out ? ceil(high) : (double)d.out;
    const reach r = {(int64_t)low, (int64_t)(high - low), 1};
    return r;
}

__device__ __forceinline__ reach reach_window(const resample_dim &d, int64_t i)
{
    const int64_t at = i + d.padding, before = at - d.kernel;
    const int64_t first = before < 0 ? 0 : fast_divide(before, d.by_stride) + 1;
    const reach r = {first, fast_divide(at, d.by_stride) + 1 - first, 1};
    return r;
}

__device__ __forceinline__ reach find_reach(const resample_dim &d, int64_t i)
{
    reach r = {i + d.padding, 1, 1};
    switch (d.kind) {
    case TERN_RESAMPLE_SAME:
        r.first = i;
        break;
    case TERN_RESAMPLE_NEAREST:
    case TERN_RESAMPLE_NEAREST_EXACT:
    case TERN_RESAMPLE_LINEAR:
        return reach_about(d, i, 2);
    case TERN_RESAMPLE_CUBIC:
        return reach_about(d, i, 3);
    case TERN_RESAMPLE_AREA:
        r.first = fast_divide(i * d.out, d.by_in);
        r.count = fast_divide((i + 1) * d.out + d.in - 1, d.by_in) - r.first;
        break;
    case TERN_RESAMPLE_WINDOW:
        return reach_window(d, i);
    case TERN_RESAMPLE_REPLICATE:
        r.first = i == 0 ? 0 : r.first;
        r.count = (i == d.in - 1 ? d.out : i + d.padding + 1) - r.first;
        break;
    case TERN_RESAMPLE_CIRCULAR:
        r.first -= d.in;
        r.step = d.in;
        r.count = 3;
        break;
    case TERN_RESAMPLE_REFLECT:
        r.count = 3;
        break;
    }
    return r;
}

// Candidate k; those of a reflection are the two mirrored ones beside the input itself.
__device__ __forceinline__ int64_t reach_at(const resample_dim &d, const reach &r, int64_t i,
                                            int64_t k)
{
    if (d.kind != TERN_RESAMPLE_REFLECT)
        return r.first + k * r.step;
    if (k == 0)
        return i == 0 ? -1 : d.padding - i;
    return k == 1 ? r.first : i == d.in - 1 ? -1 : d.padding + 2 * (d.in - 1) - i;
}

// The weight that output o gives input i; false where it gives none.
template <class C>
__device__ __forceinline__ bool weight_in(const resample_dim &d, int64_t o, int64_t i, C *weight)
{
    if (o < 0 || o >= d.out)
        return false;
    const tap_set<C> taps(d, o);
    *weight = taps.weight;
    if (d.kind != TERN_RESAMPLE_LINEAR && d.kind != TERN_RESAMPLE_CUBIC)
        return i >= taps.first && i < taps.first + taps.count;
    bool hit = false;
    *weight = 0;
    for (int k = 0; k < taps.count; k++) {
        if (taps.index(d, k) != i)
            continue;
        *weight += taps.weigh(d, k);
        hit = true;
    }
    return hit;
}

template <class T>
__global__ void __launch_bounds__(LOOP_THREADS) resample_grad(resample_job job, T *dx, const T *dy)
{
    typedef opmath_t<T> C;
    int64_t row = loop_thread();
    if (row >= job.numel)
        return;
    T *const to = dx + row;
    const int64_t iw = unravel(&row, job.w.by_in), ih = unravel(&row, job.h.by_in);
    const int64_t id = unravel(&row, job.d.by_in);
    const reach d = find_reach(job.d, id), h = find_reach(job.h, ih), w = find_reach(job.w, iw);
    C sum = 0;
    for (int64_t i = 0; i < d.count; i++) {
        const int64_t od = reach_at(job.d, d, id, i);
        C by_d;
        if (!weight_in(job.d, od, id, &by_d))
            continue;
        for (int64_t j = 0; j < h.count; j++) {
            const int64_t oh = reach_at(job.h, h, ih, j);
            C by_h;
            if (!weight_in(job.h, oh, ih, &by_h))
                continue;
            const T *line = dy + ((row * job.d.out + od) * job.h.out + oh) * job.w.out;
            C inner = 0;
            for (int64_t k = 0; k < w.count; k++) {
                const int64_t ow = reach_at(job.w, w, iw, k);
                C by_w;
                if (weight_in(job.w, ow, iw, &by_w))
                    inner += by_w * upcast(line[ow]);
            }
            sum += by_d * by_h * inner;
        }
    }
    *to = downcast<T>(sum * (C)job.scale);
}

// ---- launchers ---------------------------------------------------------------------------------

static resample_dim make_dim(const tern_resample_dim *d)
{
    resample_dim dim = {};
    static_cast<tern_resample_dim &>(dim) = *d;
    dim.by_in = make_int64_divisor(d->in);
    dim.by_out = make_int64_divisor(d->out);
    dim.by_stride = make_int64_divisor(d->stride);
    return dim;
}

static resample_job make_job(const tern_resample_args *args, const tern_strided *result)
{
    const resample_job job = {tern_strided_numel(result), make_dim(&args->dim[0]),
                              make_dim(&args->dim[1]), make_dim(&args->dim[2]), args->scale};
    return job;
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const resample_job &job, void *y,
                               const void *x)
{
    return LAUNCH("resample", (resample<T>), loop_blocks(job.numel), LOOP_THREADS, exec->stream,
                  job, (T *)y, (const T *)x);
}

extern "C" tern_status tern_cuda_resample(const tern_exec *exec, const tern_resample_args *args,
                                          const tern_strided *y, const tern_strided *x)
{
    const resample_job job = make_job(args, y);
    TERN_TRY(tern_kernel_floating("resample", x->dtype));
    if (job.numel == 0)
        return TERN_OK;
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, run_forward<T>(exec, job, y->data, x->data))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("resample", x->dtype);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const resample_job &job, void *dx,
                                const void *dy)
{
    return LAUNCH("resample_grad", (resample_grad<T>), loop_blocks(job.numel), LOOP_THREADS,
                  exec->stream, job, (T *)dx, (const T *)dy);
}

extern "C" tern_status tern_cuda_resample_grad(const tern_exec *exec,
                                               const tern_resample_args *args,
                                               const tern_strided *dx, const tern_strided *dy)
{
    const resample_job job = make_job(args, dx);
    TERN_TRY(tern_kernel_floating("resample_grad", dx->dtype));
    if (job.numel == 0)
        return TERN_OK;
    switch (dx->dtype) {
        TERN_FLOATING_CASES(T, run_backward<T>(exec, job, dx->data, dy->data))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("resample_grad", dx->dtype);
}
