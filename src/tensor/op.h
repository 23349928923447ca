// SPDX-License-Identifier: Apache-2.0
// For writers of operations: check operands, infer shapes, launch kernels, record for backward.
//
//     tern_tensor *tern_exp(tern_tensor *x)
//     {
//         tern_operands in = {.op = "exp", .count = 1, .name = {"x"}, .at = {x}};
//         if (tern_op_prepare(&in, TERN_PREPARE_TO_FLOATING))
//             return NULL;
//         tern_tensor *y = tern_tensor_new("exp", in.dtype, in.device, in.shape);
//         if (!y || tern_launch_unary(TERN_UNARY_EXP, 0, 0, y, in.at[0]))
//             return NULL;
//         return tern_record_op(&exp_class, y, in.at, 1, (tern_tensor *const[]){y}, 1, NULL);
//     }
#ifndef TERN_SRC_TENSOR_OP_H
#define TERN_SRC_TENSOR_OP_H

#include <tern/autograd.h>
#include "tensor/backend.h"
#include "tensor/tensor.h"

// ---- operands ----------------------------------------------------------------------------------

// NULL follows the rule of pending errors; a dead tensor is TERN_ERR_STATE and named, and a forked
// child may not use any.
tern_status tern_check_tensor(const char *op, const char *name, const tern_tensor *t);

#define TERN_MAX_OPERANDS 4

// The operands of one call, in; what they agree on, out.
typedef struct tern_operands {
    const char *op;
    int count;
    const char *name[TERN_MAX_OPERANDS];
    tern_tensor *at[TERN_MAX_OPERANDS]; // replaced by casts and copies where prepare makes them
    tern_dtype dtype;
    tern_device device;
    tern_shape shape; // the broadcast shape; the first operand's without TERN_PREPARE_BROADCAST
} tern_operands;

typedef enum tern_prepare_flags {
    TERN_PREPARE_PLAIN = 0,         // NULL, dead, device only; dtype is the first operand's
    TERN_PREPARE_BROADCAST = 1,     // shapes broadcast
    TERN_PREPARE_PROMOTE = 2,       // dtypes promote, operands are cast (differentiably)
    TERN_PREPARE_SAME_DTYPE = 4,    // dtypes must agree
    TERN_PREPARE_TO_FLOATING = 8,   // integers and bool become float32
    TERN_PREPARE_ONLY_FLOATING = 16 // integers and bool are TERN_ERR_DTYPE
} tern_prepare_flags;

// Checks NULL, life and devices (a 0-dim CPU tensor may mix and is copied over; else an error that
// names both operands), then what the flags ask for. The one place where operands meet.
tern_status tern_op_prepare(tern_operands *operands, unsigned flags);

// PyTorch's promotion of two dtypes of the same standing.
tern_dtype tern_promote_dtypes(tern_dtype a, tern_dtype b);
// What tensors with dimensions (`array`) and 0-dim ones (`scalar`) meet in; unspecified: none.
tern_dtype tern_promote_standing(tern_dtype array, tern_dtype scalar);

// Makes a dim of 0 ... rank - 1 out of one that may be negative. rank 0 counts as 1.
tern_status tern_check_dim(const char *op, int rank, int *dim);

// ---- shapes and views --------------------------------------------------------------------------

tern_status tern_broadcast_shapes(const char *op, const char *a_name, tern_shape a,
                                  const char *b_name, tern_shape b, tern_shape *out);

tern_strided tern_view_of(const tern_tensor *t);
// The view with sizes of `shape`, stride 0 where it repeats. The shapes are known to fit.
tern_strided tern_view_expand(tern_strided view, tern_shape shape);
// Merges neighbouring dims that all `count` views of the same sizes walk in one stride, and drops
// those of size 1.
void tern_views_coalesce(tern_strided *const *views, int count);
// Contiguous view of the given sizes over data.
tern_strided tern_view_contiguous(void *data, tern_dtype dtype, tern_shape shape);
// `t` itself, or a contiguous copy; not recorded.
tern_tensor *tern_make_contiguous(tern_tensor *t);

// Sums `t` down to `shape`, which broadcasts to t's shape; t itself when nothing changes. For
// backwards; not recorded.
tern_tensor *tern_sum_to(tern_tensor *t, tern_shape shape);

