// SPDX-License-Identifier: Apache-2.0
// Where the images come from, and what is done to them.
#ifndef FOLDER_TRAIN_DATA_H
#define FOLDER_TRAIN_DATA_H

#include <tern/tern.h>

typedef struct images {
    tern_dataset *train, *test; // x float32 (3, size, size), y int64; random ones to train with
    int64_t classes;
} images;

// Of DIR/train and DIR/test with a folder for each class, or of such folders in DIR, a fifth of
// whose images is the test set, or of the four files of MNIST. The error is pending on failure.
tern_status images_open(images *set, const char *directory, int64_t size, bool augment);
void images_free(images *set);

#endif
