// SPDX-License-Identifier: Apache-2.0
// Scopes: who owns temporaries. Each thread has a stack of them above a root.
#include "tensor/scope.h"

#include <pthread.h>
#include "base/fork.h"
#include "base/mem.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

typedef struct scope_entry {
    struct scope_entry *below;
    tern_scope number; // 0 for the root
    bool of_loader;
    tern_tensor **items; // each holds a reference
    int64_t count, capacity;
} scope_entry;

typedef struct thread_scopes {
    scope_entry *top;
    scope_entry *spare; // closed ones, kept with their arrays
} thread_scopes;

static _Atomic uint64_t last_number;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; // its destructor closes the scopes of a thread that ends
static bool has_key;      // false: the program had taken all keys
static void (*_Atomic before_end)(void), (*_Atomic at_end)(void); // what else runs then
static _Thread_local thread_scopes scopes;

static void empty_scope(scope_entry *entry)
{
    while (entry->count > 0)
        tern_tensor_release_as(entry->items[--entry->count], TERN_STAMP_SCOPE);
}

static void free_scopes(scope_entry *entry)
{
    while (entry) {
        scope_entry *below = entry->below;
        tern_mem_free(entry->items, (size_t)entry->capacity * sizeof *entry->items);
        tern_mem_free(entry, sizeof *entry);
        entry = below;
    }
}

void tern_scope_shutdown(void)
{
    void (*first)(void) = atomic_load_explicit(&before_end, memory_order_relaxed);
    if (first)
        first();
    for (scope_entry *entry = scopes.top; entry; entry = entry->below)
        empty_scope(entry);
    free_scopes(scopes.top);
    free_scopes(scopes.spare);
    scopes = (thread_scopes){0};
}

void tern_scope_at_thread_end(void (*run)(void))
{
    atomic_store_explicit(&at_end, run, memory_order_relaxed);
}

void tern_scope_before_thread_end(void (*run)(void))
{
    atomic_store_explicit(&before_end, run, memory_order_relaxed);
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
        TERN_CHECK(pthread_setspecific(key, &scopes) == 0, TERN_ERR_NOMEM,
                   "no memory for a thread's first scope");
    else
        tern_log_send(TERN_LOG_WARN, "the program has taken all thread-specific keys: what a "
                                     "thread leaves open at its end stays allocated");
    return TERN_OK;
}

static scope_entry *take_scope(void)
{
    scope_entry *entry = scopes.spare;
    if (entry) {
        scopes.spare = entry->below;
        return entry;
    }
    return tern_mem_alloc(sizeof(scope_entry));
}

static tern_status push_scope(tern_scope number, bool of_loader)
{
    scope_entry *entry = take_scope();
    if (!entry)
        return TERN_ERR_NOMEM;
    entry->number = number;
    entry->of_loader = of_loader;
    entry->below = scopes.top;
    scopes.top = entry;
    return TERN_OK;
}

tern_status tern_scope_ensure_root(void)
{
    if (scopes.top)
        return TERN_OK;
    TERN_TRY(watch_thread_end());
    return push_scope(0, false);
}

static tern_scope open_scope(bool of_loader)
{
    if (tern_scope_ensure_root())
        return 0;
    tern_scope number = tern_fetch_add(&last_number, 1, memory_order_relaxed) + 1;
    return push_scope(number, of_loader) ? 0 : number;
}

tern_scope tern_scope_open(void)
{
    return open_scope(false);
}

// Unlinks *link, kills its temporaries, keeps the scope for reuse.
static void close_scope(scope_entry **link)
{
    scope_entry *entry = *link;
    *link = entry->below;
    empty_scope(entry);
    entry->below = scopes.spare;
    scopes.spare = entry;
}

static scope_entry *find_scope(tern_scope number)
{
    scope_entry *entry = number ? scopes.top : NULL;
    while (entry && entry->number != number)
        entry = entry->below;
    return entry;
}

void tern_scope_close(tern_scope scope)
{
    scope_entry *entry = find_scope(scope);
    if (!entry)
        return;
    scope_entry *below = entry->below;
    while (scopes.top != below)
        close_scope(&scopes.top);
}

// More than a long unrolled step makes, and less than a machine's memory holds of small tensors.
#define MAX_EXPECTED 10000

// A loop that opens no scope is found by what it leaves, once in a process. A step over a loader's
// batch may make as many as it needs.
static void warn_of_many(const scope_entry *entry)
{
    static atomic_bool warned;
    if (entry->count == MAX_EXPECTED && !entry->of_loader && !atomic_exchange(&warned, true))
        tern_log_send(TERN_LOG_WARN,
                      "%d temporaries are alive in one scope: open a scope in each round of a loop "
                      "without a loader, and close it (tern_scope_open, tern_scope_close)",
                      MAX_EXPECTED);
}

static bool scope_has(const scope_entry *entry, const tern_tensor *t)
{
    for (int64_t i = entry->count - 1; i >= 0; i--)
        if (entry->items[i] == t)
            return true;
    return false;
}

static bool would_lose(const scope_entry *last, const tern_tensor *t)
{
    for (const scope_entry *entry = scopes.top; entry != last->below; entry = entry->below)
        if (scope_has(entry, t))
            return true;
    return false;
}

tern_tensor *tern_scope_close_keep(tern_scope scope, tern_tensor *t)
{
    scope_entry *entry = find_scope(scope);
    bool dead = t && tern_check_tensor("scope_close_keep", "t", t);
    if (!entry || !t || dead || !would_lose(entry, t)) {
        tern_scope_close(scope);
        return dead ? NULL : t;
    }
    tern_tensor_retain(t);
    tern_scope_close(scope);
    if (tern_scope_adopt(t)) {
        tern_tensor_release(t);
        return NULL;
    }
    return t;
}

void tern_scope_end_batch(tern_scope last)
{
    scope_entry *entry = find_scope(last);
    if (!entry)
        return;
    scope_entry **link = &scopes.top; // the lowest scope that stays open, if any, points here
    for (scope_entry *above = scopes.top; above != entry; above = above->below)
        if (above->of_loader)
            link = &above->below;
    scope_entry *below = entry->below;
    while (*link != below)
        close_scope(link);
}

tern_scope tern_scope_next_batch(tern_scope last)
{
    tern_scope_end_batch(last);
    return open_scope(true);
}

tern_status tern_scope_adopt(tern_tensor *t)
{
    TERN_TRY(tern_scope_ensure_root());
    scope_entry *entry = scopes.top;
    if (entry->count == entry->capacity)
        TERN_TRY(tern_mem_grow((void **)&entry->items, &entry->capacity, entry->count + 1,
                               sizeof *entry->items));
    entry->items[entry->count++] = t;
    warn_of_many(entry);
    return TERN_OK;
}

tern_tensor *tern_retain(tern_tensor *t)
{
    if (tern_check_tensor("retain", "t", t))
        return NULL;
    atomic_fetch_add(&t->retains, 1);
    return tern_tensor_retain(t);
}

static void release(const char *function, const char *name, tern_tensor *t)
{
    if (!t || tern_check_tensor(function, name, t))
        return;
    int32_t retains = atomic_load(&t->retains);
    while (retains > 0 && !atomic_compare_exchange_weak(&t->retains, &retains, retains - 1))
        continue;
    if (retains > 0)
        tern_tensor_release_as(t, TERN_STAMP_RELEASED);
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
