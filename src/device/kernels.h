// SPDX-License-Identifier: Apache-2.0
// The kernels that a backend offers. Each type is declared once, here; the declaration types the
// table's slot and declares every implementation (`tern_kernel_fill tern_cpu_fill;`).
//
// Kernels trust their callers: shapes, dtypes and devices were checked in front. Views may have any
// strides unless a kernel says "contiguous"; a stride of 0 is a broadcast. Those of elementwise
// kernels and reductions arrive coalesced (tern_views_coalesce): the front does that once, and no
// kernel again; it decides how fast they are iterated, not what comes out. Outputs are distinct
// from inputs, or the very same view (elementwise kernels may run in place). A kernel takes its
// scratch before the first write, and fails only with TERN_ERR_NOMEM, or with TERN_ERR_DTYPE where
// it does not exist for a dtype; nothing is written then. Empty outputs are legal.
#ifndef TERN_SRC_DEVICE_KERNELS_H
#define TERN_SRC_DEVICE_KERNELS_H

#include <tern/generator.h>
#include <tern/reduction.h>
#include <tern/scalar.h>
#include "device/exec.h"
#include "device/step_kernels.h"

// Elementwise operations: elementwise.def says what each computes.
#define UNARY(CODE, ...)      TERN_UNARY_##CODE,
#define UNARY_TEST(CODE, ...) TERN_UNARY_##CODE,
typedef enum tern_unary_op {
#include "device/elementwise.def"
} tern_unary_op;

#define BINARY(CODE, ...)      TERN_BINARY_##CODE,
#define BINARY_TEST(CODE, ...) TERN_BINARY_##CODE,
typedef enum tern_binary_op {
#include "device/elementwise.def"
} tern_binary_op;

// What the gradient of an operation is computed from, besides the output's.
typedef enum tern_saves { TERN_SAVES_NOTHING, TERN_SAVES_INPUT, TERN_SAVES_OUTPUT } tern_saves;

static inline tern_saves tern_unary_saves(tern_unary_op op)
{
    switch ((int)op) {
#define UNARY(CODE, name, saves, ...)                                                              \
    case TERN_UNARY_##CODE:                                                                        \
        return TERN_SAVES_##saves;
#define UNARY_TEST(...)
#include "device/elementwise.def"
    }
    return TERN_SAVES_NOTHING;
}

static inline bool tern_unary_gives_bool(tern_unary_op op)
{
#define UNARY(...)
#define UNARY_TEST(CODE, ...) || op == TERN_UNARY_##CODE
    return false
#include "device/elementwise.def"
        ;
}

static inline bool tern_binary_gives_bool(tern_binary_op op)
{
#define BINARY(...)
#define BINARY_TEST(CODE, ...) || op == TERN_BINARY_##CODE
    return false
#include "device/elementwise.def"
        ;
}

typedef enum tern_reduce_op {
    TERN_REDUCE_SUM,
    TERN_REDUCE_MEAN,
    TERN_REDUCE_AMAX, // NaN wins
    TERN_REDUCE_AMIN,
    TERN_REDUCE_NORM, // p: any, 0 and the infinities too
    TERN_REDUCE_ANY,  // bool output
    TERN_REDUCE_ALL
} tern_reduce_op;

typedef enum tern_random_kind {
    TERN_RANDOM_UNIFORM,   // [a, b)
    TERN_RANDOM_NORMAL,    // mean a, standard deviation b
    TERN_RANDOM_BERNOULLI, // 1 with probability a
    TERN_RANDOM_INTEGER    // [low, high)
} tern_random_kind;

// y[..] = value
typedef tern_status tern_kernel_fill(const tern_exec *exec, const tern_strided *y,
                                     tern_scalar value);
// y = x, cast; same sizes, any pair of dtypes. Floating to integer truncates; to bool: non-zero.
typedef tern_status tern_kernel_copy(const tern_exec *exec, const tern_strided *y,
                                     const tern_strided *x);
// y[i] = start + i * step, 1-dim contiguous; computed in double (floating) or int64
typedef tern_status tern_kernel_arange(const tern_exec *exec, const tern_strided *y,
                                       tern_scalar start, tern_scalar step);

// y = op(x), same sizes; same dtype, or y bool. What is made for floating dtypes only gives
// TERN_ERR_DTYPE for others.
typedef tern_status tern_kernel_unary(const tern_exec *exec, tern_unary_op op,
                                      const tern_scalar p[2], const tern_strided *y,
                                      const tern_strided *x);
