// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dropout: what is left out at random in training.
///
///     tern_tensor *y = tern_dropout(x, 0.5, tern_module_is_training(net));
///
/// Each returns a new temporary of the innermost scope, or x itself with training false, or NULL
/// with a pending error: TERN_ERR_ARG for a p outside 0 to 1, TERN_ERR_DTYPE for an x that is not
/// floating, TERN_ERR_SHAPE for other dimensions than are said. Masks come from Philox4x32-10 by
/// element (or channel) and call, the same bits on every device. With p = 1 all elements are 0.
/// Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_DROPOUT_H
#define TERN_OPS_DROPOUT_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// Each element is zeroed with probability p, the others are divided by 1 - p.
TERN_API tern_tensor *tern_dropout(tern_tensor *x, double p, bool training);
/// Likewise each channel of x (N, C, L) or (C, L).
TERN_API tern_tensor *tern_dropout1d(tern_tensor *x, double p, bool training);
/// Likewise each channel of x (N, C, H, W).
TERN_API tern_tensor *tern_dropout2d(tern_tensor *x, double p, bool training);
/// Likewise each channel of x (N, C, D, H, W) or (C, D, H, W).
TERN_API tern_tensor *tern_dropout3d(tern_tensor *x, double p, bool training);
/// Each element becomes SELU's limit, -1.7580993408473766, with probability p; then all are scaled
/// and shifted so that mean 0 and variance 1 stay (Klambauer et al. 2017).
TERN_API tern_tensor *tern_alpha_dropout(tern_tensor *x, double p, bool training);

TERN_END_DECLS

#endif
