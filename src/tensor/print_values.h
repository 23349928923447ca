// SPDX-License-Identifier: Apache-2.0
// Between the two halves of printing: which values are shown and how wide, and their layout.
#ifndef TERN_SRC_TENSOR_PRINT_VALUES_H
#define TERN_SRC_TENSOR_PRINT_VALUES_H

#include "tensor/factory.h"

// Above so many elements dimensions longer than two edges are cut.
#define TERN_PRINT_THRESHOLD 1000
#define TERN_PRINT_EDGE      3
#define TERN_PRINT_LINE      80

typedef enum tern_print_style {
    TERN_PRINT_WHOLE,     // 3
    TERN_PRINT_TRUTH,     // true
    TERN_PRINT_POINT,     // 3., for a floating dtype whose values are all whole
    TERN_PRINT_FIXED,     // 3.1416
    TERN_PRINT_SCIENTIFIC // 3.1416e+00
} tern_print_style;

// The values that are shown, in host memory.
typedef struct tern_shown {
    const tern_tensor *t;
    tern_shape shape; // of the values; a cut dimension has two edges
    bool cut[TERN_MAX_RANK];
    int64_t numel;
    void *values; // double for floating dtypes, else int64_t
    tern_print_style style;
    int width;
} tern_shown;

// Fails without anything to free; tern_shown_free takes a zeroed one.
tern_status tern_shown_load(const tern_tensor *t, tern_shown *shown);
void tern_shown_free(tern_shown *shown);
// Value `index` without padding; at most 32 characters, but for whole numbers of a floating dtype.
#define TERN_PRINT_VALUE_SIZE 340
int tern_shown_value(const tern_shown *shown, int64_t index, char *text);

#endif
