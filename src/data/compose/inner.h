// SPDX-License-Identifier: Apache-2.0
// What datasets over others have in common: they hold them by references that users cannot give
// back, and forward what they do not change.
#ifndef TERN_SRC_DATA_COMPOSE_INNER_H
#define TERN_SRC_DATA_COMPOSE_INNER_H

#include "data/dataset.h"

// What the struct of a dataset over one other begins with.
typedef struct tern_wrapper {
    tern_dataset base;
    tern_dataset *inner;
} tern_wrapper;

// A wrapper of that class over `inner`, which was checked.
tern_dataset *tern_wrapper_new(const tern_dataset_class *klass, tern_dataset *inner);

// Functions of such a class, for samples that keep their numbers and what they are.
int64_t tern_wrapper_count(const tern_dataset *self);
void tern_wrapper_free(tern_dataset *self);
tern_status tern_wrapper_to(tern_dataset *self, tern_device device);
tern_status tern_wrapper_visit(tern_dataset *self, tern_state_visitor *visitor);
int64_t tern_wrapper_class_count(const tern_dataset *self);
const char *tern_wrapper_class_name(const tern_dataset *self, int64_t label);
bool tern_wrapper_sample_name(const tern_dataset *self, int64_t index, char *buffer, size_t size);
bool tern_wrapper_is_serial(const tern_dataset *self);

// The inner dataset may have fewer samples than when the outer one was made: TERN_ERR_STATE unless
// `max` is still the number of one.
tern_status tern_inner_check(const char *op, tern_dataset *inner, int64_t max);
// The tensors of an inner batch become those of the outer one.
void tern_inner_hand_on(const tern_batch *made, tern_batch *out);

// What the inner dataset's class visits; nothing where it has no such function.
tern_status tern_inner_visit(void *inner, tern_state_visitor *visitor);

#endif
