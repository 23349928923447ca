// SPDX-License-Identifier: Apache-2.0
// How deep this thread is inside functions that the library calls and returns from into itself:
// hooks, modules, datasets, visitors, backward functions. tern_shutdown is refused there, and
// cancellation is off.
#ifndef TERN_SRC_BASE_CALLBACK_H
#define TERN_SRC_BASE_CALLBACK_H

#include <tern/base.h>
#include "base/cancel.h"

extern _Thread_local int tern_callback_depth;
extern _Thread_local int tern_callback_cancel_state; // as it was outside the outermost

static inline void tern_callback_begin(void)
{
    if (tern_callback_depth++ == 0)
        tern_callback_cancel_state = tern_cancel_disable();
}

static inline void tern_callback_end(void)
{
    if (--tern_callback_depth == 0)
        tern_cancel_restore(tern_callback_cancel_state);
}

// Hands a program's pointer back to it.
static inline void tern_free_user(tern_free_fn *free, void *user)
{
    if (!free)
        return;
    tern_callback_begin();
    free(user);
    tern_callback_end();
}

// Puts another pointer and its function there, then frees the old one: `free` may come back here.
static inline void tern_replace_user(void **user, tern_free_fn **free, void *new_user,
                                     tern_free_fn *new_free)
{
    void *old = *user;
    tern_free_fn *free_old = *free;
    *user = new_user;
    *free = new_free;
    tern_free_user(free_old, old);
}

#endif
