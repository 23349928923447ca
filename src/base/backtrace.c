// SPDX-License-Identifier: Apache-2.0
#include "base/backtrace.h"
#include <stdint.h>
#include <unwind.h>

#include "base/process.h"

typedef struct walk {
    const void **frames;
    int count, capacity;
} walk;

// What is left of a call is the address it returns to, which may belong to the next line already.
static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *user)
{
    walk *w = user;
    int is_call_itself = 0; // of a signal's frame
    uintptr_t address = _Unwind_GetIPInfo(context, &is_call_itself);
    if (address == 0 || w->count == w->capacity)
        return _URC_END_OF_STACK;
    w->frames[w->count++] = (const void *)(address - !is_call_itself);
    return _URC_NO_REASON;
}

int tern_backtrace(const void **frames, int capacity)
{
    walk w = {.frames = frames, .capacity = capacity};
    if (!tern_forked())
        _Unwind_Backtrace(take_frame, &w);
    return w.count;
}
