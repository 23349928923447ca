// SPDX-License-Identifier: Apache-2.0
// What the host keeps of a capture: the memory that the graph uses, and the host's side of the work
// (states of gradients, draws, step counts), which each replay checks and brings up to date. A
// capture itself runs nothing: when it ends, the host's side is as it was when it began.
#ifndef TERN_SRC_TENSOR_CAPTURE_H
#define TERN_SRC_TENSOR_CAPTURE_H

#include "device/capture.h"
#include "tensor/tensor.h"

typedef enum tern_leaf_event {
    TERN_LEAF_GRAD_QUERIED,     // the state of its gradient decides what is captured
    TERN_LEAF_GRAD_ZEROED,      // its gradient becomes absent, whatever it was
    TERN_LEAF_REQUIRES_QUERIED, // so does whether it requires one
    TERN_LEAF_REQUIRES_SET
} tern_leaf_event;

// Before the event happens to the leaf. Raises TERN_ERR_NOMEM.
tern_status tern_capture_leaf_event(const tern_tensor *leaf, tern_leaf_event event);

static inline tern_status tern_capture_leaf(const tern_tensor *leaf, tern_leaf_event event)
{
    return tern_capture_now() ? tern_capture_leaf_event(leaf, event) : TERN_OK;
}

// ---- of a graph ---------------------------------------------------------------------------------

typedef struct tern_tensor_capture tern_tensor_capture;

// The calling thread begins to capture. NULL raises.
tern_tensor_capture *tern_tensor_capture_begin(tern_device device);
// It captures no longer. TERN_ERR_NOMEM when not everything could be recorded: then the work
// must not be replayed.
tern_status tern_tensor_capture_end(tern_tensor_capture *capture);
// NULL is fine.
void tern_tensor_capture_free(tern_tensor_capture *capture);

// May the work be replayed? TERN_ERR_STATE when the host's side is not what it was at the capture,
// and a step would do something else now.
tern_status tern_tensor_capture_check_replay(const tern_tensor_capture *capture);
// What comes before the launch on the current stream, and after it; a failure of either leaves the
// host's side as it was.
tern_status tern_tensor_capture_before_replay(const tern_tensor_capture *capture);
void tern_tensor_capture_after_replay(const tern_tensor_capture *capture, bool replayed);

#endif
