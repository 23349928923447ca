// SPDX-License-Identifier: Apache-2.0
// Threads that make the batches of an epoch ahead of who asks
// for them, in a ring: batches are handed out in the order in which they were asked for, whichever
// thread made them, and have the same bits.
#ifndef TERN_SRC_DATA_LOADER_WORKERS_H
#define TERN_SRC_DATA_LOADER_WORKERS_H

#include "data/loader/make.h"

typedef struct tern_loader_workers tern_loader_workers;

typedef struct tern_workers_plan {
    tern_batch_recipe recipe;
    tern_sample_context context; // of the epoch; worker and workers are filled in
    int workers;
    int64_t ahead;      // batches on their way, >= 1
    int64_t batch_size; // of the largest batch
    double timeout;     // seconds, 0: none
    tern_worker_init_fn *init;
    void *user;        // of init
    const void *owner; // the loader
} tern_workers_plan;

// NULL with TERN_ERR_NOMEM; and without an error where no thread can be started.
tern_loader_workers *tern_loader_workers_begin(const tern_workers_plan *plan);
// Where the numbers of another batch go, which tern_loader_workers_submit says the count of; NULL
// when as many as may be are on their way. Makes the batch that was taken last invalid.
int64_t *tern_loader_workers_next_index(tern_loader_workers *workers);
void tern_loader_workers_submit(tern_loader_workers *workers, int64_t size);
// Waits for the oldest batch that was submitted, whose references become the caller's; its index
// stays the ring's. A failure is raised here, and the next call makes the same batch again.
tern_status tern_loader_workers_take(tern_loader_workers *workers, tern_batch *out);
// Waits until no thread makes a batch any more, up to the timeout. NULL is fine.
void tern_loader_workers_end(tern_loader_workers *workers);
// No thread makes a batch between the two: the dataset is the caller's alone. NULL is fine.
void tern_loader_workers_pause(tern_loader_workers *workers);
void tern_loader_workers_resume(tern_loader_workers *workers);
// Whether the calling thread makes batches for a loader, or for one that a dataset of it asks.
bool tern_works_for_loader(const void *loader);

#endif
