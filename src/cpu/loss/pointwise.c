// SPDX-License-Identifier: Apache-2.0
// The pointwise losses; 16-bit operands are computed in float32.
#include "base/error.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/fault.h"
#include "cpu/real.h"
#include "cpu/vecmath.h"
#include "cpu/vecmath_double.h"
#include "cpu/upcast.h"
#include "device/kernel_dtype.h"

#define POINTWISE_INLINE static inline __attribute__((always_inline))
#define BLOCK            256
#define CHUNK            16384

// n elements of the inputs, of the weights (or NULL), and the parameters.
typedef struct loss_span {
    const void *x, *t, *v, *weight;
    double a, b;
    int64_t n;
} loss_span;

// ---- n elements ---------------------------------------------------------------------------------
// `code` and `input` are constants wherever an inline function is called, so that each loss has
// loops of its own.

typedef struct point {
    real x, t, v, a, b;
} point;

POINTWISE_INLINE point point_at(tern_loss_code code, loss_span s, int64_t i)
{
    const bool third = tern_loss_inputs(code) > 2;
    return (point){((const real *)s.x)[i], ((const real *)s.t)[i],
                   third ? ((const real *)s.v)[i] : 0, (real)s.a, (real)s.b};
}

// Names the numbers of a point as the formulas do.
#define POINT(p)                                                                                   \
    const real x = (p).x, t = (p).t, v = (p).v, a = (p).a, b = (p).b, d = x - t;                   \
    (void)v, (void)a, (void)b, (void)d

POINTWISE_INLINE bool valid(tern_loss_code code, point p)
{
    POINT(p);
    switch (code) {
#define LOSS(CODE, name, inputs, valid, ...)                                                       \
    case TERN_LOSS_##CODE:                                                                         \
        return valid;
#include "device/loss.def"
#undef LOSS
    }
    return false;
}

POINTWISE_INLINE real value(tern_loss_code code, point p)
{
    POINT(p);
    switch (code) {
#define LOSS(CODE, name, inputs, valid, value, ...)                                                \
    case TERN_LOSS_##CODE:                                                                         \
        return value;
#include "device/loss.def"
#undef LOSS
    }
    return (real)NAN;
}

POINTWISE_INLINE real slope(tern_loss_code code, int input, point p, real g)
{
    POINT(p);
    switch (code) {
#define LOSS(CODE, name, inputs, valid, value, slope_x, slope_t, slope_v)                          \
    case TERN_LOSS_##CODE:                                                                         \
        return input == 0 ? slope_x : input == 1 ? slope_t : slope_v;
#include "device/loss.def"
#undef LOSS
    }
    return (real)NAN;
}
#undef POINT

// The first element that is not valid, or n.
POINTWISE_INLINE int64_t first_fault_of(tern_loss_code code, loss_span s)
{
    for (int64_t i = 0; i < s.n; i++)
        if (!valid(code, point_at(code, s, i)))
            return i;
    return s.n;
}

POINTWISE_INLINE void values_of(tern_loss_code code, loss_span s, real *y)
{
    for (int64_t i = 0; i < s.n; i++)
        y[i] = value(code, point_at(code, s, i));
}

// step: 0 when all elements share one dy.
POINTWISE_INLINE void grads_of(tern_loss_code code, int input, loss_span s, real g, real *dx,
                               const real *dy, int64_t step)
{
    for (int64_t i = 0; i < s.n; i++)
        dx[i] = slope(code, input, point_at(code, s, i), g) * dy[i * step];
}

