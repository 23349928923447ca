// SPDX-License-Identifier: Apache-2.0
// Nets whose averages are followed by hand.
#ifndef TERN_TESTS_TRAIN_AVERAGED_TEST_H
#define TERN_TESTS_TRAIN_AVERAGED_TEST_H

#include "device/device_check.h"
#include "support/state_check.h"

// ---- a net of one weight, set by hand -----------------------------------------------------------

static inline tern_module *one_weight(tern_dtype dtype)
{
    return tern_module_to(tern_nn_linear(2, 1, .bias = false, .dtype = dtype), here);
}

static inline void set_weight(tern_module *net, double a, double b)
{
    const double values[] = {a, b};
    tern_no_grad
        assert_non_null(tern_copy_(tern_module_parameter(net, "weight"),
                                   tern_from_data(tern_dims(1, 2), values, .dtype = TERN_FLOAT64)));
}

// Three updates, by values far enough from each other to tell the averages apart.
static inline void update_three_times(tern_module *average, tern_module *net)
{
    static const double values[][2] = {{1, -8}, {3, 0}, {8, 20}};
    for (int i = 0; i < 3; i++) {
        set_weight(net, values[i][0], values[i][1]);
        assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    }
}

static inline void assert_counted(tern_module *average, double updates)
{
    assert_near(tern_item(tern_module_buffer(average, "n_averaged")), updates, 0, 0);
}

// ---- a net of buffers ---------------------------------------------------------------------------

typedef struct with_buffers {
    tern_module base;
    tern_tensor *mean, *count, *columns; // float32, int64, and float32 that is not contiguous
} with_buffers;

static inline tern_status call_nothing(tern_module *self, const tern_tensors *in, tern_tensors *out)
{
    (void)self;
    *out = *in;
    return TERN_OK;
}

static const tern_module_class with_buffers_class = {
    .name = "WithBuffers", .size = sizeof(with_buffers), .call = call_nothing};

static inline tern_module *make_with_buffers(void)
{
    with_buffers *self = (with_buffers *)tern_module_new(&with_buffers_class);
    tern_buffer(self, mean, tern_zeros(tern_dims(1)));
    tern_buffer(self, count, tern_zeros(tern_dims(), .dtype = TERN_INT64));
    tern_buffer(self, columns, tern_transpose(tern_zeros(tern_dims(2, 2)), 0, 1));
    return tern_module_to(tern_done(self), here);
}

static inline void update_buffers(tern_module *average, tern_module *net)
{
    static const double values[] = {1, 4, 10};
    with_buffers *self = (with_buffers *)net;
    for (int i = 0; i < 3; i++) {
        tern_fill_(self->mean, values[i]);
        tern_fill_(self->count, (int64_t)values[i]);
        tern_fill_(self->columns, values[i]);
        assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    }
}

// ---- what is refused ----------------------------------------------------------------------------

static inline void refuses(tern_module *average, tern_module *model, tern_status code,
                           const char *words)
{
    tern_state *own = tern_module_state_dict(average), *before = tern_state_copy(own);
    assert_int_equal(tern_averaged_model_update(average, model), code);
    assert_error(code, words);
    check_states(own, before, true);
    tern_free(own, before);
}

#endif
