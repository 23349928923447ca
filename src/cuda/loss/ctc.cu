// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification (Graves et al. 2006), in logarithms: a block a sample, its
// threads are the states of one time. The states are the labels with blanks between and around
// them; alpha[t][s] is the logarithm of what all paths to state s at time t have together,
// beta[t][s] of those from there, both with x[t].
#include "cuda/block.cuh"
#include "cuda/exp_sum.cuh"
#include "cuda/fault.cuh"

#define THREADS 128

template <class T> struct ctc_problem {
    const T *x;            /* (T, N, C) */
    const int64_t *labels; /* those of all samples */
    const int64_t *plan;   /* (N, TERN_CTC_PLAN) */
    T *alpha;              /* (N, T, L) */
    T *beta;               /* (N, 2, L) */
    T *nll;                /* (N) */
    int64_t times, samples, classes, max_states, blank;
    bool zero_infinity;
    tern_fault *fault;
    uint32_t location;
};

// One sample.
template <class T> struct ctc_sample {
    int64_t times, states, step, classes;
    const T *x;            /* (C) at time 0; step to the next time */
    const int64_t *labels; /* (states / 2) */
    int64_t blank;
    T *alpha, *beta; /* (T, L), (2, L) */
    int64_t max_states;
};

template <class T>
__device__ __forceinline__ ctc_sample<T> sample_at(const ctc_problem<T> &p, int64_t n)
{
    const int64_t *plan = p.plan + n * TERN_CTC_PLAN;
    return ctc_sample<T>{plan[TERN_CTC_TIMES],
                         2 * plan[TERN_CTC_LABELS] + 1,
                         p.samples * p.classes,
                         p.classes,
                         p.x + n * p.classes,
                         p.labels + plan[TERN_CTC_FIRST],
                         p.blank,
                         p.alpha + n * p.times * p.max_states,
                         p.beta + n * 2 * p.max_states,
                         p.max_states};
}

// The first label that is none, or all of them; in every thread.
template <class T> __device__ __forceinline__ int64_t first_invalid(const ctc_sample<T> &m)
{
    int64_t k = 0;
    for (; k < m.states / 2; k++)
        if (m.labels[k] < 0 || m.labels[k] >= m.classes || m.labels[k] == m.blank)
            break;
    return k;
}

template <class T>
__device__ __forceinline__ int64_t class_of(const ctc_sample<T> &m, int64_t state)
{
    return state % 2 ? m.labels[state / 2] : m.blank;
}

// Whether a path may go from state s - 2 to s: between them is a blank that divides nothing.
template <class T> __device__ __forceinline__ bool skips(const ctc_sample<T> &m, int64_t s)
{
    return s >= 2 && s < m.states && s % 2 && m.labels[s / 2] != m.labels[s / 2 - 1];
}

// A NaN stays.
template <class T> __device__ __forceinline__ T log_add(T a, T b, T c)
{
    T top = a > b ? a : b;
    top = top > c ? top : c;
    if (top == -(T)INFINITY)
        return a + b + c;
    return top + logarithm(exponential(a - top) + exponential(b - top) + exponential(c - top));
}

// ---- forward ------------------------------------------------------------------------------------

template <class T> __device__ __forceinline__ void fill_alpha(const ctc_sample<T> &m, int64_t t)
{
    const T none = -(T)INFINITY;
    const T *before = m.alpha + (t - 1) * m.max_states, *x = m.x + t * m.step;
    for (int64_t s = threadIdx.x; s < m.states; s += THREADS) {
        T sum = s < 2 ? 0 : none;
        if (t > 0)
            sum = log_add(before[s], s > 0 ? before[s - 1] : none,
                          skips(m, s) ? before[s - 2] : none);
        m.alpha[t * m.max_states + s] = x[class_of(m, s)] + sum;
    }
}

template <class T> __device__ __forceinline__ T likelihood(const ctc_sample<T> &m)
{
    const T none = -(T)INFINITY;
    if (m.times == 0)
        return m.states == 1 ? 0 : none;
    const T *last = m.alpha + (m.times - 1) * m.max_states + m.states - 1;
    return log_add(last[0], m.states > 1 ? last[-1] : none, none);
}

template <class T>
__global__ void __launch_bounds__(THREADS) ctc_forward(const ctc_problem<T> p, T *loss)
{
    const int64_t n = blockIdx.x;
    const ctc_sample<T> m = sample_at(p, n);
    const int64_t invalid = first_invalid(m);
    const bool valid = invalid == m.states / 2;
    for (int64_t t = 0; valid && t < m.times; t++) {
        fill_alpha(m, t);
        __syncthreads();
    }
    if (threadIdx.x != 0)
        return;
    if (!valid)
        fault_report(p.fault, p.location, m.labels + invalid - p.labels, m.labels[invalid]);
    const T nll = valid ? -likelihood(m) : 0;
    p.nll[n] = nll;
    loss[n] = p.zero_infinity && nll == (T)INFINITY ? 0 : nll;
}

// ---- backward -----------------------------------------------------------------------------------

// From the beta of t + 1, which the last time has not.
template <class T>
__device__ __forceinline__ void fill_beta(const ctc_sample<T> &m, int64_t t, const T *after,
                                          T *beta)
{
    const T *x = m.x + t * m.step, none = -(T)INFINITY;
    for (int64_t s = threadIdx.x; s < m.states; s += THREADS) {
        T sum = s + 2 < m.states ? none : 0;
        if (t + 1 < m.times)
            sum = log_add(after[s], s + 1 < m.states ? after[s + 1] : none,
                          skips(m, s + 2) ? after[s + 2] : none);
        beta[s] = x[class_of(m, s)] + sum;
    }
}

