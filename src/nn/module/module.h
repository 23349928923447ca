// SPDX-License-Identifier: Apache-2.0
// What a module is inside the library: the registry of its tensors, children and hooks.
#ifndef TERN_SRC_NN_MODULE_MODULE_H
#define TERN_SRC_NN_MODULE_MODULE_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <tern/module.h>
#include "base/error.h"
#include "base/fork.h"
#include "ops/op.h"

// The deepest nesting; recursion goes no deeper.
#define TERN_MODULE_DEPTH 64

typedef struct tern_module_tensor {
    char *name;
    tern_tensor *tensor; // held; NULL: absent
    size_t member;       // bytes from the module's start to the pointer that is kept right; 0: none
    bool persistent;
    int since; // version of its class that has it; states of older ones may lack it. 0: all have it
} tern_module_tensor;

typedef struct tern_module_tensors {
    tern_module_tensor *at;
    int64_t count, capacity;
} tern_module_tensors;

typedef struct tern_module_link {
    char *name;
    tern_module *module;   // owned
    size_t member;         // as a tensor's
    _Atomic uint64_t path; // of the parent << 32 | its own there, as of the last forward
} tern_module_link;

// One of `before` and `after` is set. Additions and removals of all modules are numbered together,
// so that a forward knows which hooks there were when it began to run them.
typedef struct tern_module_hook {
    uint64_t number;
    uint64_t removed; // number of its removal, after which it waits to be swept; 0: not removed
    tern_forward_pre_hook_fn *before;
    tern_forward_hook_fn *after;
    void *user;
    tern_free_fn *free; // NULL: user is not the module's
} tern_module_hook;

// What printing shows of a module besides its description.
typedef enum tern_module_print_style {
    TERN_PRINT_CHILDREN,
    TERN_PRINT_GROUPED_CHILDREN, // those in a row that print alike once, as "(0-2): 3 x ReLU()"
    TERN_PRINT_PARAMETERS,
} tern_module_print_style;

// What is done otherwise where tensors of a module are computed at each forward, as the module's
// class would do it.
typedef struct tern_module_computed {
    // The call, with what is computed in the members; the calling thread has entered the forward.
    tern_module_call_fn *call;
    // Members point to tensors of the right sizes.
    tern_module_describe_fn *describe;
    tern_module_reset_fn *reset; // of what the tensors are computed from
    // The members point to no live tensor, as between forwards.
    void (*rest)(tern_module *module);
} tern_module_computed;

// What is added to what the module's class gives: low-rank adaptation.
typedef struct tern_module_adapter {
    tern_module_call_fn *call; // `out` has what the class gave; NULL: no adapter
    double scale, dropout;
    bool merged; // into the module's own weight
} tern_module_adapter;

