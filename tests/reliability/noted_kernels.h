// SPDX-License-Identifier: Apache-2.0
// A kernel table that notes which of its slots were called, and with what views.
#ifndef TERN_TESTS_RELIABILITY_NOTED_KERNELS_H
#define TERN_TESTS_RELIABILITY_NOTED_KERNELS_H

#include "device/kernels.h"

TERN_BEGIN_DECLS

// The noting table, which passes every call on to `behind`; no slot was called yet.
const tern_kernels *note_kernels(const tern_kernels *behind);

// How often each slot was called since; the last one has no name.
typedef struct noted_kernel {
    const char *name;
    long *calls;
} noted_kernel;
const noted_kernel *all_noted_kernels(void);

// Which kernel was given views that are not coalesced, or dims in the wrong order; "" for none.
const char *not_coalesced_views(void);

TERN_END_DECLS

#endif
