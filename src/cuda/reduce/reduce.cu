// SPDX-License-Identifier: Apache-2.0
// Sums, means, norms, extremes, any and all, by reduce.cuh. Floating sums are kept in double;
// a few terms are added in the elements' own arithmetic before they go there.
#include "cuda/reduce/reduce.cuh"

// Where results are stored, and what is computed of a total before.
struct reduce_result {
    tern_reduce_op op;
    double p;
    int64_t terms;
    void *y;
    tern_dtype dtype;
};

__device__ __forceinline__ void store_result(const reduce_result &to, int64_t at, double value)
{
    if (to.dtype == TERN_FLOAT64)
        ((double *)to.y)[at] = value;
    else if (to.dtype == TERN_FLOAT16)
        ((__half *)to.y)[at] = downcast<__half>((float)value);
    else if (to.dtype == TERN_BFLOAT16)
        ((__nv_bfloat16 *)to.y)[at] = downcast<__nv_bfloat16>((float)value);
    else
        ((float *)to.y)[at] = (float)value;
}

// ---- sums ---------------------------------------------------------------------------------------

// Totals are added; integers wrap around.
template <class Total> struct total_combine {
    typedef Total acc;
    reduce_result to;

    __device__ acc identity() const
    {
        return 0;
    }
    __device__ acc operator()(acc a, acc b) const
    {
        return a + b;
    }
};

struct sum_combine : total_combine<double> {
    __device__ void write(acc total, const int64_t *y) const
    {
        store_result(to, y[0], to.op == TERN_REDUCE_MEAN ? total / (double)to.terms : total);
    }
};

// SUM and MEAN.
template <class T> struct sum_op : sum_combine {
    typedef sum_combine combine_op;
    struct state {
        double total;
        opmath_t<T> partial;
    };
    __device__ state start() const
    {
        return state{0, 0};
    }
    __device__ void add(state &s, T x, int64_t) const
    {
        s.partial += upcast(x);
    }
    __device__ void flush(state &s) const
    {
        s.total += (double)s.partial;
        s.partial = 0;
    }
    __device__ acc finish(const state &s) const
    {
        return s.total;
    }
};

struct integer_sum_combine : total_combine<unsigned long long> {
    __device__ void write(acc total, const int64_t *y) const
    {
        ((int64_t *)to.y)[y[0]] = (int64_t)total;
    }
};

// What needs no more than its total while it runs.
template <class Combine> struct plain_op : Combine {
    typedef Combine combine_op;
    typedef typename Combine::acc state;
    __device__ state start() const
    {
        return this->identity();
    }
    __device__ void flush(state &) const
    {
    }
    __device__ state finish(state s) const
    {
        return s;
    }
};

template <class T> struct integer_sum_op : plain_op<integer_sum_combine> {
    __device__ void add(state &s, T x, int64_t) const
    {
        s += (state)(int64_t)x;
    }
};

// ---- counts -------------------------------------------------------------------------------------

struct count_combine : total_combine<unsigned long long> {
    __device__ void write(acc total, const int64_t *y) const
    {
        if (to.op == TERN_REDUCE_NORM)
            store_result(to, y[0], (double)total);
        else
            ((uint8_t *)to.y)[y[0]] = to.op == TERN_REDUCE_ANY ? total > 0 : total == (acc)to.terms;
    }
};

// Of elements that are not 0: ANY, ALL, and the norm of p = 0.
template <class T> struct count_op : plain_op<count_combine> {
    __device__ void add(state &s, T x, int64_t) const
    {
        s += upcast(x) != 0;
    }
};

// ---- norms --------------------------------------------------------------------------------------

struct square_combine : total_combine<double> {
    __device__ void write(acc total, const int64_t *y) const
    {
        store_result(to, y[0], sqrt(total));
    }
};

template <class T> struct square_op : plain_op<square_combine> {
    __device__ void add(state &s, T element, int64_t) const
    {
        const double x = (double)upcast(element);
        s += x * x;
    }
};

struct power_combine : total_combine<double> {
    __device__ void write(acc total, const int64_t *y) const
    {
        store_result(to, y[0], to.p == 1 || to.terms == 0 ? total : pow(total, 1 / to.p));
    }
};

template <class T> struct power_op : plain_op<power_combine> {
    __device__ void add(state &s, T element, int64_t) const
    {
        const double x = fabs((double)upcast(element));
        s += this->to.p == 1 ? x : pow(x, this->to.p);
    }
};

// ---- extremes -----------------------------------------------------------------------------------

// Norms are of floating elements.
template <class C> __device__ __forceinline__ C magnitude(C x)
{
    return x;
}
template <> __device__ __forceinline__ float magnitude(float x)
{
    return fabsf(x);
}
template <> __device__ __forceinline__ double magnitude(double x)
{
    return fabs(x);
}

