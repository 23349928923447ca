// SPDX-License-Identifier: Apache-2.0
// argmax and argmin along a dimension, by reduce.cuh: a NaN comes before every number, the first of
// equal ones before the others.
#include "cuda/reduce/reduce.cuh"

template <class C> struct placed {
    C value;
    int64_t place; // -1: none
};

template <class C> __device__ __forceinline__ placed<C> lane_exchange(placed<C> value, int mask)
{
    return placed<C>{lane_exchange(value.value, mask), lane_exchange(value.place, mask)};
}

template <class C> __device__ __forceinline__ bool is_nan(C)
{
    return false;
}
template <> __device__ __forceinline__ bool is_nan(float x)
{
    return x != x;
}
template <> __device__ __forceinline__ bool is_nan(double x)
{
    return x != x;
}

template <class T> struct arg_joint {
    typedef placed<computed_t<T>> acc;
    bool largest;
    int64_t *indices;
    T *values; // or NULL

    __device__ acc none() const
    {
        return acc{0, -1};
    }
    __device__ bool wins(const acc &a, const acc &b) const
    {
        if (b.place < 0 || a.place < 0)
            return b.place < 0;
        if (is_nan(a.value) || is_nan(b.value))
            return is_nan(a.value) && (!is_nan(b.value) || a.place < b.place);
        if (a.value == b.value)
            return a.place < b.place;
        return largest ? a.value > b.value : a.value < b.value;
    }
    __device__ acc operator()(const acc &a, const acc &b) const
    {
        return wins(a, b) ? a : b;
    }
    __device__ void write(const acc &best, const int64_t *y) const
    {
        indices[y[0]] = best.place;
        if (values)
            values[y[1]] = narrow<T>(best.value);
    }
};

template <class T> struct arg_fold : arg_joint<T> {
    typedef arg_joint<T> joint;
    typedef typename arg_joint<T>::acc state;
    __device__ state start() const
    {
        return this->none();
    }
    __device__ void add(state &s, T x, int64_t term) const
    {
        s = (*this)(s, state{widen(x), term});
    }
    __device__ void rest(state &) const
    {
    }
    __device__ state finish(const state &s) const
    {
        return s;
    }
};

// One dimension is folded, so that terms are counted as its elements are.
template <class T>
static tern_status run_arg(const tern_exec *exec, bool largest, const tern_strided *values,
                           const tern_strided *indices, const tern_strided *x)
{
    const reduce_plan plan = reduce_plan_of(x, indices, values);
    arg_fold<T> op;
    op.largest = largest;
    op.indices = (int64_t *)indices->data;
    op.values = values ? (T *)values->data : NULL;
    return run_reduce<T>("arg_reduce", exec, plan, op, x->data);
}

extern "C" tern_status tern_cuda_arg_reduce(const tern_exec *exec, bool largest,
                                            const tern_strided *values, const tern_strided *indices,
                                            const tern_strided *x, int dim)
{
    (void)dim;
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, run_arg<T>(exec, largest, values, indices, x))
        TERN_INTEGER_CASES(T, run_arg<T>(exec, largest, values, indices, x))
        TERN_CU_CASE(TERN_BOOL, uint8_t, T, run_arg<T>(exec, largest, values, indices, x))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("arg_reduce", x->dtype);
}
