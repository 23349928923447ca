// SPDX-License-Identifier: Apache-2.0
#include "data/loader/workers.h"

#include <errno.h>
#include <time.h>
#include <tern/cuda.h>
#include "autograd/thread_settings.h"
#include "base/callback.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/saved_error.h"
#include "base/thread_pool.h"
#include "base/worker.h"
#include "data/dataset.h"
#include "device/backend.h"

typedef enum slot_state {
    SLOT_FREE,
    SLOT_WAITING,
    SLOT_RUNNING,
    SLOT_DONE,
    SLOT_FAILED // and its error was raised: it is made again when it is asked for again
} slot_state;

// A batch on its way.
typedef struct slot {
    slot_state state;
    int worker; // who makes it
    int64_t size;
    int64_t *index; // (batch_size)
    tern_batch batch;
    tern_status status;
    tern_saved_error error;
} slot;

typedef struct worker {
    struct tern_loader_workers *all;
    int number;
    tern_worker *thread;
    tern_status status; // of init; then this worker makes no batch
    tern_saved_error error;
    bool running; // the thread is in its function
} worker;

struct tern_loader_workers {
    tern_workers_plan plan;
    tern_thread_settings settings; // of the thread that asks
    pthread_mutex_t lock;          // guards what follows
    pthread_cond_t work;           // a slot waits, or `stop`
    pthread_cond_t done;           // a slot is done, or a thread leaves its function
    slot *slots;
    int64_t *index; // (capacity, batch_size)
    int64_t capacity;
    int64_t first, end; // numbers of batches: the oldest not yet taken, and behind the newest
    bool stop, paused;
    bool stalled; // a stream failed: what comes behind waits until that is asked for again
    bool ended;   // a stream; its one worker's alone
    int begun;    // threads whose init is over
    int running;  // threads in their functions
    int refs;     // those, the loader, and the sets that they are `outer` of
    int count;
    tern_loader_workers *outer; // that the thread that asks is one of, or NULL
    worker worker[];
};

static _Thread_local tern_loader_workers *of_thread; // NULL: the thread is no worker

bool tern_works_for_loader(const void *loader)
{
    const tern_loader_workers *w = of_thread;
    while (w && w->plan.owner != loader)
        w = w->outer;
    return w;
}

static slot *slot_at(const tern_loader_workers *w, int64_t number)
{
    return &w->slots[number % w->capacity];
}

// ---- memory -------------------------------------------------------------------------------------

static size_t nbytes_of(int workers)
{
    return sizeof(tern_loader_workers) + (size_t)workers * sizeof(worker);
}

static void let_go(tern_loader_workers *w);

static void free_all(tern_loader_workers *w)
{
    if (w->outer) {
        pthread_mutex_lock(&w->outer->lock);
        let_go(w->outer);
    }
    for (int64_t i = 0; w->slots && i < w->capacity; i++)
        tern_batch_release(&w->slots[i].batch);
    tern_mem_free(w->slots, (size_t)w->capacity * sizeof *w->slots);
    tern_mem_free(w->index, (size_t)(w->capacity * w->plan.batch_size) * sizeof *w->index);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->lock);
    tern_dataset_release_internal(w->plan.recipe.dataset);
    tern_mem_free(w, nbytes_of(w->plan.workers));
}

// With the lock held, which is given back.
static void let_go(tern_loader_workers *w)
{
    const bool last = --w->refs == 0;
    pthread_mutex_unlock(&w->lock);
    if (last)
        free_all(w);
}

static tern_loader_workers *retain(tern_loader_workers *w)
{
    if (!w)
        return NULL;
    pthread_mutex_lock(&w->lock);
    w->refs++;
    pthread_mutex_unlock(&w->lock);
    return w;
}

static void init_locks(tern_loader_workers *w)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static tern_loader_workers *make(const tern_workers_plan *plan)
{
    tern_loader_workers *w = tern_mem_alloc(nbytes_of(plan->workers));
    if (!w)
        return NULL;
    w->plan = *plan;
    w->settings = tern_thread_settings_now();
    w->refs = 1;
    w->outer = retain(of_thread);
    w->capacity = plan->ahead + 1; // the one that was taken last keeps its index
    init_locks(w);
    (void)tern_dataset_retain_internal(plan->recipe.dataset);
    w->slots = tern_mem_alloc((size_t)w->capacity * sizeof *w->slots);
    w->index = tern_mem_alloc((size_t)(w->capacity * plan->batch_size) * sizeof *w->index);
    if (!w->slots || !w->index) {
        free_all(w);
        return NULL;
    }
    for (int64_t i = 0; i < w->capacity; i++)
        w->slots[i].index = w->index + i * plan->batch_size;
    return w;
}

// ---- the threads --------------------------------------------------------------------------------

static slot *waiting_slot(const tern_loader_workers *w)
{
    for (int64_t i = w->first; i < w->end; i++)
        if (slot_at(w, i)->state == SLOT_WAITING)
            return slot_at(w, i);
    return NULL;
}

