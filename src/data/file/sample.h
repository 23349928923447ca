// SPDX-License-Identifier: Apache-2.0
// Samples of an image and its class.
#ifndef TERN_SRC_DATA_FILE_SAMPLE_H
#define TERN_SRC_DATA_FILE_SAMPLE_H

#include <tern/data.h>
#include "image/image.h"

// The options of datasets of images: samples of one data set have one number of channels.
tern_status tern_image_sample_check(const char *op, const tern_image_form *form);

// x and y = label; NULL for x is the failure that made it.
tern_status tern_image_sample(const char *op, tern_tensor *x, int64_t label, tern_sample *out);

#endif
