// SPDX-License-Identifier: Apache-2.0
// Optimizers whose float32 steps have PyTorch's bits, where the processor rounds a b + c once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/backend.h"
#include "golden_optim.h"
#include "golden_test.h"

#define STEPS 20
#define NUMEL 203

static tern_device device;

static void step(tern_optim *optim, tern_tensor *p, const float *gradient)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *g = tern_from_data(tern_dims(NUMEL), gradient, .device = device);
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_backward(tern_sum(tern_mul(p, g), TERN_ALL_AXES, false)), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    tern_scope_close(scope);
}

static void steps_have_pytorchs_bits(void **state)
{
    const golden_case *c = *state;
    const float *first = golden_values(c, "start", TERN_FLOAT32, NUMEL);
    const float *gradients = golden_values(c, "gradients", TERN_FLOAT32, STEPS * NUMEL);
    const float *expected = golden_values(c, "final", TERN_FLOAT32, NUMEL);
    const bool fuses = strcmp(tern_kernels_of(device)->name, "portable") != 0;
    float values[NUMEL];
    tern_scope scope = tern_scope_open();
    tern_tensor *p =
        tern_from_data(tern_dims(NUMEL), first, .device = device, .requires_grad = true);
    tern_optim *optim = golden_optim(c, &p, 1);
    for (int i = 0; i < STEPS; i++)
        step(optim, p, gradients + (ptrdiff_t)i * NUMEL);
    assert_int_equal(tern_to_host(p, values, sizeof values), TERN_OK);
    if (fuses)
        assert_memory_equal(values, expected, sizeof values);
    for (int i = 0; i < NUMEL; i++)
        assert_near("final", i, (double)values[i], (double)expected[i], 1e-6, 1e-6);
    tern_optim_free(optim);
    tern_scope_close(scope);
}

int main(int argc, char **argv)
{
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    return golden_run("steps", steps_have_pytorchs_bits);
}
