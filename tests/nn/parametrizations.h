// SPDX-License-Identifier: Apache-2.0
// Parametrizations that the tests of them share.
#ifndef TERN_TESTS_NN_PARAMETRIZATIONS_H
#define TERN_TESTS_NN_PARAMETRIZATIONS_H

#include "support/own_module.h"

static inline tern_module *of(const tern_module_class *module_class)
{
    return tern_module_done(tern_module_new(module_class));
}

// x * x.
static tern_status square_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->at[out->count++] = tern_mul(in->at[0], in->at[0]);
    return tern_error_code();
}

static inline tern_status square_root(tern_module *module, tern_tensor *value,
                                      tern_tensors *originals)
{
    (void)module;
    originals->at[originals->count++] = tern_sqrt(value);
    return tern_error_code();
}

static const tern_module_class square_class = {
    .name = "Square", .size = sizeof(tern_module), .call = square_call};

// a + b, of which the value is one half each.
static tern_status sum_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    if (in->count != 2)
        return tern_error_raise(TERN_ERR_ARG, "%s takes 2 tensors", module->klass->name);
    out->at[out->count++] = tern_add(in->at[0], in->at[1]);
    return tern_error_code();
}

static inline tern_status halves(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    (void)module;
    for (int i = 0; i < 2; i++)
        originals->at[originals->count++] = tern_mul_scalar(value, 0.5);
    return tern_error_code();
}

static const tern_module_class sum_class = {
    .name = "Sum", .size = sizeof(tern_module), .call = sum_call};

// Of another shape, and of another dtype.
static tern_status flat_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->at[out->count++] = tern_reshape(in->at[0], tern_dims(-1));
    return tern_error_code();
}

static const tern_module_class flat_class = {
    .name = "Flat", .size = sizeof(tern_module), .call = flat_call};

static tern_status double_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->at[out->count++] = tern_to_dtype(in->at[0], TERN_FLOAT64);
    return tern_error_code();
}

static const tern_module_class double_class = {
    .name = "ToDouble", .size = sizeof(tern_module), .call = double_call};

static tern_status refusing_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    (void)in;
    (void)out;
    return tern_error_raise(TERN_ERR_NUMERIC, "not today");
}

static const tern_module_class refusing_class = {
    .name = "Refusing", .size = sizeof(tern_module), .call = refusing_call};

static inline tern_status no_inverse(tern_module *module, tern_tensor *value,
                                     tern_tensors *originals)
{
    (void)module;
    (void)value;
    (void)originals;
    return TERN_OK;
}

// A Linear(2, 1) without bias, whose weight is (4, 9).
static inline tern_module *linear_4_9(void)
{
    tern_module *linear = tern_nn_linear(2, 1, .bias = false);
    const float values[] = {4, 9};
    tern_no_grad {
        tern_tensor *weight = tern_module_parameter(linear, "weight");
        assert_int_equal(tern_from_host(weight, values, 8), TERN_OK);
    }
    return linear;
}

static inline tern_module *squared_4_9(void)
{
    tern_module *linear = linear_4_9();
    assert_int_equal(tern_module_register_parametrization(linear, "weight", of(&square_class),
                                                          .right_inverse = square_root),
                     TERN_OK);
    return linear;
}

#endif
