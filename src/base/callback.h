// SPDX-License-Identifier: Apache-2.0
// How deep this thread is inside functions that the library calls and returns from into itself:
// hooks, modules, datasets, visitors, backward functions. tern_shutdown is refused there.
#ifndef TERN_SRC_BASE_CALLBACK_H
#define TERN_SRC_BASE_CALLBACK_H

extern _Thread_local int tern_callback_depth;

static inline void tern_callback_begin(void)
{
    tern_callback_depth++;
}

static inline void tern_callback_end(void)
{
    tern_callback_depth--;
}

#endif
