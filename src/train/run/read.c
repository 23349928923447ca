// SPDX-License-Identifier: Apache-2.0
// Following log.jsonl: whole lines are taken from a buffer, wherever the last look ended.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "train/run/run.h"

#define FIRST_BYTES (256 << 10)
#define MAX_LINE    (64 << 20)
#define LOG_NAME    "log.jsonl"

// The bytes that are being read: those before `used` are not taken yet.
typedef struct buffer {
    char *at;
    int64_t capacity, used;
} buffer;

// ---- lines --------------------------------------------------------------------------------------

static bool is_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == end;
}

static tern_status take_line(tern_run *run, char *line, char *end)
{
    *end = 0;
    if (is_blank(line, end))
        return TERN_OK;
    const tern_status status = tern_run_line(run, line, end);
    // A failure that is no error of the call, which would be pending, is one of the line.
    const bool damaged = status == TERN_ERR_FORMAT;
    run->info.damaged += damaged;
    run->info.lines += damaged || status == TERN_OK;
    return damaged ? TERN_OK : status;
}

// What stands before `offset`, to know the file again.
static void remember(tern_run *run, const char *bytes, int64_t count)
{
    const int64_t size = sizeof run->before;
    const int64_t add = min_int64(count, size);
    memmove(run->before, run->before + add, (size_t)(size - add));
    memcpy(run->before + size - add, bytes + count - add, (size_t)add);
    run->offset += count;
}

// Takes the lines that are whole; what stands behind them moves to the front.
static tern_status take_lines(tern_run *run, buffer *b)
{
    char *at = b->at, *const end = b->at + b->used;
    tern_status status = TERN_OK;
    while (!status && at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            break;
        char tail[sizeof run->before]; // taking a line changes it
        const int64_t kept = min_int64(newline + 1 - at, (int64_t)sizeof tail);
        memcpy(tail, newline + 1 - kept, (size_t)kept);
        if (run->passing_over)
            run->info.damaged++, run->info.lines++;
        else
            status = take_line(run, at, newline);
        if (status)
            break;
        run->passing_over = false;
        remember(run, tail, kept);
        run->offset += newline + 1 - at - kept;
        at = newline + 1;
    }
    b->used = end - at;
    memmove(b->at, at, (size_t)b->used);
    return status;
}

// Makes space for more of a line; of one that is too long only the end is looked for.
static tern_status make_space(tern_run *run, buffer *b)
{
    if (b->used < b->capacity)
        return TERN_OK;
    if (run->passing_over || b->used >= MAX_LINE) {
        run->passing_over = true;
        remember(run, b->at, b->used);
        b->used = 0;
        return TERN_OK;
    }
    return tern_mem_grow((void **)&b->at, &b->capacity, max_int64(b->used + 1, FIRST_BYTES), 1);
}

static tern_status read_rest(tern_run *run, tern_file *file)
{
    buffer b = {.at = NULL};
    tern_status status = TERN_OK;
    size_t got = 1;
    while (!status && got > 0) {
        status = make_space(run, &b);
        if (!status)
            status = tern_file_read(file, b.at + b.used, (size_t)(b.capacity - b.used), &got);
        if (!status) {
            b.used += (int64_t)got;
            status = take_lines(run, &b);
        }
    }
    tern_mem_free(b.at, (size_t)b.capacity);
    return status;
}

// ---- the file -----------------------------------------------------------------------------------

static const char *base_name(const char *folder)
{
    const char *end = folder + strlen(folder);
    while (end > folder + 1 && end[-1] == '/')
        end--;
    while (end > folder && end[-1] != '/')
        end--;
    return *end ? end : folder;
}

// Forgets all, the folder and the path excepted.
static void begin_anew(tern_run *run)
{
    tern_run empty = {.folder = run->folder, .path = run->path, .info.last_step = -1};
    tern_run_clear(run);
    *run = empty;
}

