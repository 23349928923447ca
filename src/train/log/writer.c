// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // newlocale, uselocale
#endif
#include "train/log/writer.h"

#include <errno.h>
#include <locale.h>
#include <time.h>
#include "base/cancel.h"
#include "base/saved_error.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "train/log/csv.h"
#include "train/log/events.h"
#include "train/log/folder_lock.h"
#include "train/log/json_lines.h"
#include "train/log/lines.h"
#include "train/log/page.h"
#include "train/log/record.h"
#include "train/log/ring.h"
#include "train/log/snapshot.h"

// Seconds between looks at the ring; twice that is what a process that is killed may lose.
#define PERIOD_NS 100000000
// Bytes that are gathered before they are written.
#define MAX_PENDING 1000000

typedef void encode_fn(tern_log_bytes *to, const tern_log_record *record);
static encode_fn *const encoders[TERN_LOG_FORMATS] = {
    [TERN_LOG_EVENTS] = tern_log_events,
    [TERN_LOG_JSON_LINES] = tern_log_json,
    [TERN_LOG_CSV] = tern_log_csv,
};

// ---- the files ----------------------------------------------------------------------------------

static void warn_disk(tern_logger *logger, const tern_log_file *file)
{
    if (!logger->warned_disk)
        tern_log_send(TERN_LOG_WARN,
                      "logger: cannot write %.150s/%.50s: %s; what is logged meanwhile is lost",
                      logger->folder, file->name, tern_text_reason(errno));
    logger->warned_disk = true;
}

// Entries count once, however many files they are missing in.
static void flush_files(tern_logger *logger)
{
    int64_t max = 0;
    for (int i = 0; i < TERN_LOG_FORMATS; i++) {
        tern_log_file *file = &logger->files[i];
        const int64_t before = file->unwritten;
        if (!tern_log_file_flush(file))
            warn_disk(logger, file);
        max = file->unwritten - before > max ? file->unwritten - before : max;
    }
    if (max > 0)
        atomic_fetch_add(&logger->unwritten, max);
}

// ---- what was dropped ---------------------------------------------------------------------------

static double now(tern_logger *logger)
{
    pthread_mutex_lock(&logger->lock);
    const double time = tern_log_time(logger);
    pthread_mutex_unlock(&logger->lock);
    return time;
}

static void report_dropped(tern_logger *logger)
{
    tern_log_file *file = &logger->files[TERN_LOG_JSON_LINES];
    const int64_t full = atomic_load(&logger->dropped),
                  all = full + atomic_load(&logger->unwritten);
    if (full > 0 && !logger->warned_full)
        tern_log_send(TERN_LOG_WARN,
                      "logger: the queue of %.150s is full: the disk is slower than what is logged "
                      "(.capacity, .max_bytes); entries are dropped",
                      logger->folder);
    logger->warned_full = logger->warned_full || full > 0;
    if (all == logger->reported || file->fd < 0)
        return;
    // not now: what is in the ring, and is written later, is older
    tern_log_dropped_line(&file->pending, all - logger->reported, logger->written_time);
    if (!file->pending.failed && tern_log_file_flush(file))
        logger->reported = all;
    tern_log_bytes_cut(&file->pending, 0);
}

// ---- entries ------------------------------------------------------------------------------------

static void lose(tern_logger *logger, const tern_log_entry *entry)
{
    atomic_fetch_add(&logger->unwritten, 1);
    if (!logger->warned_values)
        tern_log_send(TERN_LOG_WARN, "logger: \"%.100s\" at step %lld is left out: %s",
                      entry->tag ? entry->tag : "the page or the settings", (long long)entry->step,
                      tern_error_pending() ? tern_error_message() : "there is no memory");
    logger->warned_values = true;
    tern_error_clear();
}

// Into what is pending of every file, all of it or nothing.
static bool encode(tern_logger *logger, const tern_log_record *record)
{
    bool fits = true;
    for (int i = 0; i < TERN_LOG_FORMATS; i++) {
        tern_log_file *file = &logger->files[i];
        const int64_t before = file->pending.count;
        if (file->fd < 0)
            continue;
        encoders[i](&file->pending, record);
        fits = fits && !file->pending.failed;
        if (file->pending.failed)
            tern_log_bytes_cut(&file->pending, before);
        file->entries += file->pending.count > before;
    }
    logger->has_settings = logger->has_settings || record->kind == TERN_ENTRY_SETTINGS;
    return fits;
}

static void write_entry(tern_logger *logger, const tern_log_entry *entry)
{
    tern_log_record record;
    tern_log_scratch scratch = {0};
    if (!tern_log_record_make(logger->bins, entry, &record, &scratch) || !encode(logger, &record))
        lose(logger, entry);
    tern_log_scratch_free(&scratch);
    for (int i = 0; i < TERN_LOG_FORMATS; i++)
        if (logger->files[i].pending.count > MAX_PENDING)
            flush_files(logger);
}

