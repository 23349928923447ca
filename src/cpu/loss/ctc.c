// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification (Graves et al. 2006), in logarithms. The states of a sample
// are its labels with blanks between and around them; alpha[t][s] is the logarithm of what all
// paths to state s at time t have together, beta[t][s] of those from there, both with x[t].
#include "base/thread_pool.h"
#include "cpu/fault.h"
#include "cpu/real.h"
#include "cpu/vecmath.h"
#include "cpu/vecmath_double.h"
#include "device/kernel_dtype.h"

typedef struct ctc_job {
    const tern_exec *exec;
    const tern_ctc_args *args;
    const tern_strided *loss, *dx, *dloss; // (N), (T, N, C), (N)
} ctc_job;

// One sample.
typedef struct ctc_sample {
    int64_t times, states; // of the sample, 2 labels + 1
    int64_t step, classes; // from x[t] to x[t + 1]
    const real *x;         // (C) at time 0
    const int64_t *labels; // states / 2
    int64_t blank;
    real *alpha, *beta; // (T, L), (2, L)
    int64_t max_states; // L
} ctc_sample;

static ctc_sample sample_at(const ctc_job *job, int64_t n)
{
    const tern_ctc_args *args = job->args;
    const int64_t *plan = (const int64_t *)args->plan.data + n * TERN_CTC_PLAN;
    const int64_t times = args->x.size[0], samples = args->x.size[1], classes = args->x.size[2];
    const int64_t max_states = args->alpha.size[2];
    return (ctc_sample){.times = plan[TERN_CTC_TIMES],
                        .states = 2 * plan[TERN_CTC_LABELS] + 1,
                        .step = samples * classes,
                        .classes = classes,
                        .x = (const real *)args->x.data + n * classes,
                        .labels = (const int64_t *)args->labels.data + plan[TERN_CTC_FIRST],
                        .blank = args->blank,
                        .alpha = (real *)args->alpha.data + n * times * max_states,
                        .beta = (real *)args->beta.data + n * 2 * max_states,
                        .max_states = max_states};
}

static bool is_valid(const ctc_sample *m, int64_t k)
{
    return m->labels[k] >= 0 && m->labels[k] < m->classes && m->labels[k] != m->blank;
}

// The first label that is none, or all of them.
static int64_t first_invalid(const ctc_sample *m)
{
    int64_t k = 0;
    while (k < m->states / 2 && is_valid(m, k))
        k++;
    return k;
}

static int64_t class_of(const ctc_sample *m, int64_t state)
{
    return state % 2 ? m->labels[state / 2] : m->blank;
}

// Whether a path may go from state s - 2 to s: between them is a blank that divides nothing.
static bool skips(const ctc_sample *m, int64_t s)
{
    return s >= 2 && s < m->states && s % 2 && m->labels[s / 2] != m->labels[s / 2 - 1];
}

// A NaN stays.
static real log_add(real a, real b, real c)
{
    real top = a > b ? a : b;
    top = top > c ? top : c;
    if (top == -(real)INFINITY)
        return a + b + c;
    return top + R_(log)(R_(exp)(a - top) + R_(exp)(b - top) + R_(exp)(c - top));
}

// ---- forward ------------------------------------------------------------------------------------

static void fill_alpha(const ctc_sample *m)
{
    const real none = -(real)INFINITY;
    for (int64_t t = 0; t < m->times; t++) {
        const real *before = m->alpha + (t - 1) * m->max_states, *x = m->x + t * m->step;
        real *alpha = m->alpha + t * m->max_states;
        for (int64_t s = 0; s < m->states; s++) {
            real sum = s < 2 ? 0 : none;
            if (t > 0)
                sum = log_add(before[s], s > 0 ? before[s - 1] : none,
                              skips(m, s) ? before[s - 2] : none);
            alpha[s] = x[class_of(m, s)] + sum;
        }
    }
}

static real likelihood(const ctc_sample *m)
{
    if (m->times == 0)
        return m->states == 1 ? 0 : -(real)INFINITY;
    const real *last = m->alpha + (m->times - 1) * m->max_states + m->states - 1;
    return log_add(last[0], m->states > 1 ? last[-1] : -(real)INFINITY, -(real)INFINITY);
}

static void forward_sample(void *context, int64_t n)
{
    const ctc_job *job = context;
    const ctc_sample m = sample_at(job, n);
    real *nll = (real *)job->args->nll.data + n, *loss = (real *)job->loss->data + n;
    const int64_t invalid = first_invalid(&m);
    if (invalid < m.states / 2) {
        tern_cpu_fault(job->exec, m.labels + invalid - (const int64_t *)job->args->labels.data,
                       m.labels[invalid]);
        *nll = *loss = 0;
        return;
    }
    fill_alpha(&m);
    *nll = -likelihood(&m);
    *loss = job->args->zero_infinity && *nll == (real)INFINITY ? 0 : *nll;
}

