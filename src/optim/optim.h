// SPDX-License-Identifier: Apache-2.0
// What an optimizer is inside the library.
#ifndef TERN_SRC_OPTIM_OPTIM_H
#define TERN_SRC_OPTIM_OPTIM_H

#include <stdatomic.h>
#include <tern/optim.h>
#include <tern/optimizers.h>
#include "base/error.h"
#include "base/fork.h"
#include "ops/op.h"

#define TERN_OPTIM_NUMBERS 16 // of a group, at most
#define TERN_OPTIM_SCALARS 2  // of a parameter, likewise

// What bias corrections compute with exactly, and no further step overflows.
#define TERN_OPTIM_MAX_STEPS ((int64_t)1 << 53)

// What a number of a group may be. Every one is finite.
typedef enum tern_optim_range {
    TERN_RANGE_FINITE,
    TERN_RANGE_NOT_NEGATIVE,
    TERN_RANGE_FRACTION, // from 0 to below 1
    TERN_RANGE_UNIT,     // from 0 to 1
    TERN_RANGE_FLAG,     // 0 or 1
    TERN_RANGE_COUNT,    // a whole number, 1 or more
    TERN_RANGE_WHOLE     // likewise, or 0
} tern_optim_range;

// A number that each group has, under the name of the option.
typedef struct tern_optim_number {
    const char *name;
    tern_optim_range range;
    bool is_state; // steps change it: it is not set by name, and is loaded as state is
    bool
        is_fixed; // state was made with it: once there is some it is not set, and is loaded with it
    // Of PyTorch's files:
    const char *const *words; // they have these for 0, 1, .., and None for 0, too
    int word_count;
    bool may_be_none; // they have None for -1
    bool is_own;      // they do not have it
} tern_optim_number;

// Of a parameter's shape, which axis a state tensor has one of.
typedef enum tern_optim_shape {
    TERN_SHAPE_PARAM,    // none
    TERN_SHAPE_ROW_MEAN, // the last
    TERN_SHAPE_COL_MEAN  // the last but one
} tern_optim_shape;

// What a state tensor begins as.
typedef enum tern_optim_start {
    TERN_START_ZERO,
    TERN_START_NUMBER, // a number of the group
    TERN_START_PARAM   // the parameter
} tern_optim_start;

// A state tensor that each parameter has, of its dtype.
typedef struct tern_optim_slot {
    const char *name;     // PyTorch's
    bool at_construction; // else it is made at the first step that needs it
    tern_optim_start start;
    int fill; // of TERN_START_NUMBER: which
    tern_optim_shape shape;
} tern_optim_slot;

struct tern_optim_entry;

// How operations make, of a gradient, the direction that a parameter moves in.
typedef struct tern_optim_direction {
    // Numbers that the operations compute with, one bit each: a capture has them as they were.
    unsigned numbers;
    // Puts into `made.next` what each state tensor is to be averaged with (TERN_STEP_AVERAGE), and
    // into `made.average` copies of those whose new average `end` needs.
    tern_status (*begin)(const double *number, struct tern_optim_entry *entry);
    tern_tensor *(*end)(const double *number, const struct tern_optim_entry *entry);
} tern_optim_direction;

// Which update a parameter gets by the numbers of its group.
typedef struct tern_optim_update {
    tern_step_code code;
    unsigned slots; // that its formula has, in order, one bit each; or its direction
} tern_optim_update;

// What the numbers of a formula are derived from, besides the group's.
typedef struct tern_optim_step_info {
    tern_step_code code;
    const tern_tensor *param;
    int64_t step;        // of the parameter, from 1
    unsigned fresh;      // slots that hold nothing yet, one bit each
    bool wide;           // computed in double, else in float
    const float *scalar; // of the parameter, before this step
} tern_optim_step_info;

