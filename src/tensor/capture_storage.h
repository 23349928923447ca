// SPDX-License-Identifier: Apache-2.0
// The memory that captured work uses.
#ifndef TERN_SRC_TENSOR_CAPTURE_STORAGE_H
#define TERN_SRC_TENSOR_CAPTURE_STORAGE_H

#include "base/pointer_map.h"
#include "device/capture.h"
#include "tensor/tensor.h"

// Memory that the graph uses and did not make itself.
typedef struct tern_captured_storage {
    tern_storage *storage; // held
    uint64_t version;      // at its first use
    bool written;
    char label[TERN_LABEL_SIZE];
} tern_captured_storage;

// A capture with what it notes of tensors; every capture of a thread is one.
typedef struct tern_tensor_capture {
    tern_capture base;
    bool clears_faults; // begins, before any optimizer, with zero_grad
    tern_captured_storage *storages;
    int64_t storage_count, storage_capacity;
    struct tern_captured_leaf *leaves;
    tern_pointer_map leaf_map; // leaf -> its number
    int64_t leaf_count, leaf_capacity;
} tern_tensor_capture;

// The storage is used by captured work: the graph holds it. `label` is the tensor's. For the
// capture that the calling thread is in.
void tern_capture_storage(tern_storage *s, const char *label);
// The storage was made by captured work: its memory belongs to the graph already.
void tern_capture_made(tern_storage *s);
// Whether the graph uses the storage or made it.
bool tern_capture_knows(const tern_tensor_capture *capture, const tern_storage *s);

#endif