// ---- backward -----------------------------------------------------------------------------------

// From the beta of t + 1, which the last time has not.
static void fill_beta(const ctc_sample *m, int64_t t, const real *after, real *beta)
{
    const real *x = m->x + t * m->step, none = -(real)INFINITY;
    for (int64_t s = 0; s < m->states; s++) {
        real sum = s + 2 < m->states ? none : 0;
        if (t + 1 < m->times)
            sum = log_add(after[s], s + 1 < m->states ? after[s + 1] : none,
                          skips(m, s + 2) ? after[s + 2] : none);
        beta[s] = x[class_of(m, s)] + sum;
    }
}

// dx[c] = g (exp(x[c]) - exp(log sum of alpha beta over the states of c + nll - x[c])), in which
// alpha and beta have x twice. Where nll is NaN, or infinite as no path leads anywhere, dx is NaN.
static void fill_gradient(const ctc_sample *m, int64_t t, const real *beta, real nll, real g,
                          real *dx)
{
    const real *x = m->x + t * m->step, *alpha = m->alpha + t * m->max_states;
    const real none = -(real)INFINITY;
    for (int64_t c = 0; c < m->classes; c++)
        dx[c] = none;
    for (int64_t s = 0; s < m->states; s++) {
        real *sum = dx + class_of(m, s);
        *sum = log_add(*sum, alpha[s] + beta[s], none);
    }
    for (int64_t c = 0; c < m->classes; c++) {
        const bool reached = dx[c] != none || !(nll < (real)INFINITY);
        dx[c] = g * (R_(exp)(x[c]) - (reached ? R_(exp)(dx[c] + nll - x[c]) : 0));
    }
}

static void backward_sample(void *context, int64_t n)
{
    const ctc_job *job = context;
    ctc_sample m = sample_at(job, n);
    const real nll = ((const real *)job->args->nll.data)[n];
    const real g = ((const real *)job->dloss->data)[n];
    const bool nothing =
        first_invalid(&m) < m.states / 2 || (job->args->zero_infinity && nll == (real)INFINITY);
    real *dx = (real *)job->dx->data + n * m.classes;
    if (nothing)
        m.times = 0;
    for (int64_t t = job->args->x.size[0] - 1; t >= m.times; t--)
        for (int64_t c = 0; c < m.classes; c++)
            dx[t * m.step + c] = 0;
    for (int64_t t = m.times - 1; t >= 0; t--) {
        real *beta = m.beta + t % 2 * m.max_states, *after = m.beta + (t + 1) % 2 * m.max_states;
        fill_beta(&m, t, after, beta);
        fill_gradient(&m, t, beta, nll, g, dx + t * m.step);
    }
}

// ---- slots --------------------------------------------------------------------------------------

typedef void ctc_fn(ctc_job *job);
REAL_DECLARE(ctc_fn, ctc);
REAL_DECLARE(ctc_fn, ctc_grad);

void REAL_NAME(ctc)(ctc_job *job)
{
    tern_pool_run(job->args->x.size[1], forward_sample, job);
}

void REAL_NAME(ctc_grad)(ctc_job *job)
{
    tern_pool_run(job->args->x.size[1], backward_sample, job);
}

#if REAL_IS_FLOAT
static tern_status check_dtype(const char *kernel, tern_dtype dtype)
{
    return dtype == TERN_FLOAT32 || dtype == TERN_FLOAT64 ? TERN_OK
                                                          : tern_kernel_lacks(kernel, dtype);
}

tern_status TERN_ISA_NAME(ctc)(const tern_exec *exec, const tern_ctc_args *args,
                               const tern_strided *loss)
{
    ctc_job job = {.exec = exec, .args = args, .loss = loss};
    TERN_TRY(check_dtype("ctc", args->x.dtype));
    REAL_SELECT(args->x.dtype, ctc)(&job);
    return TERN_OK;
}

tern_status TERN_ISA_NAME(ctc_grad)(const tern_exec *exec, const tern_ctc_args *args,
                                    const tern_strided *dx, const tern_strided *dloss)
{
    ctc_job job = {.exec = exec, .args = args, .dx = dx, .dloss = dloss};
    TERN_TRY(check_dtype("ctc_grad", args->x.dtype));
    REAL_SELECT(args->x.dtype, ctc_grad)(&job);
    return TERN_OK;
}
#endif
