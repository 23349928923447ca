// SPDX-License-Identifier: Apache-2.0
// y = c ? a : b, by the size of an element alone
#include "cuda/element.cuh"
#include "cuda/loop.cuh"

template <class Bits> struct where_body {
    static const int VIEWS = 4, WIDTH = vec_width<Bits>::value;
    Bits *y;
    const uint8_t *c;
    const Bits *a, *b;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = c[at[1]] ? a[at[2]] : b[at[3]];
    }
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned splat) const
    {
        const vec<uint8_t, WIDTH> cs = vec_load_or_splat<WIDTH>(c + at[1], splat & 2);
        const vec<Bits, WIDTH> as = vec_load_or_splat<WIDTH>(a + at[2], splat & 4);
        const vec<Bits, WIDTH> bs = vec_load_or_splat<WIDTH>(b + at[3], splat & 8);
        vec<Bits, WIDTH> ys;
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            ys.at[k] = cs.at[k] ? as.at[k] : bs.at[k];
        vec_store(y + at[0], ys);
    }
};

template <class Bits>
static tern_status where(const tern_exec *exec, const tern_strided *const (&views)[4])
{
    const where_body<Bits> body = {(Bits *)views[0]->data, (const uint8_t *)views[1]->data,
                                   (const Bits *)views[2]->data, (const Bits *)views[3]->data};
    return loop_run(exec, "where", views, body);
}

extern "C" tern_status tern_cuda_where(const tern_exec *exec, const tern_strided *y,
                                       const tern_strided *c, const tern_strided *a,
                                       const tern_strided *b)
{
    const tern_strided *const views[] = {y, c, a, b};
    switch (tern_dtype_size(y->dtype)) {
        TERN_SIZE_CASES(Bits, where<Bits>(exec, views))
    }
    return tern_kernel_lacks("where", y->dtype);
}
