// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels share, on the CPU and on a CUDA device: calls with a dtype that the
// kernel does not exist for. The fronts refuse all of them.
#ifndef TERN_TESTS_SUPPORT_LACKING_KERNEL_H
#define TERN_TESTS_SUPPORT_LACKING_KERNEL_H

#include "check.h"
#include "strided.h"

// Memory that every view of a call lies in: float16 and wider, 8 elements.
#define LACKING_BYTES 64

typedef struct lacking_call {
    const tern_kernels *kernels;
    const tern_exec *exec;
    tern_generator *generator; // only for kernels of the CPU to draw from, if they did not refuse
    tern_strided x;            // (2, 2, 2)
    tern_strided row;          // (2)
    tern_strided one;          // (1)
} lacking_call;

static inline tern_status lacking_softmax(const lacking_call *c)
{
    return c->kernels->softmax(c->exec, false, &c->x, &c->x);
}
static inline tern_status lacking_softmax_grad(const lacking_call *c)
{
    return c->kernels->softmax_grad(c->exec, true, &c->x, &c->x, &c->x);
}

static inline tern_norm_args lacking_norm_args(const lacking_call *c)
{
    return (tern_norm_args){
        .x = c->x, .weight = &c->row, .groups = 1, .inner = 1, .mean = c->row, .rstd = c->row};
}
static inline tern_status lacking_row_norm(const lacking_call *c)
{
    const tern_norm_args args = lacking_norm_args(c);
    return c->kernels->norm(c->exec, &args, &c->x);
}
static inline tern_status lacking_row_norm_grad(const lacking_call *c)
{
    const tern_norm_args args = lacking_norm_args(c);
    const tern_norm_grads grads = {.dx = &c->x, .dweight = &c->row};
    return c->kernels->norm_grad(c->exec, &args, &grads, &c->x);
}
static inline tern_batch_norm_args lacking_batch_norm_args(const lacking_call *c)
{
    return (tern_batch_norm_args){.x = c->x,
                                  .weight = &c->row,
                                  .running_mean = &c->row,
                                  .batch = true,
                                  .mean = c->row,
                                  .rstd = c->row};
}
static inline tern_status lacking_batch_norm(const lacking_call *c)
{
    const tern_batch_norm_args args = lacking_batch_norm_args(c);
    return c->kernels->batch_norm(c->exec, &args, &c->x);
}
static inline tern_status lacking_batch_norm_grad(const lacking_call *c)
{
    const tern_batch_norm_args args = lacking_batch_norm_args(c);
    const tern_norm_grads grads = {.dx = &c->x, .dweight = &c->row};
    return c->kernels->batch_norm_grad(c->exec, &args, &grads, &c->x);
}

static inline tern_cross_entropy_args lacking_entropy_args(const lacking_call *c)
{
    return (tern_cross_entropy_args){.x = c->x,
                                     .target = c->x,
                                     .probabilities = true,
                                     .reduction = TERN_REDUCTION_SUM,
                                     .lse = c->x,
                                     .total = c->one,
                                     .loss = c->one};
}
static inline tern_status lacking_cross_entropy(const lacking_call *c)
{
    const tern_cross_entropy_args args = lacking_entropy_args(c);
    return c->kernels->cross_entropy(c->exec, &args);
}
static inline tern_status lacking_cross_entropy_grad(const lacking_call *c)
{
    const tern_cross_entropy_args args = lacking_entropy_args(c);
    return c->kernels->cross_entropy_grad(c->exec, &args, &c->x, &c->one);
}

static inline tern_strided lacking_matrix(const lacking_call *c)
{
    tern_strided matrix = c->x;
    matrix.rank = 2;
    return matrix;
}
static inline tern_class_margin_args lacking_margin_args(const lacking_call *c)
{
    return (tern_class_margin_args){
        .x = lacking_matrix(c), .target = lacking_matrix(c), .p = 1, .margin = 1};
}
static inline tern_status lacking_class_margin(const lacking_call *c)
{
    const tern_class_margin_args args = lacking_margin_args(c);
    return c->kernels->class_margin(c->exec, &args, &c->row);
}
static inline tern_status lacking_class_margin_grad(const lacking_call *c)
{
    const tern_class_margin_args args = lacking_margin_args(c);
    return c->kernels->class_margin_grad(c->exec, &args, &args.x, &c->row);
}

