// SPDX-License-Identifier: Apache-2.0
// Forwards on several devices at once, each on a thread of its own that works as the caller does.
#include <stdio.h>
#include <string.h>
#include <tern/cuda.h>
#include "autograd/thread_settings.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/saved_error.h"
#include "base/worker.h"
#include "device/draws.h"
#include "parallel/parallel.h"
#include "tensor/header.h"
#include "tensor/scope.h"

// What a thread has set that its work depends on.
typedef struct settings {
    tern_thread_settings thread;
    unsigned shard;
    uint32_t path;
    char replica[24]; // where it is; "": on the only device
    tern_forward_frame *frame;
} settings;

typedef struct shard {
    tern_apply_job *job;
    settings with;
    tern_cuda_stream *stream; // of the device; NULL: its first
    tern_worker *worker;      // NULL: the calling thread
    tern_status status;
    tern_saved_error error;
} shard;

static settings settings_now(void)
{
    settings now = {.thread = tern_thread_settings_now(),
                    .path = tern_path_current(),
                    .frame = tern_forward_innermost()};
    memcpy(now.replica, tern_replica_of_thread, sizeof now.replica);
    return now;
}

// Returns the ones before.
static settings work_with(const settings *with)
{
    settings before = settings_now();
    tern_thread_settings_set(&with->thread);
    before.shard = tern_draw_shard(with->shard);
    (void)tern_path_set(with->path);
    (void)tern_forward_go_on_from(with->frame);
    memcpy(tern_replica_of_thread, with->replica, sizeof with->replica);
    return before;
}

static tern_cuda_stream *set_stream(tern_device device, tern_cuda_stream *stream)
{
    return device.type == TERN_CUDA
               ? tern_backend_of(TERN_CUDA)->cuda->stream_set(device.index, stream)
               : NULL;
}

// The calling thread's; NULL: the device's first.
static tern_cuda_stream *stream_of(tern_device device)
{
    tern_cuda_stream *stream = set_stream(device, NULL);
    (void)set_stream(device, stream);
    return stream;
}

// ---- a piece ------------------------------------------------------------------------------------

// Leaves a reference to each output to the caller, and a new error in `error`.
static void run_in_scope(shard *p)
{
    const bool failed_before = tern_error_pending(), deferred = tern_error_defer(true);
    const tern_scope scope = tern_scope_open();
    p->status =
        scope ? tern_module_forward(p->job->module, &p->job->in, &p->job->out) : tern_error_code();
    for (int i = 0; !p->status && i < p->job->out.count; i++)
        (void)tern_tensor_retain(p->job->out.at[i]);
    if (scope)
        tern_scope_close(scope);
    if (tern_error_pending() && !failed_before)
        tern_error_save(&p->error);
    (void)tern_error_defer(deferred);
}

static void run_shard(void *user)
{
    shard *p = user;
    const tern_device device = p->job->device;
    const settings before = work_with(&p->with);
    tern_cuda_stream *stream = set_stream(device, p->stream);
    run_in_scope(p);
    (void)set_stream(device, stream);
    (void)work_with(&before);
}

// ---- all of them --------------------------------------------------------------------------------

// Pieces of a piece have numbers that no other piece has.
static unsigned shard_number(int index)
{
    const unsigned outer = tern_draw_shard(0);
    (void)tern_draw_shard(outer);
    return tern_replica_of_thread[0] ? (outer + 1) * TERN_MAX_DEVICES + (unsigned)index
                                     : (unsigned)index;
}

// A tensor made on the default device is made where the piece is, if that was the first piece's.
static void set_up(shard *p, tern_apply_job *job, tern_device first, int index)
{
    const tern_device device = job->device;
    p->job = job;
    p->with = settings_now();
    p->with.shard = shard_number(index);
    p->stream = stream_of(device);
    if (device.type == TERN_CUDA)
        p->with.thread.cuda = device.index;
    if (index > 0 && tern_device_equal(p->with.thread.default_device, first))
        p->with.thread.default_device = device;
}

static void run_all(shard *shards, int count)
{
    const int cancel_state = tern_cancel_disable();
    for (int i = 1; i < count; i++)
        shards[i].worker = tern_worker_begin(run_shard, &shards[i]);
    run_shard(&shards[0]);
    for (int i = 1; i < count; i++) {
        if (shards[i].worker)
            tern_worker_wait(shards[i].worker);
        else
            run_shard(&shards[i]);
    }
    tern_cancel_restore(cancel_state);
}

// The outputs become the caller's, or nobody's.
static tern_status hand_over(shard *p, tern_status status)
{
    for (int i = 0; !p->status && i < p->job->out.count; i++) {
        if (!status)
            status = tern_scope_adopt(p->job->out.at[i]);
        if (status)
            tern_tensor_release(p->job->out.at[i]);
    }
    return status;
}

// Also of a piece that went well in the end. What comes after the first goes to the log.
static tern_status first_failure(const shard *shards, int count)
{
    tern_status first = TERN_OK;
    for (int i = 0; i < count; i++) {
        first = first ? first : shards[i].status;
        tern_error_restore(&shards[i].error);
    }
    return first;
}

tern_status tern_apply_run(tern_apply_job *jobs, int count)
{
    const size_t size = (size_t)count * sizeof(shard);
    shard *shards = tern_cache_alloc(size);
    if (!shards)
        return TERN_ERR_NOMEM;
    memset(shards, 0, size);
    for (int i = 0; i < count; i++) {
        set_up(&shards[i], &jobs[i], jobs[0].device, i);
        if (count > 1)
            snprintf(shards[i].with.replica, sizeof shards[i].with.replica, "%s",
                     tern_device_string(jobs[i].device));
    }
    run_all(shards, count);
    tern_status status = first_failure(shards, count);
    for (int i = 0; i < count; i++)
        status = hand_over(&shards[i], status);
    tern_cache_free(shards, size);
    return status;
}
