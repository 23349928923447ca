// SPDX-License-Identifier: Apache-2.0
/// @file
/// What losses make of the samples' values.
#ifndef TERN_REDUCTION_H
#define TERN_REDUCTION_H

#include <tern/base.h>

TERN_BEGIN_DECLS

/// What becomes of the losses of the samples.
typedef enum tern_reduction {
    TERN_REDUCTION_UNSPECIFIED = 0, ///< mean
    TERN_REDUCTION_MEAN,            ///< their mean, 0-dim
    TERN_REDUCTION_SUM,             ///< their sum, 0-dim
    TERN_REDUCTION_NONE,            ///< they stay, one each
    TERN_REDUCTION_BATCHMEAN        ///< of kl_div alone: their sum over the first size
} tern_reduction;

TERN_END_DECLS

#endif
