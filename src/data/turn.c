// SPDX-License-Identifier: Apache-2.0
#include "data/turn.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards the turns of all datasets
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;  // a turn of one of them
static _Thread_local char thread;                        // its address is the thread's name

bool tern_turn_begin(const tern_dataset *dataset)
{
    if (!tern_dataset_is_serial(dataset))
        return false;
    tern_dataset *held = (tern_dataset *)(uintptr_t)dataset; // a turn, no value
    pthread_mutex_lock(&lock);
    while (held->turns_ > 0 && held->turn_ != &thread)
        pthread_cond_wait(&ended, &lock);
    held->turn_ = &thread;
    held->turns_++;
    pthread_mutex_unlock(&lock);
    return true;
}

void tern_turn_end(const tern_dataset *dataset)
{
    tern_dataset *held = (tern_dataset *)(uintptr_t)dataset;
    pthread_mutex_lock(&lock);
    if (--held->turns_ == 0)
        pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
}