// dx = dy * op'(s); s is what op saves (tern_unary_saves), of x's shape. One floating dtype.
typedef tern_status tern_kernel_unary_grad(const tern_exec *exec, tern_unary_op op,
                                           const double p[2], const tern_strided *dx,
                                           const tern_strided *dy, const tern_strided *s);
// y = op(a, b), same sizes; a and b of one dtype, y too or bool. ADD: a + alpha b; else alpha is 1.
typedef tern_status tern_kernel_binary(const tern_exec *exec, tern_binary_op op, double alpha,
                                       const tern_strided *y, const tern_strided *a,
                                       const tern_strided *b);
// The gradients da = dx[0] and db = dx[1] of op(a, b) from dy, same sizes; one floating dtype.
// TERN_ERR_DTYPE where elementwise.def has none.
typedef tern_status tern_kernel_binary_grad(const tern_exec *exec, tern_binary_op op,
                                            const tern_strided *const dx[2], const tern_strided *dy,
                                            const tern_strided *a, const tern_strided *b);
// y = c ? a : b, same sizes; c bool
typedef tern_status tern_kernel_where(const tern_exec *exec, const tern_strided *y,
                                      const tern_strided *c, const tern_strided *a,
                                      const tern_strided *b);

// y has x's rank, with size 1 where it reduces. The dims that are kept come first, then those that
// are folded; in both, broadcasts (stride 0) before falling strides of x. Same dtype; SUM of
// integers and bool gives int64; ANY, ALL bool. An empty reduction gives 0 (SUM, NORM, ANY), NaN
// (MEAN), true (ALL).
typedef tern_status tern_kernel_reduce(const tern_exec *exec, tern_reduce_op op, double p,
                                       const tern_strided *y, const tern_strided *x);
// Variance and mean (NULL to leave it out), shaped as in reduce; divisor max(0, n - correction).
typedef tern_status tern_kernel_var(const tern_exec *exec, double correction,
                                    const tern_strided *var, const tern_strided *mean,
                                    const tern_strided *x);
// values (or NULL) and int64 indices have x's rank with size 1 in `dim`, the last; the dims before
// it as in reduce. NaN wins, then the first.
typedef tern_status tern_kernel_arg_reduce(const tern_exec *exec, bool largest,
                                           const tern_strided *values, const tern_strided *indices,
                                           const tern_strided *x, int dim);
// The first k elements of x (.., n, ..) along dim in ascending order, or `descending`: values
// (.., k, ..), or NULL, and int64 indices of the same sizes say where they were. A NaN is above
// every number, -0 equals 0; equal ones keep their order. 0 <= k <= n.
typedef tern_status tern_kernel_sort(const tern_exec *exec, bool descending,
                                     const tern_strided *values, const tern_strided *indices,
                                     const tern_strided *x, int dim);
// Running sum along dim, from the end when reverse; x of y's dtype.
typedef tern_status tern_kernel_cumsum(const tern_exec *exec, const tern_strided *y,
                                       const tern_strided *x, int dim, bool reverse);

// y (B, M, N) = a (B, M, K) b (B, K, N), plus bias (N) or NULL, then relu if asked, or added to y.
// a and b have a unit stride in one of the last two dims (or size 1 there), y in the last; batch
// strides may be 0 in a and b. One floating dtype. K may be 0.
typedef struct tern_matmul_args {
    tern_strided y, a, b;
    const tern_strided *bias;
    bool relu;
    bool accumulate;
} tern_matmul_args;
typedef tern_status tern_kernel_matmul(const tern_exec *exec, const tern_matmul_args *args);

// Convolution (cross-correlation) over three spatial dims; of one or two, those in front have size
// 1. Contiguous, one floating dtype; the batch may be empty.
typedef struct tern_conv_args {
    tern_strided x;           // (N, C, D, H, W)
    tern_strided weight;      // (K, C / groups, KD, KH, KW)
    tern_strided y;           // (N, K, OD, OH, OW)
    const tern_strided *bias; // conv: (K); conv_grad_input, as a transposed conv: (C); or NULL
    bool relu;                // max(., 0) on what conv, or the transposed convolution, gives
    bool accumulate;          // gradients: added to what is there, without bias or relu
    int64_t stride[3], dilation[3], groups;
    int64_t padding[3]; // before the first element; the sizes say what is behind the last
} tern_conv_args;
// Writes y. It accumulates as the gradient of a transposed convolution's input.
typedef tern_status tern_kernel_conv(const tern_exec *exec, const tern_conv_args *args);
// Writes x from y and weight: the transposed convolution, or the gradient of conv's input.
typedef tern_status tern_kernel_conv_grad_input(const tern_exec *exec, const tern_conv_args *args);
// Writes weight from x and y.
typedef tern_status tern_kernel_conv_grad_weight(const tern_exec *exec, const tern_conv_args *args);

