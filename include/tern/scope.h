// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who owns a tensor, in two rules.
///
/// 1. Every tensor that a call makes is a temporary: it belongs to the calling thread's innermost
///    scope and dies when that scope closes. Each thread has a root scope below all others, which
///    closes when the thread ends. A loader opens a scope per batch, so a training loop frees what
///    a step made without a word, and so does tern_each_step, the loop without a loader.
///    tern_retain keeps a tensor beyond its scope, until tern_release.
/// 2. What a constructor makes (module, optimizer, dataset, loader) is freed by its `*_free`.
///
///     tern_scope scope = tern_scope_open();
///     tern_tensor *y = tern_exp(tern_neg(x));
///     y = tern_scope_close_keep(scope, y);     // y now belongs to the scope outside
///
/// Using a tensor that died is an error that names it and says how it died, for as long as fewer
/// than 4096 tensors died since; after that the pointer may be a newer tensor's. Threads: a scope
/// belongs to the thread that opened it; counts are atomic.
#ifndef TERN_SCOPE_H
#define TERN_SCOPE_H

#include <tern/options.h>
#include <tern/error.h>

TERN_BEGIN_DECLS

/// An n-dimensional array on a device: see tensor.h.
typedef struct tern_tensor tern_tensor;
TERN_REQUIRED_TYPE_(tensor, tern_tensor *)

/// The number of a scope; 0 is never one.
typedef uint64_t tern_scope;

/// Opens a scope inside the innermost one. Returns 0 on failure (TERN_ERR_NOMEM).
TERN_API tern_scope tern_scope_open(void);

/// Closes a scope and those opened inside it since; their temporaries die. Closing 0, a scope
/// that is closed already, or one of another thread does nothing.
TERN_API void tern_scope_close(tern_scope scope);

/// Like tern_scope_close, but `t`, when it belongs to a scope that closes, moves to the one
/// outside. Returns t; NULL when t is NULL or dead.
TERN_API tern_tensor *tern_scope_close_keep(tern_scope scope, tern_tensor *t);

/// What tern_with_scope keeps while it is open.
typedef struct tern_scope_guard_ {
    tern_scope scope; ///< what it closes
    bool open;        ///< false once the block has run
} tern_scope_guard_;

/// What entering tern_with_scope runs: without memory for a scope the block does not run.
static inline tern_scope_guard_ tern_scope_guard_open_(void)
{
    tern_scope_guard_ guard = {tern_scope_open(), false};
    guard.open = guard.scope != 0;
    return guard;
}
/// What leaving it runs.
static inline void tern_scope_guard_close_(tern_scope_guard_ *guard)
{
    tern_scope_close(guard->scope);
}

/// Runs the statement or block that follows in a scope of its own: `tern_with_scope { ... }`. The
/// scope closes however the block is left; `break` and `continue` leave this block only.
#define tern_with_scope TERN_WITH_SCOPE_(TERN_LINE_NAME_(tern_scope_guard_))
/// A loop that runs once; its guard is closed however it is left.
#define TERN_WITH_SCOPE_(guard)                                                                    \
    for (tern_scope_guard_ guard                                                                   \
         __attribute__((cleanup(tern_scope_guard_close_))) = tern_scope_guard_open_();             \
         guard.open; guard.open = false)

/// What each round of tern_each_step begins with: false when there is none.
static inline bool tern_scope_guard_next_(tern_scope_guard_ *guard)
{
    tern_scope_close(guard->scope);
    guard->scope = tern_error_pending() ? 0 : tern_scope_open();
    return guard->scope != 0;
}

/// For training without a loader: runs the statement or block that follows with `step`, an int that
/// it declares, from 1 to `count`, each time in a scope of its own: `tern_each_step (i, 500) { ...
/// }`. A loop of C, with `break` and `continue`. It ends on failure and while an error is pending;
/// look for it behind the loop.
#define tern_each_step(step, count) TERN_EACH_STEP_(step, count, TERN_LINE_NAME_(tern_step_guard_))
/// A loop that runs once around the loop over the steps; its guard is closed however it is left.
#define TERN_EACH_STEP_(step, count, guard)                                                        \
    for (tern_scope_guard_ guard __attribute__((cleanup(tern_scope_guard_close_))) = {0, true};    \
         guard.open; guard.open = false)                                                           \
        for (int step = 1; step <= (count) && tern_scope_guard_next_(&guard); step++)

/// Keeps `t` alive until the matching tern_release. Returns t; NULL when t is NULL or dead.
TERN_API tern_tensor *tern_retain(tern_tensor *t);

/// Undoes one tern_retain; the tensor dies when nobody else holds it. NULL is fine. One release too
/// many is a pending TERN_ERR_STATE, and changes nothing.
TERN_API void tern_release(tern_tensor *t);

/// Makes `*slot` hold `t` instead of what it held: retains `t`, releases the old tensor. Either may
/// be NULL; the same tensor is fine. Returns t; NULL, with the slot as it was, when t is dead. That
/// the slot held a tensor which died or was never retained is a pending TERN_ERR_STATE.
TERN_API tern_tensor *tern_assign(tern_tensor **slot, tern_tensor *t);

/// The number of tensors that are alive in the process. Thread safe.
TERN_API int64_t tern_live_tensors(void);

TERN_END_DECLS

#endif