static int64_t first_fault(tern_loss_code code, const loss_span *s)
{
    switch (code) {
#define LOSS(CODE, ...)                                                                            \
    case TERN_LOSS_##CODE:                                                                         \
        return first_fault_of(TERN_LOSS_##CODE, *s);
#include "device/loss.def"
#undef LOSS
    }
    return 0;
}

static void weigh(const loss_span *s, real *y)
{
    const real *weight = s->weight;
    for (int64_t i = 0; weight && i < s->n; i++)
        y[i] *= weight[i];
}

static void each(tern_loss_code code, const loss_span *s, void *y)
{
    switch (code) {
#define LOSS(CODE, ...)                                                                            \
    case TERN_LOSS_##CODE:                                                                         \
        values_of(TERN_LOSS_##CODE, *s, y);                                                        \
        break;
#include "device/loss.def"
#undef LOSS
    }
    weigh(s, y);
}

static void grad(tern_loss_code code, int input, const loss_span *s, double g, void *dx,
                 const void *dy, int64_t step)
{
    switch (code) {
#define LOSS(CODE, name, inputs, ...)                                                              \
    case TERN_LOSS_##CODE:                                                                         \
        if (input == 0)                                                                            \
            grads_of(TERN_LOSS_##CODE, 0, *s, (real)g, dx, dy, step);                              \
        else if (input == 1 && inputs > 1)                                                         \
            grads_of(TERN_LOSS_##CODE, 1, *s, (real)g, dx, dy, step);                              \
        else if (inputs > 2)                                                                       \
            grads_of(TERN_LOSS_##CODE, 2, *s, (real)g, dx, dy, step);                              \
        break;
#include "device/loss.def"
#undef LOSS
    }
    weigh(s, dx);
}

// total and n values, which are added by eight sums.
static double add_values(double total, const real *x, int64_t n)
{
    real sum[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + k];
    for (; i < n; i++)
        sum[0] += x[i];
    for (int k = 0; k < 8; k++)
        total += (double)sum[k];
    return total;
}

// ---- tensors ------------------------------------------------------------------------------------

enum { RESULT, X, T, V, WEIGHT, DLOSS, MAX_VIEWS };

typedef struct loss_job {
    const tern_exec *exec;
    const tern_loss_args *args;
    const tern_strided *views[MAX_VIEWS]; // the result is loss or dx; NULL where there is none
    int input;                            // of the gradient
    double factor;
    double *partial; // one a chunk, where the loss is one number
    int64_t numel;
} loss_job;

static int64_t chunk_count(int64_t numel)
{
    return (numel + CHUNK - 1) / CHUNK;
}

static char *at(const tern_strided *view, int64_t i)
{
    return view ? (char *)view->data + i * (int64_t)tern_dtype_size(view->dtype) : NULL;
}

// n elements from i on.
static loss_span span_of(const loss_job *job, int64_t i, int64_t n)
{
    return (loss_span){.x = at(job->views[X], i),
                       .t = at(job->views[T], i),
                       .v = at(job->views[V], i),
                       .weight = at(job->views[WEIGHT], i),
                       .a = job->args->a,
                       .b = job->args->b,
                       .n = n};
}

// Chunks are added in the type of the operands, then in double.
static double sum(const loss_job *job, int64_t begin, int64_t end)
{
    real value[BLOCK];
    double total = 0;
    for (int64_t i = begin; i < end; i += BLOCK) {
        const loss_span s = span_of(job, i, min_int64(BLOCK, end - i));
        each(job->args->code, &s, value);
        total = add_values(total, value, s.n);
    }
    return total;
}

static void forward_chunk(void *context, int64_t index)
{
    const loss_job *job = context;
    const int64_t i = index * CHUNK;
    const tern_loss_code code = job->args->code;
    const loss_span s = span_of(job, i, min_int64(CHUNK, job->numel - i));
    const int64_t fault = first_fault(code, &s);
    if (fault < s.n)
        tern_cpu_fault(job->exec, i + fault, 0);
    if (job->partial)
        job->partial[index] = sum(job, i, i + s.n);
    else
        each(code, &s, at(job->views[RESULT], i));
}

static void backward_chunk(void *context, int64_t index)
{
    const loss_job *job = context;
    const int64_t i = index * CHUNK;
    const int64_t step = tern_strided_numel(job->views[DLOSS]) == 1 ? 0 : 1;
    const loss_span s = span_of(job, i, min_int64(CHUNK, job->numel - i));
    grad(job->args->code, job->input, &s, job->factor, at(job->views[RESULT], i),
         at(job->views[DLOSS], i * step), step);
}

typedef tern_status loss_fn(loss_job *job);
REAL_DECLARE(loss_fn, loss);
REAL_DECLARE(loss_fn, loss_grad);

tern_status REAL_NAME(loss)(loss_job *job)
{
    int64_t chunks = chunk_count(job->numel);
    size_t nbytes = (size_t)chunks * sizeof(double);
    double total = 0;
    if (job->args->reduction == TERN_REDUCTION_NONE) {
        tern_pool_run(chunks, forward_chunk, job);
        return TERN_OK;
    }
    job->partial = tern_cache_alloc(nbytes);
    if (!job->partial)
        return TERN_ERR_NOMEM;
    tern_pool_run(chunks, forward_chunk, job);
    for (int64_t i = 0; i < chunks; i++)
        total += job->partial[i];
    tern_cache_free(job->partial, nbytes);
    *(real *)job->views[RESULT]->data = (real)(total / tern_loss_divisor(job->args));
    return TERN_OK;
}

tern_status REAL_NAME(loss_grad)(loss_job *job)
{
    job->factor = 1 / tern_loss_divisor(job->args);
    if (job->input == 1 && tern_loss_inputs(job->args->code) == 1) {
        job->input = 0;
        job->factor = -job->factor;
    }
    tern_pool_run(chunk_count(job->numel), backward_chunk, job);
    return TERN_OK;
}

#if REAL_IS_FLOAT
// All views have one dtype.
static tern_status run(loss_job *job, loss_fn *compute)
{
    const tern_strided *result = job->views[RESULT];
    TERN_CHECK(tern_loss_inputs(job->args->code) > 0, TERN_ERR_UNSUPPORTED,
               "loss: no kernel for loss %d", (int)job->args->code);
    if (!upcast_needed(result->dtype))
        return compute(job);
    tern_strided copies[MAX_VIEWS];
    tern_status status = upcast_begin(copies, job->views, MAX_VIEWS);
    if (status == TERN_OK)
        status = compute(job);
    return upcast_end(copies, MAX_VIEWS, result, status);
}

tern_status TERN_ISA_NAME(loss)(const tern_exec *exec, const tern_loss_args *args,
                                const tern_strided *loss)
{
    loss_job job = {.exec = exec,
                    .args = args,
                    .views = {loss, &args->x, &args->t, args->v, args->weight},
                    .numel = tern_strided_numel(&args->x)};
    TERN_TRY(tern_kernel_floating("loss", args->x.dtype));
    return run(&job, REAL_SELECT(args->x.dtype, loss));
}

tern_status TERN_ISA_NAME(loss_grad)(const tern_exec *exec, const tern_loss_args *args, int input,
                                     const tern_strided *dx, const tern_strided *dloss)
{
    loss_job job = {.exec = exec,
                    .args = args,
                    .views = {dx, &args->x, &args->t, args->v, args->weight, dloss},
                    .input = input,
                    .numel = tern_strided_numel(&args->x)};
    TERN_TRY(tern_kernel_floating("loss_grad", args->x.dtype));
    return run(&job, REAL_SELECT(args->x.dtype, loss_grad));
}
#endif
