// SPDX-License-Identifier: Apache-2.0
// A network with low-rank adaptation gives PyTorch's numbers, and its merged weights too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "golden_module.h"

#define STEPS 5
#define LR    0.1

static tern_device device;

static tern_module *adapted(const golden_case *c, tern_dtype dtype)
{
    tern_module *first = tern_nn_linear(5, 4, .dtype = dtype, .device = device);
    tern_module *net = tern_nn_sequential(first, tern_nn_relu(),
                                          tern_nn_linear(4, 3, .dtype = dtype, .device = device));
    char layers[16];
    snprintf(layers, sizeof layers, "[%s]", golden_text(c, "layers"));
    assert_int_equal(tern_lora(net, layers, .rank = (int64_t)golden_number(c, "rank", 0),
                               .alpha = golden_number(c, "alpha", 0)),
                     TERN_OK);
    return net;
}

static void compare_state(const golden_case *c, tern_module *net, double tolerance)
{
    char names[256] = "", full[128];
    tern_state *state = tern_module_state_dict(net);
    for (int64_t i = 0; i < tern_state_count(state); i++) {
        const char *name = tern_state_name_at(state, i);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", name);
        snprintf(full, sizeof full, "end.%s", name);
        golden_near(c, full, tern_state_tensor(state, name), tolerance);
    }
    assert_string_equal(names, golden_text(c, "keys"));
    tern_state_free(state);
}

typedef struct gradients {
    const golden_case *c;
    double tolerance;
    int count;
} gradients;

// Those of A and B, and no others.
static tern_status compare_gradient(const tern_module_entry *entry, void *user)
{
    gradients *g = user;
    char full[128];
    snprintf(full, sizeof full, "grad.%s", entry->name);
    if (!strstr(entry->name, "lora_")) {
        assert_null(tern_grad(entry->tensor));
        return TERN_OK;
    }
    golden_near(g->c, full, tern_grad(entry->tensor), g->tolerance);
    g->count++;
    return TERN_OK;
}

static void train(const golden_case *c, tern_module *net, tern_tensor *x, double tolerance)
{
    tern_tensor *r = golden_stored(c, "r", device);
    tern_optim *sgd = tern_optim_sgd(net, .lr = LR);
    for (int i = 0; i <= STEPS; i++) {
        tern_scope scope = tern_scope_open();
        gradients g = {c, tolerance, 0};
        tern_optim_zero_grad(sgd);
        tern_tensor *y = tern_forward(net, x);
        assert_int_equal(tern_backward(tern_sum_all(tern_mul(y, r))), TERN_OK);
        if (i == 0) {
            golden_near(c, "y", y, tolerance);
            assert_int_equal(tern_module_each_parameter(net, compare_gradient, &g), TERN_OK);
            assert_int_equal(g.count, strchr(golden_text(c, "layers"), ' ') ? 4 : 2);
        } else {
            assert_int_equal(tern_optim_step(sgd), TERN_OK);
        }
        tern_scope_close(scope);
    }
    tern_optim_free(sgd);
}

static void compare_merged(const golden_case *c, tern_module *net, tern_tensor *x, double tolerance)
{
    assert_int_equal(tern_lora_merge(net), TERN_OK);
    golden_near(c, "y_end", tern_forward(net, x), tolerance);
    for (const char *layer = golden_text(c, "layers"); *layer; layer += layer[1] ? 2 : 1) {
        char weight[16], full[32];
        snprintf(weight, sizeof weight, "%c.weight", *layer);
        snprintf(full, sizeof full, "merged.%s", weight);
        golden_near(c, full, tern_module_parameter(net, weight), tolerance);
    }
    assert_int_equal(tern_lora_unmerge(net), TERN_OK);
    compare_state(c, net, tolerance);
}

static void the_network_is_pytorchs(void **state)
{
    const golden_case *c = *state;
    tern_scope scope = tern_scope_open();
    tern_tensor *x = golden_stored(c, "x", device);
    const double tolerance = tern_dtype_of(x) == TERN_FLOAT64 ? 1e-10 : 1e-5;
    tern_module *net = adapted(c, tern_dtype_of(x));
    golden_load_start(c, net, device);
    train(c, net, x, tolerance);
    compare_state(c, net, tolerance);
    golden_near(c, "y_end", tern_forward(net, x), tolerance);
    compare_merged(c, net, x, tolerance);
    tern_module_free(net);
    tern_scope_close(scope);
    assert_fine();
}

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    return golden_run("lora", the_network_is_pytorchs);
}
