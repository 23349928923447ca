// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/io.h, for the site.
#include "examples.h"

static void show_state_read(void)
{
    tern_state *state = tern_state_new();
    expect(!tern_state_set_tensor(state, "w", tern_ones(tern_dims(3))));
    expect(!tern_state_write(state, "weights.npz"));
    // [tern_state_read]
    tern_state *read = tern_state_read("weights.npz", .map_location = "cpu");
    tern_tensor *w = tern_state_tensor(read, "w"); // (3,)
    // [/tern_state_read]
    expect_shape(w, 3);
    tern_state_free(read);
    tern_state_free(state);
}

static void show_state_write(void)
{
    tern_state *state = tern_state_new();
    expect(!tern_state_set_tensor(state, "w", tern_ones(tern_dims(3))));
    // [tern_state_write]
    if (tern_state_write(state, "weights.safetensors"))
        tern_error_print(stderr);
    // [/tern_state_write]
    expect(!tern_error_pending());
    tern_state_free(state);
}

int io_examples(void)
{
    show_state_read();
    show_state_write();
    return failures;
}
