// SPDX-License-Identifier: Apache-2.0
// The kernels that a backend offers. Each type is declared once, here; the declaration types the
// table's slot and declares every implementation (`tern_kernel_fill tern_cpu_fill;`).
//
// Kernels trust their callers: shapes, dtypes and devices were checked in front. Views may have any
// strides unless a kernel says "contiguous"; a stride of 0 is a broadcast. Those of elementwise
// kernels and reductions arrive coalesced (tern_views_coalesce): the front does that once, and no
// kernel again; it decides how fast they are walked, not what comes out. Outputs are distinct
// from inputs, or the very same view (elementwise kernels may run in place). A kernel takes its
// scratch before the first write, and fails only with TERN_ERR_NOMEM, or with TERN_ERR_DTYPE where
// it does not exist for a dtype; nothing is written then. Empty outputs are legal.
#ifndef TERN_SRC_DEVICE_KERNELS_H
#define TERN_SRC_DEVICE_KERNELS_H

#include <tern/device.h>
#include <tern/dtype.h>
#include <tern/generator.h>
#include <tern/reduction.h>
#include <tern/scalar.h>

// A view of a tensor as a kernel sees it. data points to the first element.
typedef struct tern_strided {
    void *data;
    tern_dtype dtype;
    int rank;
    int64_t size[TERN_MAX_RANK];
    int64_t stride[TERN_MAX_RANK]; // elements
} tern_strided;

static inline int64_t tern_strided_numel(const tern_strided *view)
{
    int64_t numel = 1;
    for (int i = 0; i < view->rank; i++)
        numel *= view->size[i];
    return numel;
}

TERN_BEGIN_DECLS

// Merges neighbouring dims that all `count` views of the same sizes walk in one stride, and drops
// those of size 1.
void tern_views_coalesce(tern_strided *const *views, int count);

TERN_END_DECLS

// A device's sticky error, in its memory: the first value error that a kernel met since the record
// was last cleared. Of several in one kernel it is that of the smallest element.
typedef struct tern_fault {
    uint32_t set;
    uint32_t site;   // which operation: tern_fault_site gave the number
    int64_t element; // where
    int64_t value;   // what was there
} tern_fault;

// The Philox state of dropout: elements 4 k .. 4 k + 3 of call `id` have the counter (id, k), and
// the key is the seed.
typedef struct tern_draw_state {
    uint64_t seed;
    uint64_t base; // Philox offset: the ids of later calls count from it
} tern_draw_state;

// Arguments of an optimizer kernel on a CUDA device: a launch writes them to memory of the device,
// and the update reads them there. A captured graph holds the update alone; before each replay the
// host writes the arguments of that step.
typedef struct tern_step_plan {
    void *memory; // of the device: tern_step_plan_size(count) bytes, 256-byte aligned
    bool write;   // arguments and tensors to memory
    bool run;     // update, from memory
} tern_step_plan;

static inline int64_t tern_step_plan_size(int64_t count)
{
    return 192 * count;
}

// Where and how a kernel runs.
typedef struct tern_exec {
    tern_device device;
    void *stream;               // the backend's
    tern_fault *fault;          // of the device
    uint32_t site;              // for the fault record
    tern_draw_state *draws;     // of the device, in its memory
    const tern_step_plan *plan; // optimizer kernels; NULL: write and run, from scratch memory
} tern_exec;

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

// y = softmax(x) or its logarithm over the middle dim of (outer, n, inner), contiguous.
typedef tern_status tern_kernel_softmax(const tern_exec *exec, bool log, const tern_strided *y,
                                        const tern_strided *x);
// dx from dy and y, as above.
typedef tern_status tern_kernel_softmax_grad(const tern_exec *exec, bool log,
                                             const tern_strided *dx, const tern_strided *dy,
                                             const tern_strided *y);