// y = softmax(x) or its logarithm over the middle dim of (outer, n, inner), contiguous.
typedef tern_status tern_kernel_softmax(const tern_exec *exec, bool log, const tern_strided *y,
                                        const tern_strided *x);
// dx from dy and y, as above.
typedef tern_status tern_kernel_softmax_grad(const tern_exec *exec, bool log,
                                             const tern_strided *dx, const tern_strided *dy,
                                             const tern_strided *y);

// What an output of a resampled dimension is made of (resample_taps.h).
typedef enum tern_resample_kind {
    TERN_RESAMPLE_SAME,          // x[o]
    TERN_RESAMPLE_NEAREST,       // x[floor(o ratio)]
    TERN_RESAMPLE_NEAREST_EXACT, // x[floor((o + 0.5) ratio)]
    TERN_RESAMPLE_LINEAR,        // between 2 inputs, at (o + 0.5) ratio - 0.5, at least 0
    TERN_RESAMPLE_CUBIC,         // among 4, likewise, also below 0; the border is repeated
    TERN_RESAMPLE_AREA,          // the mean over floor(o in / out) ... ceil((o + 1) in / out) - 1
    TERN_RESAMPLE_WINDOW,        // over kernel inputs from o stride - padding on
    TERN_RESAMPLE_REFLECT,       // padding elements before x: mirrored, the border once
    TERN_RESAMPLE_REPLICATE,     // the border
    TERN_RESAMPLE_CIRCULAR       // from the other end
} tern_resample_kind;

typedef enum tern_divisor {
    TERN_DIVISOR_REAL,   // the inputs in the window
    TERN_DIVISOR_PADDED, // with those of the padding, `padding` of them on either side
    TERN_DIVISOR_ONE
} tern_divisor;

typedef struct tern_resample_dim {
    tern_resample_kind kind;
    int64_t in, out;      // at most INT32_MAX; in > 0 where there are outputs
    double ratio;         // inputs per output, of NEAREST ... CUBIC
    bool align_corners;   // linear and cubic: at o ratio
    int64_t kernel;       // of WINDOW
    int64_t stride;       // likewise
    int64_t padding;      // of WINDOW and the paddings
    tern_divisor divisor; // of WINDOW
} tern_resample_dim;

// y (R, out..) = x (R, in..) resampled along three dimensions, contiguous. Coordinates are computed
// in the type of the elements, float32 for 16-bit ones.
typedef struct tern_resample_args {
    tern_resample_dim dim[3];
    double scale; // of the sums
} tern_resample_args;
typedef tern_status tern_kernel_resample(const tern_exec *exec, const tern_resample_args *args,
                                         const tern_strided *y, const tern_strided *x);
// dx (R, in..) from dy (R, out..): each sum in the order of the outputs.
typedef tern_status tern_kernel_resample_grad(const tern_exec *exec, const tern_resample_args *args,
                                              const tern_strided *dx, const tern_strided *dy);

// Windows along one dimension (pool_window.h).
typedef struct tern_pool_dim {
    int64_t in, out;  // at most INT32_MAX
    bool adaptive;    // floor(o in / out) ... ceil((o + 1) in / out) - 1; else from o stride -
                      // padding on, each `dilation` after the one before
    int64_t kernel;   // at most so many inputs
    int64_t stride;   // > 0 in all of them
    int64_t padding;  // likewise >= 0
    int64_t dilation; // likewise > 0
} tern_pool_dim;

// y (R, out..) = the largest of each window of x (R, in..), contiguous: the first of equal ones; a
// NaN wins, the last of several. Every window has an element of x.
typedef struct tern_max_pool_args {
    tern_pool_dim dim[3];
    const tern_strided *tap;   // as y, or NULL: where in the window, counted as if none were cut:
                               // uint8 where the kernel has at most 256 elements, else int32
    const tern_strided *index; // as y, int64, or NULL: where in (in..)
} tern_max_pool_args;
typedef tern_status tern_kernel_max_pool(const tern_exec *exec, const tern_max_pool_args *args,
                                         const tern_strided *y, const tern_strided *x);
