// SPDX-License-Identifier: Apache-2.0
// What the reader and the writer of safetensors share.
//
// The file: a 64-bit length N, N bytes of JSON, then the elements of all tensors without gaps.
//     {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"__metadata__":{"key":"text"}}
// Source: the format's own page (github.com/huggingface/safetensors) and its library, 0.8.0.
//
// tern's metadata: tern.crc32c, the CRC-32C of each tensor's elements in the order of the offsets;
// tern.header_crc32c, that of the JSON with eight zeros in its own place; tern.tied, the names that
// are one tensor with another, {"name":"first name"}; tern.state, the names of all values in their
// order where some are no tensors:
//     {"version":1,"values":{"weight":null,"step":12,"lr":{"double":"0x1p-3"},
//                            "name":{"text":"a"},"rng":{"bytes":5056}}}
#ifndef TERN_SRC_IO_SAFETENSORS_H
#define TERN_SRC_IO_SAFETENSORS_H

#include <tern/dtype.h>

typedef struct tern_safetensors_dtype {
    const char *name;
    int bits; // of an element
    tern_dtype dtype;
} tern_safetensors_dtype;

// In the order in which the library sorts them; the end has no name.
extern const tern_safetensors_dtype tern_safetensors_dtypes[];

#endif