// Cross-entropy over (N, C, S), contiguous. target: int64 (N, S), or (N, C, S) of x's dtype:
// probabilities.
typedef struct tern_cross_entropy_args {
    tern_strided x;             // (N, C, S)
    tern_strided target;        // (N, S) int64, or (N, C, S)
    const tern_strided *weight; // (C) or NULL
    bool probabilities;
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
// Backward: dx (N, C, S) from dloss (shaped as loss) and what the forward wrote.
typedef tern_status tern_kernel_cross_entropy_grad(const tern_exec *exec,
                                                   const tern_cross_entropy_args *args,
                                                   const tern_strided *dx,
                                                   const tern_strided *dloss);

// The pointwise losses (device/loss.def), of n elements; all views contiguous.
typedef enum tern_loss_code {
#define LOSS(CODE, ...) TERN_LOSS_##CODE,
#include "device/loss.def"
#undef LOSS
} tern_loss_code;

typedef struct tern_loss_args {
    tern_loss_code code;
    tern_reduction reduction;   // UNSPECIFIED is MEAN; it divides by n, whatever the weights are
    double a, b;                // parameters of the formula
    tern_strided x, t;          // (n); t: the target
    const tern_strided *v;      // (n): the third input of a loss of 3, else NULL
    const tern_strided *weight; // (n): factors of the elements' losses, or NULL
} tern_loss_args;
// loss (1 element) = mean or sum of weight * value, or loss (n) = each of them. An element that the
// formula calls invalid goes to the fault record (value 0) and is computed as it is.
typedef tern_status tern_kernel_loss(const tern_exec *exec, const tern_loss_args *args,
                                     const tern_strided *loss);
// dx (n) = dloss * weight * slope in an input: 0 is x, 1 t, 2 v; by n for the mean. dloss is shaped
// as loss.
typedef tern_status tern_kernel_loss_grad(const tern_exec *exec, const tern_loss_args *args,
                                          int input, const tern_strided *dx,
                                          const tern_strided *dloss);

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

// y = x / (1 - p) where kept, else 0; contiguous. Element e is kept when word e % 4 of
// Philox(id, e / 4) times 2^-32 is >= p.
typedef struct tern_dropout_args {
    double p;
    uint64_t *id;    // (1): the call's id, memory of the device
    uint64_t offset; // of the call from draws->base: their sum is written to *id
    bool replay;     // the same call again, for its gradient: *id is read instead
} tern_dropout_args;
typedef tern_status tern_kernel_dropout(const tern_exec *exec, const tern_dropout_args *args,
                                        const tern_strided *y, const tern_strided *x);

// y[i..] = x[.., index[i..], ..] along dim; all of one rank. A bad index goes to the fault record
// (element: its offset in index's memory, so that a repeated index names its place in the list;
// value) and reads as 0.
typedef tern_status tern_kernel_gather(const tern_exec *exec, const tern_strided *y,
                                       const tern_strided *x, const tern_strided *index, int dim);
// y[.., index[i..], ..] += x[i..] along dim, in a fixed order; x has index's sizes. A bad index
// adds nothing.
typedef tern_status tern_kernel_scatter_add(const tern_exec *exec, const tern_strided *y,
                                            const tern_strided *x, const tern_strided *index,
                                            int dim);
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

// The updates of optimizers: step.def has their formulas.
#define STEP(CODE, ...) TERN_STEP_##CODE,
typedef enum tern_step_code {
#include "device/step.def"
} tern_step_code;

#define TERN_STEP_STATES  4  // of a formula, at most
#define TERN_STEP_NUMBERS 12 // likewise

// One parameter of an optimizer step: contiguous, floating; the state has the parameter's dtype.
typedef struct tern_step_tensor {
    void *param, *grad;
    void *state[TERN_STEP_STATES]; // in the order of the formula, NULL from its last on
    int64_t numel;
    tern_dtype dtype;
    double number[TERN_STEP_NUMBERS]; // in the order of the formula
} tern_step_tensor;

// One pass over all tensors of a group. Nothing is changed while the fault record is set.
typedef tern_status tern_kernel_step(const tern_exec *exec, tern_step_code code,
                                     const tern_step_tensor *tensors, int64_t count);

// total (1 element, float64 on CPU) = p-norm over the elements of all views, contiguous.
typedef tern_status tern_kernel_list_norm(const tern_exec *exec, double p,
                                          const tern_strided *total, const tern_strided *list,
                                          int64_t count);
// x *= min(1, max_norm / (total + 1e-6)) for all views. Where the front cannot look at the total
// and gave a site, a total that is not finite goes to the fault record and nothing is scaled.
typedef tern_status tern_kernel_list_clip(const tern_exec *exec, double max_norm,
                                          const tern_strided *total, const tern_strided *list,
                                          int64_t count);

// Every kernel, once: the slots of the table, declarations and tables of the backends are made of
// this list, so that a kernel which a backend lacks does not link.
// clang-format off
#define TERN_KERNELS(SLOT)                                                                         \
    SLOT(fill) SLOT(copy) SLOT(arange)                                                             \
    SLOT(unary) SLOT(unary_grad) SLOT(binary) SLOT(where)                                          \
    SLOT(reduce) SLOT(var) SLOT(arg_reduce) SLOT(cumsum)                                           \
    SLOT(matmul)                                                                                   \
    SLOT(softmax) SLOT(softmax_grad)                                                               \
    SLOT(cross_entropy) SLOT(cross_entropy_grad) SLOT(loss) SLOT(loss_grad)                        \
    SLOT(dropout) SLOT(random)                                                                     \
    SLOT(gather) SLOT(scatter_add) SLOT(one_hot)                                                   \
    SLOT(step) SLOT(list_norm) SLOT(list_clip)
// clang-format on

// The table of a backend. Every slot is required.
#define TERN_KERNEL_FIELD_(slot) tern_kernel_##slot *slot;
typedef struct tern_kernels {
    const char *name; // "portable", "avx2", ...
    TERN_KERNELS(TERN_KERNEL_FIELD_)
} tern_kernels;

#endif