static bool streams(const tern_loader_workers *w)
{
    return w->plan.recipe.dataset->klass->next;
}

// The calling thread has no error before and after.
static void run_slot(const worker *self, slot *s)
{
    tern_loader_workers *w = self->all;
    tern_sample_context context = w->plan.context;
    context.worker = self->number;
    context.workers = w->plan.workers;
    s->error.code = TERN_OK;
    s->batch = (tern_batch){0};
    s->status = TERN_OK;
    if (!streams(w) || !w->ended)
        s->status = tern_batch_make(&w->plan.recipe, &context, s->index, s->size, &s->batch);
    if (streams(w)) // its one worker's
        w->ended = w->ended || (!s->status && s->batch.size < s->size);
    if (tern_error_pending())
        tern_error_save(&s->error);
}

static void make_batches(worker *self)
{
    tern_loader_workers *w = self->all;
    pthread_mutex_lock(&w->lock);
    w->begun++;
    pthread_cond_signal(&w->done);
    while (!w->stop) {
        slot *s = self->status || w->paused || w->stalled ? NULL : waiting_slot(w);
        if (!s) {
            pthread_cond_wait(&w->work, &w->lock);
            continue;
        }
        s->state = SLOT_RUNNING;
        s->worker = self->number;
        pthread_mutex_unlock(&w->lock);
        run_slot(self, s);
        pthread_mutex_lock(&w->lock);
        s->state = SLOT_DONE;
        w->stalled = s->status && streams(w);
        pthread_cond_signal(&w->done);
    }
    pthread_mutex_unlock(&w->lock);
}

static void init_worker(worker *self)
{
    const tern_workers_plan *plan = &self->all->plan;
    if (!plan->init)
        return;
    tern_callback_begin();
    self->status = plan->init(self->number, plan->workers, plan->user);
    tern_callback_end();
    if (self->status && !tern_error_pending())
        tern_error_raise(self->status, "loader_next: .worker_init failed and did not say why");
    if (!self->status)
        self->status = tern_error_code();
    if (tern_error_pending())
        tern_error_save(&self->error);
}

// Copies to a CUDA device are queued on a stream that nothing else uses.
static tern_cuda_stream *begin_stream(tern_device device, tern_cuda_stream **before)
{
    tern_cuda_stream *own = device.type == TERN_CUDA ? tern_cuda_stream_new(device.index) : NULL;
    *before = own ? tern_cuda_stream_set(device.index, own) : NULL;
    tern_error_clear(); // without a stream of their own they are queued on the device's
    return own;
}

static void end_stream(tern_device device, tern_cuda_stream *own, tern_cuda_stream *before)
{
    if (!own)
        return;
    (void)tern_cuda_stream_set(device.index, before);
    tern_cuda_stream_free(own);
    tern_error_clear();
}

static void run_worker(void *user)
{
    worker *self = user;
    tern_loader_workers *w = self->all;
    const tern_device device = w->plan.recipe.device;
    const tern_thread_settings before = tern_thread_settings_now();
    tern_thread_settings_set(&w->settings);
    const bool stayed_out = tern_pool_stay_out(true), deferred = tern_error_defer(true);
    tern_cuda_stream *stream_before, *stream = begin_stream(device, &stream_before);
    of_thread = w;
    init_worker(self);
    make_batches(self);
    of_thread = NULL;
    end_stream(device, stream, stream_before);
    (void)tern_error_defer(deferred);
    (void)tern_pool_stay_out(stayed_out);
    tern_thread_settings_set(&before);
    pthread_mutex_lock(&w->lock);
    tern_dataset_count_workers(w->plan.recipe.dataset, -1);
    w->running--;
    self->running = false;
    pthread_cond_signal(&w->done);
    let_go(w);
}

static void start(tern_loader_workers *w)
{
    const int cancel_state = tern_cancel_disable();
    pthread_mutex_lock(&w->lock);
    for (; w->count < w->plan.workers; w->count++) {
        worker *next = &w->worker[w->count];
        *next = (worker){.all = w, .number = w->count, .running = true};
        next->thread = tern_worker_begin(run_worker, next);
        if (!next->thread)
            break;
        w->running++;
        w->refs++;
    }
    pthread_mutex_unlock(&w->lock);
    tern_cancel_restore(cancel_state);
}

tern_loader_workers *tern_loader_workers_begin(const tern_workers_plan *plan)
{
    tern_loader_workers *w = make(plan);
    if (!w)
        return NULL;
    start(w);
    if (w->count < plan->workers)
        tern_log_send(TERN_LOG_WARN, "only %d of %d workers of a loader could be started", w->count,
                      plan->workers);
    tern_dataset_count_workers(plan->recipe.dataset, w->count);
    if (w->count > 0)
        return w;
    free_all(w);
    return NULL;
}

// ---- the thread that asks -----------------------------------------------------------------------

int64_t *tern_loader_workers_next_index(tern_loader_workers *w)
{
    return w->end - w->first < w->plan.ahead ? slot_at(w, w->end)->index : NULL;
}

