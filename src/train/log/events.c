// SPDX-License-Identifier: Apache-2.0
#include "train/log/record.h"

void tern_log_events(tern_log_bytes *to, const tern_log_record *record)
{
    (void)to;
    (void)record;
}