// dx (R, in..) from dy and args->tap (R, out..): each sum in the order of the outputs.
typedef tern_status tern_kernel_max_pool_grad(const tern_exec *exec, const tern_max_pool_args *args,
                                              const tern_strided *dx, const tern_strided *dy);
// Normalisation of rows: y = (x - mean) rstd weight + bias; all contiguous. Element j of row r has
// the weight (r % groups) (n / inner) + j / inner, so that layer norm (groups 1, inner 1), group
// norm and instance norm (inner: elements of a channel) are one family.
typedef struct tern_norm_args {
    tern_strided x;             // (rows, n)
    const tern_strided *weight; // (groups * n / inner), of x's dtype, or float32; NULL: all 1
    const tern_strided *bias;   // likewise; NULL: all 0
    int64_t groups, inner;      // inner > 0 divides n, groups > 0 the rows; rows, n > 0
    double eps;
    bool rms;          // the mean counts as 0
    tern_strided mean; // (rows), of rstd's dtype; nothing for rms
    tern_strided rstd; // (rows), 1 / sqrt(biased variance + eps); float64 for float64, else float32
} tern_norm_args;
// Gradients: NULL where none is wanted. dx is x's, dweight and dbias are weight's and bias's.
typedef struct tern_norm_grads {
    const tern_strided *dx, *dweight, *dbias;
} tern_norm_grads;
// Forward: writes mean, rstd, y (rows, n).
typedef tern_status tern_kernel_norm(const tern_exec *exec, const tern_norm_args *args,
                                     const tern_strided *y);
// Backward, from dy (rows, n) and what the forward wrote.
typedef tern_status tern_kernel_norm_grad(const tern_exec *exec, const tern_norm_args *args,
                                          const tern_norm_grads *grads, const tern_strided *dy);

// Normalisation of channels: y (N, C, S) from x (N, C, S), then relu if asked; all contiguous.
typedef struct tern_batch_norm_args {
    tern_strided x;                                 // (N, C, S)
    const tern_strided *weight, *bias;              // (C), of x's dtype, or float32; NULL: 1, 0
    const tern_strided *running_mean, *running_var; // (C), floating; NULL with `batch` only
    int64_t *batches; // num_batches_tracked, memory of the device: grows by 1; or NULL
    bool batch;       // statistics of x, by which the running ones change; else the running ones
    bool relu;
    double momentum; // weight of this batch in the running statistics; NAN: 1 / *batches
    double eps;
    tern_strided mean, rstd; // (C), as in norm
} tern_batch_norm_args;
// Forward: writes mean, rstd, y; with `batch` also the running statistics (variance unbiased), if N
// S > 0, and *batches. N S is not 1 with `batch`.
typedef tern_status tern_kernel_batch_norm(const tern_exec *exec, const tern_batch_norm_args *args,
                                           const tern_strided *y);
// Backward, from dy (N, C, S) and what the forward wrote; the running statistics do not count.
typedef tern_status tern_kernel_batch_norm_grad(const tern_exec *exec,
                                                const tern_batch_norm_args *args,
                                                const tern_norm_grads *grads,
                                                const tern_strided *dy);

// Cross-entropy over (N, C, S), contiguous. target: int64 (N, S), or (N, C, S) of x's dtype:
// probabilities.
typedef struct tern_cross_entropy_args {
    tern_strided x;             // (N, C, S)
    tern_strided target;        // (N, S) int64, or (N, C, S)
    const tern_strided *weight; // (C) or NULL
    bool probabilities;
    bool log_probabilities; // x holds logarithms of probabilities: no softmax, and lse is 0
    int64_t ignore_index;
    double label_smoothing;
    tern_reduction reduction;
    tern_strided lse;   // (N, S): log sum exp of each row; float64 for float64, else float32
    tern_strided total; // 1 element of lse's dtype: the divisor of the mean
    tern_strided loss;  // 1 element, or (N, S) without reduction
} tern_cross_entropy_args;
// Forward: writes lse, total, loss. A label out of range goes to the fault record (element
// n * S + s, value the label) and counts as ignored.
typedef tern_status tern_kernel_cross_entropy(const tern_exec *exec,
                                              const tern_cross_entropy_args *args);
// Backward: dx (N, C, S), or x itself, from dloss (shaped as loss) and what the forward wrote.
typedef tern_status tern_kernel_cross_entropy_grad(const tern_exec *exec,
                                                   const tern_cross_entropy_args *args,
                                                   const tern_strided *dx,
                                                   const tern_strided *dloss);

