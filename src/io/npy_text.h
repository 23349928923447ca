// SPDX-License-Identifier: Apache-2.0
// The text in the header of an .npy file: a dictionary as Python writes it, of three keys.
#ifndef TERN_SRC_IO_NPY_TEXT_H
#define TERN_SRC_IO_NPY_TEXT_H

#include <tern/dtype.h>
#include "base/error.h"

typedef struct tern_npy_text {
    const char *descr; // where it begins in the text
    size_t descr_length;
    bool fortran_order;
    int rank;
    int64_t shape[TERN_MAX_RANK];
} tern_npy_text;

// NULL when the text is in order, else what is wrong with it.
const char *tern_npy_text_read(const char *text, size_t length, tern_npy_text *found);

#endif
