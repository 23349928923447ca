// SPDX-License-Identifier: Apache-2.0
// Elementwise loops over views of the same sizes: what a thread does is a body, where the elements
// are is the loop.
//
// One thread does one element, or one vector of Body::WIDTH neighbours where all views allow it:
// all are contiguous ("flat"), or each row is contiguous or a single value ("rows"). Blocks have
// LOOP_THREADS threads, the grid is as large as the work.
//
// A body is a struct that is passed by value and has
//     static const int VIEWS, WIDTH;
//     __device__ void scalar(const int64_t *at) const;
//     __device__ void vectorized(const int64_t *at, unsigned splat) const;
// at[v]: elements from view v's data on; bit v of splat: the vector of view v is one value.
// A body of WIDTH 1 needs no `vectorized`.
#ifndef TERN_SRC_CUDA_LOOP_CUH
#define TERN_SRC_CUDA_LOOP_CUH

#include "cuda/fast_divide.cuh"
#include "cuda/vec.cuh"

#define LOOP_THREADS 256
#define LOOP_MAX     INT32_MAX // elements that are counted in 32 bits

// ---- on the device ------------------------------------------------------------------------------

// The dimensions of one launch, innermost first; fewer than 2^31 elements or vectors.
template <int VIEWS> struct loop {
    struct dimension {
        divisor<uint32_t> size;
        int64_t stride[VIEWS]; // elements
    };
    uint32_t numel;
    int rank;
    unsigned splat;
    int64_t start[VIEWS];
    dimension dim[TERN_MAX_RANK];
};

// Where element (or vector) i is in each view, elements from the view's data on.
template <int VIEWS>
__device__ __forceinline__ void loop_offsets(const loop<VIEWS> &w, uint32_t i, int64_t *at)
{
#pragma unroll
    for (int v = 0; v < VIEWS; v++)
        at[v] = w.start[v];
    for (int d = 0; d < w.rank; d++) {
        uint32_t along = i;
        i = fast_divmod(&along, w.dim[d].size);
#pragma unroll
        for (int v = 0; v < VIEWS; v++)
            at[v] += along * w.dim[d].stride[v];
    }
}

__device__ __forceinline__ int64_t loop_thread(void)
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Vectors first, then the elements that fill none.
template <class Body>
__global__ void __launch_bounds__(LOOP_THREADS) loop_flat(int64_t vecs, int64_t numel, Body body)
{
    const int64_t thread = loop_thread();
    const bool vec = thread < vecs;
    const int64_t i = vec ? thread * Body::WIDTH : thread + vecs * (Body::WIDTH - 1);
    int64_t at[Body::VIEWS];
#pragma unroll
    for (int v = 0; v < Body::VIEWS; v++)
        at[v] = i;
    if constexpr (Body::WIDTH > 1) {
        if (vec) {
            body.vectorized(at, 0);
            return;
        }
    }
    if (i < numel)
        body.scalar(at);
}

template <class Body>
__global__ void __launch_bounds__(LOOP_THREADS) loop_rows(loop<Body::VIEWS> w, Body body)
{
    int64_t at[Body::VIEWS];
    const int64_t thread = loop_thread();
    if (thread >= w.numel)
        return;
    loop_offsets(w, (uint32_t)thread, at);
    body.vectorized(at, w.splat);
}

template <class Body>
__global__ void __launch_bounds__(LOOP_THREADS) loop_each(loop<Body::VIEWS> w, Body body)
{
    int64_t at[Body::VIEWS];
    const int64_t thread = loop_thread();
    if (thread >= w.numel)
        return;
    loop_offsets(w, (uint32_t)thread, at);
    body.scalar(at);
}

// ---- on the host --------------------------------------------------------------------------------

// Views side by side, as launches take them; dimensions innermost first.
template <int VIEWS> struct joined {
    int64_t numel;
    int rank;
    int64_t size[TERN_MAX_RANK];
    int64_t stride[TERN_MAX_RANK][VIEWS];
    int64_t start[VIEWS];
    const void *data[VIEWS];
    int64_t nbytes[VIEWS]; // of an element
};

// views[0]'s sizes count.
template <int VIEWS> static inline joined<VIEWS> join(const tern_strided *const (&views)[VIEWS])
{
    joined<VIEWS> j = {};
    j.numel = tern_strided_numel(views[0]);
    j.rank = views[0]->rank;
    for (int d = 0; d < j.rank; d++)
        j.size[d] = views[0]->size[j.rank - 1 - d];
    for (int v = 0; v < VIEWS; v++) {
        j.data[v] = views[v]->data;
        j.nbytes[v] = (int64_t)tern_dtype_size(views[v]->dtype);
        for (int d = 0; d < j.rank; d++)
            j.stride[d][v] = views[v]->stride[j.rank - 1 - d];
    }
    return j;
}

