// SPDX-License-Identifier: Apache-2.0
// What threads that log do.
#include "train/log/queue.h"

#include "train/log/ring.h"
#include "train/log/writer.h"

// A call that is refused behind this leaves no tag. That of a scalar is looked up once, when it is
// pushed: that is cheap.
tern_status tern_logger_check_entry(const char *op, tern_logger *logger, const char *tag,
                                    tern_log_kind kind, int64_t step)
{
    TERN_TRY(tern_logger_check(op, logger));
    if (!tag)
        return tern_null_error(op, "tag");
    TERN_CHECK(step >= 0, TERN_ERR_ARG, "%s: step is %lld, not 0 or more", op, (long long)step);
    if (kind == TERN_ENTRY_SCALAR)
        return TERN_OK;
    pthread_mutex_lock(&logger->lock);
    const tern_status status = tern_log_tag_find(&logger->tags, op, tag, kind, NULL);
    pthread_mutex_unlock(&logger->lock);
    return status;
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
    const bool kept = !status && tern_log_ring_append(logger, &entry);
    const bool is_half_full = kept && tern_log_ring_used(logger) == logger->capacity / 2;
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

tern_status tern_logger_push_payload(const char *op, tern_logger *logger, tern_log_kind kind,
                                     int64_t step, tern_log_payload *payload, const char *tag)
{
    const tern_log_entry entry = {
        .kind = kind, .step = step, .has_payload = true, .payload = payload};
    return payload ? tern_logger_push(op, logger, entry, tag) : TERN_OK;
}
