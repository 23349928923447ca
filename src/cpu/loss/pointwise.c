// SPDX-License-Identifier: Apache-2.0
// The pointwise losses; 16-bit operands are computed in float32.
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "cpu/fault.h"
#include "cpu/vecmath.h"
#include "cpu/vecmath_double.h"
#include "cpu/wide.h"
#include "device/kernel_dtype.h"

#define POINTWISE_INLINE static inline __attribute__((always_inline))
#define CHUNK            256
#define PIECE            16384

// n elements of the inputs, of the weights (or NULL), and the parameters.
typedef struct loss_span {
    const void *x, *t, *v, *weight;
    double a, b;
    int64_t n;
} loss_span;

#define real            float
#define R_(name)        vm_##name
#define POINTWISE(name) name##_float
#include "cpu/loss/pointwise_real.h"
#undef real
#undef R_
#undef POINTWISE
#define real            double
#define R_(name)        vd_##name
#define POINTWISE(name) name##_double
#include "cpu/loss/pointwise_real.h"

enum { RESULT, X, T, V, WEIGHT, DLOSS, MAX_VIEWS };

typedef struct loss_job {
    const tern_exec *exec;
    const tern_loss_args *args;
    const tern_strided *views[MAX_VIEWS]; // the result is loss or dx; NULL where there is none
    int input;                            // of the gradient
    double factor;
    double *partial; // one a piece, where the loss is one number
    int64_t numel;
} loss_job;

static int64_t pieces_of(int64_t numel)
{
    return (numel + PIECE - 1) / PIECE;
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

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Chunks are added in the type of the operands, then in double.
static double sum(const loss_job *job, int64_t begin, int64_t end)
{
    const bool in_double = job->views[X]->dtype == TERN_FLOAT64;
    union {
        float f[CHUNK];
        double d[CHUNK];
    } value;
    double total = 0;
    for (int64_t i = begin; i < end; i += CHUNK) {
        const loss_span s = span_of(job, i, smaller(CHUNK, end - i));
        (in_double ? each_double : each_float)(job->args->code, &s, &value);
        total = in_double ? add_double(total, value.d, s.n) : add_float(total, value.f, s.n);
    }
    return total;
}

static void forward_piece(void *context, int64_t index)
{
    const loss_job *job = context;
    const int64_t i = index * PIECE;
    const bool in_double = job->views[X]->dtype == TERN_FLOAT64;
    const tern_loss_code code = job->args->code;
    const loss_span s = span_of(job, i, smaller(PIECE, job->numel - i));
    const int64_t fault = (in_double ? first_fault_double : first_fault_float)(code, &s);
    if (fault < s.n)
        tern_cpu_fault(job->exec, i + fault, 0);
    if (job->partial)
        job->partial[index] = sum(job, i, i + s.n);
    else
        (in_double ? each_double : each_float)(code, &s, at(job->views[RESULT], i));
}

static void backward_piece(void *context, int64_t index)
{
    const loss_job *job = context;
    const int64_t i = index * PIECE;
    const bool in_double = job->views[X]->dtype == TERN_FLOAT64;
    const int64_t step = tern_strided_numel(job->views[DLOSS]) == 1 ? 0 : 1;
    const loss_span s = span_of(job, i, smaller(PIECE, job->numel - i));
    (in_double ? grad_double : grad_float)(job->args->code, job->input, &s, job->factor,
                                           at(job->views[RESULT], i),
                                           at(job->views[DLOSS], i * step), step);
}

static void store_number(const tern_strided *y, double value)
{
    if (y->dtype == TERN_FLOAT64)
        *(double *)y->data = value;
    else
        *(float *)y->data = (float)value;
}

static tern_status forward(loss_job *job)
{
    const tern_reduction reduction = job->args->reduction;
    int64_t pieces = pieces_of(job->numel);
    size_t nbytes = (size_t)pieces * sizeof(double);
    double total = 0;
    if (reduction == TERN_REDUCTION_NONE) {
        tern_pool_run(pieces, forward_piece, job);
        return TERN_OK;
    }
    job->partial = tern_cache_alloc(nbytes);
    if (!job->partial)
        return TERN_ERR_NOMEM;
    tern_pool_run(pieces, forward_piece, job);
    for (int64_t i = 0; i < pieces; i++)
        total += job->partial[i];
    tern_cache_free(job->partial, nbytes);
    store_number(job->views[RESULT],
                 reduction == TERN_REDUCTION_SUM ? total : total / (double)job->numel);
    return TERN_OK;
}

static tern_status backward(loss_job *job)
{
    const tern_reduction reduction = job->args->reduction;
    const bool whole = reduction == TERN_REDUCTION_SUM || reduction == TERN_REDUCTION_NONE;
    job->factor = whole ? 1 : 1 / (double)job->numel;
    if (job->input == 1 && tern_loss_inputs(job->args->code) == 1) {
        job->input = 0;
        job->factor = -job->factor;
    }
    tern_pool_run(pieces_of(job->numel), backward_piece, job);
    return TERN_OK;
}

// Replaces the views by float32 copies.
static tern_status widen(const tern_strided **views, tern_strided *wide)
{
    for (int v = 0; v < MAX_VIEWS; v++) {
        if (!views[v])
            continue;
        TERN_TRY(v == RESULT ? wide_new(&wide[v], views[v]) : wide_copy(&wide[v], views[v]));
        views[v] = &wide[v];
    }
    return TERN_OK;
}

// All views have one dtype.
static tern_status run(loss_job *job, tern_status (*compute)(loss_job *))
{
    const tern_strided *result = job->views[RESULT];
    TERN_CHECK(tern_loss_inputs(job->args->code) > 0, TERN_ERR_UNSUPPORTED,
               "loss: no kernel for loss %d", (int)job->args->code);
    if (!wide_needed(result->dtype))
        return compute(job);
    tern_strided wide[MAX_VIEWS] = {{0}};
    tern_status status = widen(job->views, wide);
    if (!status)
        status = compute(job);
    if (!status)
        wide_store(result, job->views[RESULT]);
    for (int v = MAX_VIEWS - 1; v >= 0; v--)
        wide_free(&wide[v]);
    return status;
}

tern_status TERN_ISA_NAME(loss)(const tern_exec *exec, const tern_loss_args *args,
                                const tern_strided *loss)
{
    loss_job job = {.exec = exec,
                    .args = args,
                    .views = {loss, &args->x, &args->t, args->v, args->weight},
                    .numel = tern_strided_numel(&args->x)};
    TERN_TRY(tern_kernel_floating("loss", args->x.dtype));
    return run(&job, forward);
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
    return run(&job, backward);
}