// Contiguous in all views.
template <int VIEWS> static inline bool joined_flat(const joined<VIEWS> &j)
{
    for (int v = 0; v < VIEWS; v++)
        if (j.rank > 1 || (j.rank == 1 && j.size[0] != 1 && j.stride[0][v] != 1))
            return false;
    return true;
}

// View v may be read by vectors of `width` along dimension 0, in which it has unit stride.
template <int VIEWS> static inline bool joined_aligned(const joined<VIEWS> &j, int v, int width)
{
    for (int d = 1; d < j.rank; d++)
        if (j.stride[d][v] % width != 0)
            return false;
    return (uintptr_t)j.data[v] % (uintptr_t)(width * j.nbytes[v]) == 0 && j.start[v] % width == 0;
}

// Rows consist of whole vectors; the views whose rows are one value go to *splat.
template <int VIEWS>
static inline bool joined_rows(const joined<VIEWS> &j, int width, unsigned *splat)
{
    *splat = 0;
    if (j.rank == 0 || j.size[0] % width != 0 || j.stride[0][0] != 1)
        return false;
    for (int v = 0; v < VIEWS; v++) {
        if (j.stride[0][v] == 0)
            *splat |= 1u << v;
        else if (j.stride[0][v] != 1 || !joined_aligned(j, v, width))
            return false;
    }
    return true;
}

// One half of the outermost dimension.
template <int VIEWS> static inline joined<VIEWS> joined_half(const joined<VIEWS> &j, bool upper)
{
    joined<VIEWS> half = j;
    const int outer = j.rank - 1;
    const int64_t low = j.size[outer] / 2;
    half.size[outer] = upper ? j.size[outer] - low : low;
    half.numel = j.numel / j.size[outer] * half.size[outer];
    for (int v = 0; upper && v < VIEWS; v++)
        half.start[v] += low * j.stride[outer][v];
    return half;
}

// By elements (width 1) or vectors; fewer than 2^31.
template <int VIEWS>
static inline loop<VIEWS> loop_make(const joined<VIEWS> &j, int width, unsigned splat)
{
    loop<VIEWS> w = {};
    w.numel = (uint32_t)(j.numel / width);
    w.rank = j.rank;
    w.splat = splat;
    for (int v = 0; v < VIEWS; v++)
        w.start[v] = j.start[v];
    for (int d = 0; d < j.rank; d++) {
        const int unit = d == 0 ? width : 1;
        w.dim[d].size = make_divisor((uint32_t)(j.size[d] / unit));
        for (int v = 0; v < VIEWS; v++)
            w.dim[d].stride[v] = j.stride[d][v] * unit;
    }
    return w;
}

static inline unsigned loop_blocks(int64_t threads)
{
    return (unsigned)(ceil_div(threads, LOOP_THREADS));
}

// All views contiguous.
template <class Body>
static tern_status loop_run_flat(const tern_exec *exec, const char *op,
                                 const joined<Body::VIEWS> &j, const Body &body)
{
    bool aligned = true;
    for (int v = 0; v < Body::VIEWS; v++)
        aligned = aligned && joined_aligned(j, v, Body::WIDTH);
    const int64_t vecs = aligned ? j.numel / Body::WIDTH : 0;
    const int64_t threads = vecs + (j.numel - vecs * Body::WIDTH);
    if (threads == 0)
        return TERN_OK;
    return LAUNCH(op, (loop_flat<Body>), loop_blocks(threads), LOOP_THREADS, exec->stream, vecs,
                  j.numel, body);
}

template <class Body>
static tern_status loop_run_strided(const tern_exec *exec, const char *op,
                                    const joined<Body::VIEWS> &j, const Body &body)
{
    if (j.numel == 0)
        return TERN_OK;
    if (j.numel > LOOP_MAX) {
        TERN_TRY(loop_run_strided(exec, op, joined_half(j, false), body));
        return loop_run_strided(exec, op, joined_half(j, true), body);
    }
    if constexpr (Body::WIDTH > 1) {
        unsigned splat;
        if (joined_rows(j, Body::WIDTH, &splat)) {
            const loop<Body::VIEWS> w = loop_make(j, Body::WIDTH, splat);
            return LAUNCH(op, (loop_rows<Body>), loop_blocks(w.numel), LOOP_THREADS, exec->stream,
                          w, body);
        }
    }
    const loop<Body::VIEWS> w = loop_make(j, 1, 0);
    return LAUNCH(op, (loop_each<Body>), loop_blocks(w.numel), LOOP_THREADS, exec->stream, w, body);
}

// Does the body for every element of the views.
template <class Body>
static tern_status loop_run(const tern_exec *exec, const char *op, const joined<Body::VIEWS> &j,
                            const Body &body)
{
    return joined_flat(j) ? loop_run_flat(exec, op, j, body) : loop_run_strided(exec, op, j, body);
}
template <class Body>
static tern_status loop_run(const tern_exec *exec, const char *op,
                            const tern_strided *const (&views)[Body::VIEWS], const Body &body)
{
    return loop_run(exec, op, join(views), body);
}

#endif
