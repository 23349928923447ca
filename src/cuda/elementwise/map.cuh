// SPDX-License-Identifier: Apache-2.0
// y = f(x) and y = f(a, b), element by element: a function over what elements are computed in,
// applied to views of any strides.
#ifndef TERN_SRC_CUDA_ELEMENTWISE_MAP_CUH
#define TERN_SRC_CUDA_ELEMENTWISE_MAP_CUH

#include "cuda/element.cuh"
#include "cuda/loop.cuh"

// Views: y, then INPUTS operands of type In. F::VECTORIZED: so short that each element of a vector
// may have a copy of its code.
template <class Out, class In, int INPUTS, class F> struct map_body {
    static const int VIEWS = INPUTS + 1, WIDTH = F::VECTORIZED ? vec_width<In>::value : 1;
    Out *y;
    const In *x[INPUTS];
    F f;

    __device__ __forceinline__ Out apply(const In *values) const
    {
        if constexpr (INPUTS == 1)
            return element<Out>::store(f(element<In>::load(values[0])));
        else
            return element<Out>::store(
                f(element<In>::load(values[0]), element<In>::load(values[1])));
    }
    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        In values[INPUTS];
#pragma unroll
        for (int i = 0; i < INPUTS; i++)
            values[i] = x[i][at[i + 1]];
        y[at[0]] = apply(values);
    }
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned splat) const
    {
        vec<In, WIDTH> from[INPUTS];
        vec<Out, WIDTH> to;
#pragma unroll
        for (int i = 0; i < INPUTS; i++)
            from[i] = vec_load_or_splat<WIDTH>(x[i] + at[i + 1], splat >> (i + 1) & 1);
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
            In values[INPUTS];
#pragma unroll
            for (int i = 0; i < INPUTS; i++)
                values[i] = from[i].at[k];
            to.at[k] = apply(values);
        }
        vec_store(y + at[0], to);
    }
};

// What an elementwise launch works on.
template <int INPUTS> struct operands {
    const tern_exec *exec;
    const char *op;
    joined<INPUTS + 1> views;
};

static inline operands<1> make_operands(const tern_exec *exec, const char *op,
                                        const tern_strided *y, const tern_strided *x)
{
    const tern_strided *const views[] = {y, x};
    return {exec, op, join(views)};
}

static inline operands<2> make_operands(const tern_exec *exec, const char *op,
                                        const tern_strided *y, const tern_strided *a,
                                        const tern_strided *b)
{
    const tern_strided *const views[] = {y, a, b};
    return {exec, op, join(views)};
}

// The failure of an operation that a dtype does not have.
static inline tern_status unsupported_op(const char *op, int code, tern_dtype dtype)
{
    return tern_error_raise(TERN_ERR_DTYPE, "%s: operation %d is not made for %s", op, code,
                            tern_dtype_name(dtype));
}

template <class Out, class In, int INPUTS, class F>
static map_body<Out, In, INPUTS, F> make_map_body(const operands<INPUTS> &o, const F &f)
{
    map_body<Out, In, INPUTS, F> body = {};
    body.y = (Out *)o.views.data[0];
    for (int i = 0; i < INPUTS; i++)
        body.x[i] = (const In *)o.views.data[i + 1];
    body.f = f;
    return body;
}

template <class Out, class In, int INPUTS, class F>
static tern_status map_flat(const operands<INPUTS> &o, const F &f)
{
    return loop_run_flat(o.exec, o.op, o.views, make_map_body<Out, In>(o, f));
}

template <class Out, class In, int INPUTS, class F>
static tern_status map_strided(const operands<INPUTS> &o, const F &f)
{
    return loop_run_strided(o.exec, o.op, o.views, make_map_body<Out, In>(o, f));
}

template <class Out, class In, int INPUTS, class F>
static tern_status map(const operands<INPUTS> &o, const F &f)
{
    return joined_flat(o.views) ? map_flat<Out, In>(o, f) : map_strided<Out, In>(o, f);
}

#endif
