// SPDX-License-Identifier: Apache-2.0
// What an optimizer is inside the library.
#ifndef TERN_SRC_OPTIM_OPTIM_H
#define TERN_SRC_OPTIM_OPTIM_H

#include <stdatomic.h>
#include <tern/optim.h>
#include "base/error.h"
#include "base/fork.h"
#include "ops/op.h"

#define TERN_OPTIM_STATES 3

// The numbers of a group; those that the optimizer does not have stay 0.
typedef struct tern_optim_group {
    double lr, weight_decay;
    double momentum, dampening;
    double betas[2], eps;
} tern_optim_group;

// One parameter. The entries of a group stand together.
typedef struct tern_optim_entry {
    tern_tensor *param; // held, like all tensors here
    char *name;
    int group;
    int64_t step; // updates so far; SGD counts from when it made the momentum buffer
    tern_tensor *state[TERN_OPTIM_STATES]; // made at the first step that needs them
    tern_tensor *next[TERN_OPTIM_STATES];  // what replaces them in the step in progress
    bool active;                           // has a gradient that this step must still use
} tern_optim_entry;

// A kind of optimizer.
typedef struct tern_optim_class {
    const char *name;                     // in messages
    const char *state[TERN_OPTIM_STATES]; // PyTorch's names
    bool is_sgd;                          // has momentum and dampening, else betas and eps
    // Which state tensors a group needs now, one bit each.
    unsigned (*needs)(const tern_optim *optim, const tern_optim_group *group);
    tern_status (*launch)(const tern_optim *optim, const tern_optim_group *group,
                          const tern_exec *exec, int64_t count);
} tern_optim_class;

// A device that parameters are on, and its memory for the arguments of kernels (tern_step_plan),
// which the CPU does without.
typedef struct tern_optim_device {
    tern_device device;
    tern_storage *plan; // for all launches of a step; held
    int64_t plan_used;  // bytes of it that the launches of this step took so far
} tern_optim_device;

// What a pass over the launches of a step does on devices that have a plan.
typedef enum tern_optim_pass {
    TERN_OPTIM_STEP,    // writes the arguments to the plans, and updates
    TERN_OPTIM_CAPTURE, // updates only, in every replay
    TERN_OPTIM_REPLAY   // writes only, before the replay
} tern_optim_pass;

struct tern_optim {
    const tern_optim_class *klass;
    _Atomic int64_t refs;
    bool nesterov, maximize, amsgrad, decoupled;
    tern_optim_group *groups;
    int64_t group_count, group_capacity;
    tern_optim_entry *entries;
    int64_t entry_count, entry_capacity;
    tern_optim_group defaults;  // what later groups start from
    tern_optim_device *devices; // found anew in each step
    int64_t device_count, device_capacity;
    tern_step_tensor *tensors; // of the launch in progress; as many as entries
    int64_t tensor_capacity;
};

// Where parameters come from: one of the three.
typedef struct tern_optim_source {
    tern_module *module;
    tern_tensor *const *params;
    int64_t param_count;
} tern_optim_source;

// An optimizer with one group; the flags are set by the caller, before, in `like`.
tern_optim *tern_optim_make(const tern_optim *like, const tern_optim_group *group,
                            const tern_optim_source *source);
// Adds a group, all or nothing. `function` is for messages.
tern_status tern_optim_append(const char *function, tern_optim *optim,
                              const tern_optim_group *group, const tern_optim_source *source);
// Checks every number of a group. `function` is for messages.
tern_status tern_optim_check_group(const char *function, const tern_optim *optim,
                                   const tern_optim_group *group);

// Runs a pass over the active entries; `devices` has all of their devices.
tern_status tern_optim_launch(tern_optim *optim, tern_optim_pass pass, tern_optim_device *devices,
                              int64_t device_count);
// The entry of the device in the list; NULL where it has none.
tern_optim_device *tern_optim_device_of(tern_optim_device *devices, int64_t count,
                                        tern_device device);
// Whether the device's plan is large enough for all launches of a step.
bool tern_optim_has_plan(const tern_optim *optim, const tern_optim_device *on);
// Allocates a plan for all launches of a step, in place of the one that the device had.
tern_status tern_optim_make_plan(const tern_optim *optim, tern_optim_device *on);
// Raises a value error that is known on one of the devices; does not wait.
tern_status tern_optim_poll(const tern_optim_device *devices, int64_t device_count);
// The step as part of the capture that the calling thread is in.
tern_status tern_optim_capture(tern_optim *optim);

// A freed optimizer is found while its memory is kept.
static inline tern_status tern_check_not_freed(const char *function, const tern_optim *optim)
{
    TERN_CHECK(optim->refs > 0, TERN_ERR_STATE, "%s: this %s was freed already", function,
               optim->klass->name);
    return TERN_OK;
}

// NULL follows the rule of pending errors; a freed one is refused, and a forked child may not use
// it.
static inline tern_status tern_check_optim(const char *function, const tern_optim *optim)
{
    if (!optim)
        return tern_null_error(function, "optim");
    TERN_TRY(tern_check_not_freed(function, optim));
    return tern_fork_check();
}

#endif
