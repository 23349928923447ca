// SPDX-License-Identifier: Apache-2.0
// Replicas of a module on other devices, kept from forward to forward: their structs while the
// module is made of the same modules and tensors, their memory while values are the same.
#ifndef TERN_SRC_PARALLEL_REPLICAS_H
#define TERN_SRC_PARALLEL_REPLICAS_H

#include "nn/module/module.h"

typedef struct tern_replicas tern_replicas;

// None yet, for those devices; the module's own tensors are on the first. NULL raises.
tern_replicas *tern_replicas_new(const tern_device *devices, int count);
void tern_replicas_free(tern_replicas *replicas); // NULL is fine

// Brings the replicas on the first `used` devices up to date, and makes their parameters results of
// the module's, so that gradients arrive there. Backward adds those of device 1, 2, ... in order.
// Their tensors stay until the next time.
tern_status tern_replicas_update(const char *function, tern_replicas *replicas, tern_module *module,
                                 int used);
// Frees the replicas, which the next update makes anew.
void tern_replicas_clear(tern_replicas *replicas);
// The replica on device 1, 2, ..., which stays theirs.
tern_module *tern_replicas_at(const tern_replicas *replicas, int index);
// The same, with a reference to it, tensors and all: the caller's from now on.
tern_module *tern_replicas_take(tern_replicas *replicas, int index);

#endif
