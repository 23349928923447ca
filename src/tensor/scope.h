// SPDX-License-Identifier: Apache-2.0
// Scopes: who owns temporaries.
#ifndef TERN_SRC_TENSOR_SCOPE_H
#define TERN_SRC_TENSOR_SCOPE_H

#include "tensor/tensor.h"

// The scope of a loader's next batch: closes that of its last batch and the scopes inside it, but
// not the scopes of other loaders' batches nor what was opened inside those. Returns the number of
// the new scope, or 0 on failure.
tern_scope tern_scope_next_batch(tern_scope last);
// Closes the scope of the last batch in the same way, without opening another.
void tern_scope_end_batch(tern_scope last);
// Makes a tensor a temporary of the innermost scope, which takes over the caller's reference.
tern_status tern_scope_adopt(tern_tensor *t);

// The calling thread has a root scope: then its end is noticed.
tern_status tern_scope_ensure_root(void);

// What the end of a thread that opened a scope runs: after its scopes were closed, and before,
// which tern_scope_shutdown runs too.
void tern_scope_at_thread_end(void (*run)(void));
void tern_scope_before_thread_end(void (*run)(void));

// Closes every scope of the calling thread, the root one included, and frees what they took.
void tern_scope_shutdown(void);

#endif
