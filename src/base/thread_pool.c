// SPDX-License-Identifier: Apache-2.0
// The thread pool. One region runs at a time; its tasks are handed out in chunks from one atomic
// range, which also is the signal to start: workers wait until it is not empty, and the region is
// over when as many chunks are done as there were. Nobody waits for a worker that took no chunk, so
// a sleeping one costs nothing. Half of the threads take from the end, so that in one region after
// the other a core meets about the same part of the tensors, which its caches have.
//
// What several threads write costs a cache line that goes from core to core, about 100 ns: a thread
// takes several chunks at once while many are left, and says once how many it has done.
#include "base/thread_pool.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/fp_mode.h"
#include "base/integer.h"
#include "base/thread_pool_size.h"
#include "base/thread.h"
#include "base/work_range.h"

// How long an idle thread looks before it sleeps: longer than most gaps between two regions of a
// training step, as to wake it costs the caller 10 us and more, and short enough not to be seen in
// `top`.
#define SPIN_NANOSECONDS 100000

// More chunks than threads even out tasks of different cost.
#define CHUNKS_PER_THREAD 8

#define CACHE_LINE 64

typedef struct region {
    tern_pool_fn *fn;
    void *context;
    int64_t tasks;
    int64_t chunks;
    uint64_t fp_mode; // of the caller: results are the same bits whichever thread has a task
} region;

static struct {
    pthread_mutex_t busy; // held by the thread whose region runs, or that changes the workers
    pthread_t threads[TERN_MAX_THREADS];
    int workers;             // running; under `busy`
    bool started;            // under `busy`
    _Atomic int wanted;      // threads with the caller; 0 until first asked for
    _Atomic bool spin;       // false where there are more threads than CPUs
    _Atomic int share;       // of the chunks that are left, one part of so many is taken at once
    int64_t expected;        // of `done` when the region is over; the caller's
    pthread_mutex_t sleep;   // guards nothing but the two conditions
    pthread_cond_t work;     // workers: `waiting` or `stop` changed
    pthread_cond_t finished; // the caller: `done` changed
    _Atomic int sleepers;    // workers at `work`
    _Atomic bool caller_sleeps;
    _Atomic bool stop;
    // On one line: who finds chunks has the region as well.
    _Alignas(CACHE_LINE) work_range waiting; // chunks that nobody has taken
    region now;                              // written while `waiting` is empty
    // Chunks that workers have finished since the start.
    _Alignas(CACHE_LINE) _Atomic int64_t done;
} pool = {
    .busy = PTHREAD_MUTEX_INITIALIZER,
    .sleep = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .finished = PTHREAD_COND_INITIALIZER,
};

// True in workers, in a thread whose region runs and in one that stays out: regions from there run
// on their caller.
static _Thread_local bool inside;
static _Thread_local bool takes_last;

static void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void run_inline(int64_t tasks, tern_pool_fn *fn, void *context)
{
    for (int64_t i = 0; i < tasks; i++)
        fn(context, i);
}

static int64_t chunk_begin(int64_t chunk)
{
    const int64_t each = pool.now.tasks / pool.now.chunks;
    const int64_t longer = pool.now.tasks % pool.now.chunks; // so many chunks have one task more
    return chunk * each + min_int64(chunk, longer);
}

// Returns how many chunks this thread has done.
static int64_t run_chunks(void)
{
    const int share = atomic_load_explicit(&pool.share, memory_order_relaxed);
    int64_t first, count, chunks = 0;
    while ((count = work_range_take(&pool.waiting, takes_last, share, &first)) > 0) {
        tern_fp_mode_set(pool.now.fp_mode);
        const int64_t end = chunk_begin(first + count);
        for (int64_t i = chunk_begin(first); i < end; i++)
            pool.now.fn(pool.now.context, i);
        chunks += count;
    }
    return chunks;
}

static void report_done(int64_t chunks)
{
    if (chunks == 0)
        return;
    atomic_fetch_add(&pool.done, chunks);
    if (atomic_load(&pool.caller_sleeps)) {
        pthread_mutex_lock(&pool.sleep);
        pthread_cond_signal(&pool.finished);
        pthread_mutex_unlock(&pool.sleep);
    }
}

static bool work_or_stop(void)
{
    return !work_range_is_empty(&pool.waiting) || atomic_load(&pool.stop);
}

static bool region_is_over(void)
{
    return atomic_load(&pool.done) == pool.expected;
}

// Looks for a while whether `condition` holds.
static bool spin_until(bool (*condition)(void))
{
    if (condition())
        return true;
    if (!atomic_load_explicit(&pool.spin, memory_order_relaxed))
        return false;
    int64_t deadline = tern_clock_now() + SPIN_NANOSECONDS;
    do {
        for (int i = 0; i < 16; i++) {
            if (condition())
                return true;
            cpu_pause();
        }
    } while (tern_clock_now() < deadline);
    return false;
}

static void wait_for_work(void)
{
    if (spin_until(work_or_stop))
        return;
    pthread_mutex_lock(&pool.sleep);
    atomic_fetch_add(&pool.sleepers,
                     1); // before looking again: who adds work looks at it afterwards
    while (!work_or_stop())
        pthread_cond_wait(&pool.work, &pool.sleep);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.sleep);
}

