// SPDX-License-Identifier: Apache-2.0
// Made by the writer from log.jsonl.
#include "train/log/page.h"

#include <limits.h>
#include <stdio.h>
#include "train/log/ring.h"
#include "train/run/page.h"

// The log as far as it is written, of which each page reads what is new.
static tern_status read_log(tern_logger *logger)
{
    if (logger->page_run)
        return tern_run_update(logger->page_run) < 0 ? tern_error_code() : TERN_OK;
    logger->page_run = tern_run_read(logger->folder);
    return logger->page_run ? TERN_OK : tern_error_code();
}

bool tern_log_page_write(tern_logger *logger)
{
    char path[PATH_MAX + 16];
    atomic_store(&logger->has_page, false);
    snprintf(path, sizeof path, "%s/run.html", logger->folder);
    return !read_log(logger) && !tern_page_save(path, 1, &logger->page_run);
}

void tern_log_page_end(tern_logger *logger)
{
    if (logger->page_run && !tern_log_page_write(logger))
        tern_log_send(TERN_LOG_WARN, "logger: %s", tern_error_message());
    tern_run_free(logger->page_run);
    logger->page_run = NULL;
}
