// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/state.h, for the site.
#include "examples.h"

typedef struct position {
    double x;
} position;

static tern_status visit_position(void *object, tern_state_visitor *visitor)
{
    position *self = object;
    return tern_visit_double(visitor, "x", &self->x);
}

static void show_state_new(void)
{
    // [tern_state_new]
    tern_state *state = tern_state_new();
    tern_status status = tern_state_set_int(state, "epoch", 3);
    // [/tern_state_new]
    expect(!status && tern_state_count(state) == 1);
    tern_state_free(state);
}

static void show_state_copy(void)
{
    tern_state *state = tern_state_new();
    expect(!tern_state_set_int(state, "epoch", 3));
    // [tern_state_copy]
    tern_state *best = tern_state_copy(state); // with tensors of its own
    int64_t count = tern_state_count(best);
    // [/tern_state_copy]
    expect(count == 1);
    tern_state_free(best);
    tern_state_free(state);
}

static void show_state_of(void)
{
    position here = {2};
    // [tern_state_of]
    tern_state *state = tern_state_of(visit_position, &here);
    int64_t count = tern_state_count(state); // its x
    // [/tern_state_of]
    expect(count == 1);
    tern_state_free(state);
}

static void show_state_load(void)
{
    position here = {2}, there = {0};
    tern_state *state = tern_state_of(visit_position, &here);
    // [tern_state_load]
    if (tern_state_load(state, visit_position, &there))
        tern_error_print(stderr);
    // [/tern_state_load]
    expect(there.x == 2);
    tern_state_free(state);
}

static void show_random_state_dict(void)
{
    // [tern_random_state_dict]
    tern_state *before = tern_random_state_dict();
    double first = tern_item(tern_rand(tern_dims(1))); // and, loaded again, once more
    // [/tern_random_state_dict]
    expect(!tern_random_load_state_dict(before));
    expect(tern_item(tern_rand(tern_dims(1))) == first);
    tern_state_free(before);
}

static void show_random_load_state_dict(void)
{
    tern_state *before = tern_random_state_dict();
    double first = tern_item(tern_rand(tern_dims(1)));
    // [tern_random_load_state_dict]
    if (tern_random_load_state_dict(before))
        tern_error_print(stderr);
    // [/tern_random_load_state_dict]
    expect(tern_item(tern_rand(tern_dims(1))) == first);
    tern_state_free(before);
}

int state_examples(void)
{
    show_state_new();
    show_state_copy();
    show_state_of();
    show_state_load();
    show_random_state_dict();
    show_random_load_state_dict();
    return failures;
}
