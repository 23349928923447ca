// SPDX-License-Identifier: Apache-2.0
// CUDA's functions on numbers that the standard library does not have under the same name.
#ifndef TERN_SIM_MATH_H
#define TERN_SIM_MATH_H

using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// glibc declares some of these names itself: macros, not functions
#define __expf(x)          expf(x)
#define __exp10f(x)        exp10f(x)
#define __logf(x)          logf(x)
#define __log2f(x)         log2f(x)
#define __sinf(x)          sinf(x)
#define __cosf(x)          cosf(x)
#define __powf(x, y)       powf(x, y)
#define __sincosf(x, s, c) sincosf(x, s, c)

static inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}

static inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

static inline float __frsqrt_rn(float x)
{
    return (float)(1.0 / sqrt((double)x));
}

static inline float __fdividef(float a, float b)
{
    return a / b;
}

static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}

static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}

// volatile: a product that is rounded, whatever the compiler may contract
static inline float __fmul_rn(float a, float b)
{
    volatile float product = a * b;
    return product;
}

static inline float __fadd_rn(float a, float b)
{
    volatile float sum = a + b;
    return sum;
}

static inline float __fsub_rn(float a, float b)
{
    volatile float difference = a - b;
    return difference;
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline double __dmul_rn(double a, double b)
{
    volatile double product = a * b;
    return product;
}

static inline double __dadd_rn(double a, double b)
{
    volatile double sum = a + b;
    return sum;
}

static inline double __ddiv_rn(double a, double b)
{
    return a / b;
}

static inline float __saturatef(float x)
{
    return x > 0 ? x < 1 ? x : 1 : 0;
}

static inline float normcdff(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

static inline double normcdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752);
}

// conversions that say how they round
static inline int __float2int_rn(float x)
{
    return (int)rintf(x);
}

static inline int __float2int_rz(float x)
{
    return (int)x;
}

static inline float __int2float_rn(int x)
{
    return (float)x;
}

static inline float __uint2float_rn(unsigned x)
{
    return (float)x;
}

static inline float __double2float_rn(double x)
{
    return (float)x;
}

// bits
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}

static inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)(((uint64_t)a * b) >> 32);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 wide;
    return (unsigned long long)(((wide)a * b) >> 64);
}

template <class To, class From> static inline To tern_sim_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

static inline float __int_as_float(int x)
{
    return tern_sim_bits<float>(x);
}

static inline int __float_as_int(float x)
{
    return tern_sim_bits<int>(x);
}

static inline float __uint_as_float(unsigned x)
{
    return tern_sim_bits<float>(x);
}

static inline unsigned __float_as_uint(float x)
{
    return tern_sim_bits<unsigned>(x);
}

static inline double __longlong_as_double(long long x)
{
    return tern_sim_bits<double>(x);
}

static inline long long __double_as_longlong(double x)
{
    return tern_sim_bits<long long>(x);
}

// min and max: CUDA has them for mixed integers too; for floats they are fmin and fmax, which
// prefer a number to a NaN.
template <class A, class B>
static inline typename std::enable_if<std::is_integral<A>::value && std::is_integral<B>::value,
                                      typename std::common_type<A, B>::type>::type
min(A a, B b)
{
    typedef typename std::common_type<A, B>::type T;
    return (T)b < (T)a ? (T)b : (T)a;
}

template <class A, class B>
static inline typename std::enable_if<std::is_integral<A>::value && std::is_integral<B>::value,
                                      typename std::common_type<A, B>::type>::type
max(A a, B b)
{
    typedef typename std::common_type<A, B>::type T;
    return (T)a < (T)b ? (T)b : (T)a;
}

static inline float min(float a, float b)
{
    return fminf(a, b);
}

static inline float max(float a, float b)
{
    return fmaxf(a, b);
}

static inline double min(double a, double b)
{
    return fmin(a, b);
}

static inline double max(double a, double b)
{
    return fmax(a, b);
}

// loads and stores that hint at caches
template <class T> static inline T __ldg(const T *p)
{
    return *p;
}

template <class T> static inline T __ldcs(const T *p)
{
    return *p;
}

template <class T> static inline T __ldcg(const T *p)
{
    return *p;
}

template <class T> static inline void __stcs(T *p, T value)
{
    *p = value;
}

template <class T> static inline void __stcg(T *p, T value)
{
    *p = value;
}

#endif
