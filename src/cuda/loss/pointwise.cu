// SPDX-License-Identifier: Apache-2.0
// The pointwise losses: sums by blocks, which one more kernel adds, or element by element.
#include "cuda/block.cuh"
#include "cuda/fault.cuh"
#include "cuda/realmath.cuh"
#include "cuda/loop.cuh"

#define THREADS      256
#define MIN_ELEMENTS 16384 // elements of a block, at least
#define MAX_BLOCKS   1024

// ---- one element --------------------------------------------------------------------------------

template <class real> struct point {
    real x, t, v, a, b;
};

// Names the numbers of a point as the formulas do.
#define POINT(p)                                                                                   \
    const real x = (p).x, t = (p).t, v = (p).v, a = (p).a, b = (p).b, d = x - t;                   \
    (void)v, (void)a, (void)b, (void)d
#define R_(name) real_##name

template <int CODE, class real> __device__ __forceinline__ bool loss_valid(const point<real> &p)
{
    POINT(p);
    switch ((tern_loss_code)CODE) {
#define LOSS(CODE_, name, inputs, valid, ...)                                                      \
    case TERN_LOSS_##CODE_:                                                                        \
        return valid;
#include "device/loss.def"
#undef LOSS
    }
    return false;
}

template <int CODE, class real> __device__ __forceinline__ real loss_value(const point<real> &p)
{
    POINT(p);
    switch ((tern_loss_code)CODE) {
#define LOSS(CODE_, name, inputs, valid, value, ...)                                               \
    case TERN_LOSS_##CODE_:                                                                        \
        return value;
#include "device/loss.def"
#undef LOSS
    }
    return (real)NAN;
}

template <int CODE, int INPUT, class real>
__device__ __forceinline__ real loss_slope(const point<real> &p, real g)
{
    POINT(p);
    switch ((tern_loss_code)CODE) {
#define LOSS(CODE_, name, inputs, valid, value, slope_x, slope_t, slope_v)                         \
    case TERN_LOSS_##CODE_:                                                                        \
        return INPUT == 0 ? slope_x : INPUT == 1 ? slope_t : slope_v;
#include "device/loss.def"
#undef LOSS
    }
    return (real)NAN;
}
#undef POINT
#undef R_

template <int CODE> struct loss_inputs {
    static const int value = 0;
};
#define LOSS(CODE, name, inputs, ...)                                                              \
    template <> struct loss_inputs<TERN_LOSS_##CODE> {                                             \
        static const int value = inputs;                                                           \
    };
#include "device/loss.def"
#undef LOSS

// ---- what all kernels read ----------------------------------------------------------------------

template <class T> struct operands {
    const T *x, *t, *v, *weight; // v, weight: or NULL
    opmath_t<T> a, b;
    tern_fault *fault;
    uint32_t location;
};

// N elements from i on, and their weights.
template <int CODE, int N, class T> struct points {
    vec<T, N> x, t, v, weight;
    bool weighted;

    __device__ __forceinline__ points(const operands<T> &o, int64_t i)
    {
        x = vec_load<N>(o.x + i);
        t = vec_load<N>(o.t + i);
        if constexpr (loss_inputs<CODE>::value > 2)
            v = vec_load<N>(o.v + i);
        weighted = o.weight != NULL;
        if (weighted)
            weight = vec_load<N>(o.weight + i);
    }
    __device__ __forceinline__ point<opmath_t<T>> at(const operands<T> &o, int k) const
    {
        opmath_t<T> third = 0;
        if constexpr (loss_inputs<CODE>::value > 2)
            third = upcast(v.at[k]);
        return {upcast(x.at[k]), upcast(t.at[k]), third, o.a, o.b};
    }
    __device__ __forceinline__ opmath_t<T> weigh(opmath_t<T> value, int k) const
    {
        return weighted ? upcast(weight.at[k]) * value : value;
    }
};

// The first of the elements from i on that is not valid, or `none`.
template <int CODE, int N, class T>
__device__ __forceinline__ int64_t first_invalid(const operands<T> &o, const points<CODE, N, T> &p,
                                                 int64_t i, int64_t none)
{
    int64_t first = none;
#pragma unroll
    for (int k = N - 1; k >= 0; k--)
        if (!loss_valid<CODE>(p.at(o, k)))
            first = i + k;
    return first;
}

template <int CODE, int N, class T>
__device__ __forceinline__ opmath_t<T> term(const operands<T> &o, const points<CODE, N, T> &p,
                                            int k)
{
    return p.weigh(loss_value<CODE>(p.at(o, k)), k);
}

// ---- one number ---------------------------------------------------------------------------------

template <class T> __device__ __forceinline__ void write_loss(T *loss, double sum, double divisor)
{
    *loss = downcast<T>((opmath_t<T>)(sum / divisor));
}

