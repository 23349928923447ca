// SPDX-License-Identifier: Apache-2.0
// What a module is inside the library: the registry of its tensors, children and hooks.
#ifndef TERN_SRC_NN_MODULE_H
#define TERN_SRC_NN_MODULE_H

#include <stdatomic.h>
#include <tern/module.h>
#include "base/error.h"
#include "base/fork.h"
#include "ops/op.h"

// The deepest nesting; walks recurse that far at most.
#define TERN_MODULE_DEPTH 64

typedef struct tern_module_tensor {
    char *name;
    tern_tensor *tensor; // held
    bool persistent;
} tern_module_tensor;

typedef struct tern_module_tensors {
    tern_module_tensor *at;
    int64_t count, capacity;
} tern_module_tensors;

typedef struct tern_module_link {
    char *name;
    tern_module *module;   // owned
    _Atomic uint64_t path; // of the parent << 32 | its own there, as of the last forward
} tern_module_link;

// One of `before` and `after` is set; both NULL: removed, and waiting to be swept.
typedef struct tern_module_hook {
    uint64_t number;
    tern_forward_pre_hook_fn *before;
    tern_forward_hook_fn *after;
    void *user;
    tern_free_fn *free; // NULL: user is not the module's
} tern_module_hook;

typedef struct tern_module_private {
    _Atomic int64_t refs;
    _Atomic int64_t places; // in parents: so many of the references are theirs
    tern_module *self;
    tern_module *parent; // that took it last, for its name in messages; not held
    bool training;
    bool done;             // the constructor is through: nothing may be added
    bool failed;           // an addition failed
    _Atomic int running;   // forwards and walks in progress, on any thread, each with a reference
    int depth;             // of the tree below
    _Atomic uint64_t path; // as in a link: where it runs as nobody's child
    tern_scope scope;      // of the constructor
    tern_module_tensors parameters, buffers;
    tern_module_link *children;
    int64_t child_count, child_capacity;
    tern_module_hook *hooks;
    int64_t hook_count, hook_capacity;
    void *user; // the program's
    tern_free_fn *user_free;
} tern_module_private;

// A freed module is found while its memory is kept.
static inline tern_status tern_check_not_freed(const char *function, const tern_module *module)
{
    TERN_CHECK(module->private_, TERN_ERR_STATE, "%s: this %s was freed already", function,
               module->klass->name);
    return TERN_OK;
}

// NULL follows the rule of pending errors; a freed one is refused, and a forked child may not use
// it.
static inline tern_status tern_check_module(const char *function, const tern_module *module)
{
    if (!module)
        return tern_null_error(function, "module");
    TERN_TRY(tern_check_not_freed(function, module));
    return tern_fork_check();
}

// Keep a module that runs or is walked over: callbacks may give back the program's references, not
// this one.
void tern_module_begin_run(tern_module *module);
void tern_module_end_run(tern_module *module);

// Calls `visit` for the module and everything below, as often as it is there. Allocates nothing.
typedef void tern_module_visit_fn(tern_module *module, void *user);
void tern_module_visit(tern_module *module, tern_module_visit_fn *visit, void *user);

// Modules see outputs of every forward of this thread while one is set; users' hooks rest.
typedef void tern_forward_observer_fn(tern_module *module, const tern_tensors *out, void *user);
typedef struct tern_forward_observer {
    tern_forward_observer_fn *observe;
    void *user;
} tern_forward_observer;
// Returns the one that was set before; NULL: none.
const tern_forward_observer *tern_forward_observe(const tern_forward_observer *observer);

// True when nothing but its class's call happens in the module's forward.
bool tern_forward_is_plain(const tern_module *module);

// The module that runs on this thread, on the way from the root. Lives on the stack.
typedef struct tern_forward_frame {
    tern_module *module;
    struct tern_forward_frame *outside;
    uint32_t outside_path;
    bool in_hook; // a hook of the module runs
} tern_forward_frame;
tern_status tern_forward_enter(tern_forward_frame *frame, tern_module *module);
void tern_forward_leave(tern_forward_frame *frame);

#endif
