// SPDX-License-Identifier: Apache-2.0
// What the host keeps of a capture: the memory that the graph uses, and the host's side of the work
// (states of gradients, draws, step counts), which each replay checks and brings up to date. A
// capture itself runs nothing: when it ends, the host's side is as it was when it began.
#ifndef TERN_SRC_TENSOR_CAPTURE_H
#define TERN_SRC_TENSOR_CAPTURE_H

#include <stdatomic.h>
#include "tensor/tensor.h"

// Something outside that a replay needs. `check` comes before every replay and changes nothing,
// `run` when all checks have passed, `drop` once, when the graph is freed or the capture fails.
typedef struct tern_replay_hook {
    tern_status (*check)(void *user);
    tern_status (*run)(void *user);
    void (*drop)(void *user);
    void *user;
} tern_replay_hook;

typedef struct tern_capture tern_capture;

// ---- of the calling thread ----------------------------------------------------------------------

// How many threads capture. Where none does, the functions below cost one look at it.
extern _Atomic int tern_captures;

// The capture that the calling thread is in, or NULL.
tern_capture *tern_capture_of_thread(void);

static inline tern_capture *tern_capture_now(void)
{
    return atomic_load_explicit(&tern_captures, memory_order_relaxed) ? tern_capture_of_thread()
                                                                      : NULL;
}

// True while the calling thread captures on the device.
bool tern_capturing(tern_device device);

// Work on a device other than the captured one, or on a stream that takes no part in the capture,
// would be done once, and never by a replay: TERN_ERR_STATE. The first is for all work; the host's
// is done at the capture, once, so the CPU may work. The second is for what training consists of,
// and refuses the CPU as well.
tern_status tern_capture_check(const char *op, tern_device device);
tern_status tern_capture_check_training(const char *op, tern_device device);
// TERN_ERR_STATE while the calling thread captures: "<op>: not while cuda:0 is captured: <why>".
tern_status tern_capture_refuse(const char *op, const char *why);

// ---- what is captured ---------------------------------------------------------------------------

// The storage is used by captured work: the graph holds it. `label` is the tensor's.
void tern_capture_storage(tern_storage *s, const char *label);
// The storage was made by captured work: its memory belongs to the graph already.
void tern_capture_made(tern_storage *s);

typedef enum tern_leaf_event {
    TERN_LEAF_GRAD_ASKED,     // the state of its gradient decides what is captured
    TERN_LEAF_GRAD_ZEROED,    // its gradient becomes absent, whatever it was
    TERN_LEAF_REQUIRES_ASKED, // so does whether it requires one
    TERN_LEAF_REQUIRES_SET
} tern_leaf_event;

// Before the event happens to the leaf. Raises TERN_ERR_NOMEM.
tern_status tern_capture_leaf_event(const tern_tensor *leaf, tern_leaf_event event);

static inline tern_status tern_capture_leaf(const tern_tensor *leaf, tern_leaf_event event)
{
    return tern_capture_now() ? tern_capture_leaf_event(leaf, event) : TERN_OK;
}

// The draws of captured work on the device since the base last moved; NULL outside of a capture.
uint64_t *tern_capture_draws(tern_device device);

// Adds a hook to the capture that the calling thread is in. On failure the hook stays the caller's.
tern_status tern_capture_hook(tern_replay_hook hook);

// ---- of a graph ---------------------------------------------------------------------------------

// The calling thread begins to capture. NULL raises.
tern_capture *tern_capture_begin(tern_device device);
// It captures no longer. TERN_ERR_NOMEM when not everything could be noted: then the work must not
// be replayed.
tern_status tern_capture_end(tern_capture *capture);
// NULL is fine.
void tern_capture_free(tern_capture *capture);

// May the work be replayed? TERN_ERR_STATE when the host's side is not what it was at the capture,
// and a step would do something else now.
tern_status tern_capture_check_replay(const tern_capture *capture);
// What comes before the launch on the current stream, and after it.
tern_status tern_capture_before_replay(const tern_capture *capture);
void tern_capture_after_replay(const tern_capture *capture);

#endif
