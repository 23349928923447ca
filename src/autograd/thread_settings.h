// SPDX-License-Identifier: Apache-2.0
// What a thread has set that the results of its operations depend on, for a thread of the library's
// that works in the place of another.
#ifndef TERN_SRC_AUTOGRAD_THREAD_SETTINGS_H
#define TERN_SRC_AUTOGRAD_THREAD_SETTINGS_H

#include <tern/tensor.h>

typedef struct tern_thread_settings {
    bool grad_enabled;
    tern_dtype default_dtype;
    tern_device default_device;
    int cuda; // the current CUDA device
    uint64_t fp_mode;
} tern_thread_settings;

// Those of the calling thread.
tern_thread_settings tern_thread_settings_now(void);
// Sets them for the calling thread.
void tern_thread_settings_set(const tern_thread_settings *settings);

#endif
