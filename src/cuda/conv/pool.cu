// SPDX-License-Identifier: Apache-2.0
// Max pooling, and its gradient by the offsets of the largest elements. A thread makes one element:
// of y from its window, of dx from the outputs that have it in theirs.
#include "cuda/fast_divide.cuh"
#include "cuda/loop.cuh"

// A dimension, with what its numbers are divided by.
struct pool_dim : tern_pool_dim {
    int64_divisor by_in, by_out, by_stride, by_dilation;
};

#define POOL_FN                __device__ __forceinline__
#define POOL_DIM               pool_dim
#define POOL_BY(n, dim, field) fast_divide((n), (dim)->by_##field)
#include "device/pool_window.h"

struct pool_job {
    int64_t numel; // of the result
    pool_dim d, h, w;
    uint8_t *small; // offsets, of one of the two types, or NULL
    int32_t *large;
    int64_t *index;
};

// The largest so far, and where it is: in the window, and in (in..).
template <class C> struct pool_best {
    C value;
    int64_t index;
    int32_t offset;
    bool begun;
};

template <class T>
__global__ void __launch_bounds__(LOOP_THREADS) max_pool(pool_job job, T *y, const T *x)
{
    typedef opmath_t<T> C;
    const int64_t to = loop_thread();
    if (to >= job.numel)
        return;
    int64_t row = to;
    const pool_window w = pool_find_window(&job.w, unravel(&row, job.w.by_out));
    const pool_window h = pool_find_window(&job.h, unravel(&row, job.h.by_out));
    const pool_window d = pool_find_window(&job.d, unravel(&row, job.d.by_out));
    const T *sample = x + row * job.d.in * job.h.in * job.w.in;
    pool_best<C> best = {0, 0, 0, false}; // offset: a kernel has less than 2^31 elements
    for (int64_t i = d.first; i < d.end; i++) {
        for (int64_t j = h.first; j < h.end; j++) {
            const int64_t plane = d.base + i * job.d.dilation;
            const int64_t line = (plane * job.h.in + h.base + j * job.h.dilation) * job.w.in;
            for (int64_t k = w.first; k < w.end; k++) {
                const int64_t at = line + w.base + k * job.w.dilation;
                const C v = upcast(sample[at]);
                if (!best.begun || v > best.value || v != v)
                    best = {v, at, (int32_t)((i * job.h.kernel + j) * job.w.kernel + k), true};
            }
        }
    }
    y[to] = downcast<T>(best.value);
    if (job.small)
        job.small[to] = (uint8_t)best.offset;
    if (job.large)
        job.large[to] = (int32_t)best.offset;
    if (job.index)
        job.index[to] = best.index;
}

template <class T>
__global__ void __launch_bounds__(LOOP_THREADS) max_pool_grad(pool_job job, T *dx, const T *dy)
{
    const int64_t to = loop_thread();
    if (to >= job.numel)
        return;
    int64_t row = to;
    const int64_t iw = unravel(&row, job.w.by_in), ih = unravel(&row, job.h.by_in);
    const int64_t id = unravel(&row, job.d.by_in);
    const pool_outputs d = pool_find_outputs(&job.d, id), h = pool_find_outputs(&job.h, ih);
    const pool_outputs w = pool_find_outputs(&job.w, iw);
    opmath_t<T> sum = 0;
    for (int64_t od = d.first; od < d.first + d.count; od++) {
        const int64_t i = pool_tap(&job.d, od, id);
        for (int64_t oh = h.first; i >= 0 && oh < h.first + h.count; oh++) {
            const int64_t j = pool_tap(&job.h, oh, ih);
            const int64_t line = ((row * job.d.out + od) * job.h.out + oh) * job.w.out;
            for (int64_t ow = w.first; j >= 0 && ow < w.first + w.count; ow++) {
                const int64_t k = pool_tap(&job.w, ow, iw);
                const int64_t offset = (i * job.h.kernel + j) * job.w.kernel + k;
                if (k >= 0 && offset == (job.small ? job.small[line + ow] : job.large[line + ow]))
                    sum += upcast(dy[line + ow]);
            }
        }
    }
    dx[to] = downcast<T>(sum);
}

// ---- launchers ---------------------------------------------------------------------------------

static pool_dim make_dim(const tern_pool_dim *d)
{
    pool_dim dim = {};
    static_cast<tern_pool_dim &>(dim) = *d;
    dim.by_in = make_int64_divisor(d->in);
    dim.by_out = make_int64_divisor(d->out);
    dim.by_stride = make_int64_divisor(d->stride);
    dim.by_dilation = make_int64_divisor(d->dilation);
    return dim;
}

static pool_job make_job(const tern_max_pool_args *args, const tern_strided *result)
{
    pool_job job = {};
    job.numel = tern_strided_numel(result);
    job.d = make_dim(&args->dim[0]);
    job.h = make_dim(&args->dim[1]);
    job.w = make_dim(&args->dim[2]);
    if (args->tap && args->tap->dtype == TERN_UINT8)
        job.small = (uint8_t *)args->tap->data;
    else if (args->tap)
        job.large = (int32_t *)args->tap->data;
    if (args->index)
        job.index = (int64_t *)args->index->data;
    return job;
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const pool_job &job, void *y, const void *x)
{
    return LAUNCH("max_pool", (max_pool<T>), loop_blocks(job.numel), LOOP_THREADS, exec->stream,
                  job, (T *)y, (const T *)x);
}

extern "C" tern_status tern_cuda_max_pool(const tern_exec *exec, const tern_max_pool_args *args,
                                          const tern_strided *y, const tern_strided *x)
{
    const pool_job job = make_job(args, y);
    TERN_TRY(tern_kernel_floating("max_pool", x->dtype));
    if (job.numel == 0)
        return TERN_OK;
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, run_forward<T>(exec, job, y->data, x->data))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("max_pool", x->dtype);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const pool_job &job, void *dx,
                                const void *dy)
{
    return LAUNCH("max_pool_grad", (max_pool_grad<T>), loop_blocks(job.numel), LOOP_THREADS,
                  exec->stream, job, (T *)dx, (const T *)dy);
}

extern "C" tern_status tern_cuda_max_pool_grad(const tern_exec *exec,
                                               const tern_max_pool_args *args,
                                               const tern_strided *dx, const tern_strided *dy)
{
    const pool_job job = make_job(args, dx);
    TERN_TRY(tern_kernel_floating("max_pool_grad", dx->dtype));
    if (job.numel == 0)
        return TERN_OK;
    switch (dx->dtype) {
        TERN_FLOATING_CASES(T, run_backward<T>(exec, job, dx->data, dy->data))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("max_pool_grad", dx->dtype);
}
