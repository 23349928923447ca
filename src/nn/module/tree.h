// SPDX-License-Identifier: Apache-2.0
// The modules of a tree copied, each once, with its struct; who copies says what becomes of their
// tensors. And shadows: such copies whose tensors are others at every forward.
#ifndef TERN_SRC_NN_MODULE_TREE_H
#define TERN_SRC_NN_MODULE_TREE_H

#include "nn/module/copied_map.h"
#include "nn/module/module.h"

typedef struct tern_tree_copy {
    const char *function; // in messages
    // What stands for a tensor of the owner, borrowed; NULL raises. Without it there is none.
    tern_tensor *(*tensor)(const tern_module *owner, const tern_module_tensor *from, void *user);
    void *user;
    bool shares_user; // the copies live no longer than the originals, whose users they may have
    tern_copied_map modules; // of the originals, children before parents; a reference to each copy
} tern_tree_copy;

// Copies all modules of the tree. What was copied until a failure is in `copy->modules`.
tern_status tern_tree_copy_modules(tern_tree_copy *copy, const tern_module *module);
// The class's own part of a copy, when everything that is registered is there.
tern_status tern_tree_complete(const char *function, tern_module *to, const tern_module *from);
void tern_tree_copy_free(tern_tree_copy *copy);

// ---- shadows ------------------------------------------------------------------------------------

// Makes a copied module stand for `original`: its place in messages is that of the original.
void tern_module_replica(tern_module *module, tern_module *original);

// Brings a replica up to date: struct, mode, hooks and, in place of the original's parameters, then
// its buffers, `tensors`, NULL where one is absent. What the class made for the replica is made
// anew.
tern_status tern_module_replica_update(const char *function, tern_module *replica,
                                       const tern_module *original, tern_tensor *const *tensors);
// Lets go of its tensors, and of what its class made, until the next update.
void tern_module_replica_release(tern_module *replica);
// From now on the replica holds its original.
void tern_module_replica_retain(tern_module *replica);

#endif