static inline tern_status lacking_ctc(const lacking_call *c)
{
    const tern_ctc_args args = {.x = c->x};
    return c->kernels->ctc(c->exec, &args, &c->row);
}
static inline tern_status lacking_ctc_grad(const lacking_call *c)
{
    const tern_ctc_args args = {.x = c->x};
    return c->kernels->ctc_grad(c->exec, &args, &c->x, &c->row);
}

static inline tern_loss_args lacking_loss_args(const lacking_call *c)
{
    return (tern_loss_args){
        .code = TERN_LOSS_MSE, .reduction = TERN_REDUCTION_SUM, .x = c->row, .t = c->row};
}
static inline tern_status lacking_loss(const lacking_call *c)
{
    const tern_loss_args args = lacking_loss_args(c);
    return c->kernels->loss(c->exec, &args, &c->one);
}
static inline tern_status lacking_loss_grad(const lacking_call *c)
{
    const tern_loss_args args = lacking_loss_args(c);
    return c->kernels->loss_grad(c->exec, &args, 0, &c->row, &c->one);
}

// (2, 2, 2, 1): two rows of 2 x 2.
static inline tern_strided lacking_planes(const lacking_call *c)
{
    tern_strided planes = c->x;
    planes.rank = 4;
    planes.size[3] = planes.stride[3] = 1;
    return planes;
}
static inline tern_max_pool_args lacking_pool_args(const tern_strided *place)
{
    const tern_pool_dim pair = {.in = 2, .out = 2, .kernel = 1, .stride = 1, .dilation = 1};
    const tern_pool_dim one = {.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1};
    return (tern_max_pool_args){.dim = {pair, pair, one}, .tap = place};
}
static inline tern_status lacking_max_pool(const lacking_call *c)
{
    const tern_strided planes = lacking_planes(c);
    const tern_max_pool_args args = lacking_pool_args(NULL);
    return c->kernels->max_pool(c->exec, &args, &planes, &planes);
}
static inline tern_status lacking_max_pool_grad(const lacking_call *c)
{
    const tern_strided planes = lacking_planes(c);
    tern_strided place = planes;
    place.dtype = TERN_UINT8;
    const tern_max_pool_args args = lacking_pool_args(&place);
    return c->kernels->max_pool_grad(c->exec, &args, &planes, &planes);
}
static inline tern_resample_args lacking_resample_args(void)
{
    const tern_resample_dim pair = {.kind = TERN_RESAMPLE_SAME, .in = 2, .out = 2};
    const tern_resample_dim one = {.kind = TERN_RESAMPLE_SAME, .in = 1, .out = 1};
    return (tern_resample_args){.dim = {pair, pair, one}, .scale = 1};
}
static inline tern_status lacking_resample(const lacking_call *c)
{
    const tern_strided planes = lacking_planes(c);
    const tern_resample_args args = lacking_resample_args();
    return c->kernels->resample(c->exec, &args, &planes, &planes);
}
static inline tern_status lacking_resample_grad(const lacking_call *c)
{
    const tern_strided planes = lacking_planes(c);
    const tern_resample_args args = lacking_resample_args();
    return c->kernels->resample_grad(c->exec, &args, &planes, &planes);
}

