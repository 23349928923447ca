// SPDX-License-Identifier: Apache-2.0
// Layers whose weights are computed give PyTorch's numbers: how they start, a forward and a
// backward, steps in training, evaluation, and what is left when the parametrization goes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "golden_module.h"

#define STEPS    5
#define LR       0.1
#define NONE     (-1000)
#define NOT_SAID (-1001)

static tern_device device;

static double tolerance_of(tern_dtype dtype)
{
    return dtype == TERN_FLOAT64 ? 1e-10 : 1e-5;
}

// ---- the layers ---------------------------------------------------------------------------------

static tern_module *layer_named(const char *name, tern_dtype dtype)
{
    if (strcmp(name, "linear") == 0)
        return tern_nn_linear(5, 3, .dtype = dtype, .device = device);
    if (strcmp(name, "conv2d") == 0)
        return tern_nn_conv2d(4, 6, 3, .groups = 2, .dtype = dtype, .device = device);
    if (strcmp(name, "conv_transpose2d") == 0)
        return tern_nn_conv_transpose2d(4, 3, 3, .stride = 2, .dtype = dtype, .device = device);
    assert_string_equal(name, "batch_norm");
    return tern_nn_batch_norm1d(5, .dtype = dtype, .device = device);
}

static tern_status twice(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    out->count = 1;
    out->at[0] = tern_mul_scalar(in->at[0], 2);
    return tern_error_code();
}

static const tern_module_class twice_class = {
    .name = "Double", .size = sizeof(tern_module), .call = twice};

static void parametrize(const golden_case *c, tern_module *layer)
{
    const char *kind = golden_text(c, "kind"), *name = golden_text(c, "name");
    int dim = golden_text(c, "dim") ? (int)golden_number(c, "dim", 0) : NOT_SAID;
    if (!name)
        name = "weight";
    if (strcmp(kind, "spectral_norm") == 0) {
        double eps = golden_text(c, "eps") ? golden_number(c, "eps", 0) : 1e-12;
        int64_t n = (int64_t)golden_number(c, "n_power_iterations", 0);
        assert_ptr_equal(tern_nn_spectral_norm(layer, .name = name, .eps = eps,
                                               .n_power_iterations = n ? n : 1,
                                               .dim = dim == NOT_SAID ? TERN_OUTPUT_DIM : dim),
                         layer);
        return;
    }
    if (dim == NOT_SAID)
        dim = 0;
    assert_ptr_equal(
        tern_nn_weight_norm(layer, .name = name, .dim = dim == NONE ? TERN_ALL_DIMS : dim), layer);
    if (strcmp(kind, "chain") == 0)
        assert_int_equal(tern_module_register_parametrization(
                             layer, "weight", tern_module_done(tern_module_new(&twice_class))),
                         TERN_OK);
}

// ---- comparing ----------------------------------------------------------------------------------

static void compare(const golden_case *c, const char *prefix, const char *name, tern_tensor *t,
                    double tolerance)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s%s", prefix, name[0] ? "." : "", name);
    golden_near(c, full, t, tolerance);
}

// Under PyTorch's names, in its order, and nothing else.
static void compare_state(const golden_case *c, const char *prefix, const char *keys,
                          tern_module *layer, double tolerance)
{
    char names[512] = "";
    tern_state *state = tern_module_state_dict(layer);
    assert_non_null(state);
    for (int64_t i = 0; i < tern_state_count(state); i++) {
        const char *name = tern_state_name_at(state, i);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", name);
        compare(c, prefix, name, tern_state_tensor(state, name), tolerance);
    }
    if (keys)
        assert_string_equal(names, keys);
    tern_state_free(state);
}

// ---- the tests ----------------------------------------------------------------------------------

typedef struct gradients {
    const golden_case *c;
    double tolerance;
} gradients;

static tern_status compare_gradient(const tern_module_entry *entry, void *user)
{
    const gradients *g = user;
    compare(g->c, "grad", entry->name, tern_grad(entry->tensor), g->tolerance);
    return TERN_OK;
}

static void train(const golden_case *c, tern_module *layer, tern_tensor *x, double tolerance)
{
    tern_tensor *r = golden_stored(c, "r", device);
    tern_optim *sgd = tern_optim_sgd(layer, .lr = LR);
    for (int i = 0; i <= STEPS; i++) {
        tern_scope scope = tern_scope_open();
        tern_optim_zero_grad(sgd);
        tern_tensor *y = tern_forward(layer, x);
        assert_int_equal(tern_backward(tern_sum_all(tern_mul(y, r))), TERN_OK);
        if (i == 0) {
            compare(c, "y", "", y, tolerance);
            assert_int_equal(
                tern_module_each_parameter(layer, compare_gradient, &(gradients){c, tolerance}),
                TERN_OK);
        } else {
            assert_int_equal(tern_optim_step(sgd), TERN_OK);
        }
        tern_scope_close(scope);
    }
    tern_optim_free(sgd);
}

static void the_layer_is_pytorchs(void **state)
{
    const golden_case *c = *state;
    const char *name = golden_text(c, "name");
    tern_scope scope = tern_scope_open();
    tern_tensor *x = golden_stored(c, "x", device);
    const double tolerance = tolerance_of(tern_dtype_of(x));
    tern_manual_seed(7);
    tern_module *layer = layer_named(golden_text(c, "layer"), tern_dtype_of(x));
    parametrize(c, layer);
    compare_state(c, "start", golden_text(c, "keys"), layer, 2e-6);
    golden_load_start(c, layer, device);
    train(c, layer, x, tolerance);
    compare_state(c, "end", golden_text(c, "keys"), layer, tolerance);
    tern_module_eval(layer);
    compare(c, "y_eval", "", tern_forward(layer, x), tolerance);
    assert_int_equal(tern_module_remove_parametrizations(layer, name ? name : "weight"), TERN_OK);
    compare_state(c, "left", NULL, layer, tolerance);
    tern_module_free(layer);
    tern_scope_close(scope);
    assert_fine();
}

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    return golden_run("parametrizations", the_layer_is_pytorchs);
}
