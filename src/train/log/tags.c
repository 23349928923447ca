// SPDX-License-Identifier: Apache-2.0
#include "train/log/tags.h"

#include <string.h>
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

const char *tern_log_kind_text(tern_log_kind kind)
{
    switch (kind) {
    case TERN_ENTRY_NONE:
    case TERN_ENTRY_SETTINGS:
    case TERN_ENTRY_PAGE:
        break;
    case TERN_ENTRY_SCALAR:
        return "scalars";
    case TERN_ENTRY_HISTOGRAM:
        return "histograms";
    case TERN_ENTRY_IMAGE:
        return "images";
    case TERN_ENTRY_TEXT:
        return "texts";
    case TERN_ENTRY_MATRIX:
        return "confusion matrices";
    case TERN_ENTRY_PR_CURVE:
        return "precision-recall curves";
    }
    return "nothing";
}

tern_status tern_log_check_name(const char *op, const char *what, const char *name)
{
    const size_t length = strlen(name);
    TERN_CHECK(length > 0, TERN_ERR_ARG, "%s: the %s is empty", op, what);
    TERN_CHECK(length < TERN_LOG_TAG_SIZE, TERN_ERR_ARG, "%s: the %s has %zu bytes, more than %d",
               op, what, length, TERN_LOG_TAG_SIZE - 1);
    for (size_t at = 0, used; at < length; at += used) {
        const unsigned char byte = (unsigned char)name[at];
        used = tern_utf8_length(name + at, length - at);
        TERN_CHECK(used > 0, TERN_ERR_ARG, "%s: the %s \"%.100s\" is not UTF-8", op, what, name);
        const bool is_c1 = byte == 0xC2 && (unsigned char)name[at + 1] < 0xA0; // U+0080 to U+009F
        TERN_CHECK(byte >= 0x20 && byte != 0x7F && !is_c1, TERN_ERR_ARG,
                   "%s: the %s \"%.100s\" has a control character", op, what, name);
    }
    return TERN_OK;
}

// TensorBoard's own tags: texts are logged as "<tag>/text_summary".
static tern_status check_reserved(const char *op, const char *name)
{
    static const char own[] = "_hparams_/", text[] = "/text_summary";
    const size_t length = strlen(name), tail = sizeof text - 1;
    TERN_CHECK(strncmp(name, own, sizeof own - 1) != 0 &&
                   (length < tail || strcmp(name + length - tail, text) != 0),
               TERN_ERR_ARG, "%s: the tag \"%.100s\" is one of TensorBoard's own", op, name);
    return TERN_OK;
}

static tern_status add(tern_log_tags *tags, const char *name, tern_log_kind kind, const char **kept)
{
    const int64_t count = tags->count;
    TERN_TRY(tern_mem_grow((void **)&tags->at, &tags->capacity, count + 1, sizeof *tags->at));
    // the array may have moved
    TERN_TRY(tern_name_table_reserve(&tags->table, TERN_NAMED_ARRAY(tags->at), count, count + 1));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    tags->at[tags->count++] = (tern_log_tag){copy, kind};
    tern_name_table_add(&tags->table, TERN_NAMED_ARRAY(tags->at), count);
    *kept = copy;
    return TERN_OK;
}

tern_status tern_log_tag_find(tern_log_tags *tags, const char *op, const char *name,
                              tern_log_kind kind, const char **kept)
{
    const int64_t index = tern_name_table_find(&tags->table, TERN_NAMED_ARRAY(tags->at), name);
    if (index < 0) {
        TERN_TRY(tern_log_check_name(op, "tag", name));
        TERN_TRY(check_reserved(op, name));
        return kept ? add(tags, name, kind, kept) : TERN_OK;
    }
    const tern_log_tag *tag = &tags->at[index];
    TERN_CHECK(tag->kind == kind, TERN_ERR_ARG, "%s: \"%.100s\" is a tag of %s already", op, name,
               tern_log_kind_text(tag->kind));
    if (kept)
        *kept = tag->name;
    return TERN_OK;
}

void tern_log_tags_free(tern_log_tags *tags)
{
    for (int64_t i = 0; i < tags->count; i++)
        tern_mem_free_string((char *)(uintptr_t)tags->at[i].name);
    tern_mem_free(tags->at, (size_t)tags->capacity * sizeof *tags->at);
    tern_name_table_free(&tags->table);
    *tags = (tern_log_tags){0};
}
