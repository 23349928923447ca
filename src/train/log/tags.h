// SPDX-License-Identifier: Apache-2.0
// The tags of a log, each of one kind.
#ifndef TERN_SRC_TRAIN_LOG_TAGS_H
#define TERN_SRC_TRAIN_LOG_TAGS_H

#include "base/name_table.h"
#include "train/log/values.h"

#define TERN_LOG_TAG_SIZE 1024

typedef struct tern_log_tag {
    const char *name; // stays where it is until the tags are freed
    tern_log_kind kind;
} tern_log_tag;

typedef struct tern_log_tags {
    tern_name_table table;
    tern_log_tag *at;
    int64_t count, capacity;
} tern_log_tags;

// The kept name of a tag of that kind, which is added where it is new, unless `kept` is NULL.
// TERN_ERR_ARG for what is no tag, or one of another kind.
tern_status tern_log_tag_find(tern_log_tags *tags, const char *op, const char *name,
                              tern_log_kind kind, const char **kept);
void tern_log_tags_free(tern_log_tags *tags);

// Refuses what is no tag; `what` names it, "tag".
tern_status tern_log_check_name(const char *op, const char *what, const char *name);

// "scalars", "histograms", .. for messages.
const char *tern_log_kind_text(tern_log_kind kind);

#endif
