// SPDX-License-Identifier: Apache-2.0
// What threads that log do: entries into the ring.
#include <string.h>
#include <time.h>
#include "base/fork.h"
#include "base/mem.h"
#include "tensor/header.h"
#include "train/log/logger.h"

// ---- checks -------------------------------------------------------------------------------------

tern_status tern_logger_check(const char *op, const tern_logger *logger)
{
    TERN_CHECK(!logger->freed, TERN_ERR_STATE, "%s: this logger was freed already", op);
    TERN_TRY(tern_fork_check());
    return TERN_OK;
}

// The tag of a scalar is looked up once, when it is pushed: that is cheap.
tern_status tern_logger_check_entry(const char *op, tern_logger *logger, const char *tag,
                                    tern_log_kind kind, int64_t step)
{
    const char *kept;
    TERN_TRY(tern_logger_check(op, logger));
    if (!tag)
        return tern_null_error(op, "tag");
    TERN_CHECK(step >= 0, TERN_ERR_ARG, "%s: step is %lld, not 0 or more", op, (long long)step);
    if (kind == TERN_ENTRY_SCALAR)
        return TERN_OK;
    pthread_mutex_lock(&logger->lock);
    const tern_status status = tern_log_tag_find(&logger->tags, op, tag, kind, &kept);
    pthread_mutex_unlock(&logger->lock);
    return status;
}

// ---- payloads -----------------------------------------------------------------------------------

tern_log_payload *tern_log_payload_new(size_t nbytes)
{
    tern_log_payload *payload = tern_mem_alloc(sizeof *payload + nbytes);
    if (!payload)
        return NULL;
    payload->nbytes = sizeof *payload + nbytes;
    payload->cost = (int64_t)payload->nbytes;
    return payload;
}

void tern_log_payload_free(tern_log_payload *payload)
{
    if (!payload)
        return;
    for (int i = 0; i < 2; i++)
        tern_tensor_release(payload->tensors[i]);
    tern_mem_free(payload, payload->nbytes);
}

// ---- the ring -----------------------------------------------------------------------------------

static int64_t used_of(const tern_logger *logger)
{
    return atomic_load_explicit(&logger->tail, memory_order_relaxed) -
           atomic_load_explicit(&logger->head, memory_order_acquire);
}

static bool fits(const tern_logger *logger, int64_t nbytes)
{
    return !logger->off && used_of(logger) < logger->capacity &&
           atomic_load_explicit(&logger->nbytes, memory_order_relaxed) + nbytes <=
               logger->max_bytes;
}

bool tern_logger_is_full(tern_logger *logger, int64_t nbytes)
{
    if (fits(logger, nbytes))
        return false;
    atomic_fetch_add_explicit(&logger->dropped, 1, memory_order_relaxed);
    return true;
}

double tern_logger_time(tern_logger *logger)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const double time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (time > logger->last_time)
        logger->last_time = time;
    return logger->last_time;
}

// With the lock held.
static bool append(tern_logger *logger, tern_log_entry *entry)
{
    const int64_t tail = atomic_load_explicit(&logger->tail, memory_order_relaxed);
    const int64_t cost = entry->has_payload ? entry->payload->cost : 0;
    if (tern_logger_is_full(logger, cost))
        return false;
    entry->time = tern_logger_time(logger);
    logger->ring[tail % logger->capacity] = *entry;
    atomic_fetch_add_explicit(&logger->nbytes, cost, memory_order_relaxed);
    atomic_store_explicit(&logger->tail, tail + 1, memory_order_release);
    return true;
}

// ---- the writer is told -------------------------------------------------------------------------

// It looks by itself in a moment; before the ring is full it is woken, unless that would wait.
static void wake_writer(tern_logger *logger)
{
    if (pthread_mutex_trylock(&logger->wake))
        return;
    logger->urgent = true;
    pthread_cond_signal(&logger->work);
    pthread_mutex_unlock(&logger->wake);
}

// Without a thread whoever logs writes, now and then. An error that is pending is not mixed with
// what the writer meets.
static void write_here(tern_logger *logger)
{
    if (tern_error_pending() || pthread_mutex_trylock(&logger->wake))
        return;
    tern_logger_drain(logger);
    pthread_mutex_unlock(&logger->wake);
}

tern_status tern_logger_push(const char *op, tern_logger *logger, tern_log_entry entry,
                             const char *tag)
{
    pthread_mutex_lock(&logger->lock);
    tern_status status =
        tag ? tern_log_tag_find(&logger->tags, op, tag, entry.kind, &entry.tag) : TERN_OK;
    const bool kept = !status && append(logger, &entry);
    const bool is_half_full = kept && used_of(logger) == logger->capacity / 2;
    const bool is_due = kept && !logger->thread && entry.time > logger->last_due + 0.1;
    if (is_due)
        logger->last_due = entry.time;
    pthread_mutex_unlock(&logger->lock);
    if (!kept && entry.has_payload)
        tern_log_payload_free(entry.payload);
    if (is_half_full && logger->thread)
        wake_writer(logger);
    if ((is_half_full || is_due) && !logger->thread)
        write_here(logger);
    return status;
}
