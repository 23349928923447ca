// SPDX-License-Identifier: Apache-2.0
// What a checkpoint is inside the library.
#ifndef TERN_SRC_TRAIN_CHECKPOINT_H
#define TERN_SRC_TRAIN_CHECKPOINT_H

#include <limits.h>
#include <tern/checkpoint.h>
#include "state/visitor.h"

#define TERN_CHECKPOINT_VERSION 1

typedef struct tern_checkpoint_part tern_checkpoint_part;

// What can be done with a part.
typedef struct tern_checkpoint_kind {
    tern_status (*visit)(tern_state_visitor *visitor, const char *name, tern_checkpoint_part *part);
    // Refuses unusable gradients; may be NULL.
    tern_status (*check)(const char *function, const tern_checkpoint_part *part);
    void (*release)(void *object); // NULL: it is borrowed
} tern_checkpoint_kind;

struct tern_checkpoint_part {
    const tern_checkpoint_kind *kind;
    void *object;
    tern_visit_fn *visit; // of an object of the user's
};

// What a file says of itself.
typedef struct tern_checkpoint_facts {
    int64_t step;
    double metric;
    char metric_name[TERN_STATE_NAME_SIZE];
    char tern[64];  // the version that wrote it
    char saved[64]; // when
} tern_checkpoint_facts;

struct tern_checkpoint {
    bool freed;   // what comes after it is gone then
    bool busy;    // visits of the user's may run
    char *folder; // absolute
    int64_t keep_last;
    char *keep_best; // or NULL
    tern_metric_mode mode;
    tern_state *names; // of the parts, in their order, each an integer that counts nothing
    tern_checkpoint_part *parts;
    int64_t part_count, part_capacity;
    tern_checkpoint_facts facts; // of what is saved or loaded
    tern_key_list passed_over;   // sentences of the last resume
};

// NULL follows the rule of pending errors; a freed one is refused, one at work as well, and a
// forked child may not use it.
tern_status tern_check_checkpoint(const char *function, const tern_checkpoint *checkpoint);
// Likewise for saving and resuming: no error is pending, and the thread captures nothing.
tern_status tern_check_checkpoint_work(const char *function, const tern_checkpoint *checkpoint,
                                       const char *why);
// Everything that is saved; the object is the checkpoint.
tern_status tern_checkpoint_visit(void *object, tern_state_visitor *visitor);
// Gives the file `name` of the folder, which holds `state`, the name of the best one, if it is.
tern_status tern_checkpoint_keep_best(const tern_checkpoint *checkpoint, const tern_state *state,
                                      const char *name);

#endif
