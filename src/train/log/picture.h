// SPDX-License-Identifier: Apache-2.0
// Confusion matrices for TensorBoard, which has no kind for them: as an image, and as a table.
#ifndef TERN_SRC_TRAIN_LOG_PICTURE_H
#define TERN_SRC_TRAIN_LOG_PICTURE_H

#include "image/image.h"
#include "train/log/bytes.h"
#include "train/log/values.h"

// More classes make no table.
#define TERN_LOG_TABLE_CLASSES 32

// A PNG: the darker a cell, the more of its row's targets are predicted so.
tern_status tern_log_matrix_draw(const char *op, const tern_log_matrix *matrix,
                                 tern_image_bytes *png);
// Pixels of a side of it.
int64_t tern_log_matrix_side(int64_t size);

// A table in Markdown.
void tern_log_matrix_table(tern_log_bytes *to, const tern_log_matrix *matrix);

#endif
