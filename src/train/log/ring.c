// SPDX-License-Identifier: Apache-2.0
#include "train/log/ring.h"

#include <time.h>
#include "base/fork.h"
#include "base/mem.h"
#include "tensor/header.h"

tern_status tern_logger_check(const char *op, const tern_logger *logger)
{
    TERN_CHECK(!logger->freed, TERN_ERR_STATE, "%s: this logger was freed already", op);
    TERN_TRY(tern_fork_check());
    return TERN_OK;
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

int64_t tern_log_ring_used(const tern_logger *logger)
{
    return atomic_load_explicit(&logger->tail, memory_order_relaxed) -
           atomic_load_explicit(&logger->head, memory_order_acquire);
}

static bool fits(const tern_logger *logger, int64_t nbytes)
{
    return !logger->off && tern_log_ring_used(logger) < logger->capacity &&
           atomic_load_explicit(&logger->nbytes, memory_order_relaxed) + nbytes <=
               logger->max_bytes;
}

bool tern_log_ring_is_full(tern_logger *logger, int64_t nbytes)
{
    if (fits(logger, nbytes))
        return false;
    atomic_fetch_add_explicit(&logger->dropped, 1, memory_order_relaxed);
    return true;
}

double tern_log_time(tern_logger *logger)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const double time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (time > logger->last_time)
        logger->last_time = time;
    return logger->last_time;
}

bool tern_log_ring_append(tern_logger *logger, tern_log_entry *entry)
{
    const int64_t tail = atomic_load_explicit(&logger->tail, memory_order_relaxed);
    const int64_t cost = entry->has_payload ? entry->payload->cost : 0;
    if (tern_log_ring_is_full(logger, cost))
        return false;
    entry->time = tern_log_time(logger);
    logger->ring[tail % logger->capacity] = *entry;
    atomic_fetch_add_explicit(&logger->nbytes, cost, memory_order_relaxed);
    atomic_store_explicit(&logger->tail, tail + 1, memory_order_release);
    return true;
}
