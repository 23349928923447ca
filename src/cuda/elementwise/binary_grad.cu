// SPDX-License-Identifier: Apache-2.0
// The gradients of y = op(a, b) in a and b, in one pass: a kernel for each operation.
#include "cuda/realmath.cuh"
#include "cuda/loop.cuh"

template <class real> struct pair {
    real da, db;
};

#define BINARY_GRAD(CODE, name, da, db)                                                            \
    template <class real> struct binary_grad_##name {                                              \
        __device__ __forceinline__ pair<real> operator()(real dy, real a, real b) const            \
        {                                                                                          \
            return {da, db};                                                                       \
        }                                                                                          \
    };
#include "device/elementwise.def"

// Views: da, db, dy, a, b.
template <class T, class F> struct grad_body {
    static const int VIEWS = 5, WIDTH = vec_width<T>::value;
    T *da, *db;
    const T *dy, *a, *b;
    F f;

    __device__ __forceinline__ void apply(T *to_a, T *to_b, T dy_at, T a_at, T b_at) const
    {
        const pair<opmath_t<T>> d = f(upcast(dy_at), upcast(a_at), upcast(b_at));
        *to_a = downcast<T>(d.da);
        *to_b = downcast<T>(d.db);
    }
    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        apply(da + at[0], db + at[1], dy[at[2]], a[at[3]], b[at[4]]);
    }
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned splat) const
    {
        const vec<T, WIDTH> dys = vec_load_or_splat<WIDTH>(dy + at[2], splat & 4);
        const vec<T, WIDTH> as = vec_load_or_splat<WIDTH>(a + at[3], splat & 8);
        const vec<T, WIDTH> bs = vec_load_or_splat<WIDTH>(b + at[4], splat & 16);
        vec<T, WIDTH> das, dbs;
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            apply(&das.at[k], &dbs.at[k], dys.at[k], as.at[k], bs.at[k]);
        vec_store(da + at[0], das);
        vec_store(db + at[1], dbs);
    }
};

template <class T, class F>
static tern_status run(const tern_exec *exec, const joined<5> &j, const F &f)
{
    const grad_body<T, F> body = {(T *)j.data[0],       (T *)j.data[1],       (const T *)j.data[2],
                                  (const T *)j.data[3], (const T *)j.data[4], f};
    return loop_run(exec, "binary_grad", j, body);
}

template <class T>
static tern_status run_in(const tern_exec *exec, tern_binary_op op, const joined<5> &j)
{
    switch ((int)op) {
#define BINARY_GRAD(CODE, name, ...)                                                               \
    case TERN_BINARY_##CODE:                                                                       \
        return run<T>(exec, j, binary_grad_##name<opmath_t<T>>{});
#include "device/elementwise.def"
    }
    return tern_error_raise(TERN_ERR_DTYPE, "binary_grad: no kernel for operation %d", (int)op);
}

extern "C" tern_status tern_cuda_binary_grad(const tern_exec *exec, tern_binary_op op,
                                             const tern_strided *const dx[2],
                                             const tern_strided *dy, const tern_strided *a,
                                             const tern_strided *b)
{
    const tern_strided *const views[] = {dx[0], dx[1], dy, a, b};
    switch (a->dtype) {
        TERN_FLOATING_CASES(T, run_in<T>(exec, op, join(views)))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("binary_grad", a->dtype);
}
