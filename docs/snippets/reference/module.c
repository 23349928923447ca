// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/module.h, for the site.
#include "examples.h"

static tern_status call_twice(tern_module *self, const tern_tensors *in, tern_tensors *out)
{
    (void)self;
    out->at[out->count++] = tern_mul_scalar(in->at[0], 2);
    return tern_error_code();
}

static const tern_module_class twice_class = {
    .name = "Twice", .size = sizeof(tern_module), .call = call_twice};

static void show_module_new(void)
{
    // [tern_module_new]
    tern_module *self = tern_module_new(&twice_class);
    tern_module *twice = tern_module_done(self);
    // [/tern_module_new]
    expect_shape(tern_forward(twice, tern_ones(tern_dims(3))), 3);
    tern_module_free(twice);
}

static void show_module_done(void)
{
    // [tern_module_done]
    tern_module *twice = tern_module_done(tern_module_new(&twice_class));
    tern_tensor *y = tern_forward(twice, tern_ones(tern_dims(3))); // 2, 2, 2
    // [/tern_module_done]
    expect(near(tern_item(tern_sum_all(y)), 6));
    tern_module_free(twice);
}

static void show_module_retain(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_module_retain]
    tern_module *mine = tern_module_retain(net);
    tern_module_free(net); // mine is still there
    // [/tern_module_retain]
    expect(tern_module_num_parameters(mine) == 2);
    tern_module_free(mine);
}

static void show_module_copy(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_module_copy]
    tern_module *copy = tern_module_copy(net);                   // with parameters of its own
    tern_tensor *weight = tern_module_parameter(copy, "weight"); // (2, 4)
    // [/tern_module_copy]
    expect_shape(weight, 2, 4);
    tern_module_free(copy);
    tern_module_free(net);
}

static void show_module_state_dict(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_module_state_dict]
    tern_state *state = tern_module_state_dict(net);
    tern_tensor *weight = tern_state_tensor(state, "weight"); // the net's own
    // [/tern_module_state_dict]
    expect(weight == tern_module_parameter(net, "weight"));
    tern_state_free(state);
    tern_module_free(net);
}

static void show_module_load_state_dict(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    tern_state *state = tern_module_state_dict(net);
    // [tern_module_load_state_dict]
    if (tern_module_load_state_dict(net, state, .strict = false))
        tern_error_print(stderr);
    // [/tern_module_load_state_dict]
    expect(!tern_error_pending());
    tern_state_free(state);
    tern_module_free(net);
}

int module_examples(void)
{
    show_module_new();
    show_module_done();
    show_module_retain();
    show_module_copy();
    show_module_state_dict();
    show_module_load_state_dict();
    return failures;
}