// Elementwise launches: expand operands to y's sizes, coalesce, call the kernel. Not recorded; y's
// version is not touched.
tern_status tern_launch_copy(tern_tensor *y, const tern_tensor *x);
tern_status tern_launch_unary(tern_unary_op op, tern_scalar p0, tern_scalar p1, tern_tensor *y,
                              const tern_tensor *x);
#define tern_launch_unary(op, p0, p1, y, x)                                                        \
    tern_launch_unary(op, TERN_SCALAR_(p0), TERN_SCALAR_(p1), y, x)
tern_status tern_launch_binary(tern_binary_op op, double alpha, tern_tensor *y,
                               const tern_tensor *a, const tern_tensor *b);

// ---- recording ---------------------------------------------------------------------------------

#define TERN_NODE_INPUTS  8 // of a user's operation; our own may have any number
#define TERN_NODE_SAVED   8
#define TERN_NODE_OUTPUTS 2

// Gradients of the inputs from those of the outputs: dy[o] is never NULL (zeros where nothing
// arrived); sets dx[i] for every input that tern_node_needs says. Runs without recording, in a
// frame of its own.
typedef tern_status tern_node_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx);

typedef struct tern_node_class {
    const char *name; // in messages
    tern_node_backward *backward;
} tern_node_class;

// Numbers that a backward needs.
typedef union tern_node_data {
    struct {
        double d[4];
        int64_t i[8];
    };
    unsigned char bytes[96];
} tern_node_data;

// Begins a node when recording is on and one of the inputs (NULLs allowed) requires a gradient.
// Sets *node to it, or to NULL when there is nothing to record. Fails with TERN_ERR_NOMEM or, when
// an input was changed through another view since it was made, TERN_ERR_STATE.
tern_status tern_node_begin(tern_node **node, const tern_node_class *node_class,
                            tern_tensor *const *inputs, int count);
// Keeps a tensor for the backward: an input, or any other value. NULL is kept as NULL.
void tern_node_save(tern_node *node, int slot, tern_tensor *t);
// Keeps an output: without its history, so that nothing holds itself. Fails with TERN_ERR_NOMEM.
tern_status tern_node_save_output(tern_node *node, int slot, tern_tensor *y);
tern_node_data *tern_node_data_of(tern_node *node);
// Makes `y` output `index` of the node. After the last one, tern_node_end drops the caller's hold.
void tern_node_output(tern_node *node, int index, tern_tensor *y);
void tern_node_end(tern_node *node); // NULL is fine; without outputs it undoes tern_node_begin

// In a backward:
bool tern_node_needs(const tern_node *node, int input);
tern_tensor *tern_node_saved(const tern_node *node, int slot);
tern_shape tern_node_input_shape(const tern_node *node, int input);
tern_dtype tern_node_input_dtype(const tern_node *node, int input);
// Where the gradient of an input may be written at once: the gradient of a leaf (then *accumulate
// says whether to add), or a new tensor. The backward writes it and sets dx[input]. NULL: failed.
tern_tensor *tern_node_grad_into(tern_node *node, int input, bool *accumulate);

// The one-output, no-frills form: begin, save, output, end. Returns y, or NULL on failure.
// Saved tensors equal to y are saved as outputs.
tern_tensor *tern_record_op(const tern_node_class *node_class, tern_tensor *y,
                            tern_tensor *const *inputs, int count, tern_tensor *const *saved,
                            int saved_count, const tern_node_data *data);

// Drops a reference to a node; releasing a long chain does not recurse.
void tern_node_drop(tern_node *node);

// ---- in place ----------------------------------------------------------------------------------

// May `t` be changed in place now? Refuses a leaf that requires a gradient while recording is on,
// expanded tensors (two elements in one place), and views of tensors with history.
tern_status tern_check_inplace(const char *op, const tern_tensor *t);
// After an in-place change of `t` that tern_record_op-like recording described: t takes over the
// history of `node` (NULL: none) and its version moves on.
void tern_inplace_done(tern_tensor *t, tern_node *node);

// ---- frames (scope.c) --------------------------------------------------------------------------

// A loader's frame: closes the frame with number `last` and the scopes above it, but leaves frames
// of other loaders and what stands above those; then opens a new one and returns its number, or 0.
tern_scope tern_frame_next(tern_scope last);
// Closes it in the same way without opening another.
void tern_frame_end(tern_scope last);
// Puts a tensor that the caller holds into the innermost frame; the hold goes over to the frame.
tern_status tern_frame_adopt(tern_tensor *t);

#endif
