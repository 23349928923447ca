// SPDX-License-Identifier: Apache-2.0
// What a file is written of: bytes in memory, or the elements of a tensor that are not one after
// another there, which are gathered piece by piece. A file of expanded tensors, each as large as it
// likes, takes no more memory than a piece.
#ifndef TERN_SRC_IO_BODY_H
#define TERN_SRC_IO_BODY_H

#include "io/save.h"
#include "tensor/tensor.h"

typedef struct tern_body {
    const void *data;          // NULL: those of the tensor
    const tern_tensor *tensor; // on the CPU, borrowed
    int64_t nbytes;            // of all of it
} tern_body;

// Hands all bytes to `take`, in order.
typedef tern_status tern_body_take(void *to, const void *data, size_t nbytes);
tern_status tern_body_each(const tern_body *body, tern_body_take *take, void *to);

tern_status tern_body_write(const tern_body *body, tern_save *save);
// Castagnoli's checksum of it, and zip's, which goes on from *sum.
tern_status tern_body_crc32c(const tern_body *body, uint32_t *sum);
tern_status tern_body_crc32(const tern_body *body, uint32_t *sum);

#endif
