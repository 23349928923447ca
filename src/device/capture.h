// SPDX-License-Identifier: Apache-2.0
// A capture of the calling thread's work on a device into a graph, as far as devices know: whether
// one is going on, what it refuses, and what a replay must check and do on the host. What it knows
// of tensors stands in tensor/capture.h.
#ifndef TERN_SRC_DEVICE_CAPTURE_H
#define TERN_SRC_DEVICE_CAPTURE_H

#include <stdatomic.h>
#include <tern/device.h>

// Something outside that a replay needs. `check` comes before every replay and changes nothing,
// `run` when all checks have passed, `end` after the launch: where the replay has failed, it takes
// back what `run` changed, of which some may be missing. `drop` comes once, when the graph is freed
// or the capture fails.
typedef struct tern_replay_hook {
    tern_status (*check)(void *user);
    tern_status (*run)(void *user);
    void (*end)(void *user, bool replayed);
    void (*drop)(void *user);
    void *user;
} tern_replay_hook;

typedef struct tern_capture {
    tern_device device;
    uint64_t id;    // of no other capture
    bool failed;    // something could not be noted, or is not in it
    uint64_t draws; // of captured work since the base last moved
    tern_replay_hook *hooks;
    int64_t hook_count, hook_capacity;
} tern_capture;

// How many threads capture. Where none does, the functions below cost one load of it.
extern _Atomic int tern_captures;

// The capture that the calling thread is in, or NULL.
tern_capture *tern_capture_of_thread(void);

static inline tern_capture *tern_capture_now(void)
{
    return atomic_load_explicit(&tern_captures, memory_order_relaxed) ? tern_capture_of_thread()
                                                                      : NULL;
}

// True while the calling thread captures on the device.
static inline bool tern_capturing(tern_device device)
{
    const tern_capture *capture = tern_capture_now();
    return capture && tern_device_equal(capture->device, device);
}

// Work on a device other than the captured one, or on a stream that takes no part in the capture,
// would be done once, and never by a replay: TERN_ERR_STATE. The first is for all work; the host's
// is done at the capture, once, so the CPU may work. The second is for what training consists of,
// and refuses the CPU as well.
tern_status tern_capture_check_now(const char *op, tern_device device); // while a thread captures
static inline tern_status tern_capture_check_training(const char *op, tern_device device)
{
    return tern_capture_now() ? tern_capture_check_now(op, device) : TERN_OK;
}
static inline tern_status tern_capture_check(const char *op, tern_device device)
{
    return device.type == TERN_CPU ? TERN_OK : tern_capture_check_training(op, device);
}
// TERN_ERR_STATE while the calling thread captures: "<op>: not while cuda:0 is captured: <why>".
tern_status tern_capture_refuse(const char *op, const char *why);

// The draws of captured work on the device since the base last moved; NULL outside of a capture.
uint64_t *tern_capture_draws(tern_device device);

// Adds a hook to the capture that the calling thread is in. On failure the hook stays the caller's.
tern_status tern_capture_hook(tern_replay_hook hook);

// The calling thread begins to capture into `capture`, which is zeroed.
void tern_capture_begin(tern_capture *capture, tern_device device);
// The calling thread captures no longer.
void tern_capture_end(void);
// Drops the hooks.
void tern_capture_free(tern_capture *capture);

#endif