// Each block's `block_elements` elements; partials (blocks), or NULL where one block does all.
template <class T, int CODE>
__global__ void __launch_bounds__(THREADS)
    loss_sum(T *loss, operands<T> o, int64_t numel, int64_t block_elements, bool vectorized,
             double divisor, double *partials)
{
    enum { WIDTH = vec_width<T>::value };
    const int64_t first = blockIdx.x * block_elements, end = first + block_elements;
    const int64_t last = end < numel ? end : numel;
    const int64_t rest = vectorized ? first + (last - first) / WIDTH * WIDTH : first;
    int64_t invalid = numel;
    double sum = 0;
    for (int64_t i = first + (int)threadIdx.x * WIDTH; i < rest; i += THREADS * WIDTH) {
        const points<CODE, WIDTH, T> p(o, i);
        opmath_t<T> own = 0;
        invalid = min(invalid, first_invalid(o, p, i, numel));
        for (int k = 0; k < WIDTH; k++)
            own += term(o, p, k);
        sum += (double)own;
    }
    for (int64_t i = rest + (int)threadIdx.x; i < last; i += THREADS) {
        const points<CODE, 1, T> p(o, i);
        invalid = min(invalid, first_invalid(o, p, i, numel));
        sum += (double)term(o, p, 0);
    }
    if (invalid < numel)
        fault_report(o.fault, o.location, invalid, 0);
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        if (partials)
            partials[blockIdx.x] = sum;
        else
            write_loss(loss, sum, divisor);
    }
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    loss_reduce_partials(T *loss, const double *partials, int count, double divisor)
{
    double sum = 0;
    for (int i = (int)threadIdx.x; i < count; i += THREADS)
        sum += partials[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        write_loss(loss, sum, divisor);
}

template <class T> static bool aligned(const operands<T> &o)
{
    return vec_aligned(o.x, 0, 1) && vec_aligned(o.t, 0, 1) && vec_aligned(o.v, 0, 1) &&
           vec_aligned(o.weight, 0, 1);
}

template <class T, int CODE>
static tern_status reduce_loss(const tern_exec *exec, double divisor, T *loss, const operands<T> &o,
                               int64_t numel)
{
    const bool vectorized = aligned(o);
    const int64_t block_elements = (numel / MAX_BLOCKS / MIN_ELEMENTS + 1) * MIN_ELEMENTS;
    const int blocks = (int)(ceil_div(numel, block_elements));
    scratch_memory scratch(exec);
    double *partials;
    if (blocks <= 1)
        return LAUNCH("loss", (loss_sum<T, CODE>), 1, THREADS, exec->stream, loss, o, numel,
                      block_elements, vectorized, divisor, (double *)NULL);
    TERN_TRY(scratch.take(blocks, &partials));
    TERN_TRY(LAUNCH("loss", (loss_sum<T, CODE>), (unsigned)blocks, THREADS, exec->stream, loss, o,
                    numel, block_elements, vectorized, divisor, partials));
    return LAUNCH("loss", (loss_reduce_partials<T>), 1, THREADS, exec->stream, loss, partials,
                  blocks, divisor);
}

// ---- element by element -------------------------------------------------------------------------

template <class T, int CODE> struct each_body {
    static const int WIDTH = vec_width<T>::value;
    T *loss;
    operands<T> o;

    template <int N> __device__ __forceinline__ void run(int64_t i) const
    {
        const points<CODE, N, T> p(o, i);
        vec<T, N> y;
#pragma unroll
        for (int k = 0; k < N; k++)
            y.at[k] = downcast<T>(term(o, p, k));
        vec_store(loss + i, y);
        const int64_t invalid = first_invalid(o, p, i, INT64_MAX);
        if (invalid < INT64_MAX)
            fault_report(o.fault, o.location, invalid, 0);
    }
};

// dloss has one element for each, or one for all.
template <class T, int CODE, int INPUT> struct grad_body {
    static const int WIDTH = vec_width<T>::value;
    T *dx;
    operands<T> o;
    const T *dloss;
    bool shared;
    opmath_t<T> g;

    template <int N> __device__ __forceinline__ void run(int64_t i) const
    {
        const points<CODE, N, T> p(o, i);
        vec<T, N> y;
#pragma unroll
        for (int k = 0; k < N; k++) {
            const opmath_t<T> slope = p.weigh(loss_slope<CODE, INPUT>(p.at(o, k), g), k);
            y.at[k] = downcast<T>(slope * upcast(dloss[shared ? 0 : i + k]));
        }
        vec_store(dx + i, y);
    }
};

// Vectors first, then the elements that fill none.
template <class Body>
__global__ void __launch_bounds__(THREADS) loss_each(int64_t vecs, int64_t numel, Body body)
{
    const int64_t thread = loop_thread();
    const int64_t i = thread < vecs ? thread * Body::WIDTH : thread + vecs * (Body::WIDTH - 1);
    if (thread < vecs)
        body.template run<Body::WIDTH>(i);
    else if (i < numel)
        body.template run<1>(i);
}

template <class T, class Body>
static tern_status run_each(const tern_exec *exec, const T *y, int64_t numel, const Body &body)
{
    const bool vectorized = aligned(body.o) && vec_aligned(y, 0, 1);
    const int64_t vecs = vectorized ? numel / Body::WIDTH : 0;
    const int64_t threads = vecs + (numel - vecs * Body::WIDTH);
    if (threads == 0)
        return TERN_OK;
    return LAUNCH("loss", (loss_each<Body>), loop_blocks(threads), THREADS, exec->stream, vecs,
                  numel, body);
}

// ---- launchers ----------------------------------------------------------------------------------

// Of no elements the pointers may lead behind the memory.
template <class T>
static operands<T> make_operands(const tern_exec *exec, const tern_loss_args *args, int64_t numel)
{
    operands<T> o = {};
    if (numel > 0) {
        o.x = (const T *)args->x.data;
        o.t = (const T *)args->t.data;
        o.v = args->v ? (const T *)args->v->data : NULL;
        o.weight = args->weight ? (const T *)args->weight->data : NULL;
    }
    o.a = (opmath_t<T>)args->a;
    o.b = (opmath_t<T>)args->b;
    o.fault = exec->fault;
    o.location = exec->location;
    return o;
}

template <class T, int CODE>
static tern_status run_loss(const tern_exec *exec, const tern_loss_args *args,
                            const tern_strided *loss)
{
    const int64_t numel = tern_strided_numel(&args->x);
    const operands<T> o = make_operands<T>(exec, args, numel);
    T *y = (T *)loss->data;
    if (args->reduction == TERN_REDUCTION_NONE)
        return run_each(exec, y, numel, each_body<T, CODE>{y, o});
    return reduce_loss<T, CODE>(exec, tern_loss_divisor(args), y, o, numel);
}

template <class T>
static tern_status dispatch_loss(const tern_exec *exec, const tern_loss_args *args,
                                 const tern_strided *loss)
{
    switch (args->code) {
#define LOSS(CODE, ...)                                                                            \
    case TERN_LOSS_##CODE:                                                                         \
        return run_loss<T, TERN_LOSS_##CODE>(exec, args, loss);
#include "device/loss.def"
#undef LOSS
    }
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "loss: no kernel for loss %d", (int)args->code);
}

