// SPDX-License-Identifier: Apache-2.0
// Random numbers from random words. Each element has words of its own, so that the order of threads
// does not matter: one for uniform numbers and normals of up to 32 bits, else two.
//
// Uniform numbers have 24 random bits, in float64 53; 16-bit dtypes round float's. Normals come in
// pairs by Box and Muller's method, the words of both elements of a pair making the two.
#include "cuda/element.cuh"
#include "cuda/realmath.cuh"
#include "cuda/loop.cuh"

#define TWO_PI 6.28318530717958647692

// ---- words --------------------------------------------------------------------------------------

static int words_per_element(tern_random_kind kind, tern_dtype dtype)
{
    const bool small = kind == TERN_RANDOM_UNIFORM || kind == TERN_RANDOM_NORMAL;
    return small && dtype != TERN_FLOAT64 ? 1 : 2;
}

extern "C" int64_t tern_cuda_word_count(tern_random_kind kind, tern_dtype dtype, int64_t numel)
{
    const int64_t paired = kind == TERN_RANDOM_NORMAL ? numel + numel % 2 : numel;
    return paired * words_per_element(kind, dtype);
}

__device__ __forceinline__ uint64_t two_words(const uint32_t *words, int64_t i)
{
    return (uint64_t)words[2 * i] << 32 | words[2 * i + 1];
}

// [0, 1), for element i
template <class C> struct unit_draw;
template <> struct unit_draw<float> {
    static __device__ __forceinline__ float at(const uint32_t *words, int64_t i)
    {
        return (float)(words[i] >> 8) * 0x1p-24f;
    }
};
template <> struct unit_draw<double> {
    static __device__ __forceinline__ double at(const uint32_t *words, int64_t i)
    {
        return (double)(two_words(words, i) >> 11) * 0x1p-53;
    }
};

// ---- numbers ------------------------------------------------------------------------------------

// A number that rounds up to the end of the range becomes its beginning.
template <class T> struct uniform_body {
    static const int VIEWS = 1, WIDTH = 1;
    typedef opmath_t<T> C;
    T *y;
    const uint32_t *words;
    C low, high;

    static __device__ __forceinline__ C rounded(C x)
    {
        return upcast(downcast<T>(x));
    }
    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        const C x = rounded(real_fma(unit_draw<C>::at(words, at[0]), high - low, low));
        y[at[0]] = downcast<T>(x < rounded(high) ? x : low);
    }
};

// In float: (0, 1] and an angle in (0, 2 pi].
__device__ __forceinline__ void polar(const uint32_t *words, int64_t pair, float *unit,
                                      float *angle)
{
    const float step = 0x1p-32f, turn = (float)(TWO_PI * 0x1p-32);
    *unit = fmaf((float)words[2 * pair], step, step / 2);
    *angle = fmaf((float)words[2 * pair + 1], turn, turn / 2);
}

__device__ __forceinline__ void polar(const uint32_t *words, int64_t pair, double *unit,
                                      double *angle)
{
    *unit = (double)((two_words(words, 2 * pair) >> 11) + 1) * 0x1p-53;
    *angle = (double)(two_words(words, 2 * pair + 1) >> 11) * (TWO_PI * 0x1p-53);
}

// J. G. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.
template <class T>
__global__ void __launch_bounds__(LOOP_THREADS)
    normal_pairs(T *y, const uint32_t *words, int64_t numel, opmath_t<T> mean,
                 opmath_t<T> deviation)
{
    typedef opmath_t<T> C;
    const int64_t pair = loop_thread();
    C unit, angle;
    if (2 * pair >= numel)
        return;
    polar(words, pair, &unit, &angle);
    const C radius = real_sqrt(-2 * real_log(unit));
    y[2 * pair] = downcast<T>(real_fma(radius * real_sin(angle), deviation, mean));
    if (2 * pair + 1 < numel)
        y[2 * pair + 1] = downcast<T>(real_fma(radius * real_cos(angle), deviation, mean));
}

