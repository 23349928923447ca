// SPDX-License-Identifier: Apache-2.0
// Objects and states of integers under names of one's own.
#ifndef TERN_TESTS_STATE_NUMBERS_H
#define TERN_TESTS_STATE_NUMBERS_H

#include "support/tensor_check.h"

// An object of integers, by their names.
typedef struct numbers {
    const char *const *names; // NULL ends them
    int64_t at[4];
} numbers;

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline tern_status visit_numbers(void *object, tern_state_visitor *v)
{
    numbers *self = object;
    for (int i = 0; self->names[i]; i++)
        if (tern_visit_int(v, self->names[i], &self->at[i]))
            return tern_error_code();
    return TERN_OK;
}

// The state that has 1, 2, ... under the names.
static inline tern_state *state_of(const char *const *names)
{
    tern_state *state = tern_state_new();
    for (int i = 0; names[i]; i++)
        assert_int_equal(tern_state_set_int(state, names[i], i + 1), TERN_OK);
    return state;
}

#endif
