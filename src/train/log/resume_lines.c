// SPDX-License-Identifier: Apache-2.0
#include "train/log/resume_lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/save.h"
#include "train/log/csv.h"
#include "train/log/json_lines.h"

static const char op[] = "logger_new";

#define CHUNK 65536

// True where a line stays. It ends with a 0, the newline is gone.
typedef bool keep_fn(tern_logger *logger, char *line);

typedef struct lines {
    tern_logger *logger;
    keep_fn *keep;
    char path[PATH_MAX];
    tern_save *save;  // NULL: lines are only looked at
    int64_t left_out; // lines, a torn one included
    tern_log_bytes pending;
    tern_status status;
} lines;

// ---- reading ------------------------------------------------------------------------------------

static tern_status take_line(lines *l, char *line, size_t length)
{
    line[length] = 0;
    if (!l->keep(l->logger, line)) {
        l->left_out++;
        return TERN_OK;
    }
    if (!l->save)
        return TERN_OK;
    line[length] = '\n';
    return tern_save_write(l->save, line, length + 1);
}

// Whole lines of what is pending; what is behind them stays.
static tern_status take_lines(lines *l)
{
    char *data = (char *)l->pending.data, *end = data + l->pending.count, *at = data;
    for (char *newline; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1)
        TERN_TRY(take_line(l, at, (size_t)(newline - at)));
    const int64_t rest = end - at;
    memmove(data, at, (size_t)rest);
    tern_log_bytes_cut(&l->pending, rest);
    return TERN_OK;
}

static tern_status read_lines(lines *l, tern_file *file)
{
    char chunk[CHUNK];
    size_t got;
    do {
        TERN_TRY(tern_file_read(file, chunk, sizeof chunk, &got));
        tern_log_add(&l->pending, chunk, got);
        if (l->pending.failed)
            return TERN_ERR_NOMEM;
        // a long line is looked through once
        if (l->pending.count > 0 && memchr(chunk, '\n', got))
            TERN_TRY(take_lines(l));
    } while (got == sizeof chunk);
    l->left_out += l->pending.count > 0; // without a newline: torn
    return TERN_OK;
}

static tern_status each_line(lines *l)
{
    tern_file file;
    tern_log_bytes_cut(&l->pending, 0);
    l->left_out = 0;
    TERN_TRY(tern_file_open(&file, op, l->path));
    const tern_status status = read_lines(l, &file);
    tern_file_close(&file);
    return status;
}

// ---- writing ------------------------------------------------------------------------------------

static tern_status rewrite(lines *l)
{
    tern_save save;
    TERN_TRY(tern_save_begin(&save, op, l->path));
    l->save = &save;
    const tern_status status = each_line(l);
    if (!status)
        return tern_save_commit(&save);
    tern_save_abandon(&save);
    return status;
}

static tern_status resume(tern_logger *logger, const char *name, keep_fn *keep)
{
    lines l = {.logger = logger, .keep = keep};
    (void)snprintf(l.path, sizeof l.path, "%.*s/%s", PATH_MAX - 64, logger->folder, name);
    if (access(l.path, F_OK) != 0)
        return TERN_OK;
    tern_status status = each_line(&l);
    if (!status && l.left_out > 0)
        status = rewrite(&l);
    tern_log_bytes_free(&l.pending);
    return status;
}

// Times of one file never decrease.
static void learn_time(tern_logger *logger, const char *text)
{
    const double time = tern_text_double(text);
    logger->last_time = time > logger->last_time ? time : logger->last_time;
}

// ---- log.jsonl ----------------------------------------------------------------------------------

// Takes `words` off the text at *at.
static bool accept(char **at, const char *words)
{
    const size_t length = strlen(words);
    if (strncmp(*at, words, length) != 0)
        return false;
    *at += length;
    return true;
}

// A string that has no other escapes than those of quotes and backslashes, as tags are written.
static char *read_string(char **at)
{
    char *text = *at, *to = text;
    while (**at && **at != '"') {
        *at += **at == '\\';
        *to++ = **at;
        *at += **at != 0;
    }
    if (**at != '"')
        return NULL;
    *at += 1;
    *to = 0;
    return text;
}

static tern_log_kind kind_of(const char *name)
{
    for (int kind = TERN_ENTRY_SCALAR; kind < TERN_ENTRY_SETTINGS; kind++)
        if (strcmp(tern_log_kind_name((tern_log_kind)kind), name) == 0)
            return (tern_log_kind)kind;
    return TERN_ENTRY_NONE;
}

// A tag of another kind than before, or one that is none, was not written by a logger.
static void learn_tag(tern_logger *logger, tern_log_kind kind, const char *tag)
{
    const char *kept;
    const bool pending = tern_error_pending();
    if (kind != TERN_ENTRY_NONE && tern_log_tag_find(&logger->tags, op, tag, kind, &kept) &&
        !pending)
        tern_error_clear();
}

static bool keep_line(tern_logger *logger, char *line)
{
    const size_t length = strlen(line);
    char head[64 + 2 * TERN_LOG_TAG_SIZE], *at = head;
    if (length < 2 || line[length - 1] != '}')
        return false;
    (void)snprintf(head, sizeof head, "%s", line);
    if (!accept(&at, "{\"kind\":\""))
        return false;
    const char *kind = read_string(&at);
    if (!kind)
        return false;
    if (accept(&at, ",\"step\":") && strtoll(at, &at, 10) > logger->resume_step)
        return false;
    if (accept(&at, ",\"time\":")) {
        learn_time(logger, at);
        at += strcspn(at, ",}");
    }
    const char *tag = accept(&at, ",\"tag\":\"") ? read_string(&at) : NULL;
    if (tag)
        learn_tag(logger, kind_of(kind), tag);
    return true;
}

tern_status tern_log_lines_resume(tern_logger *logger)
{
    return resume(logger, TERN_LOG_LINES_NAME, keep_line);
}

// ---- log.csv ------------------------------------------------------------------------------------

static bool keep_row(tern_logger *logger, char *line)
{
    const char *comma = strchr(line, ',');
    if (!comma)
        return false;
    if (comma[1] < '0' || comma[1] > '9') // the header
        return true;
    if (strtoll(comma + 1, NULL, 10) > logger->resume_step)
        return false;
    learn_time(logger, line);
    return true;
}

tern_status tern_log_csv_resume(tern_logger *logger)
{
    return resume(logger, TERN_LOG_CSV_NAME, keep_row);
}
