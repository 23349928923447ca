// SPDX-License-Identifier: Apache-2.0
// Whether the calling thread records.
#include <tern/autograd.h>

static _Thread_local bool grad_disabled;

bool tern_grad_enabled(void)
{
    return !grad_disabled;
}

bool tern_set_grad_enabled(bool enabled)
{
    bool before = !grad_disabled;
    grad_disabled = !enabled;
    return before;
}
