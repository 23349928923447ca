// SPDX-License-Identifier: Apache-2.0
// Tensors on their way to the writer: a copy on their own device, made in its order of work, and
// later in host memory, for which the writer alone waits.
#ifndef TERN_SRC_TRAIN_LOG_SNAPSHOT_H
#define TERN_SRC_TRAIN_LOG_SNAPSHOT_H

#include <tern/cuda.h>
#include "device/dtype.h"
#include "tensor/tensor.h"
#include "train/log/state.h"

// What every call with a tensor checks of it.
tern_status tern_log_check_tensor(const char *op, const char *name, const tern_tensor *t);

// A payload that holds copies of one or two tensors (`b` may be NULL) and `nbytes` bytes. NULL, and
// TERN_OK, where the queue is full.
tern_status tern_log_snapshot(tern_logger *logger, const tern_tensor *a, const tern_tensor *b,
                              size_t nbytes, tern_log_payload **payload);

// Streams of the calling thread's own, one for each CUDA device that it copies from: what it waits
// for is then no work of other threads that comes behind the tensors.
typedef struct tern_log_streams {
    bool begun[TERN_MAX_DEVICES];
    tern_cuda_stream *own[TERN_MAX_DEVICES];
    tern_cuda_stream *before[TERN_MAX_DEVICES];
} tern_log_streams;
void tern_log_streams_begin(tern_log_streams *streams); // zeroed; stays where it is until the end
void tern_log_streams_end(tern_log_streams *streams);

// The tensor as a contiguous one of that dtype in host memory: itself, or a temporary of the
// innermost scope. Waits for its device, without looking for faults: they are the training's. NULL
// on failure.
const tern_tensor *tern_log_on_host(const tern_tensor *t, tern_dtype dtype);
static inline const void *tern_log_host_data(const tern_tensor *t)
{
    return (const char *)t->storage->data + t->offset * tern_element_size(t->dtype);
}

#endif
