// SPDX-License-Identifier: Apache-2.0
// Frames: who owns temporaries.
#ifndef TERN_SRC_TENSOR_SCOPE_H
#define TERN_SRC_TENSOR_SCOPE_H

#include "tensor/tensor.h"

// A loader's frame: closes the frame with number `last` and the scopes above it, but leaves frames
// of other loaders and what stands above those; then opens a new one and returns its number, or 0.
tern_scope tern_frame_next(tern_scope last);
// Closes it in the same way without opening another.
void tern_frame_end(tern_scope last);
// Puts a tensor that the caller holds into the innermost frame; the hold goes over to the frame.
tern_status tern_frame_adopt(tern_tensor *t);

// What the end of a thread that opened a scope runs, after its scopes were closed.
void tern_scope_at_thread_end(void (*run)(void));

// Closes every frame of the calling thread, the root one included, and frees what they took.
void tern_scope_shutdown(void);

#endif
