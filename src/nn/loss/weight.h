// SPDX-License-Identifier: Apache-2.0
// The weights of losses: buffers, copies of the caller's tensors, so that moving the criterion
// leaves those alone.
#ifndef TERN_SRC_NN_LOSS_WEIGHT_H
#define TERN_SRC_NN_LOSS_WEIGHT_H

#include "nn/layer/layer.h"

// Of an option: alive and floating; NULL is fine.
tern_status tern_loss_check_weight(const char *function, const char *name,
                                   const tern_tensor *weight);
// Likewise, and of one dimension, the classes.
tern_status tern_loss_check_class_weight(const char *function, const tern_tensor *weight);
// What becomes the buffer; NULL of NULL.
tern_tensor *tern_loss_copy_weight(tern_tensor *weight);
// Before a call of the loss: the buffer, or NULL, is where the input is, and of its dtype.
tern_status tern_loss_match_weight(const char *loss, const char *name, const tern_tensor *weight,
                                   const tern_tensor *input);

#endif