// Whether no state before has its class.
template <class T> __device__ __forceinline__ bool is_first(const ctc_sample<T> &m, int64_t state)
{
    if (state % 2 == 0)
        return state == 0;
    for (int64_t s = 1; s < state; s += 2)
        if (m.labels[s / 2] == m.labels[state / 2])
            return false;
    return true;
}

// dx[c] = g (exp(x[c]) - exp(log sum of alpha beta over the states of c + nll - x[c])), in which
// alpha and beta have x twice. Where nll is NaN, or infinite as no path leads anywhere, dx is NaN.
template <class T>
__device__ __forceinline__ void fill_gradient(const ctc_sample<T> &m, int64_t t, const T *beta,
                                              T nll, T g, T *dx)
{
    const T *x = m.x + t * m.step, *alpha = m.alpha + t * m.max_states;
    for (int64_t c = threadIdx.x; c < m.classes; c += THREADS)
        dx[c] = g * (exponential(x[c]) - (nll < (T)INFINITY ? 0 : (T)NAN));
    __syncthreads();
    for (int64_t state = threadIdx.x; state < m.states; state += THREADS) {
        const int64_t c = class_of(m, state);
        exp_sum<T> all = exp_sum_identity<T>();
        if (!is_first(m, state))
            continue;
        for (int64_t s = state; s < m.states; s += 2)
            if (class_of(m, s) == c)
                exp_sum_add(all, alpha[s] + beta[s]);
        if (all.sum != 0) // a NaN goes on
            dx[c] =
                g * (exponential(x[c]) - exponential(logarithm(all.sum) + all.max + nll - x[c]));
    }
}

template <class T>
__global__ void __launch_bounds__(THREADS)
    ctc_backward(const ctc_problem<T> p, T *dx, const T *dloss)
{
    const int64_t n = blockIdx.x;
    const ctc_sample<T> m = sample_at(p, n);
    const T nll = p.nll[n], g = dloss[n];
    const bool nothing = first_invalid(m) < m.states / 2 || (p.zero_infinity && nll == (T)INFINITY);
    const int64_t times = nothing ? 0 : m.times;
    dx += n * p.classes;
    for (int64_t t = times; t < p.times; t++)
        for (int64_t c = threadIdx.x; c < p.classes; c += THREADS)
            dx[t * m.step + c] = 0;
    for (int64_t t = times - 1; t >= 0; t--) {
        T *beta = m.beta + t % 2 * m.max_states, *after = m.beta + (t + 1) % 2 * m.max_states;
        fill_beta(m, t, after, beta);
        __syncthreads();
        fill_gradient(m, t, beta, nll, g, dx + t * m.step);
        __syncthreads();
    }
}

// ---- launchers ----------------------------------------------------------------------------------

template <class T>
static ctc_problem<T> make_problem(const tern_exec *exec, const tern_ctc_args *args)
{
    ctc_problem<T> p = {};
    p.x = (const T *)args->x.data;
    p.labels = (const int64_t *)args->labels.data;
    p.plan = (const int64_t *)args->plan.data;
    p.alpha = (T *)args->alpha.data;
    p.beta = (T *)args->beta.data;
    p.nll = (T *)args->nll.data;
    p.times = args->x.size[0];
    p.samples = args->x.size[1];
    p.classes = args->x.size[2];
    p.max_states = args->alpha.size[2];
    p.blank = args->blank;
    p.zero_infinity = args->zero_infinity;
    p.fault = exec->fault;
    p.location = exec->location;
    return p;
}

template <class T>
static tern_status run_forward(const tern_exec *exec, const tern_ctc_args *args,
                               const tern_strided *loss)
{
    const ctc_problem<T> p = make_problem<T>(exec, args);
    if (p.samples == 0)
        return TERN_OK;
    return LAUNCH("ctc", (ctc_forward<T>), (unsigned)p.samples, THREADS, exec->stream, p,
                  (T *)loss->data);
}

extern "C" tern_status tern_cuda_ctc(const tern_exec *exec, const tern_ctc_args *args,
                                     const tern_strided *loss)
{
    if (args->x.dtype == TERN_FLOAT32)
        return run_forward<float>(exec, args, loss);
    if (args->x.dtype == TERN_FLOAT64)
        return run_forward<double>(exec, args, loss);
    return tern_kernel_lacks("ctc", args->x.dtype);
}

template <class T>
static tern_status run_backward(const tern_exec *exec, const tern_ctc_args *args,
                                const tern_strided *dx, const tern_strided *dloss)
{
    const ctc_problem<T> p = make_problem<T>(exec, args);
    if (p.samples == 0)
        return TERN_OK;
    return LAUNCH("ctc_grad", (ctc_backward<T>), (unsigned)p.samples, THREADS, exec->stream, p,
                  (T *)dx->data, (const T *)dloss->data);
}

extern "C" tern_status tern_cuda_ctc_grad(const tern_exec *exec, const tern_ctc_args *args,
                                          const tern_strided *dx, const tern_strided *dloss)
{
    if (args->x.dtype == TERN_FLOAT32)
        return run_backward<float>(exec, args, dx, dloss);
    if (args->x.dtype == TERN_FLOAT64)
        return run_backward<double>(exec, args, dx, dloss);
    return tern_kernel_lacks("ctc_grad", args->x.dtype);
}