// The names of a formula's numbers as enumerators: TERN_STEP_SGD_NUMBERS(TERN_OPTIM_INDEX).
#define TERN_OPTIM_INDEX(name) name,
#define STEP(...)
#include "device/step.def"

// Of an optimizer whose average is what the model is used with: parameters are brought there, and
// back, by TERN_STEP_AVERAGE with a state tensor.
typedef struct tern_optim_mode {
    int number; // of a group, a flag: parameters are where gradients are taken
    int slot;   // of the state tensor
} tern_optim_mode;

// What PyTorch's files of a kind have, besides its numbers and slots.
typedef struct tern_optim_torch {
    bool step;       // each parameter's count of updates
    bool capturable; // this option of how PyTorch computes
    bool fused;      // likewise
    // These, which most kinds have, are missing.
    bool no_foreach, no_differentiable;
} tern_optim_torch;

// A kind of optimizer.
typedef struct tern_optim_class {
    const char *name;                 // PyTorch's
    const char *function;             // its constructor, in messages
    const tern_optim_number *numbers; // the first is lr
    int number_count;
    const tern_optim_slot *slots;
    int slot_count; // at most TERN_STEP_STATES
    // One formula for a set of slots; NULL where there is step_closure.
    tern_optim_update (*update)(const double *number, const tern_tensor *param);
    const tern_optim_direction *direction; // of its TERN_STEP_DIRECTED; NULL: it has none
    // Writes the numbers of the formula, in double; `out` is zeroed.
    void (*derive)(const double *number, const tern_optim_step_info *at, double *out);
    // What each parameter carries on from step to step besides its slots: numbers under PyTorch's
    // names, in float32, as PyTorch has them whatever the parameter's dtype is.
    const char *const *scalars;
    int scalar_count;                                   // at most TERN_OPTIM_SCALARS
    void (*begin)(const double *number, float *scalar); // before the first step
    // After the step that `at` says.
    void (*advance)(const double *number, const tern_optim_step_info *at, float *scalar);
    // Refuses numbers that do not go together, and a parameter that they do not update; both may be
    // NULL.
    tern_status (*check)(const char *function, const double *number);
    tern_status (*check_param)(const char *function, const double *number, const char *name,
                               const tern_tensor *param);
    // Changes the numbers of a group that are state, after a step; may be NULL.
    void (*advance_group)(double *number);
    const tern_optim_mode *mode; // NULL: models are used where gradients are taken
    // The whole step of an optimizer that evaluates the loss itself, has one group, and keeps its
    // state in `own`; all or nothing, with the parameters. NULL: it has a formula.
    tern_tensor *(*step_closure)(tern_optim *optim, tern_closure_fn *closure, void *user);
    tern_status (*visit)(tern_optim *optim, tern_state_visitor *visitor); // of `own`
    void (*free)(tern_optim *optim);                                      // likewise
    tern_optim_torch torch;
} tern_optim_class;

// The tables of a class, which are arrays.
#define TERN_OPTIM_TABLES(number_table, slot_table)                                                \
    .numbers = (number_table), .number_count = sizeof(number_table) / sizeof *(number_table),      \
    .slots = (slot_table), .slot_count = sizeof(slot_table) / sizeof *(slot_table)

// What a constructor returns: an optimizer of the options' numbers, [LR] = o->lr and so on.
#define TERN_OPTIM_MAKE(klass, o, ...)                                                             \
    ((o) ? tern_optim_make(&(klass), (const double[TERN_OPTIM_NUMBERS]){__VA_ARGS__},              \
                           &(tern_optim_source){(o)->module, (o)->params, (o)->param_count})       \
         : tern_optim_no_options(&(klass)))

// What a group's parameters share, by the numbers of the class.
typedef struct tern_optim_group {
    double number[TERN_OPTIM_NUMBERS];
    double initial_lr; // before its first scheduler; NAN: it has none
} tern_optim_group;

