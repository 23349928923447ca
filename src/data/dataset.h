// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_DATASET_H
#define TERN_SRC_DATA_DATASET_H

#include <tern/data.h>
#include "base/error.h"

// tern_dataset_get in the name of `op`; the numbers are known to be in range.
tern_status tern_dataset_fetch(const char *op, tern_dataset *dataset,
                               const tern_sample_context *context, const int64_t *index,
                               int64_t count, tern_batch *out);

// tern_dataset_item for a class that has one, likewise; recording is off. At the end of a stream
// `out->count` is 0.
tern_status tern_dataset_make_item(const char *op, const tern_dataset *dataset,
                                   const tern_sample_context *context, int64_t index,
                                   tern_sample *out);
// One sample of any class, likewise.
tern_status tern_dataset_make_sample(const char *op, tern_dataset *dataset,
                                     const tern_sample_context *context, int64_t index,
                                     tern_sample *out);
// A batch of such items; recording is off. Its tensors are temporaries of the innermost scope. A
// stream is asked for its next `count` samples, of which there may be fewer, none: `out->count` 0.
tern_status tern_dataset_stack(const char *op, const tern_dataset *dataset,
                               const tern_sample_context *context, const int64_t *index,
                               int64_t count, tern_batch *out);

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
tern_status tern_check_dataset(const char *function, const tern_dataset *dataset);

// The status of a call of the class: a failure without a word is said; an error that has become
// pending is a failure.
tern_status tern_dataset_check_result(const char *op, const tern_dataset *dataset,
                                      tern_status status, bool failed_before, const char *what);
// What `name` gave is 1 to TERN_BATCH_TENSORS tensors that live.
tern_status tern_dataset_check_tensors(const char *op, const char *name, int count,
                                       tern_tensor *const *at);

// Around a call of the class: what the calling thread's datasets are asked with meanwhile. Returns
// what it was before, which goes back afterwards.
const tern_sample_context *tern_dataset_set_context(const tern_sample_context *context);
// What a dataset is asked with outside a loader: zeros, or what is due inside another dataset.
tern_sample_context tern_dataset_context(void);
// What dataset `number` inside one that is asked with `context` is asked with, so that the draws of
// two of them, and the outer one's own, have nothing in common. UINT64_MAX: the only one.
tern_sample_context tern_dataset_inner_context(const tern_sample_context *context, uint64_t number);

// For messages; never NULL.
const char *tern_dataset_name(const tern_dataset *dataset);

// tern_dataset_sample_name for a number that is in range.
bool tern_dataset_write_sample_name(const tern_dataset *dataset, int64_t index, char *buffer,
                                    size_t size);

// A reference of a loader, or of a call in progress, which users cannot give back.
tern_dataset *tern_dataset_retain_internal(tern_dataset *dataset);
void tern_dataset_release_internal(tern_dataset *dataset);

// Holds the tensors on another device instead, or fails and changes nothing; waits.
tern_status tern_dataset_move(tern_tensor **slots, int count, tern_device device);

// Whether one thread at a time may ask it.
bool tern_dataset_is_serial(const tern_dataset *dataset);
// Whether it, or what it is over, has something to save.
bool tern_dataset_has_state(const tern_dataset *dataset);
// So many more workers of loaders ask it, and what it is over; while any does it cannot be moved.
void tern_dataset_count_workers(tern_dataset *dataset, int more);

// tern_dataset_count in the name of `op`: the number of samples, or -1 with an error.
int64_t tern_dataset_count_for(const char *op, const tern_dataset *dataset);

#endif
