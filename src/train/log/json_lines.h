// SPDX-License-Identifier: Apache-2.0
// log.jsonl: a line a record, as docs/log.schema.json has it.
#ifndef TERN_SRC_TRAIN_LOG_JSON_LINES_H
#define TERN_SRC_TRAIN_LOG_JSON_LINES_H

#include "train/log/bytes.h"
#include "train/log/values.h"

#define TERN_LOG_LINES_NAME "log.jsonl"

void tern_log_json(tern_log_bytes *to, const tern_log_record *record);
// "scalar", "histogram", ..; NULL for what is no line of it.
const char *tern_log_kind_name(tern_log_kind kind);

#endif
