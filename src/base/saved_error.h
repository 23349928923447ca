// SPDX-License-Identifier: Apache-2.0
// An error on its way from the thread that raised it to the one that waits for that.
#ifndef TERN_SRC_BASE_SAVED_ERROR_H
#define TERN_SRC_BASE_SAVED_ERROR_H

#include <tern/error.h>
#include "base/backtrace.h"
#include "base/text.h"

typedef struct tern_saved_error {
    tern_status code; // TERN_OK: none
    char message[TERN_MESSAGE_SIZE];
    const void *frames[TERN_MAX_FRAMES];
    int frame_count;
} tern_saved_error;

// While it is on, the log does not learn of the calling thread's first error: tern_error_restore
// tells it, if that is ever called. Returns what it was.
bool tern_error_defer(bool on);
// Takes the calling thread's pending error away.
void tern_error_save(tern_saved_error *kept);
// Makes it the calling thread's, unless one is pending, and tells the log.
void tern_error_restore(const tern_saved_error *kept);

#endif
