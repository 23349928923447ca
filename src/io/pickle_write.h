// SPDX-License-Identifier: Apache-2.0
// Writes pickles of protocol 2 as torch.load reads them, without a memo.
#ifndef TERN_SRC_IO_PICKLE_WRITE_H
#define TERN_SRC_IO_PICKLE_WRITE_H

#include "io/body.h"
#include "tensor/tensor.h"

// A whole file of PyTorch's in the making. The first failure is kept, and later calls do nothing.
typedef struct tern_torch_writer {
    tern_status status;
    unsigned char *bytes; // the pickle
    int64_t used, capacity;
    tern_body *storages; // by key
    int64_t count, storage_capacity;
} tern_torch_writer;

void tern_torch_write_begin(tern_torch_writer *writer);
void tern_torch_write_none(tern_torch_writer *writer);
void tern_torch_write_bool(tern_torch_writer *writer, bool value);
void tern_torch_write_int(tern_torch_writer *writer, int64_t value);
void tern_torch_write_double(tern_torch_writer *writer, double value);
// UTF-8.
void tern_torch_write_text(tern_torch_writer *writer, const char *text);
// A pair of numbers as a tuple.
void tern_torch_write_tuple(tern_torch_writer *writer, int count);

// Keys and values go between the two; the end is told where it began.
int64_t tern_torch_write_dict(tern_torch_writer *writer, bool ordered);
void tern_torch_write_dict_end(tern_torch_writer *writer, int64_t begin);
int64_t tern_torch_write_list(tern_torch_writer *writer);
void tern_torch_write_list_end(tern_torch_writer *writer, int64_t begin);

// The key of a new storage: elements that stay where they are until the file is written.
int64_t tern_torch_write_storage(tern_torch_writer *writer, tern_body body);
// All of a storage as a contiguous tensor.
void tern_torch_write_tensor(tern_torch_writer *writer, int64_t storage, tern_dtype dtype,
                             tern_shape shape);

// Ends the pickle and appends the archive.
tern_status tern_torch_write_end(tern_torch_writer *writer, tern_save *save);
void tern_torch_writer_free(tern_torch_writer *writer); // a zeroed one is fine

#endif
