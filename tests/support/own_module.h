// SPDX-License-Identifier: Apache-2.0
// Modules as users write them, for tests.
#ifndef TERN_TESTS_SUPPORT_OWN_MODULE_H
#define TERN_TESTS_SUPPORT_OWN_MODULE_H

#include "tensor_check.h"

// y = inner(x) * scale + offset.
typedef struct scaled {
    tern_module base;
    tern_tensor *scale, *offset;
    tern_module *inner; // may be NULL
} scaled;

static tern_status call_scaled(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    scaled *self = (scaled *)module;
    tern_tensor *x = self->inner ? tern_forward(self->inner, in->at[0]) : in->at[0];
    out->at[out->count++] = tern_add(tern_mul(x, self->scale), self->offset);
    return tern_error_code();
}

static const tern_module_class scaled_class = {
    .name = "Scaled", .size = sizeof(scaled), .call = call_scaled};

static inline tern_module *scaled_new(double scale, tern_module *inner)
{
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    if (!self) {
        tern_module_free(inner);
        return NULL;
    }
    tern_module_add_parameter(&self->base, "scale", &self->scale, tern_full(tern_dims(1), scale));
    tern_module_add_buffer(&self->base, "offset", &self->offset, tern_ones(tern_dims(1)), true);
    if (inner)
        tern_module_add_child(&self->base, "inner", &self->inner, inner);
    return tern_module_done(&self->base);
}

// A module whose call does what the test says.
static tern_status (*odd_call)(const tern_tensors *in, tern_tensors *out);

static tern_status call_odd(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    return odd_call(in, out);
}

static const tern_module_class odd_class = {
    .name = "Odd", .size = sizeof(tern_module), .call = call_odd};

static inline tern_module *odd_new(void)
{
    tern_module *module = tern_module_new(&odd_class);
    assert_non_null(module);
    return tern_module_done(module);
}

#endif
