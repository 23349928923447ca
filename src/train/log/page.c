// SPDX-License-Identifier: Apache-2.0
// The page of a run: asked for by whoever logs, made by the writer from log.jsonl.
#include "train/log/logger.h"

// Writes run.html of the folder.
static tern_status page_write(const char *folder)
{
    (void)folder;
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "logger_add_page: this version writes no page");
}

bool tern_log_page_write(tern_logger *logger)
{
    atomic_store(&logger->has_page, false);
    return page_write(logger->folder) == TERN_OK;
}

tern_status tern_logger_add_page(tern_logger *logger)
{
    static const char op[] = "logger_add_page";
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check(op, logger));
    return page_write(NULL);
}
