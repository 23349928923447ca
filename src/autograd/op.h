// SPDX-License-Identifier: Apache-2.0
// The end of every operation's call: it is recorded for the backward, then the thread's observers
// see it.
#ifndef TERN_SRC_AUTOGRAD_OP_H
#define TERN_SRC_AUTOGRAD_OP_H

#include "tensor/node.h"

// A call of an operation, on the stack of its front.
typedef struct tern_op_call {
    const tern_op *op;
    int count;                       // of inputs
    tern_tensor *in[TERN_OP_INPUTS]; // replaced by casts and copies where tern_op_begin makes them
    tern_tensor *const *many;        // where there may be more inputs: all of them, instead of `in`
    tern_dtype dtype;                // what the inputs agree on, from tern_op_begin
    tern_device device;
    tern_shape shape; // the broadcast shape; the first input's without TERN_OP_BROADCAST
    tern_op_attrs attrs;
} tern_op_call;

// Returns y, recorded when recording is on, the operation is differentiable, y's dtype is floating
// and an input requires a gradient. `saved` (NULLs allowed) is kept for the backward; what equals y
// is kept without its history, so that nothing holds itself. NULL for a NULL y, and on failure.
tern_tensor *tern_op_end(const tern_op_call *call, tern_tensor *y, tern_tensor *const *saved,
                         int saved_count);
// Likewise for several results, of which the first is y[0], and only that is recorded when
// `recorded` is 1.
tern_status tern_op_end_many(const tern_op_call *call, tern_tensor *const *y, int outputs,
                             int recorded, tern_tensor *const *saved, int saved_count);

// The end of an operation that also changes other tensors in place: its node was begun before the
// kernel ran, so that a call that fails changes nothing. Takes over the node; NULL for none.
tern_tensor *tern_op_end_begun(tern_node *node, const tern_op_call *call, tern_tensor *y,
                               tern_tensor *const *saved, int saved_count);

// ---- observers ----------------------------------------------------------------------------------

// Sees each call of the thread that ended well, with its results; operations that it calls itself
// are seen by none. It may set other observers, but stays valid until it returns.
typedef struct tern_op_observer {
    void (*ended)(const tern_op_call *call, tern_tensor *const *y, int outputs, void *user);
    void *user;
    const struct tern_op_observer *next; // told after this one
} tern_op_observer;

// The calling thread's first observer, NULL for none; returns the one before, to be set back.
const tern_op_observer *tern_op_observe(const tern_op_observer *first);

// Tells the calling thread's observers of a call that ended well.
void tern_op_notify(const tern_op_call *call, tern_tensor *const *y, int outputs);

static inline tern_tensor *const *tern_op_inputs(const tern_op_call *call)
{
    return call->many ? call->many : call->in;
}

#endif
