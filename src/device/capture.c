// SPDX-License-Identifier: Apache-2.0
#include "device/capture.h"

#include "base/error.h"
#include "base/mem.h"
#include "device/backend.h"

_Atomic int tern_captures;
static _Atomic uint64_t last_id;
static _Thread_local tern_capture *now;

tern_capture *tern_capture_of_thread(void)
{
    return now;
}

static tern_status refuse_other(const char *op, tern_device device)
{
    return tern_error_raise(TERN_ERR_STATE,
                            "%s: %s cannot work while this thread captures %s: replays would not "
                            "repeat it; do it before the capture begins, or after it ended",
                            op, tern_device_string(device), tern_device_string(now->device));
}

static tern_status check_stream(const char *op, tern_device device)
{
    TERN_CHECK(tern_backend_of(TERN_CUDA)->cuda->capturing(device.index), TERN_ERR_STATE,
               "%s: the current stream of %s is not part of the capture: let it wait for an event "
               "of the one that is captured, or make that one current again",
               op, tern_device_string(device));
    return TERN_OK;
}

tern_status tern_capture_check_now(const char *op, tern_device device)
{
    return tern_capturing(device) ? check_stream(op, device) : refuse_other(op, device);
}

tern_status tern_capture_refuse(const char *op, const char *why)
{
    const tern_capture *capture = tern_capture_now();
    TERN_CHECK(!capture, TERN_ERR_STATE, "%s: not while %s is captured: %s", op,
               tern_device_string(capture->device), why);
    return TERN_OK;
}

uint64_t *tern_capture_draws(tern_device device)
{
    return tern_capturing(device) ? &now->draws : NULL;
}

tern_status tern_capture_hook(tern_replay_hook hook)
{
    TERN_TRY(tern_mem_grow((void **)&now->hooks, &now->hook_capacity, now->hook_count + 1,
                           sizeof *now->hooks));
    now->hooks[now->hook_count++] = hook;
    return TERN_OK;
}

void tern_capture_begin(tern_capture *capture, tern_device device)
{
    capture->device = device;
    capture->id = atomic_fetch_add(&last_id, 1) + 1;
    now = capture;
    atomic_fetch_add(&tern_captures, 1);
}

void tern_capture_end(void)
{
    now = NULL;
    atomic_fetch_sub(&tern_captures, 1);
}

void tern_capture_free(tern_capture *capture)
{
    for (int64_t i = 0; i < capture->hook_count; i++)
        capture->hooks[i].drop(capture->hooks[i].user);
    tern_mem_free(capture->hooks, (size_t)capture->hook_capacity * sizeof *capture->hooks);
}
