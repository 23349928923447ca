// SPDX-License-Identifier: Apache-2.0
// PyTorch's promotion of dtypes.
#ifndef TERN_SRC_OPS_PROMOTE_H
#define TERN_SRC_OPS_PROMOTE_H

#include <tern/dtype.h>

// PyTorch's promotion of two dtypes of the same standing.
tern_dtype tern_promote_dtypes(tern_dtype a, tern_dtype b);
// What tensors with dimensions (`array`) and 0-dim ones (`scalar`) meet in; unspecified: none.
tern_dtype tern_promote_standing(tern_dtype array, tern_dtype scalar);

#endif
