// SPDX-License-Identifier: Apache-2.0
// What gather and scatter_add share.
#ifndef TERN_SRC_CUDA_INDEX_INDEX_CUH
#define TERN_SRC_CUDA_INDEX_INDEX_CUH

#include "cuda/element.cuh"
#include "cuda/fault.cuh"
#include "cuda/loop.cuh"

// Indices along one dimension; one that is out of range goes to the fault record.
struct index_list {
    const int64_t *data;
    int64_t limit, dim_stride; // size and stride of the indexed view along dim
    tern_fault *fault;
    uint32_t location;

    // Reads the index at an offset in elements, `position`, into *i; false where it is out of
    // range.
    __device__ __forceinline__ bool read(int64_t position, int64_t *i) const
    {
        *i = data[position];
        if (*i >= 0 && *i < limit)
            return true;
        fault_report(fault, location, position, *i);
        return false;
    }
};

static inline index_list make_index_list(const tern_exec *exec, const tern_strided *index,
                                         const tern_strided *indexed, int dim)
{
    return {(const int64_t *)index->data, indexed->size[dim], indexed->stride[dim], exec->fault,
            exec->location};
}

// The indexed view with stride 0 along dim.
static inline tern_strided with_zero_stride(const tern_strided *indexed, int dim)
{
    tern_strided view = *indexed;
    view.stride[dim] = 0;
    return view;
}

// Views that a kernel here made, with views[0]'s sizes, for a loop.
template <int VIEWS> static inline joined<VIEWS> join_views(const tern_strided (&views)[VIEWS])
{
    tern_strided own[VIEWS], *each[VIEWS];
    const tern_strided *out[VIEWS];
    for (int v = 0; v < VIEWS; v++) {
        own[v] = views[v];
        for (int d = 0; d < views[0].rank; d++)
            own[v].size[d] = views[0].size[d];
        out[v] = each[v] = &own[v];
    }
    tern_views_coalesce(each, VIEWS);
    return join(out);
}

// ---- scatter_add --------------------------------------------------------------------------------

template <class C> __device__ __forceinline__ C plus(C a, C b)
{
    return a + b;
}
__device__ __forceinline__ int64_t plus(int64_t a, int64_t b)
{
    return wrap_add(a, b);
}

struct scatter {
    const tern_exec *exec;
    const tern_strided *y, *x, *index;
    int dim;
};

// The view with only those dimensions for which `keep` has a bit, of the index's sizes.
static inline tern_strided select_dims(const scatter &s, const tern_strided *view, unsigned keep)
{
    tern_strided selected = *view;
    selected.rank = 0;
    for (int d = 0; d < s.index->rank; d++) {
        if (!(keep >> d & 1))
            continue;
        selected.size[selected.rank] = s.index->size[d];
        selected.stride[selected.rank] = view->stride[d];
        selected.rank++;
    }
    return selected;
}

#endif
