// SPDX-License-Identifier: Apache-2.0
// Frames: who owns temporaries. Each thread has a stack of them above a root.
#include "tensor/scope.h"

#include <pthread.h>
#include "base/fork.h"
#include "base/mem.h"

typedef struct frame {
    struct frame *below;
    tern_scope number; // 0 for the root
    bool of_loader;
    tern_tensor **items; // each holds a reference
    int64_t count, capacity;
} frame;

typedef struct thread_frames {
    frame *top;
    frame *spare; // closed ones, kept with their arrays
} thread_frames;

static _Atomic uint64_t last_number;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;            // its destructor closes the frames of a thread that ends
static bool has_key;                 // false: the program had taken all keys
static void (*_Atomic at_end)(void); // what else the end of a thread runs
static _Thread_local thread_frames frames;

static void empty_frame(frame *f)
{
    while (f->count > 0)
        tern_drop_as(f->items[--f->count], TERN_STAMP_SCOPE);
}

static void free_frames(frame *f)
{
    while (f) {
        frame *below = f->below;
        tern_mem_free(f->items, (size_t)f->capacity * sizeof *f->items);
        tern_mem_free(f, sizeof *f);
        f = below;
    }
}

void tern_scope_shutdown(void)
{
    for (frame *f = frames.top; f; f = f->below)
        empty_frame(f);
    free_frames(frames.top);
    free_frames(frames.spare);
    frames = (thread_frames){0};
}

void tern_scope_at_thread_end(void (*run)(void))
{
    atomic_store_explicit(&at_end, run, memory_order_relaxed);
}

static void at_thread_end(void *unused)
{
    (void)unused;
    tern_scope_shutdown();
    void (*also)(void) = atomic_load_explicit(&at_end, memory_order_relaxed);
    if (also)
        also();
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, at_thread_end) == 0;
}

static tern_status watch_thread_end(void)
{
    pthread_once(&once, make_key);
    if (has_key)
        TERN_CHECK(pthread_setspecific(key, &frames) == 0, TERN_ERR_NOMEM,
                   "no memory for a thread's first scope");
    else
        tern_log_send(TERN_LOG_WARN, "the program has taken all thread-specific keys: what a "
                                     "thread leaves open at its end stays allocated");
    return TERN_OK;
}

static frame *take_frame(void)
{
    frame *f = frames.spare;
    if (f) {
        frames.spare = f->below;
        return f;
    }
    return tern_mem_alloc(sizeof(frame));
}

static tern_status push_frame(tern_scope number, bool of_loader)
{
    frame *f = take_frame();
    if (!f)
        return TERN_ERR_NOMEM;
    f->number = number;
    f->of_loader = of_loader;
    f->below = frames.top;
    frames.top = f;
    return TERN_OK;
}

static tern_status ensure_root(void)
{
    if (frames.top)
        return TERN_OK;
    TERN_TRY(watch_thread_end());
    return push_frame(0, false);
}

static tern_scope open_frame(bool of_loader)
{
    if (ensure_root())
        return 0;
    tern_scope number = atomic_fetch_add(&last_number, 1) + 1;
    return push_frame(number, of_loader) ? 0 : number;
}

tern_scope tern_scope_open(void)
{
    return open_frame(false);
}

// Unlinks *link, kills its temporaries, keeps the frame for later.
static void close_frame(frame **link)
{
    frame *f = *link;
    *link = f->below;
    empty_frame(f);
    f->below = frames.spare;
    frames.spare = f;
}

static frame *find_frame(tern_scope number)
{
    frame *f = number ? frames.top : NULL;
    while (f && f->number != number)
        f = f->below;
    return f;
}

void tern_scope_close(tern_scope scope)
{
    frame *f = find_frame(scope);
    if (!f)
        return;
    frame *below = f->below;
    while (frames.top != below)
        close_frame(&frames.top);
}

// More than a long unrolled step makes, and less than a machine's memory holds of small tensors.
#define MOST_EXPECTED 10000

// A loop that opens no scope is found by what it leaves, once in a process. A step over a loader's
// batch may make as many as it needs.
static void warn_of_many(const frame *f)
{
    static atomic_bool warned;
    if (f->count == MOST_EXPECTED && !f->of_loader && !atomic_exchange(&warned, true))
        tern_log_send(TERN_LOG_WARN,
                      "%d temporaries are alive in one scope: open a scope in each round of a loop "
                      "without a loader, and close it (tern_scope_open, tern_scope_close)",
                      MOST_EXPECTED);
}

static bool frame_has(const frame *f, const tern_tensor *t)
{
    for (int64_t i = f->count - 1; i >= 0; i--)
        if (f->items[i] == t)
            return true;
    return false;
}

static bool would_lose(const frame *last, const tern_tensor *t)
{
    for (const frame *f = frames.top; f != last->below; f = f->below)
        if (frame_has(f, t))
            return true;
    return false;
}

tern_tensor *tern_scope_close_keep(tern_scope scope, tern_tensor *t)
{
    frame *f = find_frame(scope);
    bool dead = t && tern_check_tensor("scope_close_keep", "t", t);
    if (!f || !t || dead || !would_lose(f, t)) {
        tern_scope_close(scope);
        return dead ? NULL : t;
    }
    tern_hold(t);
    tern_scope_close(scope);
    if (tern_frame_adopt(t)) {
        tern_drop(t);
        return NULL;
    }
    return t;
}

void tern_frame_end(tern_scope last)
{
    frame *f = find_frame(last);
    if (!f)
        return;
    frame **link = &frames.top; // the lowest frame to leave alone points here
    for (frame *g = frames.top; g != f; g = g->below)
        if (g->of_loader)
            link = &g->below;
    frame *below = f->below;
    while (*link != below)
        close_frame(link);
}

tern_scope tern_frame_next(tern_scope last)
{
    tern_frame_end(last);
    return open_frame(true);
}

tern_status tern_frame_adopt(tern_tensor *t)
{
    TERN_TRY(ensure_root());
    frame *f = frames.top;
    if (f->count == f->capacity)
        TERN_TRY(tern_mem_grow((void **)&f->items, &f->capacity, f->count + 1, sizeof *f->items));
    f->items[f->count++] = t;
    warn_of_many(f);
    return TERN_OK;
}

tern_tensor *tern_retain(tern_tensor *t)
{
    if (tern_check_tensor("retain", "t", t))
        return NULL;
    atomic_fetch_add(&t->retains, 1);
    return tern_hold(t);
}

static void release(const char *function, const char *name, tern_tensor *t)
{
    if (!t || tern_check_tensor(function, name, t))
        return;
    int32_t retains = atomic_load(&t->retains);
    while (retains > 0 && !atomic_compare_exchange_weak(&t->retains, &retains, retains - 1))
        continue;
    if (retains > 0)
        tern_drop_as(t, TERN_STAMP_RELEASED);
    else
        tern_error_raise(TERN_ERR_STATE, "%s: %s (%s) would be released more often than retained",
                         function, name, tern_identity_string(t));
}

void tern_release(tern_tensor *t)
{
    if (!tern_forked())
        release("release", "t", t);
}

tern_tensor *tern_assign(tern_tensor **slot, tern_tensor *t)
{
    if (!slot) {
        tern_null_error("assign", "slot");
        return NULL;
    }
    if (t && (tern_check_tensor("assign", "t", t) || !tern_retain(t)))
        return NULL;
    tern_tensor *old = *slot;
    *slot = t;
    release("assign", "what *slot held", old);
    return t;
}
