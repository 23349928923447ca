// SPDX-License-Identifier: Apache-2.0
// gather and scatter_add along one dimension, by int64 indices.
//
// gather is a loop over the index. scatter_add has two algorithms. With many lines of indices along
// `dim`, or short ones, a thread adds a line from its start to its end. With few long ones the
// positions in the index are sorted by destination, in scatter_sorted.cuh. Where no two of a line
// are the same, a thread adds one element.
#include "cuda/index/index.cuh"
#include "cuda/index/scatter_sorted.cuh"

// ---- gather -------------------------------------------------------------------------------------

// Views: y, x without dim, index.
template <class Bits> struct gather_body {
    static const int VIEWS = 3, WIDTH = vec_width<Bits>::value;
    Bits *y;
    const Bits *x;
    index_list index;
    bool vecs; // x has whole vectors at every index

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        int64_t i;
        y[at[0]] = index.read(at[2], &i) ? x[at[1] + i * index.dim_stride] : 0;
    }
    // One index for all: part of a row of x. Else element by element.
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned splat) const
    {
        int64_t i;
        if (vecs && splat == 4) {
            vec<Bits, WIDTH> values = {};
            if (index.read(at[2], &i))
                values = vec_load<WIDTH>(x + at[1] + i * index.dim_stride);
            vec_store(y + at[0], values);
            return;
        }
        for (int k = 0; k < WIDTH; k++) {
            const int64_t next[VIEWS] = {at[0] + k, splat & 2 ? at[1] : at[1] + k,
                                         splat & 4 ? at[2] : at[2] + k};
            scalar(next);
        }
    }
};

template <class Bits>
static tern_status gather(const tern_exec *exec, const tern_strided *y, const tern_strided *x,
                          const tern_strided *index, int dim)
{
    const tern_strided views[] = {*y, with_zero_stride(x, dim), *index};
    const bool vecs = x->stride[dim] % vec_width<Bits>::value == 0;
    const gather_body<Bits> body = {(Bits *)y->data, (const Bits *)x->data,
                                    make_index_list(exec, index, x, dim), vecs};
    return loop_run(exec, "gather", join_views(views), body);
}

extern "C" tern_status tern_cuda_gather(const tern_exec *exec, const tern_strided *y,
                                        const tern_strided *x, const tern_strided *index, int dim)
{
    switch (tern_dtype_size(y->dtype)) {
        TERN_SIZE_CASES(Bits, gather<Bits>(exec, y, x, index, dim))
    }
    return tern_kernel_lacks("gather", y->dtype);
}

// ---- scatter_add: lines -------------------------------------------------------------------------

// Views, without dim: y, x, index. Y is what 16-bit elements of y are summed in.
template <class Y, class X> struct line_body {
    static const int VIEWS = 3, WIDTH = 1;
    Y *y;
    const X *x;
    index_list index;
    int64_t length, x_step, index_step;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        for (int64_t n = 0; n < length; n++) {
            int64_t i;
            if (!index.read(at[2] + n * index_step, &i))
                continue;
            Y *to = y + at[0] + i * index.dim_stride;
            *to = element<Y>::store(
                plus(element<Y>::load(*to), element<X>::load(x[at[1] + n * x_step])));
        }
    }
};

template <class Y, class X> static tern_status add_lines(const scatter &s)
{
    const unsigned others = ~(1u << s.dim);
    const tern_strided views[] = {select_dims(s, s.y, others), select_dims(s, s.x, others),
                                  select_dims(s, s.index, others)};
    const line_body<Y, X> body = {
        (Y *)s.y->data,       (const X *)s.x->data, make_index_list(s.exec, s.index, s.y, s.dim),
        s.index->size[s.dim], s.x->stride[s.dim],   s.index->stride[s.dim]};
    return loop_run(s.exec, "scatter_add", join_views(views), body);
}

// Views: y without dim, x, index. No two threads add to one element.
template <class T> struct unique_body {
    static const int VIEWS = 3, WIDTH = 1;
    T *y;
    const T *x;
    index_list index;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        int64_t i;
        if (!index.read(at[2], &i))
            return;
        T *to = y + at[0] + i * index.dim_stride;
        *to = element<T>::store(plus(element<T>::load(*to), element<T>::load(x[at[1]])));
    }
};

template <class T> static tern_status add_unique(const scatter &s)
{
    const tern_strided still = with_zero_stride(s.y, s.dim);
    const tern_strided views[] = {select_dims(s, &still, ~0u), *s.x, *s.index};
    const unique_body<T> body = {(T *)s.y->data, (const T *)s.x->data,
                                 make_index_list(s.exec, s.index, s.y, s.dim)};
    return loop_run(s.exec, "scatter_add", join_views(views), body);
}

// Contiguous, of y's sizes, in float.
static tern_strided float_view(const tern_strided *y, void *data)
{
    tern_strided upcast = *y;
    int64_t stride = 1;
    upcast.data = data;
    upcast.dtype = TERN_FLOAT32;
    for (int d = y->rank - 1; d >= 0; d--) {
        upcast.stride[d] = stride;
        stride *= y->size[d];
    }
    return upcast;
}

// 16-bit elements accumulate in float and are rounded once.
template <class T> static tern_status add_lines_upcast(const scatter &s)
{
    scratch_memory scratch(s.exec);
    float *sums;
    TERN_TRY(scratch.take(tern_strided_numel(s.y), &sums));
    const tern_strided upcast = float_view(s.y, sums);
    scatter into = s;
    into.y = &upcast;
    tern_strided to = upcast, from = *s.y;
    tern_strided *const views[] = {&to, &from};
    tern_views_coalesce(views, 2);
    TERN_TRY(tern_cuda_copy(s.exec, &to, &from));
    TERN_TRY((add_lines<float, T>(into)));
    return tern_cuda_copy(s.exec, &from, &to);
}

// ---- scatter_add: the choice --------------------------------------------------------------------

#define SHORT_LINE 32    // positions that a thread may add one after the other
#define MANY_LINES 16384 // as many threads keep a device busy

template <class T> static tern_status add(const scatter &s, bool unique)
{
    if (unique)
        return add_unique<T>(s);
    const int64_t length = s.index->size[s.dim];
    const unsigned dims = index_dims(s);
    const joined<3> positions = join_positions(s, dims);
    const joined<2> columns = join_columns(s, ~dims);
    if (positions.numel == 0 || columns.numel == 0)
        return TERN_OK;
    if (length > SHORT_LINE && positions.numel / length < MANY_LINES &&
        can_sort(positions, columns))
        return add_by_sorting<T>(s, positions, columns);
    if constexpr (sizeof(T) == 2)
        return length > 1 ? add_lines_upcast<T>(s) : add_lines<T, T>(s);
    else
        return add_lines<T, T>(s);
}

extern "C" tern_status tern_cuda_scatter_add(const tern_exec *exec, const tern_strided *y,
                                             const tern_strided *x, const tern_strided *index,
                                             int dim, bool unique)
{
    const scatter s = {exec, y, x, index, dim};
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, add<T>(s, unique))
        TERN_INTEGRAL_CASES(T, add<T>(s, unique))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("scatter_add", y->dtype);
}