// What operations make of an entry's gradient, while a step needs it; held. By slot.
typedef struct tern_optim_made {
    tern_tensor *next[TERN_STEP_STATES];
    tern_tensor *average[TERN_STEP_STATES];
    tern_tensor *direction;
} tern_optim_made;

// One parameter. The entries of a group stand together.
typedef struct tern_optim_entry {
    tern_tensor *param; // held, like all tensors here
    char *name;
    int group;
    int64_t step;                         // updates so far
    tern_tensor *state[TERN_STEP_STATES]; // by slot
    tern_tensor *next[TERN_STEP_STATES];  // what replaces them in the step in progress
    unsigned fresh;                       // slots that no update has written yet, one bit each
    float scalar[TERN_OPTIM_SCALARS];     // NAN: as they begin
    bool active;                          // has a gradient that this step must still use
    tern_optim_made made;                 // in the step in progress
} tern_optim_entry;

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
    void *own; // the state of a class with step_closure
    tern_optim_group *groups;
    int64_t group_count, group_capacity;
    tern_optim_entry *entries;
    int64_t entry_count, entry_capacity;
    tern_optim_group defaults;  // what later groups start from
    tern_optim_device *devices; // found anew in each step
    int64_t device_count, device_capacity;
    tern_step_tensor *tensors; // of the launch in progress; as many as entries
    int64_t tensor_capacity;
    int64_t accumulate_every;            // steps, of which the last acts
    int64_t accumulated;                 // of those steps, before the one that acts
    int64_t acted;                       // steps that did, since it was made
    bool is_mean;                        // the gradients, of those steps, for the one that acts
    bool made_with_lr_0;                 // and nobody has set it, or been warned, since
    bool has_stepped;                    // here or before it was saved, which schedulers ask
    const struct tern_sched *overwriter; // that sets the rate from the epoch alone, or NULL
};

// Where parameters come from: one of the three.
typedef struct tern_optim_source {
    tern_module *module;
    tern_tensor *const *params;
    int64_t param_count;
} tern_optim_source;

// An optimizer with one group of the numbers.
tern_optim *tern_optim_make(const tern_optim_class *klass, const double *number,
                            const tern_optim_source *source);
// A group of what the optimizer was made with, but for the numbers given; NAN: not given.
tern_status tern_optim_make_group(const char *function, const tern_optim *optim, double lr,
                                  double weight_decay, tern_optim_group *group);
// NULL, with the error for a constructor that is given no options.
tern_optim *tern_optim_no_options(const tern_optim_class *klass);
// Where eps hides what is below the smallest normal number under a root, that number: averages
// below it, which processors compute slowly with, may count as 0. Else 0.
double tern_optim_tiny(double eps, bool wide);
// A pair of options, of which `.betas = 0.5`, without braces, has set the first alone: refused,
// unless that is what it usually is.
tern_status tern_optim_pair(const char *function, const char *name, const double *given,
                            const double *usual, double *pair);
// Checks every number of a group. `function` is for messages.
tern_status tern_optim_check_group(const char *function, const tern_optim_class *klass,
                                   const tern_optim_group *group);
// Likewise the parameters of group `group`, if it had these numbers.
tern_status tern_optim_check_params(const char *function, const tern_optim *optim, int64_t group,
                                    const tern_optim_group *numbers);
// The name of an entry in a state: of the second parameter of one name it is "weight.1".
void tern_optim_name_entry(const tern_optim *optim, int64_t index, char *name, size_t size);
// Whether the names are those of modules, and not of places among the `params` given.
bool tern_optim_has_names(const tern_optim *optim);
// tern_optim_load_state_dict for calls of another name, which errors begin with.
struct tern_load_caller;
tern_status tern_optim_load_as(const struct tern_load_caller *caller,
                               const tern_optim_load_state_dict_options *options);
// The place of a number among those of the class; -1 where it has none of that name.
int tern_optim_number_of(const tern_optim_class *klass, const char *name);

