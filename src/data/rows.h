// SPDX-License-Identifier: Apache-2.0
// Gathering rows of host memory into a batch, in parallel where it pays.
#ifndef TERN_SRC_DATA_ROWS_H
#define TERN_SRC_DATA_ROWS_H

#include <stddef.h>
#include <stdint.h>

// to[i] = from[index[i]] for rows of `nbytes` bytes.
void tern_rows_copy(void *to, const void *from, int64_t nbytes, const int64_t *index,
                    int64_t count);

// The same for rows of `cols` bytes, each divided by 255.
void tern_rows_scale(float *to, const uint8_t *from, int64_t cols, const int64_t *index,
                     int64_t count);

#endif