static inline tern_status lacking_matmul(const lacking_call *c)
{
    const tern_matmul_args args = {.y = c->x, .a = c->x, .b = c->x};
    return c->kernels->matmul(c->exec, &args);
}
static inline tern_conv_args lacking_conv_args(const lacking_call *c)
{
    const tern_strided view = VIEW(c->x.data, c->x.dtype, 1, 2, 1, 2, 1);
    const tern_strided weight = VIEW(c->x.data, c->x.dtype, 2, 2, 1, 1, 1);
    return (tern_conv_args){.x = view,
                            .weight = weight,
                            .y = view,
                            .stride = {1, 1, 1},
                            .dilation = {1, 1, 1},
                            .groups = 1};
}
static inline tern_status lacking_conv(const lacking_call *c)
{
    const tern_conv_args args = lacking_conv_args(c);
    return c->kernels->conv(c->exec, &args);
}
static inline tern_status lacking_conv_grad_input(const lacking_call *c)
{
    const tern_conv_args args = lacking_conv_args(c);
    return c->kernels->conv_grad_input(c->exec, &args);
}
static inline tern_status lacking_conv_grad_weight(const lacking_call *c)
{
    const tern_conv_args args = lacking_conv_args(c);
    return c->kernels->conv_grad_weight(c->exec, &args);
}
static inline tern_status lacking_dropout(const lacking_call *c)
{
    const tern_dropout_args args = {.p = 0.5, .inner = 1, .id = c->x.data};
    return c->kernels->dropout(c->exec, &args, &c->row, &c->row);
}
static inline tern_status lacking_draw_uniform(const lacking_call *c)
{
    const tern_draw_args args = {.high = 1};
    return c->kernels->draw_uniform(c->exec, &args, &c->row);
}
static inline tern_status lacking_uniform(const lacking_call *c)
{
    const tern_random_args args = {.kind = TERN_RANDOM_UNIFORM, .b = 1};
    return c->kernels->random(c->exec, &args, c->generator, &c->row);
}
static inline tern_status lacking_normal(const lacking_call *c)
{
    const tern_random_args args = {.kind = TERN_RANDOM_NORMAL, .b = 1};
    return c->kernels->random(c->exec, &args, c->generator, &c->row);
}

static inline tern_status lacking_binary_grad(const lacking_call *c)
{
    const tern_strided *const dx[] = {&c->row, &c->row};
    return c->kernels->binary_grad(c->exec, TERN_BINARY_MUL, dx, &c->row, &c->row, &c->row);
}
static inline tern_status lacking_mean(const lacking_call *c)
{
    return c->kernels->reduce(c->exec, TERN_REDUCE_MEAN, 0, &c->one, &c->row);
}
static inline tern_status lacking_norm(const lacking_call *c)
{
    return c->kernels->reduce(c->exec, TERN_REDUCE_NORM, 2, &c->one, &c->row);
}
static inline tern_status lacking_var(const lacking_call *c)
{
    return c->kernels->var(c->exec, 1, &c->one, &c->one, &c->row);
}
static inline tern_status lacking_cumsum(const lacking_call *c)
{
    return c->kernels->cumsum(c->exec, &c->row, &c->row, 0, false);
}

static inline tern_status lacking_list_norm(const lacking_call *c)
{
    return c->kernels->list_norm(c->exec, 2, &c->one, &c->row, 1);
}
static inline tern_status lacking_list_clip(const lacking_call *c)
{
    return c->kernels->list_clip(c->exec, 1, &c->one, &c->row, 1);
}
static inline tern_step_tensor lacking_tensor(const lacking_call *c)
{
    return (tern_step_tensor){.param = c->row.data,
                              .grad = c->row.data,
                              .state = {c->row.data, c->row.data},
                              .numel = 2,
                              .dtype = c->row.dtype};
}
static inline tern_status lacking_sgd(const lacking_call *c)
{
    const tern_step_tensor tensor = lacking_tensor(c);
    return c->kernels->step(c->exec, TERN_STEP_SGD, &tensor, 1);
}
static inline tern_status lacking_average(const lacking_call *c)
{
    const tern_step_tensor tensor = lacking_tensor(c);
    const int64_t averaged = 1;
    return c->kernels->average(c->exec, 0.5, &averaged, &tensor, 1);
}
static inline tern_status lacking_adam(const lacking_call *c)
{
    const tern_step_tensor tensor = lacking_tensor(c);
    return c->kernels->step(c->exec, TERN_STEP_ADAM, &tensor, 1);
}