// The page is made of what is in the files.
static void write_page(tern_logger *logger, const tern_log_entry *entry)
{
    flush_files(logger);
    if (!tern_log_page_write(logger))
        lose(logger, entry);
}

static void write_entries(tern_logger *logger)
{
    const bool due = atomic_load(&logger->has_page);
    const int64_t tail = atomic_load_explicit(&logger->tail, memory_order_acquire);
    for (int64_t at = atomic_load(&logger->head); at < tail; at++) {
        const tern_log_entry entry = logger->ring[at % logger->capacity];
        if (entry.kind != TERN_ENTRY_PAGE)
            write_entry(logger, &entry);
        else
            write_page(logger, &entry);
        logger->written_time = entry.time;
        if (entry.has_payload) {
            atomic_fetch_sub(&logger->nbytes, entry.payload->cost);
            tern_log_payload_free(entry.payload);
        }
        atomic_store_explicit(&logger->head, at + 1, memory_order_release);
    }
    flush_files(logger);
    if (due && atomic_load(&logger->has_page)) // the queue had no space for it
        write_page(logger, &(const tern_log_entry){.kind = TERN_ENTRY_PAGE});
    report_dropped(logger);
}

// ---- the end ------------------------------------------------------------------------------------

static void write_end(tern_logger *logger)
{
    tern_log_file *file = &logger->files[TERN_LOG_JSON_LINES];
    tern_log_file *events = &logger->files[TERN_LOG_EVENTS];
    const tern_run_status status = (tern_run_status)atomic_load(&logger->status);
    if (file->fd >= 0)
        tern_log_end_line(&file->pending, status, now(logger));
    if (file->pending.failed)
        tern_log_bytes_cut(&file->pending, 0);
    if (events->fd >= 0 && logger->has_settings)
        tern_log_events_end(&events->pending, now(logger), status);
    if (events->pending.failed)
        tern_log_bytes_cut(&events->pending, 0);
    flush_files(logger);
    tern_log_page_end(logger);
}

static void write_all(tern_logger *logger)
{
    write_entries(logger);
    write_end(logger);
}

// ---- the surroundings ---------------------------------------------------------------------------

// Numbers are the same in every locale. An error of the caller's own stays as it is.
static void with_plain_numbers(void (*body)(tern_logger *logger), tern_logger *logger)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); // static: nothing to free
    const locale_t before = plain ? uselocale(plain) : (locale_t)0;
    const bool deferred = tern_error_defer(true), pending = tern_error_pending();
    const int saved = errno;
    body(logger);
    if (!pending)
        tern_error_clear();
    errno = saved;
    (void)tern_error_defer(deferred);
    if (before)
        uselocale(before);
}

void tern_logger_drain(tern_logger *logger)
{
    with_plain_numbers(write_entries, logger);
}

// ---- the thread ---------------------------------------------------------------------------------

static struct timespec deadline(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += PERIOD_NS;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void write_until_stopped(tern_logger *logger)
{
    bool stop = false;
    while (!stop) {
        pthread_mutex_lock(&logger->wake);
        const struct timespec then = deadline();
        while (!logger->urgent && !logger->stop &&
               pthread_cond_timedwait(&logger->work, &logger->wake, &then) != ETIMEDOUT) {
        }
        stop = logger->stop;
        logger->urgent = false;
        pthread_mutex_unlock(&logger->wake);
        write_entries(logger);
        pthread_mutex_lock(&logger->wake);
        logger->written = atomic_load(&logger->head);
        pthread_cond_broadcast(&logger->done);
        pthread_mutex_unlock(&logger->wake);
    }
    write_end(logger);
}

void tern_logger_run(void *user)
{
    tern_logger *logger = user;
    const tern_thread_settings before = tern_thread_settings_now();
    tern_thread_settings_set(&logger->settings);
    const bool stayed_out = tern_pool_stay_out(true);
    tern_log_streams streams = {0};
    tern_log_streams_begin(&streams);
    with_plain_numbers(write_until_stopped, logger);
    tern_log_streams_end(&streams);
    (void)tern_pool_stay_out(stayed_out);
    tern_thread_settings_set(&before);
}

void tern_logger_end(tern_logger *logger, tern_run_status status)
{
    int unset = TERN_RUN_UNSPECIFIED;
    (void)atomic_compare_exchange_strong(&logger->status, &unset, status);
    const int cancel_state = tern_cancel_disable();
    if (logger->thread) {
        pthread_mutex_lock(&logger->wake);
        logger->stop = true;
        pthread_cond_signal(&logger->work);
        pthread_mutex_unlock(&logger->wake);
        tern_worker_wait(logger->thread);
        logger->thread = NULL;
    } else if (!logger->off) {
        with_plain_numbers(write_all, logger);
    }
    for (int i = 0; i < TERN_LOG_FORMATS; i++)
        tern_log_file_close(&logger->files[i]);
    tern_log_folder_leave(logger);
    tern_cancel_restore(cancel_state);
}