void tern_loader_workers_submit(tern_loader_workers *w, int64_t size)
{
    pthread_mutex_lock(&w->lock);
    slot *s = slot_at(w, w->end++);
    s->size = size;
    s->state = SLOT_WAITING;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
}

static struct timespec deadline_of(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t nanoseconds = (int64_t)(seconds * 1e9) + t.tv_nsec;
    t.tv_sec += (time_t)(nanoseconds / 1000000000);
    t.tv_nsec = (long)(nanoseconds % 1000000000);
    return t;
}

// With the lock held. False: the time is over.
static bool wait_for_done(tern_loader_workers *w, const struct timespec *deadline)
{
    if (w->plan.timeout > 0)
        return pthread_cond_timedwait(&w->done, &w->lock, deadline) != ETIMEDOUT;
    return pthread_cond_wait(&w->done, &w->lock) == 0;
}

// A worker whose init failed makes nothing: its error is everybody's.
static const worker *failed_worker(const tern_loader_workers *w)
{
    for (int i = 0; i < w->count; i++)
        if (w->worker[i].status)
            return &w->worker[i];
    return NULL;
}

static tern_status raise_timeout(const tern_loader_workers *w, const slot *s)
{
    const char *name = tern_dataset_name(w->plan.recipe.dataset);
    return s->state == SLOT_RUNNING
               ? tern_error_raise(
                     TERN_ERR_STATE,
                     "loader_next: worker %d has made no batch of %s from sample %lld on "
                     "for %g s (.timeout)",
                     s->worker, name, (long long)s->index[0], w->plan.timeout)
               : tern_error_raise(
                     TERN_ERR_STATE,
                     "loader_next: no worker began with a batch of %s from sample %lld "
                     "on for %g s (.timeout)",
                     name, (long long)s->index[0], w->plan.timeout);
}

// With the lock held: the batch is there, or there is an error. No batch is handed out before every
// init is over, so that one that fails is found in each run.
static tern_status wait_for_slot(tern_loader_workers *w, slot *s)
{
    const struct timespec deadline = deadline_of(w->plan.timeout);
    bool in_time = true;
    while (in_time && (s->state != SLOT_DONE || w->begun < w->count))
        in_time = wait_for_done(w, &deadline);
    const worker *failed = w->begun == w->count ? failed_worker(w) : NULL;
    if (failed) {
        tern_error_restore(&failed->error);
        return failed->status;
    }
    return in_time || s->state == SLOT_DONE ? TERN_OK : raise_timeout(w, s);
}

tern_status tern_loader_workers_take(tern_loader_workers *w, tern_batch *out)
{
    const int cancel_state = tern_cancel_disable();
    pthread_mutex_lock(&w->lock);
    slot *s = slot_at(w, w->first);
    if (s->state == SLOT_FAILED) {
        s->state = SLOT_WAITING;
        w->stalled = false;
        pthread_cond_signal(&w->work);
    }
    tern_status status = wait_for_slot(w, s);
    if (!status && s->status) {
        status = s->status;
        tern_error_restore(&s->error);
        s->state = SLOT_FAILED;
    } else if (!status) {
        *out = s->batch;
        s->batch = (tern_batch){0};
        s->state = SLOT_FREE;
        w->first++;
    }
    pthread_mutex_unlock(&w->lock);
    tern_cancel_restore(cancel_state);
    return status;
}

static bool any_runs(const tern_loader_workers *w)
{
    for (int64_t i = 0; i < w->capacity; i++)
        if (w->slots[i].state == SLOT_RUNNING)
            return true;
    return false;
}

void tern_loader_workers_pause(tern_loader_workers *w)
{
    if (!w)
        return;
    const int cancel_state = tern_cancel_disable();
    pthread_mutex_lock(&w->lock);
    w->paused = true;
    while (any_runs(w))
        pthread_cond_wait(&w->done, &w->lock);
    pthread_mutex_unlock(&w->lock);
    tern_cancel_restore(cancel_state);
}

void tern_loader_workers_resume(tern_loader_workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->paused = false;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
}

// A thread that does not come back keeps what it works on.
static void end_threads(tern_loader_workers *w)
{
    const struct timespec deadline = deadline_of(w->plan.timeout);
    w->stop = true;
    pthread_cond_broadcast(&w->work);
    bool waiting = true;
    while (w->running > 0 && waiting)
        waiting = wait_for_done(w, &deadline);
}

void tern_loader_workers_end(tern_loader_workers *w)
{
    if (!w || tern_forked()) // its threads stayed with the parent
        return;
    const int cancel_state = tern_cancel_disable();
    pthread_mutex_lock(&w->lock);
    end_threads(w);
    for (int i = 0; i < w->count; i++) {
        if (w->worker[i].running)
            tern_worker_leave(w->worker[i].thread);
        else
            tern_worker_wait(w->worker[i].thread); // it is past all that takes the lock
    }
    let_go(w);
    tern_cancel_restore(cancel_state);
}
