// SPDX-License-Identifier: Apache-2.0
// What tern's own metadata say of a safetensors file: see safetensors.h.
#ifndef TERN_SRC_IO_SAFETENSORS_STATE_H
#define TERN_SRC_IO_SAFETENSORS_STATE_H

#include "io/archive.h"

// The version of tern.state.
#define TERN_SAFETENSORS_STATE_VERSION 1

// Texts of the metadata that are tern's own; NULL: it is not there.
typedef struct tern_safetensors_words {
    const char *sums, *header_sum, *tied, *state;
} tern_safetensors_words;

// Takes over from tensors to all values, and ties what was one tensor.
tern_status tern_safetensors_restore(tern_archive *archive, const tern_safetensors_words *words);

#endif