// Every kernel of floating dtypes is called with all others, on LACKING_BYTES of memory where the
// kernels compute. That the memory is as it was is left for the caller to see.
static inline void lacking_check_all(const tern_kernels *kernels, const tern_exec *exec,
                                     tern_generator *generator, void *memory)
{
    static const struct {
        const char *name;
        tern_status (*run)(const lacking_call *call);
        tern_dtype but; // not floating either, and it has a kernel
    } calls[] = {{"softmax", lacking_softmax, TERN_DTYPE_UNSPECIFIED},
                 {"softmax_grad", lacking_softmax_grad, TERN_DTYPE_UNSPECIFIED},
                 {"row norm", lacking_row_norm, TERN_DTYPE_UNSPECIFIED},
                 {"row norm_grad", lacking_row_norm_grad, TERN_DTYPE_UNSPECIFIED},
                 {"batch_norm", lacking_batch_norm, TERN_DTYPE_UNSPECIFIED},
                 {"batch_norm_grad", lacking_batch_norm_grad, TERN_DTYPE_UNSPECIFIED},
                 {"cross_entropy", lacking_cross_entropy, TERN_DTYPE_UNSPECIFIED},
                 {"cross_entropy_grad", lacking_cross_entropy_grad, TERN_DTYPE_UNSPECIFIED},
                 {"class_margin", lacking_class_margin, TERN_DTYPE_UNSPECIFIED},
                 {"class_margin_grad", lacking_class_margin_grad, TERN_DTYPE_UNSPECIFIED},
                 {"ctc", lacking_ctc, TERN_DTYPE_UNSPECIFIED},
                 {"ctc_grad", lacking_ctc_grad, TERN_DTYPE_UNSPECIFIED},
                 {"loss", lacking_loss, TERN_DTYPE_UNSPECIFIED},
                 {"loss_grad", lacking_loss_grad, TERN_DTYPE_UNSPECIFIED},
                 {"matmul", lacking_matmul, TERN_DTYPE_UNSPECIFIED},
                 {"max_pool", lacking_max_pool, TERN_DTYPE_UNSPECIFIED},
                 {"max_pool_grad", lacking_max_pool_grad, TERN_DTYPE_UNSPECIFIED},
                 {"resample", lacking_resample, TERN_DTYPE_UNSPECIFIED},
                 {"resample_grad", lacking_resample_grad, TERN_DTYPE_UNSPECIFIED},
                 {"conv", lacking_conv, TERN_DTYPE_UNSPECIFIED},
                 {"conv_grad_input", lacking_conv_grad_input, TERN_DTYPE_UNSPECIFIED},
                 {"conv_grad_weight", lacking_conv_grad_weight, TERN_DTYPE_UNSPECIFIED},
                 {"dropout", lacking_dropout, TERN_DTYPE_UNSPECIFIED},
                 {"uniform", lacking_uniform, TERN_DTYPE_UNSPECIFIED},
                 {"normal", lacking_normal, TERN_DTYPE_UNSPECIFIED},
                 {"binary_grad", lacking_binary_grad, TERN_DTYPE_UNSPECIFIED},
                 {"mean", lacking_mean, TERN_DTYPE_UNSPECIFIED},
                 {"norm", lacking_norm, TERN_DTYPE_UNSPECIFIED},
                 {"var", lacking_var, TERN_DTYPE_UNSPECIFIED},
                 {"cumsum", lacking_cumsum, TERN_INT64},
                 {"list_norm", lacking_list_norm, TERN_DTYPE_UNSPECIFIED},
                 {"list_clip", lacking_list_clip, TERN_DTYPE_UNSPECIFIED},
                 {"sgd", lacking_sgd, TERN_DTYPE_UNSPECIFIED},
                 {"adam", lacking_adam, TERN_DTYPE_UNSPECIFIED},
                 {"average", lacking_average, TERN_DTYPE_UNSPECIFIED}};
    static const tern_dtype dtypes[] = {TERN_INT64, TERN_INT32, TERN_UINT8, TERN_BOOL};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            const lacking_call call = {kernels,
                                       exec,
                                       generator,
                                       VIEW(memory, dtypes[k], 2, 2, 2),
                                       VIEW(memory, dtypes[k], 2),
                                       VIEW(memory, dtypes[k], 1)};
            if (dtypes[k] != calls[i].but && calls[i].run(&call) != TERN_ERR_DTYPE)
                fail_msg("%s of %s is not refused", calls[i].name, tern_dtype_name(dtypes[k]));
            tern_error_clear();
        }
    }
}

#endif