// Of any dtype.
template <class T> __device__ __forceinline__ T integer_value(int64_t x)
{
    return element<T>::store((typename element<T>::type)x);
}

template <class T> struct bernoulli_body {
    static const int VIEWS = 1, WIDTH = 1;
    T *y;
    const uint32_t *words;
    double probability;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = integer_value<T>(unit_draw<double>::at(words, at[0]) < probability);
    }
};

// The upper half of the 128-bit product of 64 random bits and the range: no bias that could be
// seen.
template <class T> struct integer_body {
    static const int VIEWS = 1, WIDTH = 1;
    T *y;
    const uint32_t *words;
    int64_t low;
    uint64_t range;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        const uint64_t above = __umul64hi(two_words(words, at[0]), range);
        y[at[0]] = integer_value<T>((int64_t)((uint64_t)low + above));
    }
};

// ---- the choice ---------------------------------------------------------------------------------

struct random_fill {
    const tern_exec *exec;
    const tern_strided *y;
    const uint32_t *words;
    const tern_random_args *args;
};

template <class T> static tern_status uniform(const random_fill &fill)
{
    const tern_strided *const views[] = {fill.y};
    const uniform_body<T> body = {(T *)fill.y->data, fill.words, (opmath_t<T>)fill.args->a,
                                  (opmath_t<T>)fill.args->b};
    return loop_run(fill.exec, "random", views, body);
}

template <class T> static tern_status normal(const random_fill &fill)
{
    typedef opmath_t<T> C;
    const int64_t numel = tern_strided_numel(fill.y);
    if (numel == 0)
        return TERN_OK;
    return LAUNCH("random", normal_pairs<T>, loop_blocks(ceil_div(numel, 2)), LOOP_THREADS,
                  fill.exec->stream, (T *)fill.y->data, fill.words, numel, (C)fill.args->a,
                  (C)fill.args->b);
}

template <class T> static tern_status bernoulli(const random_fill &fill)
{
    const tern_strided *const views[] = {fill.y};
    const bernoulli_body<T> body = {(T *)fill.y->data, fill.words, fill.args->a};
    return loop_run(fill.exec, "random", views, body);
}

template <class T> static tern_status integers(const random_fill &fill)
{
    const tern_strided *const views[] = {fill.y};
    const integer_body<T> body = {(T *)fill.y->data, fill.words, fill.args->low,
                                  (uint64_t)fill.args->high - (uint64_t)fill.args->low};
    return loop_run(fill.exec, "random", views, body);
}

template <class T> static tern_status floating(const random_fill &fill, tern_random_kind kind)
{
    switch (kind) {
    case TERN_RANDOM_UNIFORM:
        return uniform<T>(fill);
    case TERN_RANDOM_NORMAL:
        return normal<T>(fill);
    case TERN_RANDOM_BERNOULLI:
        return bernoulli<T>(fill);
    case TERN_RANDOM_INTEGER:
        return integers<T>(fill);
    }
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "random: no kernel for kind %d", (int)kind);
}

template <class T> static tern_status integral(const random_fill &fill, tern_random_kind kind)
{
    switch (kind) {
    case TERN_RANDOM_BERNOULLI:
        return bernoulli<T>(fill);
    case TERN_RANDOM_INTEGER:
        return integers<T>(fill);
    case TERN_RANDOM_UNIFORM:
    case TERN_RANDOM_NORMAL:
        break;
    }
    return tern_kernel_lacks("random", fill.y->dtype);
}

extern "C" tern_status tern_cuda_from_words(const tern_exec *exec, const tern_random_args *args,
                                            const uint32_t *words, const tern_strided *y)
{
    const random_fill fill = {exec, y, words, args};
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, floating<T>(fill, args->kind))
        TERN_INTEGRAL_CASES(T, integral<T>(fill, args->kind))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return tern_kernel_lacks("random", y->dtype);
}
