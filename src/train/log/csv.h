// SPDX-License-Identifier: Apache-2.0
// log.csv (RFC 4180): a line a scalar, behind a header.
#ifndef TERN_SRC_TRAIN_LOG_CSV_H
#define TERN_SRC_TRAIN_LOG_CSV_H

#include "train/log/bytes.h"
#include "train/log/values.h"

#define TERN_LOG_CSV_NAME   "log.csv"
#define TERN_LOG_CSV_HEADER "time,step,tag,value\n"

// Nothing for what is no scalar.
void tern_log_csv(tern_log_bytes *to, const tern_log_record *record);

#endif