// Runs a closure in a scope of its own, recording. NULL, with an error pending, unless it returned
// a loss without leaving an error.
tern_tensor *tern_optim_evaluate(tern_closure_fn *closure, void *user);
// Lists the devices of the parameters. A plan stays for the next step.
void tern_optim_find_devices(tern_optim *optim);
// Makes what the active entries and the devices lack, all or nothing.
tern_status tern_optim_prepare(tern_optim *optim);
// Polls faults, finds the entries that have gradients and checks them.
tern_status tern_optim_check_gradients(tern_optim *optim);
// Before the step that acts: divides the gradients, once, by the steps that they are the sum of.
tern_status tern_optim_make_mean(tern_optim *optim);
// The leaves know that an optimizer accumulates their gradients.
void tern_optim_mark_leaves(const tern_optim *optim, bool accumulates);
// Which update the entry's group asks for now.
tern_optim_update tern_optim_update_of(const tern_optim *optim, const tern_optim_entry *entry);
// Whether PyTorch's files have a count of the entry's updates; of Muon they have it of AdamW's.
bool tern_optim_counts_step(const tern_optim *optim, const tern_optim_entry *entry);
// How the entry's direction is made; NULL: it is the gradient.
const tern_optim_direction *tern_optim_direction_of(const tern_optim *optim,
                                                    const tern_optim_entry *entry);
tern_shape tern_optim_state_shape(const tern_optim_class *klass, int slot,
                                  const tern_tensor *param);
// Bytes of the state when every parameter that requires a gradient was updated; of an optimizer
// that keeps a history with all of it.
int64_t tern_optim_state_bytes(const tern_optim *optim);
// Makes the state that the entries from `first` on have from construction. Not in a capture, whose
// replays would fill it again.
tern_status tern_optim_begin_states(const char *function, tern_optim *optim, int64_t first);
// Whether every active entry has the state that its update needs, where and as its parameter is.
bool tern_optim_has_states(const tern_optim *optim);
// Makes or moves what is missing of it, all or nothing. The caller's scope gets temporaries.
tern_status tern_optim_make_states(tern_optim *optim);
// Takes back what a step made that then failed.
void tern_optim_release_fresh_states(tern_optim *optim);
// Makes the directions of the active entries that have one; nothing that lasts is changed.
tern_status tern_optim_make_directions(tern_optim *optim, tern_optim_pass pass,
                                       tern_optim_device *devices, int64_t device_count);
// One kernel over tensors of one device, of a formula whose numbers are in them.
tern_status tern_optim_run(tern_optim_device *on, tern_optim_pass pass, tern_step_code code,
                           const tern_step_tensor *tensors, int64_t count);
// The memory of a tensor; NULL for none.
void *tern_optim_data(const tern_tensor *t);
// The numbers of a formula for the entry's next step.
void tern_optim_derive(const tern_optim *optim, const tern_optim_entry *entry, tern_step_code code,
                       double *number);
// Counts the step.
void tern_optim_advance(const tern_optim *optim, tern_optim_entry *entry, tern_optim_update update);
// Averages tensors, by slot, an entry's state or copies of it, with what is next.
tern_status tern_optim_average(const tern_optim *optim, const tern_optim_entry *entry,
                               tern_tensor *const *into, tern_optim_pass pass,
                               tern_optim_device *on);
void tern_optim_release_made(tern_optim_made *made);
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

// The parameters must be where gradients are taken.
tern_status tern_optim_check_training(const char *function, const tern_optim *optim);

// Whether the next step acts.
static inline bool tern_optim_is_last(const tern_optim *optim)
{
    return optim->accumulated + 1 >= optim->accumulate_every;
}

// A freed optimizer is found while its memory is kept.
static inline tern_status tern_check_optim_not_freed(const char *function, const tern_optim *optim)
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
    TERN_TRY(tern_check_optim_not_freed(function, optim));
    return tern_fork_check();
}

#endif