// Margins between the scores of a sample's own classes and those of the others; contiguous.
typedef struct tern_class_margin_args {
    tern_strided x;             // (N, C)
    tern_strided target;        // int64 (N, 1): the class; or (N, C): classes, up to the first -1
    const tern_strided *weight; // (C), of the own class; or NULL
    bool lists;                 // the target is (N, C)
    int p;                      // 1 or 2
    double margin;
} tern_class_margin_args;
// loss (N) = sum over the own classes t and the others i of weight[t] max(0, margin - x[t] +
// x[i])^p / C. A class out of range goes to the fault record (element of the target, value the
// class), and its sample gives 0.
typedef tern_status tern_kernel_class_margin(const tern_exec *exec,
                                             const tern_class_margin_args *args,
                                             const tern_strided *loss);
// dx (N, C) from dloss (N).
typedef tern_status tern_kernel_class_margin_grad(const tern_exec *exec,
                                                  const tern_class_margin_args *args,
                                                  const tern_strided *dx,
                                                  const tern_strided *dloss);

// Connectionist temporal classification of float32 or float64; contiguous. The plan says of each
// sample how many times and labels it has, and where in `labels` these begin.
enum { TERN_CTC_TIMES, TERN_CTC_LABELS, TERN_CTC_FIRST, TERN_CTC_PLAN };
typedef struct tern_ctc_args {
    tern_strided x;      // (T, N, C): logarithms of probabilities
    tern_strided labels; // int64 (total)
    tern_strided plan;   // int64 (N, TERN_CTC_PLAN)
    tern_strided alpha;  // (N, T, L), L = 2 most labels + 1: the forward writes it
    tern_strided beta;   // (N, 2, L): the backward's scratch
    tern_strided nll;    // (N): the forward writes it
    int64_t blank;
    bool zero_infinity; // a sample without a path gives 0, and gradients of 0
} tern_ctc_args;
// loss (N). A label that is no class, or the blank, goes to the fault record (its place in `labels`
// and value); its sample gives 0.
typedef tern_status tern_kernel_ctc(const tern_exec *exec, const tern_ctc_args *args,
                                    const tern_strided *loss);
// dx (T, N, C) from dloss (N) and what the forward wrote.
typedef tern_status tern_kernel_ctc_grad(const tern_exec *exec, const tern_ctc_args *args,
                                         const tern_strided *dx, const tern_strided *dloss);

// The pointwise losses (device/loss.def), of n elements; all views contiguous.
typedef enum tern_loss_code {
#define LOSS(CODE, ...) TERN_LOSS_##CODE,
#include "device/loss.def"
#undef LOSS
} tern_loss_code;

typedef struct tern_loss_args {
    tern_loss_code code;
    tern_reduction reduction;   // UNSPECIFIED is MEAN
    int64_t mean_of;            // what it divides by, whatever the weights are; 0: n
    double a, b;                // parameters of the formula
    tern_strided x, t;          // (n); t: the target
    const tern_strided *v;      // (n): the third input of a loss of 3, else NULL
    const tern_strided *weight; // (n): factors of the elements' losses, or NULL
} tern_loss_args;
// loss (1 element) = mean or sum of weight * value, or loss (n) = each of them. An element that the
// formula calls invalid goes to the fault record (value 0) and is computed as it is.
typedef tern_status tern_kernel_loss(const tern_exec *exec, const tern_loss_args *args,
                                     const tern_strided *loss);
// dx (n) = dloss * weight * slope in an input: 0 is x, 1 t, 2 v; divided as the loss is. dloss is
// shaped as loss.
typedef tern_status tern_kernel_loss_grad(const tern_exec *exec, const tern_loss_args *args,
                                          int input, const tern_strided *dx,
                                          const tern_strided *dloss);

// What the sum of the losses is divided by.
static inline double tern_loss_divisor(const tern_loss_args *args)
{
    if (args->reduction == TERN_REDUCTION_SUM || args->reduction == TERN_REDUCTION_NONE)
        return 1;
    return (double)(args->mean_of ? args->mean_of : args->x.size[0]);
}

// How many inputs a loss has; 1 stands for a function of x - t.
static inline int tern_loss_inputs(tern_loss_code code)
{
    switch (code) {
#define LOSS(CODE, name, inputs, ...)                                                              \
    case TERN_LOSS_##CODE:                                                                         \
        return inputs;
#include "device/loss.def"
#undef LOSS
    }
    return 0;
}

