// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gradients by reverse-mode differentiation, first order.
///
/// Operations on tensors that require gradients record how they were made; tern_backward traverses
/// that graph from a loss and adds to the gradients of the leaves.
///
///     tern_tensor *w = tern_randn(tern_dims(3), .requires_grad = true);
///     if (tern_backward(tern_sum(tern_mul(w, w), TERN_ALL_AXES, false)) ||
///         tern_print(tern_grad(w), stdout))               // 2 w
///         return tern_error_print(stderr);
///
/// A leaf owns its gradient; backward adds to it until tern_zero_grad marks it absent. A graph is
/// freed by its backward. A failed call returns a status, NULL or false with an error pending; NULL
/// and dead tensors are TERN_ERR_NULL and TERN_ERR_STATE. Threads: gradient mode is per thread;
/// backward may run on any thread.
#ifndef TERN_AUTOGRAD_H
#define TERN_AUTOGRAD_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// `tern_backward(loss, .retain_graph = true)`.
typedef struct tern_backward_options {
    tern_tensor *gradient; ///< of the loss's shape; NULL: 1, and the loss has one element
    bool retain_graph;     ///< keep the graph for another backward
    char reserved_;
    tern_tensor *loss; ///< made by recorded operations
} tern_backward_options;

#define TERN_BACKWARD_DEFAULTS_ .gradient = NULL, .retain_graph = false
#define TERN_BACKWARD_FIELDS_   1, 0, (loss), (tensor)
TERN_API tern_backward_options tern_backward_defaults(void);
/// Adds d loss / d leaf to the gradient of every leaf that the loss depends on. TERN_ERR_STATE when
/// the loss has no history, when its graph was freed by an earlier backward, when a value that the
/// backward needs was changed in place, or the loss through another view of its memory;
/// TERN_ERR_SHAPE, _DTYPE or _DEVICE when `gradient` is not as the loss; TERN_ERR_NOMEM. A failed
/// backward frees its graph and marks the gradients unusable until they are zeroed. Does not wait
/// for the device.
TERN_API TERN_NODISCARD tern_status tern_backward_with(const tern_backward_options *options);
#define tern_backward(...)                                                                         \
    tern_status_of_(TERN_WITH_(tern_backward, tern_backward, TERN_BACKWARD, __VA_ARGS__))

/// The gradient of a leaf, of its shape, dtype and device, owned by it; NULL without error when
/// there is none, with TERN_ERR_STATE when a failed backward left it unusable.
TERN_API tern_tensor *tern_grad(const tern_tensor *t);
/// Marks the gradient absent; its memory is kept for the next backward, which overwrites it. Clears
/// a value error of t's device that was raised (a label out of range, ...), so that work can go on.
TERN_API void tern_zero_grad(tern_tensor *t);

/// True when operations on `t` are recorded: for a leaf that collects gradients, and for what was
/// made of one.
TERN_API bool tern_requires_grad(const tern_tensor *t);
/// Makes a leaf collect gradients, or stop. Returns t; NULL with TERN_ERR_STATE for a tensor with
/// history, with TERN_ERR_DTYPE when its dtype is not floating.
TERN_API tern_tensor *tern_set_requires_grad(tern_tensor *t, bool requires_grad);
/// True for a tensor that no recorded operation made.
TERN_API bool tern_is_leaf(const tern_tensor *t);

/// Whether the calling thread records operations (true at the start). Returns what it was, for
/// setting it back:
///
///     bool before = tern_set_grad_enabled(false); ... tern_set_grad_enabled(before);
TERN_API bool tern_set_grad_enabled(bool enabled);
/// Whether the calling thread records operations.
TERN_API bool tern_grad_enabled(void);

/// What tern_no_grad keeps while it is open.
typedef struct tern_grad_guard_ {
    bool before; ///< what it goes back to
    bool open;   ///< false once the block has run
} tern_grad_guard_;

/// What leaving tern_no_grad runs.
static inline void tern_grad_guard_close_(tern_grad_guard_ *guard)
{
    (void)tern_set_grad_enabled(guard->before);
}

/// Runs the statement or block that follows without recording: `tern_no_grad { ... }`. However the
/// block is left, recording is as before; `break` and `continue` leave this block only.
#define tern_no_grad TERN_NO_GRAD_(TERN_LINE_NAME_(tern_grad_guard_))
/// A loop that runs once; its guard is closed however it is left.
#define TERN_NO_GRAD_(guard)                                                                       \
    for (tern_grad_guard_ guard                                                                    \
         __attribute__((cleanup(tern_grad_guard_close_))) = {tern_set_grad_enabled(false), true};  \
         guard.open; guard.open = false)

// ---- operations of your own ---------------------------------------------------------------------

/// What a backward function sees.
typedef struct tern_backward_context tern_backward_context;

/// Computes gradients: reads tern_context_grad and tern_context_saved, hands the results to
/// tern_context_set_grad. Runs without recording, in a scope of its own.
typedef tern_status tern_backward_fn(tern_backward_context *context);

/// An operation of the user's own. Must outlive every graph it is in (static storage).
typedef struct tern_function {
    const char *name;           ///< in messages
    tern_backward_fn *backward; ///< required
} tern_function;

/// Records that `output` (made under tern_no_grad from the inputs) came from `function`. `saved`
/// tensors are kept for the backward; their in-place change is caught. `data` (nbytes, at most 64)
/// is copied. count <= 8, saved_count <= 8. Does nothing when no input requires a gradient. Returns
/// output, which from now on carries the history; NULL with TERN_ERR_ARG for more than that, with
/// TERN_ERR_STATE for an output that has a history or that a recorded operation has used, with
/// TERN_ERR_DTYPE for one that is not floating, or with TERN_ERR_NOMEM.
TERN_API tern_tensor *tern_record(const tern_function *function, tern_tensor *output,
                                  tern_tensor *const *inputs, int count, tern_tensor *const *saved,
                                  int saved_count, const void *data, size_t nbytes)
    TERN_READS_(3, 4) TERN_READS_(5, 6) TERN_READS_(7, 8);

/// Gives what tern_record recorded for `output` a pointer, in addition to its data, which the
/// backward finds by tern_context_user. `free` (NULL: nothing) is called with it when the graph is
/// freed, and at once when nothing was recorded or `output` is no output of tern_record
/// (TERN_ERR_STATE). Returns output; NULL on failure.
TERN_API tern_tensor *tern_record_user(tern_tensor *output, void *user, tern_free_fn *free);

/// The pointer that tern_record_user gave; NULL when there is none.
TERN_API void *tern_context_user(tern_backward_context *context);
/// The gradient of the output, of its shape and dtype; borrowed for the call.
TERN_API tern_tensor *tern_context_grad(tern_backward_context *context);
/// Saved tensor `index`, borrowed for the call; NULL with TERN_ERR_ARG when there is none.
TERN_API tern_tensor *tern_context_saved(tern_backward_context *context, int index);
/// The bytes given as `data`, valid for the call.
TERN_API const void *tern_context_data(tern_backward_context *context);
/// True when input `index` wants a gradient: others need no work.
TERN_API bool tern_context_needs(tern_backward_context *context, int index);
/// Hands over the gradient of input `index`, of that input's shape and dtype; it stays the scope's.
/// TERN_ERR_ARG when there is no such input.
TERN_API TERN_NODISCARD tern_status tern_context_set_grad(tern_backward_context *context, int index,
                                                          tern_tensor *gradient);

TERN_END_DECLS

#endif
