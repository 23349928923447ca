// SPDX-License-Identifier: Apache-2.0
// Kernels that are called with a dtype that they do not exist for, on every instruction set.
#include "kernel_check.h"
#include "lacking_kernel.h"

static void a_kernel_refuses_a_dtype_that_it_lacks_and_writes_nothing(void **state)
{
    (void)state;
    _Alignas(8) unsigned char memory[LACKING_BYTES], before[LACKING_BYTES];
    tern_generator *generator = tern_generator_new(1);
    memset(before, 1, sizeof before);
    FOR_EACH_TABLE(kernels)
    {
        memcpy(memory, before, sizeof memory);
        lacking_check_all(kernels, &kernel_exec, generator, memory);
        assert_memory_equal(memory, before, sizeof memory);
    }
    tern_generator_free(generator);
}

static void the_error_names_kernel_and_dtype(void **state)
{
    (void)state;
    int64_t x[2] = {1, 2};
    const tern_strided view = VIEW(x, TERN_INT64, 1, 2, 1);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->softmax(&kernel_exec, false, &view, &view), TERN_ERR_DTYPE);
        assert_error(TERN_ERR_DTYPE, "softmax: no kernel for int64");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_refuses_a_dtype_that_it_lacks_and_writes_nothing),
        cmocka_unit_test(the_error_names_kernel_and_dtype),
    };
    return cmocka_run_group_tests(tests, kernel_setup, NULL);
}
