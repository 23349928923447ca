// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_TENSOR_SCOPE_H
#define TERN_SRC_TENSOR_SCOPE_H

// Closes every frame of the calling thread, the root one included, and frees what they took.
void tern_scope_shutdown(void);

#endif
