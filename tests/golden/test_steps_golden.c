// SPDX-License-Identifier: Apache-2.0
// Optimizers whose float32 steps have PyTorch's bits, where the processor rounds a b + c once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/backend.h"
#include "golden/golden_optim.h"
#include "golden/golden_test.h"

#define STEPS 10
#define NUMEL 203

static void step(tern_optim *optim, tern_tensor *p, const float *gradient)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *g = tern_from_data(tern_dims(NUMEL), gradient);
    tern_optim_zero_grad(optim);
    assert_int_equal(tern_backward(tern_sum(tern_mul(p, g), TERN_ALL_AXES, false)), TERN_OK);
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    tern_scope_close(scope);
}

static void steps_have_pytorchs_bits(void **state)
{
    const golden_case *c = *state;
    const float *gradients = golden_values(c, "gradients", TERN_FLOAT32, STEPS * NUMEL);
    const float *final = golden_values(c, "final", TERN_FLOAT32, NUMEL);
    const bool fuses = strcmp(tern_kernels_of(tern_cpu(0))->name, "portable") != 0;
    tern_scope scope = tern_scope_open();
    tern_tensor *p = tern_from_data(tern_dims(NUMEL),
                                    (const float *)golden_values(c, "start", TERN_FLOAT32, NUMEL),
                                    .requires_grad = true);
    tern_optim *optim = golden_optim(c, &p, 1);
    for (int i = 0; i < STEPS; i++)
        step(optim, p, gradients + (ptrdiff_t)i * NUMEL);
    if (fuses)
        assert_memory_equal(tern_data(p), final, sizeof(float[NUMEL]));
    for (int i = 0; i < NUMEL; i++)
        assert_near("final", i, ((const float *)tern_data(p))[i], (double) final[i], 1e-6, 1e-6);
    tern_optim_free(optim);
    tern_scope_close(scope);
}

#define MOST_CASES 32

int main(void)
{
    const golden_file *file = golden_read("steps");
    static struct CMUnitTest tests[MOST_CASES];
    int count = 0;
    for (int i = 0; i < file->count && count < MOST_CASES; i++)
        if (golden_has_optim(&file->cases[i]))
            tests[count++] =
                (struct CMUnitTest){file->cases[i].name, steps_have_pytorchs_bits, start,
                                    leaves_nothing, (void *)(uintptr_t)&file->cases[i]};
    return _cmocka_run_group_tests("steps", tests, (size_t)count, NULL, NULL);
}
