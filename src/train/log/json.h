// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) as it is written.
#ifndef TERN_SRC_TRAIN_LOG_JSON_H
#define TERN_SRC_TRAIN_LOG_JSON_H

#include "train/log/bytes.h"

// A string with its quotes. What is no UTF-8 becomes U+FFFD.
void tern_json_add_string(tern_log_bytes *to, const char *text);
// A number, or null for what is none.
void tern_json_add_double(tern_log_bytes *to, double value);
// `,"name":`
void tern_json_add_name(tern_log_bytes *to, const char *name);

#endif
