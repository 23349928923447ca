// SPDX-License-Identifier: Apache-2.0
// Variance and mean in one pass, by reduce.cuh: each thread sums deviations from the first element
// that it sees, in double; the threads' results are combined as counts, means and sums of squared
// deviations. T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm
// for computing sample variances", 1979.
#include "cuda/reduce/reduce.cuh"

struct moments {
    double count, mean, squares; // squares: of the deviations from the mean, their sum
};

__device__ __forceinline__ moments shuffle_xor(const moments &value, int mask)
{
    return moments{shuffle_xor(value.count, mask), shuffle_xor(value.mean, mask),
                   shuffle_xor(value.squares, mask)};
}

template <class T> struct var_combine {
    typedef moments acc;
    T *var, *mean; // or NULL
    double divisor;

    __device__ moments identity() const
    {
        return moments{0, 0, 0};
    }
    __device__ moments operator()(const moments &a, const moments &b) const
    {
        if (a.count == 0 || b.count == 0)
            return a.count == 0 ? b : a;
        const double count = a.count + b.count, off = b.mean - a.mean;
        return moments{count, a.mean * (a.count / count) + b.mean * (b.count / count),
                       a.squares + b.squares + off * off * (a.count * b.count / count)};
    }
    __device__ void write(const moments &all, const int64_t *y) const
    {
        if (var)
            var[y[0]] = downcast<T>((opmath_t<T>)(all.squares / divisor));
        if (mean)
            mean[y[1]] = downcast<T>((opmath_t<T>)(all.count == 0 ? NAN : all.mean));
    }
};

template <class T> struct var_op : var_combine<T> {
    typedef var_combine<T> combine_op;
    struct state {
        double shift, count, sum, squares;
    };
    __device__ state start() const
    {
        return state{0, 0, 0, 0};
    }
    __device__ void add(state &s, T element, int64_t) const
    {
        const double x = (double)upcast(element);
        if (s.count == 0)
            s.shift = isfinite(x) ? x : 0;
        s.count += 1;
        s.sum += x - s.shift;
        s.squares += (x - s.shift) * (x - s.shift);
    }
    __device__ void flush(state &) const
    {
    }
    __device__ moments finish(const state &s) const
    {
        if (s.count == 0)
            return this->identity();
        const double off = s.sum / s.count, squares = s.squares - s.sum * off;
        return moments{s.count, s.shift + off, squares < 0 ? 0 : squares};
    }
};

template <class T>
static tern_status run_var(const tern_exec *exec, double correction, const tern_strided *var,
                           const tern_strided *mean, const tern_strided *x)
{
    const reduce_plan plan = make_reduce_plan(x, var ? var : mean, mean ? mean : var);
    const double divisor = (double)plan.terms - correction;
    var_op<T> op;
    op.var = var ? (T *)var->data : NULL;
    op.mean = mean ? (T *)mean->data : NULL;
    op.divisor = divisor > 0 ? divisor : 0;
    return run_reduce<T>("var", exec, plan, op, x->data);
}

extern "C" tern_status tern_cuda_var(const tern_exec *exec, double correction,
                                     const tern_strided *var, const tern_strided *mean,
                                     const tern_strided *x)
{
    if (!var && !mean)
        return TERN_OK;
    switch (x->dtype) {
        TERN_FLOATING_CASES(T, run_var<T>(exec, correction, var, mean, x))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("var", x->dtype);
}