typedef struct tern_module_private {
    _Atomic int64_t refs;
    _Atomic int64_t parent_refs; // in parents: so many of the references are theirs
    tern_module *self;
    tern_module *original; // that this one stands for in a forward elsewhere
    bool holds_original;   // as a parent does
    tern_module *parent;   // that took it last, for its name in messages; not held
    tern_module_print_style print_style;
    bool training;
    bool done;       // the constructor is through: nothing may be added
    bool failed;     // an addition failed
    bool parallel;   // runs on several devices: no replica may be made of it
    bool incomplete; // a copy that still has what belongs to the original
    _Atomic int
        running; // forwards and traversals in progress, on any thread, each with a reference
    int level;   // how many modules are above it at most, now or before
    _Atomic uint64_t path; // as in a link: where it runs as nobody's child
    tern_scope scope;      // of the constructor
    tern_module_tensors parameters, buffers;
    tern_module_link *children;
    int64_t child_count, child_capacity;
    tern_module_hook *hooks;
    int64_t hook_count, hook_capacity;
    void *user; // the program's
    tern_free_fn *user_free;
    const tern_module_computed *computed; // NULL: nothing is
    tern_module_adapter adapter;
    pthread_mutex_t members; // held while members point to what is computed
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

// Makes the member at that offset point to `to`; none for 0.
static inline void tern_module_bind(tern_module *module, size_t member, const void *to)
{
    if (member)
        memcpy((char *)module + member, &to, sizeof to);
}

// A struct, zeroed, and its registry, with one reference. NULL raises.
tern_module *tern_module_alloc(const tern_module_class *module_class);
// Gives back a reference, whoever has it; the last one frees.
void tern_module_release(tern_module *module);
// Frees what its class made in its struct, if there is a complete one.
void tern_module_free_own(tern_module *module);
// False when all references are those of parents and of what runs: the caller has none to give.
bool tern_module_is_callers(const tern_module *module);
// The class of the parent, for messages.
const char *tern_module_parent_name(const tern_module *module);

// The number of the last addition or removal of a hook, of any module.
uint64_t tern_hook_last_number(void);

// Has its class draw its parameters, without recording.
tern_status tern_module_reset(tern_module *module, tern_generator *generator);

// What a parameter and a buffer must be. NULL is an absent one, unless it comes from a failure.
tern_status tern_module_check_parameter(const char *function, const char *name,
                                        const tern_tensor *tensor);
tern_status tern_module_check_buffer(const char *function, const char *name,
                                     const tern_tensor *tensor);
// What may become a child of that name, of which the caller gives a reference.
tern_status tern_module_check_child(const char *function, const tern_module *module,
                                    const char *name, const tern_module *child);
// TERN_ERR_ARG where the child has the module below itself.
tern_status tern_module_check_no_cycle(const char *function, const tern_module *module,
                                       const char *name, tern_module *child);
// Lets the registry hold a tensor at the end of `list` under a copy of the name; checks nothing.
tern_status tern_module_put_tensor(tern_module *module, tern_module_tensors *list, const char *name,
                                   tern_module_tensor entry);
// Says that states of its class before `version` (PyTorch's, in their `_metadata`) lack the buffer
// that was added last: loading one leaves it as it is.
void tern_module_buffer_since(tern_module *module, int version);
// A child, whose reference it takes over when that succeeds.
tern_status tern_module_put_child(tern_module *module, const char *name, size_t member,
                                  tern_module *child);

// Takes an entry, or a child, out of the registry and gives its reference back.
void tern_module_take_tensor(tern_module_tensors *list, tern_module_tensor *entry);
void tern_module_take_child(tern_module *module, const tern_module *child);
// TERN_ERR_STATE while the module runs or is traversed: nothing may be put in or taken out.
tern_status tern_module_check_change(const char *function, const tern_module *module);
// Whether a tensor or child of that name is registered.
bool tern_module_has_name(const tern_module *module, const char *name);

// Follows `name` up to its last dot. *last becomes what comes after it. NULL when there is no way.
tern_module *tern_module_find_owner(const tern_module *module, const char *name, const char **last);
// What the registry has under a full name, and in whom. NULL raises, and says what there is.
tern_module_tensor *tern_module_find_tensor(const char *function, const tern_module *module,
                                            const char *name, bool is_parameter,
                                            tern_module **owner);
tern_module_link *tern_module_find_link(const char *function, const tern_module *module,
                                        const char *name, tern_module **owner);

// Keep a module that runs or is traversed: callbacks may give back the program's references, not
// this one.
void tern_module_begin_run(tern_module *module);
void tern_module_end_run(tern_module *module);

// Calls `visit` for the module and everything below, as often as it is there. Allocates nothing.
typedef void tern_module_every_fn(tern_module *module, void *user);
void tern_module_visit(tern_module *module, tern_module_every_fn *visit, void *user);

// Modules see outputs of every forward of this thread while one is set; users' hooks rest.
typedef void tern_forward_observer_fn(tern_module *module, const tern_tensors *out, void *user);
typedef struct tern_forward_observer {
    tern_forward_observer_fn *observe;
    void *user;
} tern_forward_observer;
// Returns the one that was set before; NULL: none.
const tern_forward_observer *tern_forward_observe(const tern_forward_observer *observer);

// Whether one is set.
bool tern_forward_is_observed(void);

// True when nothing but its class's call happens in the module's forward.
bool tern_forward_is_plain(const tern_module *module);

// The module that runs on this thread, on the way from the root. Lives on the stack.
typedef struct tern_forward_frame {
    tern_module *module;
    struct tern_forward_frame *outside;
    uint32_t outside_path;
    bool in_hook; // a hook of the module runs
    bool locked;  // the module's members are this thread's
    bool bound;   // and point to what was computed for this forward
} tern_forward_frame;
tern_status tern_forward_enter(tern_forward_frame *frame, tern_module *module);
void tern_forward_leave(tern_forward_frame *frame);
// The innermost frame of the calling thread, NULL outside of modules; and going on from one of
// another thread, which waits. Returns the one before, to be set back.
tern_forward_frame *tern_forward_innermost(void);
tern_forward_frame *tern_forward_go_on_from(tern_forward_frame *frame);

#endif