// AMAX, AMIN, and the norms of p = infinity and -infinity. One NaN makes them NaN.
template <class T> struct extreme_combine {
    typedef opmath_t<T> acc;
    bool largest, absolute;
    acc worst; // what all else wins over
    reduce_result to;

    __device__ acc identity() const
    {
        return worst;
    }
    __device__ acc operator()(acc a, acc b) const
    {
        const bool better = largest ? b > a : b < a;
        return better || real_isnan(b) ? b : a;
    }
    __device__ void write(acc value, const int64_t *y) const
    {
        ((T *)to.y)[y[0]] = downcast<T>(absolute && to.terms == 0 ? (acc)0 : value);
    }
};

template <class T> struct extreme_op : plain_op<extreme_combine<T>> {
    __device__ void add(opmath_t<T> &s, T element, int64_t) const
    {
        const opmath_t<T> x = upcast(element);
        s = (*this)(s, this->absolute ? magnitude(x) : x);
    }
};

// ---- launchers ----------------------------------------------------------------------------------

// x, and how it is split.
struct reduce_input {
    const tern_exec *exec;
    reduce_plan plan;
    const void *x;
};

template <class T, class Op>
static tern_status reduce_totals(const reduce_input *in, const reduce_result &to)
{
    Op op;
    op.to = to;
    return run_reduce<T>("reduce", in->exec, in->plan, op, in->x);
}

template <class T>
static tern_status reduce_extreme(const reduce_input *in, const reduce_result &to, bool largest,
                                  opmath_t<T> lowest, opmath_t<T> highest)
{
    extreme_op<T> op;
    op.largest = largest;
    op.absolute = to.op == TERN_REDUCE_NORM;
    op.worst = largest ? lowest : highest;
    op.to = to;
    return run_reduce<T>("reduce", in->exec, in->plan, op, in->x);
}

template <class T> static tern_status reduce_norm(const reduce_input *in, const reduce_result &to)
{
    if (to.p == 0)
        return reduce_totals<T, count_op<T>>(in, to);
    if (isinf(to.p))
        return reduce_extreme<T>(in, to, to.p > 0, 0, INFINITY);
    if (to.p == 2)
        return reduce_totals<T, square_op<T>>(in, to);
    return reduce_totals<T, power_op<T>>(in, to);
}

template <class T> static tern_status reduce_real(const reduce_input *in, const reduce_result &to)
{
    switch (to.op) {
    case TERN_REDUCE_AMAX:
    case TERN_REDUCE_AMIN:
        return reduce_extreme<T>(in, to, to.op == TERN_REDUCE_AMAX, -INFINITY, INFINITY);
    case TERN_REDUCE_NORM:
        return reduce_norm<T>(in, to);
    case TERN_REDUCE_ANY:
    case TERN_REDUCE_ALL:
        return reduce_totals<T, count_op<T>>(in, to);
    case TERN_REDUCE_SUM:
    case TERN_REDUCE_MEAN:
        return reduce_totals<T, sum_op<T>>(in, to);
    }
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "reduce: no kernel for operation %d", (int)to.op);
}

template <class T>
static tern_status reduce_integer(const reduce_input *in, const reduce_result &to, T lowest,
                                  T highest)
{
    switch (to.op) {
    case TERN_REDUCE_AMAX:
    case TERN_REDUCE_AMIN:
        return reduce_extreme<T>(in, to, to.op == TERN_REDUCE_AMAX, lowest, highest);
    case TERN_REDUCE_ANY:
    case TERN_REDUCE_ALL:
        return reduce_totals<T, count_op<T>>(in, to);
    case TERN_REDUCE_SUM:
        return reduce_totals<T, integer_sum_op<T>>(in, to);
    case TERN_REDUCE_MEAN:
    case TERN_REDUCE_NORM:
        break;
    }
    return tern_error_raise(TERN_ERR_DTYPE, "reduce: no kernel for operation %d of integers",
                            (int)to.op);
}

extern "C" tern_status tern_cuda_reduce(const tern_exec *exec, tern_reduce_op op, double p,
                                        const tern_strided *y, const tern_strided *x)
{
    const reduce_input in = {exec, make_reduce_plan(x, y, NULL), x->data};
    const reduce_result to = {op, p, in.plan.terms, y->data, y->dtype};
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, reduce_real<T>(&in, to))
    case TERN_INT64:
        return reduce_integer<int64_t>(&in, to, INT64_MIN, INT64_MAX);
    case TERN_INT32:
        return reduce_integer<int32_t>(&in, to, INT32_MIN, INT32_MAX);
    case TERN_UINT8:
    case TERN_BOOL:
        return reduce_integer<uint8_t>(&in, to, 0, UINT8_MAX);
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("reduce", x->dtype);
}
