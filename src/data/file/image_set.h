// SPDX-License-Identifier: Apache-2.0
// Images of one size and their labels, all as bytes in memory: what MNIST's and CIFAR's files have.
#ifndef TERN_SRC_DATA_FILE_IMAGE_SET_H
#define TERN_SRC_DATA_FILE_IMAGE_SET_H

#include <tern/datasets.h>
#include "data/dataset.h"

// What the struct of such a dataset begins with. A batch has x float32 (N, C, H, W) = byte / 255
// and y int64 (N).
typedef struct tern_image_set {
    tern_dataset base;
    tern_tensor *at[2]; // held: images uint8 (N, C, H, W), labels uint8 (N); contiguous
} tern_image_set;

// Functions of its class.
int64_t tern_image_set_count(const tern_dataset *dataset);
tern_status tern_image_set_get(const tern_dataset *dataset, const tern_sample_context *context,
                               const int64_t *index, int64_t count, tern_batch *out);
void tern_image_set_free(tern_dataset *dataset);
tern_status tern_image_set_to(tern_dataset *dataset, tern_device device);

// Which of the two splits; refuses what is none.
tern_status tern_check_split(const char *op, tern_data_split split);

#endif
