// SPDX-License-Identifier: Apache-2.0
// What a visit function is handed: the names below which it is, and what is saved or loaded.
#ifndef TERN_SRC_STATE_VISITOR_H
#define TERN_SRC_STATE_VISITOR_H

#include "device/exec.h"
#include "state/key_message.h"
#include "state/state.h"

typedef enum tern_visit_mode {
    TERN_VISIT_SAVE = 1,
    TERN_VISIT_CHECK, // nothing of the object changes
    TERN_VISIT_TAKE   // nothing fails
} tern_visit_mode;

// Of an entry of the state. A refused value may be visited as well, or not.
typedef enum tern_load_mark {
    TERN_LOAD_UNVISITED = 0,
    TERN_LOAD_REFUSED,
    TERN_LOAD_VISITED
} tern_load_mark;

// A tensor that is loaded, in the order of the visits.
typedef struct tern_load_item {
    const tern_state_entry *entry;
    tern_tensor *to;     // copied into, held; or made, which the slot takes over
    tern_tensor *source; // what is copied: the entry's or `staged`; NULL: nothing
    tern_tensor *staged; // the entry's where `to` is, of its dtype; held until it was copied
    tern_tensor *before; // what `to` held, where it is put back after a failure; held
    bool made;           // not there before
} tern_load_item;

// The draws of a device, which come with its default generator.
typedef struct tern_load_draws {
    tern_device device;
    tern_draw_state next, before;
    bool written;
} tern_load_draws;

typedef struct tern_loading {
    const char *function; // that errors begin with
    const tern_state_load_options *options;
    tern_load_lists lists;       // what does not fit
    tern_load_mark *marks;       // of the state's entries
    tern_key_map keys, versions; // of the state and of its modules' versions
    tern_load_item *items;
    int64_t count, capacity;
    int64_t taken; // items, in the second run
    tern_load_draws *draws;
    int64_t draw_count, draw_capacity;
} tern_loading;

struct tern_state_visitor {
    tern_visit_mode mode;
    char name[TERN_STATE_NAME_SIZE]; // that of the part and its dot, then that of a value
    size_t length;                   // of the first
    tern_state *into;                // where it is saved
    tern_loading *loading;           // NULL: it is saved
};

// Appends the name of a value, which is in visitor->name until the next. TERN_ERR_ARG for names
// that cannot be.
tern_status tern_visit_name(tern_state_visitor *visitor, const char *name);
// The entry that is loaded under visitor->name, the first where it is ambiguous; NULL when there is
// none.
tern_state_entry *tern_visit_find(const tern_state_visitor *visitor);
// Begins a value: its entry, of `type`, when it is to be looked at (CHECK) or taken (TAKE). NULL
// where it is missing or of another type, which are listed, and while saving.
tern_status tern_visit_begin(tern_state_visitor *visitor, const char *name, tern_state_type type,
                             const tern_state_entry **entry);
// The version of the module below whose name the visit is, in the state that is loaded; 1 where it
// does not say.
int64_t tern_visit_version(const tern_state_visitor *visitor);
// The same, but that it is missing is not listed.
tern_status tern_visit_begin_optional(tern_state_visitor *visitor, const char *name,
                                      tern_state_type type, const tern_state_entry **entry);
// Lists visitor->name as a value that does not fit.
tern_status tern_visit_mismatch(tern_state_visitor *visitor, tern_status code, const char *format,
                                ...) TERN_PRINTF_(3, 4);

// After the check: copies what cannot be written as it is, and waits for the devices.
tern_status tern_visit_stage(tern_loading *loading);
// Before the objects take the rest: writes the tensors and draws, or nothing where a device fails.
tern_status tern_visit_write(tern_loading *loading);

// The fields of tern_state_load_options that the options `o` of other calls have as well.
#define TERN_LOAD_OPTIONS(o)                                                                       \
    .strict = (o)->strict, .strip = (o)->strip, .prefix = (o)->prefix,                             \
    .strip_component = (o)->strip_component, .rename = (o)->rename, .user = (o)->user,             \
    .report = (o)->report, .state = (o)->state

// tern_state_of and tern_state_load for calls of another name, which errors begin with.
tern_state *tern_state_of_as(const char *function, tern_visit_fn *visit, void *object);
tern_status tern_state_load_as(const tern_load_caller *caller,
                               const tern_state_load_options *options);
// tern_visit_optional_tensor for slots of the library: a hold, not a tern_retain.
tern_status tern_visit_optional_retained(tern_state_visitor *visitor, const char *name,
                                         tern_tensor **slot, const tern_tensor *like);

// The default generators, as "cpu", "cuda:0", ...; the object is NULL.
tern_status tern_visit_default_generators(void *object, tern_state_visitor *visitor);
// The same between machines: loading leaves alone what the state lacks, and passes over devices
// that are not here.
tern_status tern_visit_common_generators(void *object, tern_state_visitor *visitor);

#endif