// y = x * scale + shift where kept, else `dropped`; contiguous. Elements e to e + inner - 1, e a
// multiple of inner, share draw e / inner. Draw d keeps them when word d % 4 of Philox(id, d / 4)
// times 2^-32 is >= p.
typedef struct tern_dropout_args {
    double p;
    double scale, shift, dropped; // a shift of -0.0 changes nothing
    int64_t inner;                // elements per draw, at least 1
    uint64_t *id;                 // (1): the call's id, memory of the device
    uint64_t offset;              // of the call from draws->base: their sum is written to *id
    bool replay; // the mask of a call before, for its gradient: *id is read instead
} tern_dropout_args;
typedef tern_status tern_kernel_dropout(const tern_exec *exec, const tern_dropout_args *args,
                                        const tern_strided *y, const tern_strided *x);
// y[e] = low + (high - low) * (word e % 4 of Philox(id, e / 4) * 2^-32), in the type that y's dtype
// computes in; contiguous. The id is draws->base + offset.
typedef struct tern_draw_args {
    double low, high;
    uint64_t offset;
} tern_draw_args;
typedef tern_status tern_kernel_draw_uniform(const tern_exec *exec, const tern_draw_args *args,
                                             const tern_strided *y);

// y[i..] = x[.., index[i..], ..] along dim; all of one rank. A bad index goes to the fault record
// (element: its offset in index's memory, so that a repeated index names its place in the list;
// value) and reads as 0.
typedef tern_status tern_kernel_gather(const tern_exec *exec, const tern_strided *y,
                                       const tern_strided *x, const tern_strided *index, int dim);
// y[.., index[i..], ..] += x[i..] along dim, in a fixed order; x has index's sizes. A bad index
// adds nothing. `unique`: no two indices of a line are the same.
typedef tern_status tern_kernel_scatter_add(const tern_exec *exec, const tern_strided *y,
                                            const tern_strided *x, const tern_strided *index,
                                            int dim, bool unique);
// y (N, C) int64 contiguous from labels (N); a bad label goes to the fault record, its row is 0.
typedef tern_status tern_kernel_one_hot(const tern_exec *exec, const tern_strided *y,
                                        const tern_strided *labels);

typedef struct tern_random_args {
    tern_random_kind kind;
    double a, b;       // as the kind says
    int64_t low, high; // of INTEGER
} tern_random_args;
// Fills y (contiguous) from the generator's stream.
typedef tern_status tern_kernel_random(const tern_exec *exec, const tern_random_args *args,
                                       tern_generator *generator, const tern_strided *y);

// Every kernel, once: the slots of the table, declarations and tables of the backends are made of
// this list, so that a kernel which a backend lacks does not link.
// clang-format off
#define TERN_KERNELS(SLOT)                                                                         \
    SLOT(fill) SLOT(copy) SLOT(arange)                                                             \
    SLOT(unary) SLOT(unary_grad) SLOT(binary) SLOT(binary_grad) SLOT(where)                        \
    SLOT(reduce) SLOT(var) SLOT(arg_reduce) SLOT(sort) SLOT(cumsum)                                \
    SLOT(matmul) SLOT(conv) SLOT(conv_grad_input) SLOT(conv_grad_weight)                           \
    SLOT(softmax) SLOT(softmax_grad)                                                               \
    SLOT(max_pool) SLOT(max_pool_grad) SLOT(resample) SLOT(resample_grad)                          \
    SLOT(norm) SLOT(norm_grad) SLOT(batch_norm) SLOT(batch_norm_grad)                              \
    SLOT(cross_entropy) SLOT(cross_entropy_grad) SLOT(class_margin) SLOT(class_margin_grad)        \
    SLOT(ctc) SLOT(ctc_grad) SLOT(loss) SLOT(loss_grad) SLOT(step)                                 \
    SLOT(dropout) SLOT(draw_uniform) SLOT(random) SLOT(gather) SLOT(scatter_add) SLOT(one_hot)     \
    SLOT(average) SLOT(list_norm) SLOT(list_clip)
// clang-format on

// The table of a backend. Every slot is required.
#define TERN_KERNEL_FIELD_(slot) tern_kernel_##slot *slot;
typedef struct tern_kernels {
    const char *name; // "portable", "avx2", ...
    TERN_KERNELS(TERN_KERNEL_FIELD_)
} tern_kernels;

#endif
