// SPDX-License-Identifier: Apache-2.0
// Making and freeing loggers.
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "train/folder.h"
#include "train/log/exit.h"
#include "train/log/folder_lock.h"
#include "train/log/resume.h"
#include "train/log/ring.h"
#include "train/log/writer.h"

static const char op[] = "logger_new";

// ---- checks -------------------------------------------------------------------------------------

static tern_status check_numbers(const tern_logger_new_options *o)
{
    TERN_CHECK(o->tensorboard || o->jsonl || o->csv, TERN_ERR_ARG,
               "%s: there is nothing to write: set one of .tensorboard, .jsonl and .csv", op);
    TERN_CHECK(o->resume_step >= -1, TERN_ERR_ARG, "%s: .resume_step is %lld, not -1 or more", op,
               (long long)o->resume_step);
    TERN_CHECK(o->bins >= 1 && o->bins <= 1024, TERN_ERR_ARG, "%s: .bins is %lld, not 1 to 1024",
               op, (long long)o->bins);
    TERN_CHECK(o->capacity >= 16 && o->capacity <= 1 << 24, TERN_ERR_ARG,
               "%s: .capacity is %lld, not 16 to 16777216", op, (long long)o->capacity);
    TERN_CHECK(o->max_bytes >= 0, TERN_ERR_ARG, "%s: .max_bytes is %lld, not 0 or more", op,
               (long long)o->max_bytes);
    return TERN_OK;
}

static tern_status check_options(const tern_logger_new_options *o)
{
    if (!o || !o->folder)
        return tern_null_error(op, o ? "folder" : "options");
    TERN_TRY(check_numbers(o));
    if (o->name)
        TERN_TRY(tern_log_check_name(op, "name", o->name));
    return tern_fork_check();
}

// ---- making -------------------------------------------------------------------------------------

static void init_locks(tern_logger *logger)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&logger->lock, NULL);
    pthread_mutex_init(&logger->wake, NULL);
    pthread_cond_init(&logger->work, &monotonic);
    pthread_cond_init(&logger->done, NULL);
    pthread_condattr_destroy(&monotonic);
}

static const char *last_part(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    return slash && slash[1] ? slash + 1 : folder;
}

static tern_status take_memory(tern_logger *logger, const tern_logger_new_options *o)
{
    logger->ring = tern_mem_alloc((size_t)o->capacity * sizeof *logger->ring);
    if (!logger->ring)
        return TERN_ERR_NOMEM;
    logger->capacity = o->capacity;
    logger->max_bytes = o->max_bytes;
    logger->bins = o->bins;
    logger->resume_step = o->resume_step;
    logger->settings = tern_thread_settings_now();
    return TERN_OK;
}

static tern_status open_folder(tern_logger *logger, const tern_logger_new_options *o)
{
    char folder[PATH_MAX];
    TERN_TRY(tern_folder_make(op, o->folder, folder));
    logger->folder = tern_mem_string(folder);
    logger->name = tern_mem_string(o->name ? o->name : last_part(folder));
    return logger->folder && logger->name ? tern_log_folder_take(logger, o) : TERN_ERR_NOMEM;
}

// The training goes on without a log where the disk is what fails.
static tern_status open_or_go_without(tern_logger *logger, const tern_logger_new_options *o)
{
    const bool pending = tern_error_pending();
    tern_error_delay();
    tern_status status = open_folder(logger, o);
    if (status == TERN_ERR_IO) {
        tern_log_send(TERN_LOG_WARN, "nothing is logged to %.150s: %s", o->folder,
                      pending ? "it cannot be written" : tern_error_message());
        if (!pending)
            tern_error_clear();
        logger->off = true;
        status = TERN_OK;
    }
    tern_error_report();
    return status;
}

