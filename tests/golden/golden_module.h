// SPDX-License-Identifier: Apache-2.0
// Modules that begin as stored, and tensors beside stored ones. Include <cmocka.h> before.
#ifndef TERN_TESTS_GOLDEN_MODULE_H
#define TERN_TESTS_GOLDEN_MODULE_H

#include "golden_test.h"
#include "support/array.h"

static inline tern_tensor *golden_stored(const golden_case *c, const char *name, tern_device device)
{
    const golden_array *g = golden_find_array(c, name);
    if (!g)
        fail_msg("PyTorch has no %s", name);
    return tern_from_data(g->shape, g->data, .dtype = g->dtype, .device = device);
}

// Loads what the case has under "start.".
static inline void golden_load_start(const golden_case *c, tern_module *module, tern_device device)
{
    tern_state *state = tern_state_new();
    for (int i = 0; i < c->array_count; i++) {
        const char *name = c->arrays[i].name;
        if (strncmp(name, "start.", 6) == 0)
            assert_int_equal(tern_state_set_tensor(state, name + 6, golden_stored(c, name, device)),
                             TERN_OK);
    }
    assert_int_equal(tern_module_load_state_dict(module, state), TERN_OK);
    tern_state_free(state);
}

static inline void golden_near(const golden_case *c, const char *name, const tern_tensor *t,
                               double tolerance)
{
    const golden_array *g = golden_find_array(c, name);
    if (!g || !t)
        fail_msg("%s is missing %s", name, g ? "here" : "there");
    array got = array_of_tensor(t), want = golden_to_array(g);
    assert_int_equal(got.dtype, want.dtype);
    assert_true(tern_shape_equal(got.shape, want.shape));
    for (int64_t i = 0; i < got.numel; i++)
        assert_near(name, i, (double)got.data[i], (double)want.data[i], tolerance, tolerance);
    array_free(&got);
    array_free(&want);
}

#endif
