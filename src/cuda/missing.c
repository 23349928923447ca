// SPDX-License-Identifier: Apache-2.0
// Stands in for kernels that are still being written: each is an error.
#include "base/error.h"
#include "cuda/plugin.h"

#define MISSING(kernel) __attribute__((weak)) tern_status kernel
#define ERROR(name)     return tern_error_raise(TERN_ERR_UNSUPPORTED, name " is not written for CUDA")

MISSING(tern_cuda_fill)(const tern_exec *exec, const tern_strided *y, double value)
{
    (void)exec;
    (void)y;
    (void)value;
    ERROR("fill");
}

MISSING(tern_cuda_copy)(const tern_exec *exec, const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    (void)y;
    (void)x;
    ERROR("copy");
}

MISSING(tern_cuda_arange)(const tern_exec *exec, const tern_strided *y, double start, double step)
{
    (void)exec;
    (void)y;
    (void)start;
    (void)step;
    ERROR("arange");
}

MISSING(tern_cuda_unary)
(const tern_exec *exec, tern_unary_op op, const double p[2], const tern_strided *y,
 const tern_strided *x)
{
    (void)exec;
    (void)op;
    (void)p;
    (void)y;
    (void)x;
    ERROR("unary");
}

MISSING(tern_cuda_unary_grad)
(const tern_exec *exec, tern_unary_op op, const double p[2], const tern_strided *dx,
 const tern_strided *dy, const tern_strided *s)
{
    (void)exec;
    (void)op;
    (void)p;
    (void)dx;
    (void)dy;
    (void)s;
    ERROR("unary_grad");
}

MISSING(tern_cuda_binary)
(const tern_exec *exec, tern_binary_op op, double alpha, const tern_strided *y,
 const tern_strided *a, const tern_strided *b)
{
    (void)exec;
    (void)op;
    (void)alpha;
    (void)y;
    (void)a;
    (void)b;
    ERROR("binary");
}

MISSING(tern_cuda_where)
(const tern_exec *exec, const tern_strided *y, const tern_strided *c, const tern_strided *a,
 const tern_strided *b)
{
    (void)exec;
    (void)y;
    (void)c;
    (void)a;
    (void)b;
    ERROR("where");
}

MISSING(tern_cuda_reduce)
(const tern_exec *exec, tern_reduce_op op, double p, const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    (void)op;
    (void)p;
    (void)y;
    (void)x;
    ERROR("reduce");
}

MISSING(tern_cuda_var)
(const tern_exec *exec, double correction, const tern_strided *var, const tern_strided *mean,
 const tern_strided *x)
{
    (void)exec;
    (void)correction;
    (void)var;
    (void)mean;
    (void)x;
    ERROR("var");
}

MISSING(tern_cuda_arg_reduce)
(const tern_exec *exec, bool largest, const tern_strided *values, const tern_strided *indices,
 const tern_strided *x, int dim)
{
    (void)exec;
    (void)largest;
    (void)values;
    (void)indices;
    (void)x;
    (void)dim;
    ERROR("arg_reduce");
}

MISSING(tern_cuda_cumsum)
(const tern_exec *exec, const tern_strided *y, const tern_strided *x, int dim, bool reverse)
{
    (void)exec;
    (void)y;
    (void)x;
    (void)dim;
    (void)reverse;
    ERROR("cumsum");
}

MISSING(tern_cuda_softmax)
(const tern_exec *exec, bool log, const tern_strided *y, const tern_strided *x)
{
    (void)exec;
    (void)log;
    (void)y;
    (void)x;
    ERROR("softmax");
}

MISSING(tern_cuda_softmax_grad)
(const tern_exec *exec, bool log, const tern_strided *dx, const tern_strided *dy,
 const tern_strided *y)
{
    (void)exec;
    (void)log;
    (void)dx;
    (void)dy;
    (void)y;
    ERROR("softmax_grad");
}

MISSING(tern_cuda_cross_entropy)(const tern_exec *exec, const tern_cross_entropy_args *args)
{
    (void)exec;
    (void)args;
    ERROR("cross_entropy");
}

MISSING(tern_cuda_cross_entropy_grad)
(const tern_exec *exec, const tern_cross_entropy_args *args, const tern_strided *dx,
 const tern_strided *dloss)
{
    (void)exec;
    (void)args;
    (void)dx;
    (void)dloss;
    ERROR("cross_entropy_grad");
}

