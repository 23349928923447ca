// SPDX-License-Identifier: Apache-2.0
// What the parts of a loader share: making and freeing, batch after batch, loops inside loops.
#ifndef TERN_SRC_DATA_LOADER_LOADER_H
#define TERN_SRC_DATA_LOADER_LOADER_H

#include <tern/loader.h>
#include "base/mt19937.h"
#include "data/loader/workers.h"

struct tern_loader {
    tern_dataset *dataset; // NULL: the loader was freed
    int64_t batch_size;
    bool shuffle, drop_last;
    tern_device device; // where batches go; unspecified: they stay where the dataset makes them
    tern_device batch_device; // of the last batch
    tern_generator *own;      // NULL: the default generator
    tern_sampler *sampler;    // NULL: all samples
    int worker_count;
    int64_t prefetch;
    double timeout;
    tern_collate_fn *collate;
    tern_worker_init_fn *worker_init;
    void *user;
    tern_scope scope; // of the last batch; 0: none
    tern_batch batch; // its tensors are held
    int64_t *order;   // sample numbers of the epoch when shuffling or sampling, else of the batch
    int64_t capacity; // of order
    int64_t *sizes;   // of the epoch's batches, of a sampler that gives them; else NULL
    int64_t sizes_capacity;
    int64_t batches;                      // in sizes
    tern_loader_workers *workers;         // of the epoch in progress, once they began
    int64_t submitted, submitted_batches; // samples and batches that they have or had
    bool running;                         // an epoch is in progress
    bool resumed;                         // it was loaded, and is the next loop's
    bool asking;                          // the dataset, whose functions may not change this loader
    bool stream_due;  // a loaded epoch of a stream begins with samples to leave out
    bool order_ended; // tern_order_end was called for it
    bool order_due;   // a sampler's order of a loaded epoch is to be drawn again
    int64_t samples;  // in the epoch
    int64_t done;     // samples handed out
    int64_t epoch, position;
    tern_sample_context context;  // of the epoch's samples
    tern_mt19937 start;           // the generator before the epoch's draws
    tern_generator *saved;        // where it is saved from and loaded to
    int64_t began, ended, waited; // nanoseconds of the epoch; ended 0: it has not
    int depth;                    // epochs set aside
    tern_loader *outer;           // the last of them: the loader as it was
};

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
tern_status tern_check_loader(const char *function, const tern_loader *loader);
// The same for what changes the loader, which its dataset may not while it is asked.
tern_status tern_check_loader_change(const char *function, const tern_loader *loader);

// Ends the last batch: its tensors and what the thread made since.
void tern_loader_end_batch(tern_loader *loader);
// Ends the epochs begun since `depth` of them were set aside.
void tern_loader_go_back(tern_loader *loader, int depth);

// Whether the dataset is a stream, whose samples have no number.
bool tern_loader_streams(const tern_loader *loader);
// Whether the dataset is a stream, whose samples have no number.
bool tern_loader_streams(const tern_loader *loader);
// An epoch of a stream begins: its first sample is the next one.
tern_status tern_loader_begin_stream(tern_loader *loader);
// Leaves out the samples that were handed out of a loaded epoch, unless the stream knows them.
tern_status tern_loader_catch_up(tern_loader *loader);
// The size of the batch that a stream made, which was asked for `size` samples. A short one is its
// last; 0 where that is left out, or there is none.
int64_t tern_loader_size_of_stream(tern_loader *loader, int64_t size);
// Batches in an epoch of so many samples.
int64_t tern_loader_batches_of(const tern_loader *loader, int64_t samples);

// How many samples an epoch has, or -1 with an error; asks the dataset.
int64_t tern_loader_count_samples(const char *op, tern_loader *loader);
// Room for the sample numbers of an epoch.
tern_status tern_loader_reserve(tern_loader *loader, int64_t samples);
// Ends the workers; what they have made ahead is lost, and may be made again.
void tern_loader_stop_workers(tern_loader *loader);
// Ends the epoch in progress, if there is one, and its workers.
void tern_loader_leave(tern_loader *loader);
// No error is pending, and none is found that a kernel reported.
bool tern_loader_may_go_on(tern_loader *loader);
// Begins an epoch. Asks the dataset, which must not change the loader meanwhile.
tern_status tern_loader_begin(tern_loader *loader);
// The next batch of the epoch in progress, or its end.
bool tern_loader_hand_out(tern_loader *loader, tern_batch *batch);

#endif
