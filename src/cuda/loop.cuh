// SPDX-License-Identifier: Apache-2.0
// Elementwise walks over views of the same sizes: what a thread does is a body, where the elements
// are is the walk.
//
// One thread does one element, or one pack of Body::WIDTH neighbours where all views allow it: all
// are contiguous ("flat"), or each row is contiguous or a single value ("rows"). Blocks have
// WALK_THREADS threads, the grid is as large as the work.
//
// A body is a struct that is passed by value and has
//     static const int VIEWS, WIDTH;
//     __device__ void one(const int64_t *at) const;                   at[v]: elements from view v's
//     __device__ void some(const int64_t *at, unsigned splat) const;  data on; bit v of splat: the
//                                                                     pack of view v is one value
// A body of WIDTH 1 needs no `some`.
#ifndef TERN_SRC_CUDA_LOOP_CUH
#define TERN_SRC_CUDA_LOOP_CUH

#include "cuda/fast_divide.cuh"
#include "cuda/vec.cuh"

#define WALK_THREADS 256
#define WALK_MOST    INT32_MAX // elements that are counted in 32 bits

// ---- on the device ------------------------------------------------------------------------------

// The dimensions of one launch, innermost first; fewer than 2^31 elements or packs.
template <int VIEWS> struct walk {
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

// Where element (or pack) i is in each view, elements from the view's data on.
template <int VIEWS>
__device__ __forceinline__ void walk_find(const walk<VIEWS> &w, uint32_t i, int64_t *at)
{
#pragma unroll
    for (int v = 0; v < VIEWS; v++)
        at[v] = w.start[v];
    for (int d = 0; d < w.rank; d++) {
        uint32_t along = i;
        i = divide_by(&along, w.dim[d].size);
#pragma unroll
        for (int v = 0; v < VIEWS; v++)
            at[v] += along * w.dim[d].stride[v];
    }
}

__device__ __forceinline__ int64_t walk_thread(void)
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Packs first, then the elements that fill none.
template <class Body>
__global__ void __launch_bounds__(WALK_THREADS) walk_flat(int64_t packs, int64_t numel, Body body)
{
    const int64_t thread = walk_thread();
    const bool pack = thread < packs;
    const int64_t i = pack ? thread * Body::WIDTH : thread + packs * (Body::WIDTH - 1);
    int64_t at[Body::VIEWS];
#pragma unroll
    for (int v = 0; v < Body::VIEWS; v++)
        at[v] = i;
    if constexpr (Body::WIDTH > 1) {
        if (pack) {
            body.some(at, 0);
            return;
        }
    }
    if (i < numel)
        body.one(at);
}

template <class Body>
__global__ void __launch_bounds__(WALK_THREADS) walk_rows(walk<Body::VIEWS> w, Body body)
{
    int64_t at[Body::VIEWS];
    const int64_t thread = walk_thread();
    if (thread >= w.numel)
        return;
    walk_find(w, (uint32_t)thread, at);
    body.some(at, w.splat);
}

template <class Body>
__global__ void __launch_bounds__(WALK_THREADS) walk_each(walk<Body::VIEWS> w, Body body)
{
    int64_t at[Body::VIEWS];
    const int64_t thread = walk_thread();
    if (thread >= w.numel)
        return;
    walk_find(w, (uint32_t)thread, at);
    body.one(at);
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

// One contiguous piece in all views.
template <int VIEWS> static inline bool joined_flat(const joined<VIEWS> &j)
{
    for (int v = 0; v < VIEWS; v++)
        if (j.rank > 1 || (j.rank == 1 && j.size[0] != 1 && j.stride[0][v] != 1))
            return false;
    return true;
}

// View v may be read by packs of `width` along dimension 0, in which it has unit stride.
template <int VIEWS> static inline bool joined_aligned(const joined<VIEWS> &j, int v, int width)
{
    for (int d = 1; d < j.rank; d++)
        if (j.stride[d][v] % width != 0)
            return false;
    return (uintptr_t)j.data[v] % (uintptr_t)(width * j.nbytes[v]) == 0 && j.start[v] % width == 0;
}

// Rows consist of whole packs; the views whose rows are one value go to *splat.
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

// By elements (width 1) or packs; fewer than 2^31.
template <int VIEWS>
static inline walk<VIEWS> walk_make(const joined<VIEWS> &j, int width, unsigned splat)
{
    walk<VIEWS> w = {};
    w.numel = (uint32_t)(j.numel / width);
    w.rank = j.rank;
    w.splat = splat;
    for (int v = 0; v < VIEWS; v++)
        w.start[v] = j.start[v];
    for (int d = 0; d < j.rank; d++) {
        const int unit = d == 0 ? width : 1;
        w.dim[d].size = divisor_of((uint32_t)(j.size[d] / unit));
        for (int v = 0; v < VIEWS; v++)
            w.dim[d].stride[v] = j.stride[d][v] * unit;
    }
    return w;
}

static inline unsigned walk_blocks(int64_t threads)
{
    return (unsigned)((threads + WALK_THREADS - 1) / WALK_THREADS);
}

// All views contiguous.
template <class Body>
static tern_status walk_run_flat(const tern_exec *exec, const char *op,
                                 const joined<Body::VIEWS> &j, const Body &body)
{
    bool aligned = true;
    for (int v = 0; v < Body::VIEWS; v++)
        aligned = aligned && joined_aligned(j, v, Body::WIDTH);
    const int64_t packs = aligned ? j.numel / Body::WIDTH : 0;
    const int64_t threads = packs + (j.numel - packs * Body::WIDTH);
    if (threads == 0)
        return TERN_OK;
    TERN_LAUNCH((walk_flat<Body>), walk_blocks(threads), WALK_THREADS, 0, exec->stream, packs,
                j.numel, body);
    return tern_cuda_launched(op);
}

template <class Body>
static tern_status walk_run_strided(const tern_exec *exec, const char *op,
                                    const joined<Body::VIEWS> &j, const Body &body)
{
    if (j.numel == 0)
        return TERN_OK;
    if (j.numel > WALK_MOST) {
        TERN_TRY(walk_run_strided(exec, op, joined_half(j, false), body));
        return walk_run_strided(exec, op, joined_half(j, true), body);
    }
    if constexpr (Body::WIDTH > 1) {
        unsigned splat;
        if (joined_rows(j, Body::WIDTH, &splat)) {
            const walk<Body::VIEWS> w = walk_make(j, Body::WIDTH, splat);
            TERN_LAUNCH((walk_rows<Body>), walk_blocks(w.numel), WALK_THREADS, 0, exec->stream, w,
                        body);
            return tern_cuda_launched(op);
        }
    }
    const walk<Body::VIEWS> w = walk_make(j, 1, 0);
    TERN_LAUNCH((walk_each<Body>), walk_blocks(w.numel), WALK_THREADS, 0, exec->stream, w, body);
    return tern_cuda_launched(op);
}

// Does the body for every element of the views.
template <class Body>
static tern_status walk_run(const tern_exec *exec, const char *op, const joined<Body::VIEWS> &j,
                            const Body &body)
{
    return joined_flat(j) ? walk_run_flat(exec, op, j, body) : walk_run_strided(exec, op, j, body);
}
template <class Body>
static tern_status walk_run(const tern_exec *exec, const char *op,
                            const tern_strided *const (&views)[Body::VIEWS], const Body &body)
{
    return walk_run(exec, op, join(views), body);
}

#endif