static void wait_for_the_others(void)
{
    if (spin_until(region_is_over))
        return;
    pthread_mutex_lock(&pool.sleep);
    atomic_store(&pool.caller_sleeps, true);
    while (!region_is_over())
        pthread_cond_wait(&pool.finished, &pool.sleep);
    atomic_store(&pool.caller_sleeps, false);
    pthread_mutex_unlock(&pool.sleep);
}

static void wake_sleepers(void)
{
    if (atomic_load(&pool.sleepers) == 0)
        return;
    pthread_mutex_lock(&pool.sleep);
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.sleep);
}

static void *work(void *last)
{
    inside = true;
    takes_last = last != NULL;
    while (!atomic_load(&pool.stop)) {
        report_done(run_chunks());
        wait_for_work();
    }
    return NULL;
}

// Where one cannot be started there are fewer.
static void start_workers(void)
{
    tern_process_begin();
    pool.started = true;
    int threads = tern_num_threads();
    atomic_store(&pool.spin, threads <= tern_pool_cpus());
    atomic_store(&pool.share, 2 * threads);
    while (pool.workers < threads - 1) {
        char name[24];
        snprintf(name, sizeof name, "tern-%d", pool.workers + 1);
        void *last = pool.workers % 2 == 0 ? &pool : NULL;
        if (!tern_thread_start(&pool.threads[pool.workers], NULL, work, last, name))
            break;
        pool.workers++;
    }
    if (pool.workers < threads - 1) {
        tern_log_send(TERN_LOG_WARN, "only %d of %d threads could be started", pool.workers + 1,
                      threads);
        atomic_store(&pool.wanted, pool.workers + 1);
    }
}

static void stop_workers(void)
{
    atomic_store(&pool.stop, true);
    wake_sleepers();
    for (int i = 0; i < pool.workers; i++)
        pthread_join(pool.threads[i], NULL);
    pool.workers = 0;
    pool.started = false;
    atomic_store(&pool.stop, false);
}

// Waits for work in progress. The next region starts workers anew, as many as before for 0.
static void change_workers(int wanted)
{
    int cancel_state = tern_cancel_disable();
    pthread_mutex_lock(&pool.busy);
    stop_workers();
    if (wanted > 0)
        atomic_store(&pool.wanted, wanted);
    pthread_mutex_unlock(&pool.busy);
    tern_cancel_restore(cancel_state);
}

static void run_region(int64_t tasks, tern_pool_fn *fn, void *context)
{
    const int64_t threads = pool.workers + 1;
    const int64_t chunks = min_int64(threads * CHUNKS_PER_THREAD, tasks);
    pool.now = (region){fn, context, tasks, chunks, tern_fp_mode()};
    work_range_fill(&pool.waiting, chunks);
    wake_sleepers();
    inside = true;
    pool.expected += chunks - run_chunks();
    inside = false;
    wait_for_the_others();
}

// With `busy` held. A caller that pthread_cancel ended in between would hold it for ever: it ends
// afterwards.
static void run_together(int64_t tasks, tern_pool_fn *fn, void *context)
{
    int cancel_state = tern_cancel_disable();
    if (!pool.started)
        start_workers();
    if (pool.workers > 0)
        run_region(tasks, fn, context);
    else
        run_inline(tasks, fn, context);
    tern_cancel_restore(cancel_state);
}

void tern_pool_run(int64_t tasks, tern_pool_fn *fn, void *context)
{
    int saved = errno; // functions of the mathematical library set it
    bool alone = tasks <= 1 || inside || tern_num_threads() == 1;
    if (alone || pthread_mutex_trylock(&pool.busy) != 0) {
        run_inline(tasks, fn, context);
    } else {
        run_together(tasks, fn, context);
        pthread_mutex_unlock(&pool.busy);
    }
    errno = saved;
}

bool tern_pool_stay_out(bool on)
{
    const bool before = inside;
    inside = on;
    return before;
}

void tern_pool_shutdown(void)
{
    if (!inside && !tern_forked())
        change_workers(0);
}

int tern_num_threads(void)
{
    if (tern_forked()) // the workers stayed with the parent
        return 1;
    int wanted = atomic_load_explicit(&pool.wanted, memory_order_relaxed);
    if (wanted > 0)
        return wanted;
    int unset = 0;
    wanted = tern_pool_default_threads();
    return atomic_compare_exchange_strong(&pool.wanted, &unset, wanted) ? wanted : unset;
}

tern_status tern_set_num_threads(int count)
{
    TERN_CHECK(count >= 1 && count <= TERN_MAX_THREADS, TERN_ERR_ARG,
               "set_num_threads: count is %d, it must be from 1 to %d", count, TERN_MAX_THREADS);
    TERN_CHECK(!inside, TERN_ERR_STATE,
               "set_num_threads: called from inside parallel work of the library");
    TERN_TRY(tern_fork_check()); // `busy` may be held by a thread that stayed with the parent
    change_workers(count);
    return TERN_OK;
}