static tern_status begin(tern_logger *logger, const tern_logger_new_options *o)
{
    TERN_TRY(take_memory(logger, o));
    TERN_TRY(open_or_go_without(logger, o));
    if (logger->off)
        return TERN_OK;
    logger->thread = tern_worker_begin(tern_logger_run, logger);
    if (!logger->thread)
        tern_log_send(TERN_LOG_WARN, "%s: no thread can be started: whoever logs writes as well",
                      op);
    return TERN_OK;
}

// Of one whose writer has ended.
static void free_all(tern_logger *logger)
{
    for (int i = 0; i < TERN_LOG_FORMATS; i++)
        tern_log_file_close(&logger->files[i]);
    tern_log_folder_leave(logger);
    tern_log_tags_free(&logger->tags);
    tern_mem_free(logger->ring, (size_t)logger->capacity * sizeof *logger->ring);
    tern_mem_free_string(logger->folder);
    tern_mem_free_string(logger->name);
    pthread_cond_destroy(&logger->work);
    pthread_cond_destroy(&logger->done);
    pthread_mutex_destroy(&logger->wake);
    pthread_mutex_destroy(&logger->lock);
    logger->freed = true;
    tern_mem_free_deferred(logger, sizeof *logger, offsetof(tern_logger, off));
}

tern_logger *tern_logger_new_with(const tern_logger_new_options *options)
{
    if (check_options(options))
        return NULL;
    tern_logger *logger = tern_mem_alloc(sizeof *logger);
    if (!logger)
        return NULL;
    const int saved = errno, cancel_state = tern_cancel_disable();
    init_locks(logger);
    logger->lock_fd = -1;
    for (int i = 0; i < TERN_LOG_FORMATS; i++)
        logger->files[i].fd = -1;
    const tern_status status = begin(logger, options);
    if (status)
        free_all(logger);
    else
        tern_logger_register(logger);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return status ? NULL : logger;
}

// ---- what is asked of one -----------------------------------------------------------------------

// In a forked child the writer and its files stayed with the parent; payloads are left as well.
void tern_logger_free(tern_logger *logger)
{
    static const char function[] = "logger_free";
    if (!logger || tern_forked())
        return;
    if (logger->freed) {
        tern_error_raise(TERN_ERR_STATE, "%s: this logger was freed already", function);
        return;
    }
    const int saved = errno;
    tern_logger_unregister(logger);
    tern_logger_end(logger, tern_error_pending() ? TERN_RUN_FAILED : TERN_RUN_FINISHED);
    free_all(logger);
    errno = saved;
}

tern_status tern_logger_set_status(tern_logger *logger, tern_run_status status)
{
    static const char function[] = "logger_set_status";
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check(function, logger));
    TERN_CHECK(status >= TERN_RUN_FINISHED && status <= TERN_RUN_FAILED, TERN_ERR_ARG,
               "%s: there is no status %d", function, (int)status);
    atomic_store(&logger->status, status);
    return TERN_OK;
}

static void wait_for_writer(tern_logger *logger, int64_t entries)
{
    pthread_mutex_lock(&logger->wake);
    logger->urgent = true;
    pthread_cond_signal(&logger->work);
    while (logger->written < entries)
        pthread_cond_wait(&logger->done, &logger->wake);
    pthread_mutex_unlock(&logger->wake);
}

tern_status tern_logger_flush(tern_logger *logger)
{
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check("logger_flush", logger));
    const int cancel_state = tern_cancel_disable();
    if (logger->thread) {
        wait_for_writer(logger, atomic_load(&logger->tail));
    } else if (!logger->off) {
        pthread_mutex_lock(&logger->wake);
        tern_logger_drain(logger);
        pthread_mutex_unlock(&logger->wake);
    }
    tern_cancel_restore(cancel_state);
    return TERN_OK;
}

int64_t tern_logger_dropped(const tern_logger *logger)
{
    if (!logger)
        return 0;
    if (tern_logger_check("logger_dropped", logger))
        return -1;
    return atomic_load(&logger->dropped) + atomic_load(&logger->unwritten);
}
