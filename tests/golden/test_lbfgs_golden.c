// SPDX-License-Identifier: Apache-2.0
// LBFGS takes PyTorch's steps, evaluation by evaluation.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_optim.h"
#include "golden_test.h"

#define MOST_PARAMS 3
#define STEPS       8

static tern_device device;

typedef struct problem {
    tern_optim *optim;
    tern_tensor *p[MOST_PARAMS], *x, *y;
    double sign;
    int evaluations;
} problem;

static tern_tensor *square(tern_tensor *t)
{
    return tern_mul(t, t);
}

static tern_tensor *rosenbrock(const problem *of)
{
    tern_tensor *valley = tern_mul_scalar(square(tern_sub(of->p[1], square(of->p[0]))), 100);
    tern_tensor *along = square(tern_add_scalar(tern_neg(of->p[0]), 1));
    return tern_sum(tern_add(valley, along), TERN_ALL_AXES, false);
}

static tern_tensor *network(const problem *of)
{
    tern_tensor *hidden = tern_tanh(tern_linear(of->x, of->p[0], of->p[1], TERN_ACT_NONE));
    tern_tensor *out = tern_linear(hidden, of->p[2], NULL, TERN_ACT_NONE);
    return tern_mse_loss(out, of->y, TERN_REDUCTION_MEAN);
}

static tern_tensor *closure(void *user)
{
    problem *of = user;
    tern_optim_zero_grad(of->optim);
    tern_tensor *loss = tern_mul_scalar(of->x ? network(of) : rosenbrock(of), of->sign);
    of->evaluations++;
    return tern_backward(loss) ? NULL : loss;
}

static tern_tensor *array_of(const golden_case *c, const char *name)
{
    const golden_array *a = golden_find_array(c, name);
    return a ? tern_from_data(a->shape, a->data, .dtype = a->dtype, .device = device) : NULL;
}

static int begin(const golden_case *c, problem *of)
{
    char name[8];
    int count = 0;
    *of = (problem){.sign = golden_number(c, "maximize", 0) != 0 ? -1 : 1};
    for (; count < MOST_PARAMS; count++) {
        snprintf(name, sizeof name, "p%d", count);
        if (!golden_find_array(c, name))
            break;
        of->p[count] = tern_set_requires_grad(array_of(c, name), true);
    }
    of->x = array_of(c, "x");
    of->y = array_of(c, "y");
    of->optim = golden_optim(c, of->p, count);
    return count;
}

static void assert_parameters(const golden_case *c, const problem *of, int count, double tolerance)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        double values[15], expected[15];
        snprintf(name, sizeof name, "final%d", i);
        const int64_t numel = tern_numel(of->p[i]);
        assert_true(numel <= COUNT(values));
        tern_tensor *final = tern_to_dtype(array_of(c, name), TERN_FLOAT64);
        tern_tensor *here = tern_to_dtype(tern_detach(of->p[i]), TERN_FLOAT64);
        assert_int_equal(tern_to_host(final, expected, sizeof *expected * (size_t)numel), TERN_OK);
        assert_int_equal(tern_to_host(here, values, sizeof *values * (size_t)numel), TERN_OK);
        for (int k = 0; k < numel; k++)
            assert_near(name, k, values[k], expected[k], tolerance, tolerance);
    }
}

// State names are PyTorch's.
static int64_t state_of(const problem *of, const char *name)
{
    char full[64];
    int64_t number = -1;
    tern_state *state = tern_optim_state_dict(of->optim);
    snprintf(full, sizeof full, "params[0].%s", name);
    assert_int_equal(tern_state_get_int(state, full, &number), TERN_OK);
    tern_state_free(state);
    return number;
}

static void steps_are_pytorchs(void **state)
{
    const golden_case *c = *state;
    problem of;
    tern_scope scope = tern_scope_open();
    const int count = begin(c, &of);
    const bool wide = tern_dtype_of(of.p[0]) == TERN_FLOAT64;
    const double tolerance = wide ? 1e-9 : 1e-5;
    const double *losses = golden_values(c, "losses", TERN_FLOAT64, STEPS);
    for (int i = 0; i < STEPS; i++) {
        tern_tensor *loss = tern_optim_step_closure(of.optim, closure, &of);
        assert_fine();
        assert_near("loss", i, tern_item(loss), losses[i], tolerance, tolerance);
        assert_int_equal(of.evaluations, (int)golden_number(c, "evaluations", i));
        assert_int_equal(state_of(&of, "func_evals"), of.evaluations);
        assert_int_equal(state_of(&of, "n_iter"), (int)golden_number(c, "iterations", i));
    }
    assert_parameters(c, &of, count, tolerance);
    tern_optim_free(of.optim);
    tern_scope_close(scope);
}

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    return golden_run("lbfgs", steps_are_pytorchs);
}