extern "C" tern_status tern_cuda_loss(const tern_exec *exec, const tern_loss_args *args,
                                      const tern_strided *loss)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, dispatch_loss<T>(exec, args, loss))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("loss", args->x.dtype);
}

template <class T, int CODE, int INPUT>
static tern_status run_grad(const tern_exec *exec, const tern_loss_args *args, double g,
                            const tern_strided *dx, const tern_strided *dloss)
{
    const int64_t numel = tern_strided_numel(&args->x);
    const grad_body<T, CODE, INPUT> body = {(T *)dx->data, make_operands<T>(exec, args, numel),
                                            (const T *)dloss->data, tern_strided_numel(dloss) == 1,
                                            (opmath_t<T>)g};
    return run_each(exec, body.dx, numel, body);
}

template <class T, int CODE>
static tern_status grad_in(const tern_exec *exec, const tern_loss_args *args, int input,
                           const tern_strided *dx, const tern_strided *dloss)
{
    const double g = 1 / tern_loss_divisor(args);
    if (input == 0)
        return run_grad<T, CODE, 0>(exec, args, g, dx, dloss);
    if constexpr (loss_inputs<CODE>::value == 1)
        return run_grad<T, CODE, 0>(exec, args, -g, dx, dloss);
    else if (input == 1)
        return run_grad<T, CODE, 1>(exec, args, g, dx, dloss);
    else
        return run_grad<T, CODE, 2>(exec, args, g, dx, dloss);
}

template <class T>
static tern_status dispatch_grad(const tern_exec *exec, const tern_loss_args *args, int input,
                                 const tern_strided *dx, const tern_strided *dloss)
{
    switch (args->code) {
#define LOSS(CODE, ...)                                                                            \
    case TERN_LOSS_##CODE:                                                                         \
        return grad_in<T, TERN_LOSS_##CODE>(exec, args, input, dx, dloss);
#include "device/loss.def"
#undef LOSS
    }
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "loss: no kernel for loss %d", (int)args->code);
}

extern "C" tern_status tern_cuda_loss_grad(const tern_exec *exec, const tern_loss_args *args,
                                           int input, const tern_strided *dx,
                                           const tern_strided *dloss)
{
    switch (args->x.dtype) {
        TERN_FLOATING_CASES(T, dispatch_grad<T>(exec, args, input, dx, dloss))
        TERN_NOT_FLOATING_CASES
    }
    return tern_kernel_lacks("loss_grad", args->x.dtype);
}
