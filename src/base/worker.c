// SPDX-License-Identifier: Apache-2.0
#include "base/worker.h"

#include "base/fork.h"
#include "base/mem.h"
#include "base/thread.h"

struct tern_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; // one of what follows, which is under the lock
    tern_worker_fn *run;    // NULL: nothing to do
    void *user;
    bool stop;
    bool left;         // nobody waits for it
    tern_worker *next; // among the idle ones
};

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static tern_worker *idle;
static _Atomic int busy; // threads with a function

static void put_idle(tern_worker *w)
{
    tern_lock(&idle_lock);
    w->next = idle;
    idle = w;
    tern_unlock(&idle_lock);
}

// With the lock held, which is given back while the function runs.
static void run_one(tern_worker *w)
{
    tern_worker_fn *run = w->run;
    pthread_mutex_unlock(&w->lock);
    run(w->user);
    pthread_mutex_lock(&w->lock);
    w->run = NULL;
    atomic_fetch_sub(&busy, 1);
    if (w->left)
        put_idle(w);
    w->left = false;
    pthread_cond_signal(&w->changed);
}

static void *work(void *user)
{
    tern_worker *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        if (w->run)
            run_one(w);
        else
            pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static tern_worker *take_idle(void)
{
    tern_lock(&idle_lock);
    tern_worker *w = idle;
    if (w)
        idle = w->next;
    tern_unlock(&idle_lock);
    return w;
}

static void free_worker(tern_worker *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    tern_mem_free(w, sizeof *w);
}

static tern_worker *start(void)
{
    tern_worker *w = tern_mem_try(sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    if (tern_thread_start(&w->thread, NULL, work, w, "tern-worker"))
        return w;
    free_worker(w);
    return NULL;
}

tern_worker *tern_worker_begin(tern_worker_fn *run, void *user)
{
    tern_worker *w = take_idle();
    if (!w)
        w = start();
    if (!w)
        return NULL;
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&busy, 1);
    w->run = run;
    w->user = user;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return w;
}

void tern_worker_wait(tern_worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->run)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    put_idle(w);
}

void tern_worker_leave(tern_worker *w)
{
    pthread_mutex_lock(&w->lock);
    const bool runs = w->run != NULL;
    w->left = runs;
    pthread_mutex_unlock(&w->lock);
    if (!runs)
        put_idle(w);
}

bool tern_workers_busy(void)
{
    return atomic_load(&busy) > 0;
}

void tern_workers_shutdown(void)
{
    for (tern_worker *w = take_idle(); w; w = take_idle()) {
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        free_worker(w);
    }
}
