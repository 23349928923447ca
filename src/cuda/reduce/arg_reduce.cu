// SPDX-License-Identifier: Apache-2.0
// argmax and argmin along a dimension, by reduce.cuh: a NaN comes before every number, the first of
// equal ones before the others.
#include "cuda/reduce/reduce.cuh"

template <class C> struct indexed {
    C value;
    int64_t index; // -1: none
};

template <class C> __device__ __forceinline__ indexed<C> shuffle_xor(indexed<C> value, int mask)
{
    return indexed<C>{shuffle_xor(value.value, mask), shuffle_xor(value.index, mask)};
}

template <class T> struct arg_combine {
    typedef indexed<opmath_t<T>> acc;
    bool largest;
    int64_t *indices;
    T *values; // or NULL

    __device__ acc identity() const
    {
        return acc{0, -1};
    }
    __device__ bool wins(const acc &a, const acc &b) const
    {
        if (b.index < 0 || a.index < 0)
            return b.index < 0;
        if (real_isnan(a.value) || real_isnan(b.value))
            return real_isnan(a.value) && (!real_isnan(b.value) || a.index < b.index);
        if (a.value == b.value)
            return a.index < b.index;
        return largest ? a.value > b.value : a.value < b.value;
    }
    __device__ acc operator()(const acc &a, const acc &b) const
    {
        return wins(a, b) ? a : b;
    }
    __device__ void write(const acc &best, const int64_t *y) const
    {
        indices[y[0]] = best.index;
        if (values)
            values[y[1]] = downcast<T>(best.value);
    }
};

template <class T> struct arg_op : arg_combine<T> {
    typedef arg_combine<T> combine_op;
    typedef typename arg_combine<T>::acc state;
    __device__ state start() const
    {
        return this->identity();
    }
    __device__ void add(state &s, T x, int64_t term) const
    {
        s = (*this)(s, state{upcast(x), term});
    }
    __device__ void flush(state &) const
    {
    }
    __device__ state finish(const state &s) const
    {
        return s;
    }
};

// One dimension is reduced, so that terms are counted as its elements are.
template <class T>
static tern_status run_arg(const tern_exec *exec, bool largest, const tern_strided *values,
                           const tern_strided *indices, const tern_strided *x)
{
    const reduce_plan plan = make_reduce_plan(x, indices, values);
    arg_op<T> op;
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
        TERN_DTYPE_CASE(TERN_BOOL, uint8_t, T, run_arg<T>(exec, largest, values, indices, x))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("arg_reduce", x->dtype);
}
