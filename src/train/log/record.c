// SPDX-License-Identifier: Apache-2.0
// From entries to records.
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "device/backend.h"
#include "tensor/view.h"
#include "train/log/logger.h"

void tern_log_scratch_free(tern_log_scratch *scratch)
{
    tern_mem_free(scratch->memory, scratch->nbytes);
    tern_log_bytes_free(&scratch->png);
    *scratch = (tern_log_scratch){0};
}

static bool make_settings(const tern_log_payload *payload, tern_log_record *record)
{
    record->settings = (tern_log_settings){payload->settings, payload->count};
    return true;
}

bool tern_log_record_make(const tern_logger *logger, const tern_log_entry *entry,
                          tern_log_record *record, tern_log_scratch *scratch)
{
    (void)logger;
    (void)scratch;
    switch (entry->kind) {
    case TERN_ENTRY_NONE:
    case TERN_ENTRY_PAGE:
        break;
    case TERN_ENTRY_SCALAR:
        record->value = entry->value;
        break;
    case TERN_ENTRY_TEXT:
        record->text = entry->payload->bytes;
        break;
    case TERN_ENTRY_SETTINGS:
        return make_settings(entry->payload, record);
    case TERN_ENTRY_HISTOGRAM:
    case TERN_ENTRY_IMAGE:
    case TERN_ENTRY_MATRIX:
    case TERN_ENTRY_PR_CURVE:
        return false;
    }
    return true;
}