// Whether the file is the one that was read, with more behind it.
static bool is_same(const tern_run *run, const tern_file *file, const struct stat *facts)
{
    char bytes[sizeof run->before];
    const int64_t count = min_int64(run->offset, (int64_t)sizeof bytes);
    const char *before = run->before + sizeof bytes - count;
    return facts->st_dev == run->device && facts->st_ino == run->inode &&
           facts->st_size >= run->offset &&
           pread(file->fd, bytes, (size_t)count, (off_t)(run->offset - count)) == count &&
           memcmp(bytes, before, (size_t)count) == 0;
}

static tern_status sort_all(tern_run *run)
{
    for (int64_t i = 0; i < run->kinds[TERN_RUN_SCALAR].count; i++)
        TERN_TRY(tern_run_sort(&run->kinds[TERN_RUN_SCALAR].at[i]));
    return TERN_OK;
}

static tern_status follow(tern_run *run, tern_file *file)
{
    struct stat facts;
    TERN_CHECK(fstat(file->fd, &facts) == 0, TERN_ERR_IO, "%s: cannot look at %s: %s", file->op,
               file->path, tern_text_reason(errno));
    if (!is_same(run, file, &facts))
        begin_anew(run);
    run->device = facts.st_dev;
    run->inode = facts.st_ino;
    TERN_CHECK(lseek(file->fd, (off_t)run->offset, SEEK_SET) >= 0, TERN_ERR_IO,
               "%s: cannot read %s: %s", file->op, file->path, tern_text_reason(errno));
    TERN_TRY(facts.st_size > run->offset ? read_rest(run, file) : TERN_OK);
    TERN_TRY(sort_all(run));
    run->info.status = tern_run_status_now(run, (double)facts.st_mtim.tv_sec +
                                                    1e-9 * (double)facts.st_mtim.tv_nsec);
    return TERN_OK;
}

// Keeps errno, which belongs to the program.
static tern_status look(tern_run *run, const char *op)
{
    const int saved = errno;
    tern_file file;
    tern_status status = tern_file_open(&file, op, run->path);
    if (!status) {
        status = follow(run, &file);
        tern_file_close(&file);
    }
    errno = saved;
    run->info.folder = run->folder;
    run->info.name = run->name ? run->name : base_name(run->folder);
    return status;
}

// ---- the public functions -----------------------------------------------------------------------

static tern_status set_paths(tern_run *run, const char *folder)
{
    const size_t length = strlen(folder);
    run->folder = tern_mem_string(folder);
    run->path = run->folder ? tern_mem_alloc(length + sizeof "/" LOG_NAME) : NULL;
    if (!run->path)
        return TERN_ERR_NOMEM;
    memcpy(run->path, folder, length);
    memcpy(run->path + length, "/" LOG_NAME, sizeof "/" LOG_NAME);
    return TERN_OK;
}

tern_run *tern_run_open(const char *op, const char *folder)
{
    TERN_CHECK_PTR(*folder, TERN_ERR_ARG, "%s: the name of the folder is empty", op);
    tern_run *run = tern_mem_alloc(sizeof *run);
    if (!run)
        return NULL;
    run->info.last_step = -1;
    if (!set_paths(run, folder) && !look(run, op))
        return run;
    tern_run_free(run);
    return NULL;
}

tern_run *tern_run_read(const char *folder)
{
    if (!folder) {
        (void)tern_null_error("run_read", "folder");
        return NULL;
    }
    return tern_run_open("run_read", folder);
}

int tern_run_update(tern_run *run)
{
    if (!run)
        return (void)tern_null_error("run_update", "run"), -1;
    const int64_t offset = run->offset;
    const ino_t inode = run->inode;
    const tern_run_status status = run->info.status;
    if (look(run, "run_update"))
        return -1;
    return run->offset != offset || run->inode != inode || run->info.status != status;
}

void tern_run_free(tern_run *run)
{
    if (!run)
        return;
    tern_run_clear(run);
    tern_mem_free_string(run->folder);
    tern_mem_free_string(run->path);
    tern_mem_free(run, sizeof *run);
}
