// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DEVICE_VISIBLE_H
#define TERN_SRC_DEVICE_VISIBLE_H

#include <stddef.h>

// Where CUDA_VISIBLE_DEVICES is set, writes `; CUDA_VISIBLE_DEVICES is "1,9"` and which of its
// words named no device, when it made `count` devices visible; else "".
void tern_visible_describe(char *text, size_t size, int count);

#endif
