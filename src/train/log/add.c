// SPDX-License-Identifier: Apache-2.0
// What is logged: numbers and texts.
#include <string.h>
#include "base/text.h"
#include "train/log/logger.h"

tern_status tern_logger_add_scalar(tern_logger *logger, const char *tag, double value, int64_t step)
{
    static const char op[] = "logger_add_scalar";
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, logger, tag, step));
    return tern_logger_push(
        op, logger, (tern_log_entry){.kind = TERN_ENTRY_SCALAR, .step = step, .value = value}, tag);
}