MISSING(tern_cuda_mse)
(const tern_exec *exec, tern_reduction reduction, const tern_strided *loss, const tern_strided *x,
 const tern_strided *t)
{
    (void)exec;
    (void)reduction;
    (void)loss;
    (void)x;
    (void)t;
    ERROR("mse");
}

MISSING(tern_cuda_mse_grad)
(const tern_exec *exec, tern_reduction reduction, double scale, const tern_strided *dx,
 const tern_strided *dloss, const tern_strided *x, const tern_strided *t)
{
    (void)exec;
    (void)reduction;
    (void)scale;
    (void)dx;
    (void)dloss;
    (void)x;
    (void)t;
    ERROR("mse_grad");
}

MISSING(tern_cuda_dropout)
(const tern_exec *exec, double p, uint64_t offset, bool replay, uint64_t *id, const tern_strided *y,
 const tern_strided *x)
{
    (void)exec;
    (void)p;
    (void)offset;
    (void)replay;
    (void)id;
    (void)y;
    (void)x;
    ERROR("dropout");
}

MISSING(tern_cuda_gather)
(const tern_exec *exec, const tern_strided *y, const tern_strided *x, const tern_strided *index,
 int dim)
{
    (void)exec;
    (void)y;
    (void)x;
    (void)index;
    (void)dim;
    ERROR("gather");
}

MISSING(tern_cuda_scatter_add)
(const tern_exec *exec, const tern_strided *y, const tern_strided *x, const tern_strided *index,
 int dim)
{
    (void)exec;
    (void)y;
    (void)x;
    (void)index;
    (void)dim;
    ERROR("scatter_add");
}

MISSING(tern_cuda_one_hot)(const tern_exec *exec, const tern_strided *y, const tern_strided *labels)
{
    (void)exec;
    (void)y;
    (void)labels;
    ERROR("one_hot");
}

MISSING(tern_cuda_sgd)
(const tern_exec *exec, const tern_sgd_args *args, const tern_step_tensor *tensors, int64_t count)
{
    (void)exec;
    (void)args;
    (void)tensors;
    (void)count;
    ERROR("sgd");
}

MISSING(tern_cuda_adam)
(const tern_exec *exec, const tern_adam_args *args, const tern_step_tensor *tensors, int64_t count)
{
    (void)exec;
    (void)args;
    (void)tensors;
    (void)count;
    ERROR("adam");
}

MISSING(tern_cuda_list_norm)
(const tern_exec *exec, double p, const tern_strided *total, const tern_strided *list,
 int64_t count)
{
    (void)exec;
    (void)p;
    (void)total;
    (void)list;
    (void)count;
    ERROR("list_norm");
}

MISSING(tern_cuda_list_clip)
(const tern_exec *exec, double max_norm, const tern_strided *total, const tern_strided *list,
 int64_t count)
{
    (void)exec;
    (void)max_norm;
    (void)total;
    (void)list;
    (void)count;
    ERROR("list_clip");
}

MISSING(tern_cuda_epilogue)
(const tern_exec *exec, const tern_strided *y, const tern_strided *bias, bool relu)
{
    (void)exec;
    (void)y;
    (void)bias;
    (void)relu;
    ERROR("tern_cuda_epilogue");
}

MISSING(tern_cuda_from_words)
(const tern_exec *exec, tern_random_kind kind, double a, double b, int64_t low, int64_t high,
 const uint32_t *words, const tern_strided *y)
{
    (void)exec;
    (void)kind;
    (void)a;
    (void)b;
    (void)low;
    (void)high;
    (void)words;
    (void)y;
    ERROR("tern_cuda_from_words");
}

MISSING(tern_cuda_fault_clear)(cudaStream_t stream, tern_fault *fault)
{
    (void)stream;
    (void)fault;
    ERROR("tern_cuda_fault_clear");
}

MISSING(tern_cuda_draws_write)(cudaStream_t stream, tern_draw_state *draws, tern_draw_state value)
{
    (void)stream;
    (void)draws;
    (void)value;
    ERROR("tern_cuda_draws_write");
}

MISSING(tern_cuda_draws_advance)(cudaStream_t stream, tern_draw_state *draws, uint64_t count)
{
    (void)stream;
    (void)draws;
    (void)count;
    ERROR("tern_cuda_draws_advance");
}
