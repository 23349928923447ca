// SPDX-License-Identifier: Apache-2.0
#include "train/log/exit.h"

#include <stdlib.h>
#include "base/process.h"
#include "train/log/writer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tern_logger *alive;

// A forked child has no writer, and its parent's files are none of its business.
static void end_all(void)
{
    if (tern_forked())
        return;
    pthread_mutex_lock(&lock);
    for (tern_logger *logger = alive; logger; logger = logger->next) {
        tern_logger_end(logger, TERN_RUN_STOPPED);
        logger->off = true;
    }
    pthread_mutex_unlock(&lock);
}

static void watch_exit(void)
{
    (void)atexit(end_all);
}

void tern_logger_register(tern_logger *logger)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_exit);
    pthread_mutex_lock(&lock);
    logger->next = alive;
    alive = logger;
    pthread_mutex_unlock(&lock);
}

void tern_logger_unregister(tern_logger *logger)
{
    pthread_mutex_lock(&lock);
    for (tern_logger **at = &alive; *at; at = &(*at)->next)
        if (*at == logger) {
            *at = logger->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}
